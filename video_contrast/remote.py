"""Videos that lie elsewhere: at an address of fsspec (`s3://bucket/videos`), or in tar shards (`000.tar/clip.mp4`).

Each is fetched when it is first asked for, into a folder of the cache that stands for the place; the files that were
fetched first go where all take more than `ROOM`. Of a tar shard the one member is read, at its place.
"""

from __future__ import annotations

import errno
import os
import re
import tarfile
import threading
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

from video_contrast.addresses import filesystem
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import FETCHED, atomic_path, cache_dir, is_safe_relative

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

ROOM = 20 << 30  # bytes of fetched files
IN_USE = 256  # files that were fetched last: threads may be decoding them
FULL = (errno.ENOSPC, errno.EDQUOT)  # errors of this machine's disk
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
        self.address = address
        self.system = system
        self.path = path
        self.root = root
        self.locks: dict[str, threading.Lock] = {}
        self.current: set[str] = set()  # files that this process has compared with those over there
        self.members = cache(self._members)

    def fetch(self, name: str) -> None:
        """Puts a file into its place; one that is not there stays absent.

        Raises VideoContrastError: it cannot be fetched; the message names the place or the shard.
        """
        if not is_safe_relative(name):  # whoever opens it says so
            return
        target = self.root / name
        with self.locks.setdefault(name, threading.Lock()):
            if name in self.current and target.exists():
                return
            shard, member = name.split(SHARD, 1) if SHARD in name else (name, "")
            remote = f"{self.path}/{shard}{'.tar' if member else ''}"
            try:
                stamp = int.from_bytes(blake2b(str(self.system.ukey(remote)).encode(), digest_size=4).digest(), "big")
                if not target.exists() or int(target.stat().st_mtime) != stamp:
                    with atomic_path(target) as temporary:
                        self._copy(remote, member, temporary)
                        os.utime(temporary, (stamp, stamp))  # so that the same file has the same time again
                    self._make_room()
                self.current.add(name)
            except FileNotFoundError:
                return
            except Exception as error:  # each file system has errors of its own
                if isinstance(error, OSError) and error.errno in FULL:
                    raise
                reason = str(error).strip().partition("\n")[0] or type(error).__name__
                raise VideoContrastError(f"{self.address}/{remote[len(self.path) + 1 :]}: {reason}") from error

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
                part = shard.read(min(size, 1 << 20))
                if not part:
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
        held = sum(stat.st_size for stat, _ in files)
        for stat, path in sorted(files, key=lambda file: file[0].st_ctime)[:-IN_USE]:
            if held <= ROOM:
                return
            path.unlink(missing_ok=True)
            held -= stat.st_size
