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
            shared = _shared(before, key)
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
        data = Path(path).read_bytes()
    except OSError as error:
        raise VideoContrastError(f"cannot read the counts {path}: {error.strerror or error}") from error
    return _decoded(data, str(path))


def _decoded(data: bytes, name: str) -> FrameCounts:
    try:
        lines = lzma.decompress(data, format=lzma.FORMAT_XZ).decode("utf-8").split("\n")
        head = json.loads(lines[0])
        if head["format"] != FORMAT:
            raise VideoContrastError(f"{name} holds {head['format']!r}, this version reads {FORMAT!r}")
        tables: dict[str, dict[str, int]] = {}
        at = 1
        for table in TABLES:
            entries: dict[str, int] = {}
            before = ""
            for _ in range(head["tables"][table]):
                line = lines[at]
                before = before[: ord(line[0]) - 48] + line[1:]
                entries[before] = int(lines[at + 1])
                at += 2
            tables[table] = entries
        return FrameCounts(tables, head["videos"], head["captions"], tuple(head["sources"]))
    except (lzma.LZMAError, KeyError, IndexError, UnicodeDecodeError, EOFError, TypeError) as error:
        raise VideoContrastError(f"{name} is no file of frame counts, or it is cut: make it again") from error
    except ValueError as error:
        if isinstance(error, VideoContrastError):
            raise
        raise VideoContrastError(f"{name} is no file of frame counts, or it is cut: make it again") from error


@lru_cache(1)
def shipped() -> FrameCounts:
    """The counts that travel with the package."""
    data = files("video_contrast.perturbations.contrast.generators.frames").joinpath(SHIPPED).read_bytes()
    return _decoded(data, SHIPPED)


def _shared(first: str, second: str) -> int:
    n = 0
    limit = min(len(first), len(second), 70)
    while n < limit and first[n] == second[n]:
        n += 1
    return n
