"""The counts as a file: sorted text with shared prefixes, compressed; equal counts give equal bytes."""

import json
import lzma
from functools import lru_cache
from importlib.resources import files
from pathlib import Path

from video_contrast.errors import VideoContrastError
from video_contrast.files import write_bytes
from video_contrast.perturbations.contrast.generators.frames.counts import TABLES, FrameCounts

FORMAT = "frame-counts 1"
SHIPPED = "counts.xz"


def save(counts: FrameCounts, path: str | Path) -> Path:
    """Writes counts; a key that begins as the one before it stores only what differs."""
    lines = [
        json.dumps(
            {
                "format": FORMAT,
                "videos": counts.videos,
                "captions": counts.captions,
                "sources": list(counts.sources),
                "tables": {name: len(counts.tables[name]) for name in TABLES},
            },
            sort_keys=True,
        )
    ]
    for name in TABLES:
        before = ""
        table = counts.tables[name]
        for key in sorted(table):
            shared = 0
            while shared < 70 and before[shared : shared + 1] == key[shared : shared + 1] != "":
                shared += 1
            lines.append(f"{chr(48 + shared)}{key[shared:]}\n{table[key]}")
            before = key
    raw = ("\n".join(lines) + "\n").encode("utf-8")
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 9, "dict_size": 1 << 24}]
    return write_bytes(path, lzma.compress(raw, format=lzma.FORMAT_XZ, check=lzma.CHECK_CRC32, filters=filters))


def load(path: str | Path) -> FrameCounts:
    """Reads counts written by `save`.

    Raises:
        VideoContrastError: the file is absent, cut, or of another format.
    """
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise VideoContrastError(f"cannot read the counts {path}: {error.strerror or error}") from error
    return _decoded(content, str(path))


def _decoded(content: bytes, name: str) -> FrameCounts:
    try:
        lines = iter(lzma.decompress(content, format=lzma.FORMAT_XZ).decode("utf-8").split("\n"))
        head = json.loads(next(lines))
        stored, tables = head["format"], dict[str, dict[str, int]]()
        for table in TABLES if stored == FORMAT else ():
            tables[table], key = {}, ""
            for _ in range(head["tables"][table]):
                line = next(lines)
                key = key[: ord(line[0]) - 48] + line[1:]
                tables[table][key] = int(next(lines))
        counts = FrameCounts(tables, head["videos"], head["captions"], tuple(head["sources"]))
    except (lzma.LZMAError, KeyError, IndexError, StopIteration, EOFError, TypeError, ValueError) as error:
        raise VideoContrastError(f"{name} is no file of frame counts, or it is cut: make it again") from error
    if stored != FORMAT:
        raise VideoContrastError(f"{name} holds {stored!r}, this version reads {FORMAT!r}")
    return counts


@lru_cache(1)
def shipped() -> FrameCounts:
    """The counts that travel with the package."""
    content = files("video_contrast.perturbations.contrast.generators.frames").joinpath(SHIPPED).read_bytes()
    return _decoded(content, SHIPPED)
