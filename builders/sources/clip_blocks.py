"""Reads a table of captions of any size into blocks of clips, in bounded memory.

The rows go through a file of SQLite, which sorts them on disk by a digest of their clip: all rows of a clip come
together wherever they stand in the table, and each block is a random sample of the set.
"""

import json
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from math import ceil
from pathlib import Path

from video_contrast.addresses import Address, open_binary, write_bytes
from video_contrast.builders.assembly.captioned_clip import CaptionedClip
from video_contrast.builders.registry import CorpusBlock, Cut
from video_contrast.builders.sources.clip_rows import caption_rows
from video_contrast.builders.sources.clip_table import CaptionTable

CLIPS = 5000  # of a block, about
CAPTIONS = 50_000  # of a block, at most about


def block_path(folder: Address, number: int) -> str:
    """Where a block of clips lies."""
    return f"{folder}/clips/{number:05d}.jsonl"


def read_block(folder: Address, number: int) -> list[CaptionedClip]:
    """The clips of a block."""
    with open_binary(block_path(folder, number)) as handle:
        entries = [json.loads(line) for line in handle]
    return [CaptionedClip(**entry | {key: tuple(entry[key]) for key in ("captions", "siblings")}) for entry in entries]


def cut(table: CaptionTable, folder: Address) -> Cut:
    """Reads a table as `read_splits` does, and writes its clips as blocks.

    A block holds some `CLIPS` clips; clips of one movie, which distract each other, stay together. `table`: where it
    is, and its columns. Raises UsageError, VideoContrastError: as of `read_splits`.
    """
    blocks: list[CorpusBlock] = []
    with (
        tempfile.TemporaryDirectory(prefix="video-contrast-") as scratch,
        caption_rows(table, file=Path(scratch) / "rows.sqlite") as rows,
    ):
        for split, sizes in rows.sizes.items():
            parts = 0
            most = max(ceil(sizes["clips"] / CLIPS), ceil(sizes["captions"] / CAPTIONS))
            for part in _parts(rows.clips(split), sizes["clips"], most):
                lines = "".join(json.dumps(asdict(clip), ensure_ascii=False) + "\n" for clip in part)
                write_bytes(block_path(folder, len(blocks) + parts), lines.encode("utf-8", "surrogatepass"))
                parts += 1
            blocks += [CorpusBlock(split, number, parts) for number in range(parts)]
        return Cut(blocks, {"counts": rows.counts()})


def _parts(clips: Iterator[CaptionedClip], count: int, most: int) -> Iterator[Sequence[CaptionedClip]]:
    """`most` parts of about equal size, fewer where a movie is larger than one."""
    part: list[CaptionedClip] = []
    opened = 0
    for n, clip in enumerate(clips):
        place = n * most // count
        if part and place > opened and (not clip.pool or clip.pool != part[-1].pool):
            yield part
            part = []
        if not part:
            opened = place
        part.append(clip)
    if part:
        yield part
