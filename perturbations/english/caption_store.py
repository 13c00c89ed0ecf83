"""What was made of captions, kept between runs: one SQLite file, keyed by producer and caption. Safe for processes."""

import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path

from video_contrast.files import cache_dir
from video_contrast.sealed_files import set_aside

_TABLE = "texts (key BLOB PRIMARY KEY, text BLOB, digest BLOB) WITHOUT ROWID"
_BATCH = 500  # SQLite allows some 1,000 parameters in one statement


class CaptionStore:
    """A text a caption, such as its tags or its parse, with a digest. Losing the file costs time, never correctness.

    Args:
        path: the file; made if absent. Several producers may share it. None: nothing is kept.
        producer: name and version of all that the texts depend on, the way they are written included.
    """

    def __init__(self, path: str | os.PathLike[str] | None, producer: str) -> None:
        self.path = Path(path) if path is not None else None
        self._producer = producer

    def read(self, captions: Iterable[str]) -> dict[str, str]:
        """Caption -> its text, for those that are stored."""
        if self.path is None or not self.path.is_file():
            return {}
        keys = {self._key(caption): caption for caption in captions}
        pending = list(keys)
        stored: dict[str, str] = {}

        def look_up(connection: sqlite3.Connection) -> None:
            for first in range(0, len(pending), _BATCH):
                part = pending[first : first + _BATCH]
                marks = ",".join("?" * len(part))
                rows = connection.execute(f"SELECT key, text, digest FROM texts WHERE key IN ({marks})", part)
                stored.update(
                    {
                        keys[key]: text.decode("utf-8", "surrogatepass")
                        for key, text, digest in rows
                        if digest == _digest(key, text)
                    }
                )

        self._connected(self.path, look_up)
        return stored

    def completed(self, captions: Sequence[str], make: Callable[[list[str]], Iterable[str]]) -> dict[str, str]:
        """Caption -> its text: what is stored, and the rest as `make` makes it, which is stored then."""
        stored = self.read(captions)
        missing = [caption for caption in captions if caption not in stored]
        fresh = dict(zip(missing, make(missing), strict=True))
        if fresh:
            self.write(fresh)
        return stored | fresh

    def write(self, texts: Mapping[str, str]) -> None:
        """Adds captions and their texts."""
        if self.path is None:
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        keyed = [(self._key(caption), text.encode("utf-8", "surrogatepass")) for caption, text in texts.items()]
        rows = [(key, text, _digest(key, text)) for key, text in keyed]

        def insert(connection: sqlite3.Connection) -> None:
            with connection:
                connection.executemany("INSERT OR REPLACE INTO texts VALUES (?, ?, ?)", rows)

        self._connected(self.path, insert)

    @staticmethod
    def _connected(path: Path, work: Callable[[sqlite3.Connection], None]) -> None:
        """Works with the file as far as SQLite can read it; a damaged one is set aside."""
        connection = sqlite3.connect(path, timeout=60)
        try:
            connection.execute(f"CREATE TABLE IF NOT EXISTS {_TABLE}")
            work(connection)
        except sqlite3.DatabaseError as error:
            if error.sqlite_errorcode & 0xFF not in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
                raise
            set_aside(path, f"damaged ({error})")
        finally:
            connection.close()

    def _key(self, caption: str) -> bytes:
        return blake2b(f"{self._producer}\0{caption}".encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _digest(key: bytes, text: bytes) -> bytes:
    return blake2b(key + text, digest_size=16).digest()


def user_store() -> Path:
    """The file of the user's cache that builds share."""
    return cache_dir() / "captions.sqlite"


@contextmanager
def parse_cache() -> Iterator[None]:
    """Keeps parses between builds in the user's cache (unless VIDEO_CONTRAST_PARSES names another file)."""
    name = "VIDEO_CONTRAST_PARSES"
    if name in os.environ:
        yield
        return
    os.environ[name] = str(user_store())
    try:
        yield
    finally:
        del os.environ[name]
