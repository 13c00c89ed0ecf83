"""The video files of a plan: where they are, and what they hold."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from video_contrast import files
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.hub import commit
from video_contrast.runner.job import Job
from video_contrast.storage import RunFolder
from video_contrast.storage.run_records import VideoFile
from video_contrast.video import Clip
from video_contrast.video.container import regular

NOT_FOUND = "not found, and not needed: the model opens no video"  # a remark of the record


def root_of(job: Job) -> Path:
    """The folder of the videos; for a set of the Hub that was published with videos, the Hub's cache.

    Raises UsageError: there is no folder of videos.
    """
    if job.video_root is None:
        names = {path for group in job.loaded.groups for item in group.items for path in item.clip.paths}
        fetched = from_hub(job.loaded.name, names)
        if fetched is None:
            raise UsageError(f"--dataset {job.loaded.name} comes without videos; give their folder with --video-root")
        return fetched
    if not job.video_root.is_dir():
        raise UsageError(f"--video-root {job.video_root}: no such folder")
    return job.video_root


def from_hub(repository: str, names: Collection[str]) -> Path | None:
    """Fetches the videos that a data set of the Hub holds, or finds them in its cache where it cannot be reached.

    Returns the folder that the paths are relative to; None where the repository holds none of them.
    """
    from huggingface_hub import HfApi, hf_hub_download
    from huggingface_hub.errors import EntryNotFoundError

    revision = commit(repository, repo_type="dataset")
    present = [name for name in names if files.is_safe_relative(name)]
    if revision is not None:
        held = set(HfApi().list_repo_files(repository, repo_type="dataset", revision=revision))
        present = [name for name in present if name in held]

    def fetch(name: str) -> Path | None:
        try:
            file = hf_hub_download(
                repository, name, repo_type="dataset", revision=revision, local_files_only=revision is None
            )
        except EntryNotFoundError:
            return None
        return Path(file).parents[name.count("/")]

    with ThreadPoolExecutor(8) as pool:
        return next((folder for folder in list(pool.map(fetch, present)) if folder is not None), None)


def absent(clips: Iterable[Clip], root: Path | None) -> dict[str, str]:
    """Path -> why it cannot be opened, of videos that are not there; {} where it is not known where they lie."""
    reasons: dict[str, str] = {}
    if root is None:
        return reasons
    for path in dict.fromkeys(path for clip in clips for path in clip.paths):
        try:
            regular(files.resolve_under(root, path))
        except VideoContrastError as error:
            reasons[path] = str(error)
    return reasons


def hashed(names: Collection[str], root: Path, folder: RunFolder, shared: dict[str, VideoFile]) -> dict[str, VideoFile]:
    """Digest, size and time of change of the files, also kept in `videos.json`.

    Returns what `contents` returns.

    Args:
        root: the folder that they are relative to.
        folder: of the run; files that are unchanged since the last attempt are not read again.
        shared: what other runs of the same call know of the files; is added to.
    """
    former = folder.videos
    videos = contents(names, root, {**shared, **former})
    shared.update(videos)
    folder.write_videos({**former, **videos})
    return videos


def contents(names: Collection[str], root: Path, former: Mapping[str, VideoFile]) -> dict[str, VideoFile]:
    """Digest, size and time of change of files.

    Returns video path -> what is known of the file; `error` where it cannot be read or its path leads out of `root`.
    `root`: the folder that they are relative to. `former`: what was known of them; files of the same size and time of
    change are not read again.
    """

    def entry(name: str) -> VideoFile:
        file = root / name
        try:
            stat = regular(files.resolve_under(root, name))
            known = former.get(name, {})
            if known.get("size") == stat.st_size and known.get("changed") == stat.st_mtime_ns:
                return known
            return {"sha256": files.sha256(file), "size": stat.st_size, "changed": stat.st_mtime_ns}
        except VideoContrastError as error:
            return {"error": str(error).removeprefix(f"{file}: ")}
        except OSError as error:
            return {"error": error.strerror or str(error)}

    with ThreadPoolExecutor(4) as pool:
        return dict(zip(names, pool.map(entry, names), strict=True))
