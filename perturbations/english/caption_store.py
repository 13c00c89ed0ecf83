"""What was made of captions, kept between runs: one SQLite file, keyed by producer and caption. Safe for processes."""

import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path

from video_contrast.files import cache_dir

_BATCH = 500  # SQLite allows some 1,000 parameters in one statement


class CaptionStore:
    """A text a caption, such as its tags or its parse. Losing the file costs time, never correctness.

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
        stored: dict[str, str] = {}
        pending = list(keys)
        connection = self._connect(self.path)
        try:
            for first in range(0, len(pending), _BATCH):
                part = pending[first : first + _BATCH]
                marks = ",".join("?" * len(part))
                for key, text in connection.execute(f"SELECT key, text FROM captions WHERE key IN ({marks})", part):
                    stored[keys[key]] = text
        finally:
            connection.close()
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
        connection = self._connect(self.path)
        try:
            with connection:
                rows = ((self._key(caption), text) for caption, text in texts.items())
                connection.executemany("INSERT OR REPLACE INTO captions VALUES (?, ?)", rows)
        finally:
            connection.close()

    @staticmethod
    def _connect(path: Path) -> sqlite3.Connection:
        connection = sqlite3.connect(path, timeout=60)
        connection.execute("CREATE TABLE IF NOT EXISTS captions (key BLOB PRIMARY KEY, text TEXT) WITHOUT ROWID")
        return connection

    def _key(self, caption: str) -> bytes:
        return blake2b(f"{self._producer}\0{caption}".encode("utf-8", "surrogatepass"), digest_size=16).digest()


def user_store() -> Path:
    """The file of the user's cache that builds share."""
    return cache_dir() / "captions.sqlite"


@contextmanager
def tag_cache() -> Iterator[None]:
    """Keeps tags of words between builds in the user's cache (unless VIDEO_CONTRAST_TAGS names another file)."""
    name = "VIDEO_CONTRAST_TAGS"
    if name in os.environ:
        yield
        return
    os.environ[name] = str(user_store())
    try:
        yield
    finally:
        del os.environ[name]
