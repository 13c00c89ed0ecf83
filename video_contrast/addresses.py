"""Files at any address that fsspec knows (`s3://`, `hf://`, `gs://` ...), and on this machine by the same functions."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

from video_contrast import files
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import Json

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

Address = str | Path


def is_remote(address: Address) -> bool:
    """Whether an address names a protocol: a path of this machine has none.

    >>> is_remote("s3://bucket/captions.parquet"), is_remote("captions.parquet")
    (True, False)
    """
    return "://" in str(address)


def filesystem(address: Address) -> tuple[AbstractFileSystem, str]:
    """The file system of an address, and the path there.

    Raises UsageError: an unknown protocol, or its library is not installed.
    """
    import fsspec

    try:
        system, path = fsspec.core.url_to_fs(str(address))
    except (ImportError, ValueError) as error:
        raise UsageError(f"{address}: {error}") from error
    return system, str(path)


@contextmanager
def explained(address: Address) -> Iterator[None]:
    """Says in one sentence what is wrong with an address; each file system has exceptions of its own.

    Raises VideoContrastError: in the place of any exception but those of this package.
    """
    try:
        yield
    except VideoContrastError:
        raise
    except FileNotFoundError as error:
        raise UsageError(f"no such file: {address}") from error
    except Exception as error:
        reason = str(error).strip().partition("\n")[0] or type(error).__name__
        raise VideoContrastError(f"{address}: {reason}") from error


def open_binary(address: Address) -> BinaryIO:
    """A file, open for reading. Raises UsageError: no such file; VideoContrastError: it cannot be opened."""
    with explained(address):
        if not is_remote(address):
            return open(address, "rb")
        system, path = filesystem(address)
        return cast(BinaryIO, system.open(path, "rb"))


def write_bytes(address: Address, content: bytes) -> None:
    """Writes a file whole or not at all (object stores take it in one piece).

    Raises VideoContrastError: it cannot be written.
    """
    with explained(address):
        if is_remote(address):
            system, path = filesystem(address)
            system.makedirs(path.rpartition("/")[0], exist_ok=True)
            system.pipe_file(path, content)
        else:
            files.write_bytes(address, content)


def check_writable(address: str) -> None:
    """Raises a VideoContrastError where no file can be written at an address."""
    write_bytes(f"{address}/.writable", b"")
    system, path = filesystem(f"{address}/.writable")
    system.rm_file(path)


def read_json(address: Address) -> Json:
    """The content of a JSON file. Raises VideoContrastError: it is missing, or not JSON; names it."""
    if not is_remote(address):
        return files.read_json(address)
    with open_binary(address) as handle, explained(address):
        return files.parse_json(handle.read().decode())


def write_json(address: Address, value: object) -> None:
    """Writes JSON as `files.write_json` does."""
    write_bytes(address, files.json_bytes(value))


def state_of(value: object) -> str:
    """Place, size and time of a file that an option names (of a folder: of what lies in it).

    So an edited table is not taken for the old one, nor a relative path for the same path elsewhere.
    """
    if not isinstance(value, str | Path) or not str(value):
        return ""
    if is_remote(value) or any(mark in str(value) for mark in "*?["):
        with explained(value):
            system, pattern = filesystem(value)
            return f" ({', '.join(system.ukey(file) for file in sorted(map(str, system.glob(pattern))))})"
    try:
        path = Path(value)
        if not path.exists():
            return ""
        files = sorted(path.iterdir()) if path.is_dir() else [path]
        states = [f"{file.name} {(stat := file.stat()).st_size} {stat.st_mtime_ns}" for file in files if file.exists()]
    except (OSError, ValueError):
        return ""
    return f" ({path.resolve()}: {', '.join(states)})"


@contextmanager
def local_copy(address: Address, *, kept: Path | None = None) -> Iterator[Path]:
    """A folder on this machine: the folder itself, or a copy of that at an address, to which changes are sent back.

    Hidden files and folders are not copied. Where an exception passes, nothing is sent.

    `address`: of the folder. `kept`: where its copy lies until all is sent, so that work that ended early goes on;
    default: nowhere.
    """
    if not is_remote(address):
        yield Path(address)
        return
    system, path = filesystem(address)
    with tempfile.TemporaryDirectory(prefix="video-contrast-") as scratch:
        folder = kept or Path(scratch) / (path.rstrip("/").rpartition("/")[2] or "set")
        folder.mkdir(parents=True, exist_ok=True)
        sizes: dict[str, tuple[int, int]] = {}
        with explained(address):
            for file in map(str, system.find(path)):
                relative = file[len(path) :].strip("/")
                if not any(part.startswith(".") for part in relative.split("/")) and not (folder / relative).exists():
                    (folder / relative).parent.mkdir(parents=True, exist_ok=True)
                    system.get_file(file, str(folder / relative))
                    sizes[relative] = _state(folder / relative)
        yield folder
        with explained(address):
            present = {file.relative_to(folder).as_posix(): file for file in folder.rglob("*") if file.is_file()}
            for relative, changed in present.items():
                if sizes.get(relative) != _state(changed):
                    system.makedirs(f"{path}/{relative}".rpartition("/")[0], exist_ok=True)
                    system.put_file(str(changed), f"{path}/{relative}")
            for relative in sizes.keys() - present.keys():
                system.rm_file(f"{path}/{relative}")
        if kept is not None:
            shutil.rmtree(kept)


def _state(file: Path) -> tuple[int, int]:
    return (file.stat().st_size, file.stat().st_mtime_ns)
