"""A run's directory: whose it is, whether it is finished, and the record of what made its numbers.

Nothing here imports torch, so that a finished run is recognised at once.
"""

import errno
import platform
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from video_contrast.addresses import address_of
from video_contrast.console import counted, note
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import Json, JsonObject, held, sha256
from video_contrast.runner.job import Job, RunResult, read_result
from video_contrast.runner.sets import LoadedSet
from video_contrast.runner.video_files import is_same
from video_contrast.storage import RunFolder
from video_contrast.storage.run_file_fields import VideoFile
from video_contrast.storage.run_folder import plain
from video_contrast.version import __version__

PACKAGES = ("torch", "transformers", "accelerate", "av", "numpy", "pillow", "safetensors", "sentence-transformers")
NUMERIC = ("torch", "transformers", "sentence-transformers", "av", "pillow")  # a model's numbers depend on them


def is_of(run: RunFolder, request: JsonObject, files: Mapping[str, list[int]]) -> bool:
    """Whether a folder holds the finished run of a request, of these files of the model, with no video missing."""
    if not run.is_finished:
        return False
    record = run.record
    return bool(
        record.get("version") == __version__
        and record["request"] == plain(request)
        and record["model"].get("files") == files
        and not run.missing
    )


def finished(job: Job) -> RunResult | None:
    """The finished run of a job, of the same rows and videos, or None; videos that are gone are noted and named."""
    run, root = RunFolder(job.output), job.video_root
    root = None if root is None or address_of(root) else root
    if not is_of(run, job.request, job.source.files):
        return None
    other_rows = run.record["set"]["fingerprints"] != job.dataset.fingerprints
    if other_rows or (root and _replaced(run.videos, job.dataset, root)):
        return None
    result = read_result(job.output)
    if paths := sorted(path for path in run.videos if root and not (root / path).exists()):
        note(f"{run.path} was scored with {counted(len(paths), 'video')} not under {root} any more, such as {paths[0]}")
        result.record["gone"] = paths
    return result


def _replaced(videos: Mapping[str, VideoFile], dataset: LoadedSet, video_root: Path) -> bool:
    """Whether a video of the set holds something else than when it was read; another time alone is no change."""
    for path in {name for group in dataset.groups for clip in group.items.clips for name in clip.paths} & set(videos):
        file, former = video_root / path, videos[path]
        try:
            stat = file.stat()
        except OSError:
            continue
        if not is_same(former, stat) and (stat.st_size != former.get("size") or sha256(file) != former.get("sha256")):
            return True
    return False


def claim(run: RunFolder, identity: Json) -> None:
    """Makes the directory this run's, or finds that it is. Raises UsageError: it was made for something else."""
    former, now = run.identity, plain(identity)
    if former is None:
        if foreign := run.foreign_files():
            raise UsageError(f"--output {run.path} holds other files ({foreign[0]} ...); give an empty or a new folder")
        run.write_identity(now)
        return
    for name in dict.fromkeys((*identity, *former)):
        # Conditions are not part of it, and configs may be added to what is there.
        if name != "fingerprints" and former.get(name) != now.get(name):
            raise UsageError(
                f"--output {run.path} was made for {name} {former.get(name)!r}, not {now.get(name)!r}; give another "
                "folder, or remove this one"
            )
    for config, mark in now["fingerprints"].items():
        if former["fingerprints"].get(config, mark) != mark:
            raise UsageError(
                f"--output {run.path} was made for another state of the config {config} of {now['dataset']} (its rows "
                "changed); give another folder, or remove this one"
            )
    run.write_identity({**now, "fingerprints": {**former["fingerprints"], **now["fingerprints"]}})


@contextmanager
def locked(run: RunFolder, rank: int) -> Iterator[None]:
    """Makes the directory and holds its lock in the first process of a run; it goes with the process.

    If the run fails before anything is scored (its model cannot be loaded), the directory is as it was before. Raises
    VideoContrastError: another run holds it.
    """
    new = not run.path.exists()
    run.path.mkdir(parents=True, exist_ok=True)
    if rank != 0:
        yield
        return
    with held(run.lock, f"another run is writing to {run.path}"):
        try:
            yield
        except BaseException:
            run.clear_if_unscored()
            if new and not any(run.path.iterdir()):
                run.path.rmdir()
            raise


@contextmanager
def room_on(*folders: Path) -> Iterator[None]:
    """Turns a full disk into one sentence; every library words it in its own way.

    Raises VideoContrastError: the device of one of `folders` is full. What was written before is whole, and is kept.
    """
    try:
        yield
    except Exception as error:
        full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
        # safetensors has an error class of its own, and numpy an OSError without a number.
        says_so = "No space left" in str(error) or ("requested and" in str(error) and "written" in str(error))
        if not full and not says_so:
            raise
        import shutil

        fullest = min((folder for folder in folders if folder.exists()), key=lambda f: shutil.disk_usage(f).free)
        raise VideoContrastError(
            f"no space left on the device of {fullest}: free some, and run the same command again to go on; what is "
            "done is kept, and no file is half-written"
        ) from error


def versions() -> dict[str, str]:
    """Versions of what a number may depend on."""
    version_of = {"python": platform.python_version(), "video-contrast": __version__}
    for package in PACKAGES:
        with suppress(PackageNotFoundError):
            version_of[package] = version(package)
    return version_of
