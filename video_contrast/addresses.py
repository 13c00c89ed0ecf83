"""Files at any address that fsspec knows (`s3://`, `hf://`, `gs://` ...), and on this machine by the same functions.

Videos that lie elsewhere, or in tar shards (`000.tar/clip.mp4`), are fetched when they are first asked for, into a
folder of the cache that stands for the place; the files that were fetched first go where all take more than `ROOM`. Of
a tar shard the one member is read, at its place.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import tarfile
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

from video_contrast import files
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import FETCHED, Json, atomic_path, cache_dir, is_safe_relative

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem


Address = str | Path
FULL = (errno.ENOSPC, errno.EDQUOT)  # errors of this machine's disk


def is_remote(address: Address) -> bool:
    """Whether an address names a protocol: a path of this machine has none.

    >>> is_remote("s3://bucket/captions.parquet"), is_remote("captions.parquet")
    (True, False)
    """
    return "://" in str(address)


def filesystem(address: Address) -> tuple[AbstractFileSystem, str]:
    """The file system of an address, and the path there. Raises UsageError: unknown protocol, or no library for it."""
    import fsspec

    try:
        system, path = fsspec.core.url_to_fs(str(address))
    except (ImportError, ValueError) as error:
        raise UsageError(f"{address}: {error}") from error
    return system, str(path)


@contextmanager
def explained(address: Address) -> Iterator[None]:
    """Says in one sentence what is wrong with an address; each file system has exceptions of its own.

    Raises VideoContrastError: in the place of any exception but those of this package and of a full disk.
    """
    try:
        yield
    except VideoContrastError:
        raise
    except FileNotFoundError as error:
        why = f" ({error.__cause__})" if error.__cause__ else ""  # over HTTP a file that may not be read, too
        raise UsageError(f"no such file: {address}{why}") from error
    except Exception as error:
        if isinstance(error, OSError) and error.errno in FULL:  # the command says what to do
            raise
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
    """Writes a file, whole or not at all. Raises VideoContrastError: it cannot be written."""
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
        places = sorted(path.iterdir()) if path.is_dir() else [path]
        states = [f"{file.name} {(stat := file.stat()).st_size} {stat.st_mtime_ns}" for file in places if file.exists()]
        return f" ({path.resolve()}: {', '.join(states)})" if path.exists() else ""
    except (OSError, ValueError):
        return ""


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
        states: dict[str, tuple[int, int, int]] = {}
        with explained(address):
            for file in map(str, system.find(path)):
                relative = file[len(path) :].strip("/")
                if not any(part.startswith(".") for part in relative.split("/")) and not (folder / relative).exists():
                    (folder / relative).parent.mkdir(parents=True, exist_ok=True)
                    system.get_file(file, str(folder / relative))
                    states[relative] = files.state((folder / relative).stat())
        yield folder
        with explained(address):
            present = {file.relative_to(folder).as_posix(): file for file in folder.rglob("*") if file.is_file()}
            for relative, changed in present.items():
                if states.get(relative) != files.state(changed.stat()):
                    system.makedirs(f"{path}/{relative}".rpartition("/")[0], exist_ok=True)
                    system.put_file(str(changed), f"{path}/{relative}")
            for relative in states.keys() - present.keys():
                system.rm_file(f"{path}/{relative}")
        if kept is not None:
            shutil.rmtree(kept)


ROOM = 20 << 30  # bytes of fetched files
IN_USE = 256  # files that were fetched last: threads may be decoding them
SHARD = ".tar/"  # in the path of a member: SHARD.tar/MEMBER


def address_of(root: Path) -> str | None:
    """The address that a path was made of, which took one of its slashes; None of a folder of this machine.

    >>> address_of(Path("s3://bucket/videos")), address_of(Path("videos"))
    ('s3://bucket/videos', None)
    """
    parts = re.fullmatch(r"([a-z][a-z0-9+.-]+):/(.*)", root.as_posix())
    return None if parts is None or root.exists() else f"{parts[1]}://{'/' * (parts[1] in ('file', 'local'))}{parts[2]}"


def local_root(address: str) -> Path:
    """The folder in which the files of an address are found, each of them once it is asked for.

    Raises UsageError: an unknown protocol, or its library is not installed.
    """
    try:
        system, path = filesystem(address)
    except UsageError as error:
        raise UsageError(f"--video-root {error}") from error
    root = cache_dir() / "videos" / blake2b(address.encode(), digest_size=10).hexdigest()
    root.mkdir(parents=True, exist_ok=True)
    if root not in FETCHED:
        FETCHED[root] = _Fetcher(address, system, path.rstrip("/"), root).fetch
    return root


class _Fetcher:
    """Fetches files of one place, each once as long as it stays the same there."""

    def __init__(self, address: str, system: AbstractFileSystem, path: str, root: Path) -> None:
        self.address, self.system, self.path, self.root = address, system, path, root
        self.locks: dict[str, threading.Lock] = {}
        self.current: set[str] = set()  # files that this process has compared with those over there
        self.members = cache(self._members)

    def fetch(self, name: str) -> None:
        """Puts a file into its place; one that is not there stays absent. Raises VideoContrastError: it cannot be."""
        if not is_safe_relative(name):  # whoever opens it says so
            return
        target = self.root / name
        with self.locks.setdefault(name, threading.Lock()):
            if name in self.current and target.exists():
                return
            shard, member = name.split(SHARD, 1) if SHARD in name else (name, "")
            remote = f"{self.path}/{shard}{'.tar' if member else ''}"
            with explained(f"{self.address}/{remote[len(self.path) + 1 :]}"):
                try:
                    state = str(self.system.ukey(remote)).encode()
                    stamp = int.from_bytes(blake2b(state, digest_size=4).digest(), "big")
                    if not target.exists() or int(target.stat().st_mtime) != stamp:
                        with atomic_path(target) as temporary:
                            self._copy(remote, member, temporary)
                            os.utime(temporary, (stamp, stamp))  # so that the same file has the same time again
                        self._make_room()
                except FileNotFoundError:
                    return
            self.current.add(name)

    def _copy(self, remote: str, member: str, target: Path) -> None:
        if not member:
            self.system.get_file(remote, str(target))
            return
        if member not in (members := self.members(remote)):
            raise FileNotFoundError(member)
        begin, size = members[member]
        with self.system.open(remote, "rb") as shard, open(target, "wb") as out:
            shard.seek(begin)
            while size:
                if not (part := shard.read(min(size, 1 << 20))):
                    raise tarfile.ReadError("the shard ends before its last file")
                out.write(part)
                size -= len(part)

    def _members(self, remote: str) -> dict[str, tuple[int, int]]:
        """Member -> where its bytes begin in the shard, and how many they are."""
        with self.system.open(remote, "rb") as shard, tarfile.open(fileobj=shard, mode="r:") as archive:
            places = {entry.name: (entry.offset_data, entry.size) for entry in archive if entry.isfile()}
        return {name.removeprefix("./"): place for name, place in places.items()}

    def _make_room(self) -> None:
        files = [(path.stat(), path) for path in self.root.rglob("[!.]*") if path.is_file()]
        n_bytes = sum(stat.st_size for stat, _ in files)
        for stat, path in sorted(files, key=lambda file: file[0].st_ctime)[:-IN_USE]:
            if n_bytes <= ROOM:
                return
            path.unlink(missing_ok=True)
            n_bytes -= stat.st_size
