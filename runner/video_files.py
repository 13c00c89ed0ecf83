"""The video files of a plan: where they are, and what they hold."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from video_contrast import files
from video_contrast.errors import UsageError
from video_contrast.runner.job import Job
from video_contrast.runner.plan import Plan
from video_contrast.storage import RunFolder
from video_contrast.storage.run_records import VideoFile


def paths_of(plan: Plan, job: Job) -> dict[str, Path]:
    """Video path of the set -> file, for every clip of the plan.

    Raises:
        UsageError: there is no folder of videos.
    """
    if job.video_root is None:
        raise UsageError(f"--dataset {job.loaded.name} comes without videos; give their folder with --video-root")
    if not job.video_root.is_dir():
        raise UsageError(f"--video-root {job.video_root}: no such folder")
    return {path: files.resolve_under(job.video_root, path) for path in dict.fromkeys(c.video_path for c in plan.views)}


def hashed(paths: dict[str, Path], folder: RunFolder) -> dict[str, VideoFile]:
    """Digest, size and time of change of the files, also kept in `videos.json`.

    Those that are unchanged since the last attempt are not read again.
    """
    former = folder.videos

    def entry(name: str) -> VideoFile:
        try:
            stat = paths[name].stat()
            known = former.get(name, {})
            if known.get("size") == stat.st_size and known.get("changed") == stat.st_mtime_ns:
                return known
            return {"sha256": files.sha256(paths[name]), "size": stat.st_size, "changed": stat.st_mtime_ns}
        except OSError as error:
            return {"error": error.strerror or str(error)}

    with ThreadPoolExecutor(4) as pool:
        videos = dict(zip(paths, pool.map(entry, paths), strict=True))
    folder.write_videos({**former, **videos})
    return videos
