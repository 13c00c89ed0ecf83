"""Reads a table of captions of any size into blocks of clips, in bounded memory.

The rows go through a file of SQLite, which sorts them on disk by a digest of their clip: all rows of a clip come
together wherever they stand in the table, and each block is a random sample of the set.
"""

import json
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import fields
from itertools import groupby
from math import ceil
from pathlib import Path

from video_contrast.addresses import Address, open_binary, write_bytes
from video_contrast.builders.assembly.captioned_clip import CaptionedClip
from video_contrast.builders.registry import CorpusBlock, Cut
from video_contrast.builders.sources.caption_table import TableRow
from video_contrast.builders.sources.clip_table import (
    CAPTION,
    CaptionTable,
    ClipRows,
    Span,
    check_ids,
    clip_of,
)
from video_contrast.builders.sources.split_column import check_split, chosen, split_of
from video_contrast.console import bar
from video_contrast.errors import VideoContrastError
from video_contrast.seeds import digest

CLIPS = 5000  # of a block, about
CAPTIONS = 50_000  # of a block, at most about
_BATCH = 10_000  # rows
_FIELDS = tuple(field.name for field in fields(CaptionedClip))

_ROWS = """CREATE TABLE rows (
    split TEXT, shuffled BLOB, id TEXT, place TEXT, path TEXT, start REAL, end REAL, name TEXT, guessed INTEGER,
    movie TEXT, captions TEXT)"""
_SORTED = "SELECT * FROM rows WHERE split IS ? ORDER BY shuffled, id, rowid"


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
    with (
        tempfile.TemporaryDirectory(prefix="video-contrast-") as scratch,
        # isolation_level None: `_store` says where a transaction begins
        closing(sqlite3.connect(Path(scratch) / "rows.sqlite", isolation_level=None)) as rows,
    ):
        rows.execute("PRAGMA journal_mode = OFF")  # a cut that ends early is begun anew
        rows.execute("PRAGMA synchronous = OFF")
        rows.execute(_ROWS)
        return _cut(table, folder, rows)


def _cut(table: CaptionTable, folder: Address, rows: sqlite3.Connection) -> Cut:
    first = _store(table, rows)
    names = [name for (name,) in rows.execute("SELECT DISTINCT split FROM rows")]
    if len(names) > 1:
        _check_splits(rows)
    splits = chosen({name: name for name in names}, table.source_name(), split=table.split)
    blocks: list[CorpusBlock] = []
    counts = dict.fromkeys(("rows", "clips", "captions", "empty_captions", "clips_without_caption"), 0)
    of_split: dict[str, int] = {}
    for split, name in splits.items():
        n_rows, n_clips, empty = rows.execute(
            "SELECT count(*), count(DISTINCT id), sum(captions = '[]') FROM rows WHERE split IS ?", (name,)
        ).fetchone()
        captioned, captions = rows.execute(
            "SELECT count(DISTINCT id), sum(json_array_length(captions)) FROM rows "
            "WHERE captions != '[]' AND split IS ?",
            (name,),
        ).fetchone()
        of_split[split] = n_rows
        for key, n in zip(counts, (n_rows, captioned, captions or 0, empty, n_clips - captioned), strict=True):
            counts[key] += n
        if not captioned:
            continue
        most = max(ceil(captioned / CLIPS), ceil(captions / CAPTIONS))
        parts = 0
        for part in _parts(_clips(table, rows, name), captioned, most):
            lines = "".join(_line(clip) for clip in part)
            write_bytes(block_path(folder, len(blocks) + parts), lines.encode("utf-8", "surrogatepass"))
            parts += 1
        blocks += [CorpusBlock(split, number, parts) for number in range(parts)]
    if not blocks:
        column = first.usual(table.caption_column, CAPTION)
        raise VideoContrastError(f"{table.captions}: every caption in column {column!r} is empty")
    guessed = rows.execute("SELECT count(DISTINCT path) FROM rows WHERE guessed").fetchone()[0]
    table.say(of_split, first, guessed)
    return Cut(blocks, {"counts": counts})


def _line(clip: CaptionedClip) -> str:
    return json.dumps({name: getattr(clip, name) for name in _FIELDS}, ensure_ascii=False) + "\n"


def _store(table: CaptionTable, rows: sqlite3.Connection) -> TableRow:
    """Stores every row of the table; returns the first."""
    first: TableRow | None = None
    batch: list[tuple[object, ...]] = []

    def write() -> None:
        rows.execute("BEGIN")
        rows.executemany(f"INSERT INTO rows VALUES ({','.join('?' * 11)})", batch)
        rows.execute("COMMIT")
        batch.clear()

    for row in bar(table.rows(streamed=True), desc="reading", unit="row"):
        first = first or row
        span, movie, captions = table.span(row), table.movie(row), table.texts(row)
        shuffled = digest("blocks", movie or span.id)[:8]
        batch.append(
            (
                split_of(row, table.split_column), shuffled, span.id, row.place, span.path, span.start, span.end,
                span.name, span.guessed, movie, json.dumps(captions, ensure_ascii=False),
            )
        )  # fmt: skip
        if len(batch) == _BATCH:
            write()
    if first is None:
        raise VideoContrastError(f"{table.captions}: no rows")
    write()
    return first


def _check_splits(rows: sqlite3.Connection) -> None:
    """Raises a VideoContrastError where a clip stands in two splits."""
    twice = rows.execute(
        "SELECT a.place, a.id, a.split, b.split, b.place FROM rows a JOIN (SELECT id, split, place FROM rows GROUP BY "
        "id HAVING count(DISTINCT ifnull(split, '')) > 1 LIMIT 1) b ON a.id = b.id AND a.split IS NOT b.split LIMIT 1"
    ).fetchone()
    if twice:
        place, name, split, former, former_place = twice
        check_split(TableRow(place, {}), name, split, former=former, place=former_place)


def _clips(table: CaptionTable, rows: sqlite3.Connection, split: str | None) -> Iterator[CaptionedClip]:
    """The clips of a split that have a caption, in the order of their digests."""
    for _, group in groupby(rows.execute(_SORTED, (split,)), key=lambda row: row[2]):
        entry: ClipRows | None = None
        for _, _, _, place, path, start, end, name, guessed, movie, captions in group:
            span = Span(path, start, end, name, guessed=bool(guessed))
            entry = entry or ClipRows(span, movie)
            if name is not None:
                entry.span.check_same(span, place)
            elif span != entry.span:
                check_ids([clip_of(entry), clip_of(ClipRows(span, movie))], table.captions)
            entry.captions += json.loads(captions)
        if entry is not None and entry.captions:
            yield clip_of(entry)


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
    yield part
