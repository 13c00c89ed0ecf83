"""What was made of captions, kept between runs: one SQLite file, keyed by producer and caption. Safe for processes."""

import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from hashlib import blake2b
from pathlib import Path

from video_contrast.console import note
from video_contrast.files import cache_dir
from video_contrast.sealed_files import set_aside

_TABLE = "texts (key BLOB PRIMARY KEY, text BLOB, digest BLOB) WITHOUT ROWID"
_NOT_OURS = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR)  # the last: other columns
_PATIENCE = 60.0  # seconds for which another process may be writing
_BATCH = 500  # SQLite allows some 1,000 parameters in one statement


class CaptionStore:
    """A text a caption, such as its tags or its parse, with a digest. Losing the file costs time, never correctness.

    `path`: the file; made if absent. Several producers may share it. None: nothing is kept. `producer`: name and
    version of all that the texts depend on, the way they are written included.
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
        text_of: dict[str, str] = {}

        def look_up(connection: sqlite3.Connection) -> None:
            for first in range(0, len(pending), _BATCH):
                part = pending[first : first + _BATCH]
                marks = ",".join("?" * len(part))
                rows = connection.execute(f"SELECT key, text, digest FROM texts WHERE key IN ({marks})", part)
                for key, text, digest in rows:
                    if digest == _digest(key, text):
                        text_of[keys[key]] = text.decode("utf-8", "surrogatepass")

        self._connected(look_up)
        return text_of

    def completed(self, captions: Sequence[str], make: Callable[[list[str]], Iterable[str]]) -> dict[str, str]:
        """Caption -> its text: what is stored, and the rest as `make` makes it, which is stored then."""
        text_of = self.read(captions)
        missing = [caption for caption in captions if caption not in text_of]
        fresh = dict(zip(missing, make(missing), strict=True))
        if fresh:
            self.write(fresh)
        return text_of | fresh

    def write(self, texts: Mapping[str, str]) -> None:
        """Adds captions and their texts."""
        entries = [(self._key(caption), text.encode("utf-8", "surrogatepass")) for caption, text in texts.items()]
        rows = [(key, text, _digest(key, text)) for key, text in entries]

        def insert(connection: sqlite3.Connection) -> None:
            with connection:
                connection.executemany("INSERT OR REPLACE INTO texts VALUES (?, ?, ?)", rows)

        self._connected(insert)

    def _connected(self, work: Callable[[sqlite3.Connection], None]) -> None:
        """Works with the file as far as SQLite can read it.

        A damaged or foreign one is set aside; where none can be written (a full disk, a place that is read only)
        nothing is kept.
        """
        if self.path is None:
            return
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(self.path, timeout=_PATIENCE)) as connection:
                connection.execute(f"CREATE TABLE IF NOT EXISTS {_TABLE}")
                work(connection)
        except OSError as error:
            self._give_up(error)
        except sqlite3.DatabaseError as error:
            if error.sqlite_errorcode & 0xFF in _NOT_OURS:
                set_aside(self.path, f"damaged, or not a store of this version ({error})")
            else:
                self._give_up(error)

    def _give_up(self, error: Exception) -> None:
        note(f"{self.path}: {error}: what is made of captions is not kept")
        self.path = None

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
