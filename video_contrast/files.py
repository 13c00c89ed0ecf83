"""Files: written whole or not at all, and never outside the folder they belong to."""

import errno
import hashlib
import json
import os
import re
import shutil
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any

from video_contrast.errors import VideoContrastError

Json = Any  # content of a file or an answer: its reader says what is expected of it
AnyPath = str | Path
JsonObject = dict[str, object]  # an object of JSON that is only written, shown or compared as a whole
_TEMPORARY = re.compile(r"\.(\d+)-[0-9a-f]{12}\.tmp(?:\.[^.]*)?$")  # a name of `atomic_path`, with its process
_ABANDONED = 60  # seconds


@contextmanager
def atomic_path(path: AnyPath) -> Iterator[Path]:
    """Yields a temporary name beside `path`; it becomes `path` if the block ends well and is removed if not.

    The temporary name keeps the suffix, since encoders choose their container by it. An error of the system while the
    file is written names `path`.
    """
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.parent / f".{target.stem}.{os.getpid()}-{uuid.uuid4().hex[:12]}.tmp{target.suffix}"
    try:
        yield temporary
        temporary.replace(target)
    except OSError as error:  # encoders name no file, and the temporary name is nobody's
        if error.errno not in errno.errorcode or error.filename not in (None, str(temporary)):
            raise
        raise OSError(error.errno, error.strerror, str(target)) from error
    finally:
        if temporary.exists():  # a read-only place would refuse to take away what is not there
            temporary.unlink(missing_ok=True)


@contextmanager
def held(lock: Path, by_another: str) -> Iterator[None]:
    """Holds the lock of a file, as forked processes do. Raises VideoContrastError: it is held; says `by_another`."""
    try:
        import fcntl
    except ImportError:  # no such locks on this system: two commands at once are then the user's affair
        yield
        return
    with open(lock, "w", encoding="utf-8") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise VideoContrastError(f"{by_another}; wait for it, or give another --output") from error
        yield


def remove_abandoned(folder: AnyPath) -> list[Path]:
    """Removes temporary files of `atomic_path` below a folder whose process was killed; returns them.

    Such are files of no living process of this machine, and, since a folder may be shared by several machines, only
    those that nobody wrote to for a minute.
    """
    folders = []
    for path in Path(folder).rglob(".*.tmp*"):
        match = _TEMPORARY.search(path.name)
        if match and not _is_alive(int(match[1])) and time.time() - path.stat().st_mtime > _ABANDONED:
            path.unlink(missing_ok=True)
            folders.append(path)
    return folders


def _is_alive(process: int) -> bool:
    try:
        if os.name == "posix":  # elsewhere a signal of 0 is one
            os.kill(process, 0)
    except OSError as error:  # a process of somebody else is no less alive
        return not isinstance(error, ProcessLookupError)
    return True


def write_bytes(path: AnyPath, content: bytes) -> Path:
    """Writes `content` to `path` atomically."""
    with atomic_path(path) as temporary:
        temporary.write_bytes(content)
    return Path(path)


def write_text(path: AnyPath, text: str) -> Path:
    """Writes UTF-8 text with `\\n` line ends to `path` atomically."""
    return write_bytes(path, text.encode("utf-8"))


def json_bytes(value: object) -> bytes:
    """JSON with sorted keys, so equal values give equal bytes. NaN and infinity are refused."""
    return (json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n").encode()


def write_json(path: AnyPath, value: object) -> Path:
    """Writes `json_bytes` to `path` atomically."""
    return write_bytes(path, json_bytes(value))


def read_text(path: AnyPath) -> str:
    """The text of a file in UTF-8, its lines ended by `\\n`. Raises VideoContrastError: it cannot be read; says why."""
    try:
        return Path(path).read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
    except OSError as error:
        raise VideoContrastError(f"cannot read {path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        line, byte = error.object.count(b"\n", 0, error.start) + 1, error.object[error.start]
        raise VideoContrastError(f"{path} is not UTF-8 (line {line}, byte 0x{byte:02x}); convert it first") from error


def read_json(path: AnyPath) -> Json:
    """Reads a JSON file. Raises VideoContrastError: the file is missing or not JSON; the message names it."""
    text = read_text(path)
    try:
        return parse_json(text)
    except ValueError as error:
        raise VideoContrastError(f"{path} is not valid JSON: {error}") from error


def parse_json(text: str) -> Json:
    """Reads JSON; a key that stands twice in an object, of which one value would be lost, is a ValueError.

    >>> parse_json('{"a": 1, "a": 2}')
    Traceback (most recent call last):
        ...
    ValueError: the key 'a' stands twice in an object
    """

    def without_repeats(pairs: list[tuple[str, Json]]) -> Json:
        whole: dict[str, Json] = {}
        for key, value in pairs:
            if key in whole:
                raise ValueError(f"the key {key!r} stands twice in an object")
            whole[key] = value
        return whole

    return json.loads(text, object_pairs_hook=without_repeats)


def is_safe_relative(path: str) -> bool:
    """Whether a path from a table is relative, POSIX, and stays below its root as written."""
    if not path or "\\" in path or "\0" in path or path.startswith("/") or (len(path) > 1 and path[1] == ":"):
        return False
    return ".." not in PurePosixPath(path).parts


# Folder of the cache -> what puts a file that lies elsewhere there, given its path below the folder.
FETCHED: dict[Path, Callable[[str], None]] = {}


def resolve_under(root: AnyPath, relative: str) -> Path:
    """Returns `root / relative`, where `relative` comes out of a data set and `root` is a folder that the user names.

    Links that the folder holds are followed wherever they lead: people link their videos, and so does the Hub's cache.
    Raises VideoContrastError: the path is absolute, or has `..` or backslashes.
    """
    if not is_safe_relative(relative):
        raise VideoContrastError(f"the path {relative!r} must be relative, with '/' and without '..'")
    if (fetch := FETCHED.get(Path(root))) is not None:
        fetch(relative)
    return Path(root) / relative


def copy_file(source: AnyPath, target: AnyPath) -> None:
    """Copies a file, whole or not at all, into a folder that is made where it is not there."""
    with atomic_path(target) as temporary:
        shutil.copyfile(source, temporary)


def state(status: os.stat_result) -> tuple[int, int, int]:
    """The state of a file, which changes with its content: size, and times of change of it and its status."""
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns


def sha256(path: AnyPath) -> str:
    """The sha256 of a file, in hexadecimal."""
    with open(path, "rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def cache_dir() -> Path:
    """The folder of sets built on first use, stores and word tables: `VIDEO_CONTRAST_CACHE` or the user's cache."""
    if folder := os.environ.get("VIDEO_CONTRAST_CACHE"):
        return Path(folder)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "video-contrast"
