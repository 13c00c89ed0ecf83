"""A run's directory: whose it is, whether it is finished, and the record of what made its numbers.

Nothing here imports torch, so that a finished run is recognised at once.

    identity.json   what the directory was made for; another model, set or sampling is refused
    run.json        the record, written last: where it exists, and asks the same, the run is finished
    run.lock        held while a run writes
"""

from __future__ import annotations

import errno
import platform
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import read_json, write_json
from video_contrast.runner.kinds.base import ModelSource
from video_contrast.runner.locate import signature
from video_contrast.version import __version__

PACKAGES = ("torch", "transformers", "accelerate", "av", "numpy", "pillow", "safetensors", "sentence-transformers")
# What may not change within a directory. Conditions and configs may: more of them are added to what is there.
FIXED = ("model", "revision", "kind", "options", "dataset", "split", "frames", "sampling", "dtype", "seed", "limit")


def finished(output: Path, request: Mapping[str, Any], source: ModelSource, fingerprints: Mapping[str, str]) -> bool:
    """Whether `output` holds this very run, complete: the same request, model files, set, and no video missing."""
    if not (output / "run.json").exists() or not (output / "metrics.json").exists():
        return False
    record = read_json(output / "run.json")
    return bool(
        record.get("version") == __version__
        and record.get("request") == _plain(request)
        and record.get("model", {}).get("files") == (signature(source.path) if source.path else {})
        and record.get("set", {}).get("fingerprints") == dict(fingerprints)
        and not record.get("missing")
    )


def _plain(request: Mapping[str, Any]) -> dict[str, Any]:
    import json

    return json.loads(json.dumps(dict(request), sort_keys=True, default=str))


def claim(output: Path, identity: Mapping[str, Any]) -> None:
    """Makes the directory this run's, or finds that it is.

    Raises:
        UsageError: it was made for something else; the message says what differs.
    """
    path = output / "identity.json"
    if not path.exists():
        foreign = [p.name for p in output.iterdir() if p.name not in ("run.lock", "store", "texts", "videos.json")]
        if foreign:
            raise UsageError(f"--output {output} holds other files ({foreign[0]} ...); give an empty or a new folder")
        write_json(path, _plain(identity))
        return
    former = read_json(path)
    now = _plain(identity)
    for name in FIXED:
        if former.get(name) != now.get(name):
            raise UsageError(
                f"--output {output} was made for {name} {former.get(name)!r}, not {now.get(name)!r}; give another "
                "folder, or remove this one"
            )
    for config, mark in now["fingerprints"].items():
        if former["fingerprints"].get(config, mark) != mark:
            raise UsageError(
                f"--output {output} was made for another state of the config {config} of {now['dataset']} (its rows "
                "changed); give another folder, or remove this one"
            )
    write_json(path, {**now, "fingerprints": {**former["fingerprints"], **now["fingerprints"]}})


@contextmanager
def locked(output: Path, rank: int) -> Iterator[None]:
    """Holds the directory's lock in the first process of a run; it goes with the process, however that ends.

    Raises:
        VideoContrastError: another run holds it.
    """
    output.mkdir(parents=True, exist_ok=True)
    if rank != 0:
        yield
        return
    try:
        import fcntl
    except ImportError:  # no such locks on this system: two runs at once are then the user's affair
        yield
        return
    with open(output / "run.lock", "w", encoding="utf-8") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise VideoContrastError(
                f"another run is writing to {output}; wait for it, or give another --output"
            ) from error
        yield


@contextmanager
def room_on(*folders: Path) -> Iterator[None]:
    """Turns a full disk into one sentence; every library words it in its own way.

    Raises:
        VideoContrastError: the device of one of `folders` is full. What was written before is whole, and is kept.
    """
    try:
        yield
    except Exception as error:
        if not _disk_full(error):
            raise
        import shutil

        fullest = min((folder for folder in folders if folder.exists()), key=lambda f: shutil.disk_usage(f).free)
        raise VideoContrastError(
            f"no space left on the device of {fullest}: free some, and run the same command again to go on; what is "
            "done is kept, and no file is half-written"
        ) from error


def _disk_full(error: Exception) -> bool:
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return True
    # safetensors has an error class of its own, and numpy an OSError without a number.
    return "No space left" in str(error) or ("requested and" in str(error) and "written" in str(error))


def versions() -> dict[str, str]:
    """Versions of what a number may depend on."""
    found = {"python": platform.python_version(), "video-contrast": __version__}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
