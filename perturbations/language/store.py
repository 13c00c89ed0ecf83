"""Tags kept between runs: one SQLite file, keyed by tagger and caption. Safe for several processes."""

import os
import sqlite3
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from pathlib import Path

_BATCH = 500  # SQLite allows some 1,000 parameters in one statement


class TagStore:
    """Stored tags of captions. Losing the file costs time, never correctness."""

    def __init__(self, path: str | os.PathLike[str], tagger: str) -> None:
        self.path = Path(path)
        self._tagger = tagger

    def read(self, captions: Iterable[str]) -> dict[str, str]:
        """Caption -> its tags joined by spaces, for those that are stored."""
        if not self.path.is_file():
            return {}
        keys = {self._key(caption): caption for caption in captions}
        stored: dict[str, str] = {}
        pending = list(keys)
        connection = self._connect()
        try:
            for first in range(0, len(pending), _BATCH):
                part = pending[first : first + _BATCH]
                marks = ",".join("?" * len(part))
                for key, tags in connection.execute(f"SELECT key, tags FROM tags WHERE key IN ({marks})", part):
                    stored[keys[key]] = tags
        finally:
            connection.close()
        return stored

    def write(self, tags: Mapping[str, str]) -> None:
        """Adds captions and their tags."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        connection = self._connect()
        try:
            with connection:
                rows = ((self._key(caption), value) for caption, value in tags.items())
                connection.executemany("INSERT OR REPLACE INTO tags VALUES (?, ?)", rows)
        finally:
            connection.close()

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, timeout=60)
        connection.execute("CREATE TABLE IF NOT EXISTS tags (key BLOB PRIMARY KEY, tags TEXT) WITHOUT ROWID")
        return connection

    def _key(self, caption: str) -> bytes:
        text = f"{self._tagger}\0{caption}".encode("utf-8", "surrogatepass")
        return blake2b(text, digest_size=16).digest()
