"""Parses kept between runs: one SQLite file, keyed by parser and caption. Safe for several processes."""

import os
import sqlite3
import zlib
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from pathlib import Path

_BATCH = 500  # SQLite allows some 1,000 parameters in one statement


class ParseStore:
    """Stored parses of captions. Losing the file costs time, never correctness."""

    def __init__(self, path: str | os.PathLike[str], parser: str) -> None:
        self.path = Path(path)
        self._parser = parser

    def read(self, captions: Iterable[str]) -> dict[str, str]:
        """Caption -> its encoded parse, for those that are stored."""
        if not self.path.is_file():
            return {}
        keys = {self._key(caption): caption for caption in captions}
        found: dict[str, str] = {}
        pending = list(keys)
        connection = self._connect()
        try:
            for first in range(0, len(pending), _BATCH):
                part = pending[first : first + _BATCH]
                marks = ",".join("?" * len(part))
                for key, code in connection.execute(f"SELECT key, code FROM parses WHERE key IN ({marks})", part):
                    found[keys[key]] = zlib.decompress(code).decode("ascii")
        finally:
            connection.close()
        return found

    def write(self, codes: Mapping[str, str]) -> None:
        """Adds captions and their parses."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        connection = self._connect()
        try:
            with connection:
                rows = ((self._key(caption), zlib.compress(code.encode("ascii"), 6)) for caption, code in codes.items())
                connection.executemany("INSERT OR REPLACE INTO parses VALUES (?, ?)", rows)
        finally:
            connection.close()

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, timeout=60)
        connection.execute("CREATE TABLE IF NOT EXISTS parses (key BLOB PRIMARY KEY, code BLOB) WITHOUT ROWID")
        return connection

    def _key(self, caption: str) -> bytes:
        text = f"{self._parser}\0{caption}".encode("utf-8", "surrogatepass")
        return blake2b(text, digest_size=16).digest()
