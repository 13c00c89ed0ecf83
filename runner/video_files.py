"""The video files of a plan: where they are, and what they hold."""

import os
import re
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from video_contrast import files
from video_contrast.addresses import FULL, SHARD, address_of, local_root
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.hub import commit, explained
from video_contrast.runner.job import Job
from video_contrast.storage.run_file_fields import VideoFile
from video_contrast.video import Clip
from video_contrast.video.container import regular

NOT_FOUND = "not found, and not needed: the model opens no video"  # a remark of the record


def root_of(job: Job) -> Path:
    """The folder of the videos, in the Hub's cache of a set that has some there. Raises UsageError: there is none."""
    if job.video_root is None:
        names = {path for group in job.dataset.groups for clip in group.items.clips for path in clip.paths}
        folder = from_hub(job.dataset.name, names)
        if folder is None:
            raise UsageError(f"--dataset {job.dataset.name} comes without videos; give their folder with --video-root")
        return folder
    address = address_of(job.video_root)
    if address is not None:
        return local_root(address)
    if not job.video_root.is_dir():
        raise UsageError(f"--video-root {job.video_root}: no such folder")
    paths = {path for group in job.dataset.groups for clip in group.items.clips for path in clip.paths}
    # A folder may be called x.tar, too. No `as_uri`: file systems take its %20 for a part of a name.
    in_shards = any(SHARD in path and not (job.video_root / path).exists() for path in paths)
    return local_root(f"file://{job.video_root.resolve().as_posix()}") if in_shards else job.video_root


def from_hub(repository: str, names: Collection[str]) -> Path | None:
    """The folder of the videos that a data set of the Hub holds; each is fetched when it is first asked for.

    Where the Hub cannot be reached, they are those of its cache. None where the repository holds none of `names`.
    """
    from huggingface_hub import HfApi, hf_hub_download
    from huggingface_hub.errors import EntryNotFoundError

    revision = commit(repository, repo_type="dataset")
    present = [name for name in names if files.is_safe_relative(name)]
    if revision is not None:
        on_hub = set(HfApi().list_repo_files(repository, repo_type="dataset", revision=revision))
        present = [name for name in present if name in on_hub]

    def fetch(name: str) -> Path | None:
        try:
            offline = revision is None
            file = hf_hub_download(repository, name, repo_type="dataset", revision=revision, local_files_only=offline)
        except EntryNotFoundError:
            return None
        return Path(file).parents[name.count("/")]

    root = next(filter(None, map(fetch, present)), None)
    if root is not None:
        rest = set(present)

        def fetch_once(name: str) -> None:
            if name in rest and not (root / name).exists():
                with explained(repository, "--dataset", repo_type="dataset"):
                    fetch(name)

        files.FETCHED[root] = fetch_once
    return root


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


def state_of(status: os.stat_result, digest: str) -> VideoFile:
    """The facts of a file that was read."""
    size, time_of_change, status_changed = files.state(status)
    return {"sha256": digest, "size": size, "changed": time_of_change, "status_changed": status_changed}


def is_same(entry: VideoFile, status: os.stat_result) -> bool:
    """Whether a file is as it was when it was read; a copy of its size and time has another time of its status."""
    return entry == state_of(status, entry.get("sha256", ""))


class VideoFiles(Mapping[str, str]):
    """Video path -> sha256 of the file, "" where it cannot be read; each file is read when it is first asked for.

    The threads that decode ask, so a file is in the system's cache when it is decoded, and nothing waits for all files.
    `entries`: what was known of files; those of the same size and times of change are not read again. `looked_at`: is
    given what is known of every file that was asked for.
    """

    def __init__(
        self, root: Path, entries: Mapping[str, VideoFile], looked_at: Callable[[str, VideoFile], None] | None = None
    ) -> None:
        self.root = root
        self.entries: dict[str, VideoFile] = {}
        self._known = entries
        self._looked_at = looked_at
        self._locks: dict[str, threading.Lock] = {}

    def __getitem__(self, path: str) -> str:
        with self._locks.setdefault(path, threading.Lock()):
            if path not in self.entries:
                self.entries[path] = self._entry(path)
                if self._looked_at is not None:
                    self._looked_at(path, self.entries[path])
        return self.entries[path].get("sha256", "")

    def __iter__(self) -> Iterator[str]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def _entry(self, path: str) -> VideoFile:
        """Digest, size and time of change; `error` where the file cannot be read or its path leads out of the root."""
        file = self.root / path
        try:
            stat = regular(files.resolve_under(self.root, path))
            entry = self._known.get(path, {})
            if is_same(entry, stat):
                return entry
            blob = file.resolve()  # of a large file of the Hub the name of its blob in the cache is the digest
            of_hub = blob.parent.name == "blobs" and re.fullmatch(r"[0-9a-f]{64}", blob.name)
            return state_of(stat, blob.name if of_hub else files.sha256(file))
        except VideoContrastError as error:
            return {"error": str(error).removeprefix(f"{file}: ")}
        except OSError as error:
            if error.errno in FULL:
                raise
            return {"error": error.strerror or str(error)}


def contents(names: Collection[str], root: Path, former: Mapping[str, VideoFile]) -> dict[str, VideoFile]:
    """Video path -> digest, size and time of change of the file; `root` and `former` as of `VideoFiles`."""
    videos = VideoFiles(root, former)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(videos.__getitem__, names))
    return {name: videos.entries[name] for name in names}
