"""Gathers the rows of a table of captions into clips, by SQLite: in memory, or on disk for a table of any size.

On disk rows are sorted by a digest of their clip: all rows of a clip come together wherever they stand in the table,
and each block of clips is a random sample of the set.
"""

import json
import sqlite3
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from itertools import groupby
from math import ceil
from pathlib import Path

from video_contrast.addresses import Address, open_binary, write_bytes
from video_contrast.builders.assembly.captioned_clip import CaptionedClip
from video_contrast.builders.registry import CorpusBlock, Cut
from video_contrast.builders.sources.caption_table import CAPTION, CaptionTable, Faults, PlacedRow, Span, check_split
from video_contrast.console import bar
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.seeds import digest

_BATCH = 10_000  # rows
_ROWS = """CREATE TABLE rows (
    split TEXT, ordered BLOB, id TEXT, place TEXT, path TEXT, start REAL, end REAL, name TEXT, guessed INTEGER,
    movie TEXT, captions TEXT)"""
_SIZES = """SELECT count(*), count(DISTINCT id), count(DISTINCT CASE WHEN captions != '[]' THEN id END),
    ifnull(sum(json_array_length(captions)), 0), ifnull(sum(captions = '[]'), 0) FROM rows WHERE split IS ?"""
_GUESSED = "SELECT count(DISTINCT path) FROM rows WHERE guessed AND split IS ?"
_SORTED = "SELECT * FROM rows WHERE split IS ? AND captions != '[]' ORDER BY ordered, id, rowid"
_OF_TWO = """SELECT a.place, a.id, a.{0}, b.{0}, b.place FROM rows a
    JOIN (SELECT id, {0}, place, min(rowid) FROM rows GROUP BY id HAVING count(DISTINCT ifnull({0}, '')) > 1) b
    ON a.id = b.id AND a.{0} IS NOT b.{0} ORDER BY a.rowid LIMIT 1"""


class TooManyCaptions(Exception):
    """A table has more captions than are read whole."""


@dataclass(frozen=True)
class CaptionRows:
    """The rows of a table of captions."""

    table: CaptionTable
    rows: sqlite3.Connection
    splits: Mapping[str, str | None]  # split that is built -> what the table calls it; None where no column says it

    # split -> its counts: "rows", "clips", "captions", "empty_captions", "clips_without_caption"
    sizes: Mapping[str, dict[str, int]]
    faults: Sequence[VideoContrastError] = ()  # of files that could not be read

    def counts(self) -> dict[str, int]:
        """The counts of all splits together."""
        sizes = list(self.sizes.values())
        return {name: sum(of_split[name] for of_split in sizes) for name in sizes[0]}

    def clips(self, split: str) -> Iterator[CaptionedClip]:
        """The clips of a split that have a caption, in order.

        Raises UsageError: two clips would have one id; VideoContrastError: one id stands for two spans.
        """
        for _, group in groupby(self.rows.execute(_SORTED, (self.splits[split],)), key=lambda row: row[2]):
            first, pool = None, ""
            captions: list[str] = []
            for _, _, _, place, path, start, end, name, ending_guessed, movie, texts in group:
                span = Span(path, start, end, name, ending_guessed=bool(ending_guessed))
                if first is None:
                    first, pool = span, movie
                if name is not None:
                    first.check_same(span, place)
                elif span != first:
                    raise UsageError(
                        f"{self.table.captions}: {first.path} and {path} would both have the id {span.id!r}; "
                        "give each clip an id of its own with --id-column"
                    )
                captions += json.loads(texts)
            assert first is not None  # a group has a row
            meta = {"movie": pool} if pool else {}
            yield CaptionedClip(
                first.id, captions=tuple(captions), cluster=first.video_id, pool=pool, meta=meta, **first.columns()
            )


@contextmanager
def caption_rows(table: CaptionTable, *, file: Path | None = None, most: int | None = None) -> Iterator[CaptionRows]:
    """Reads a table, and says what was taken for what; what was read is gone behind the block.

    `file`: a new one on disk, which holds the rows; clips are then in the order of a digest. Default: in memory, in the
    order of their first rows, and each of several files must be readable. `most`: captions that the table may have.

    Raises UsageError: no such file, column or split; VideoContrastError: a path that leaves the video root, a bad time,
    a clip in two splits or movies, a name that is none of a split (names the line), or no caption at all;
    TooManyCaptions: there are more captions than `most`.
    """
    # isolation_level None: `_store` says where a transaction begins
    with closing(sqlite3.connect(file or ":memory:", isolation_level=None)) as rows:
        rows.execute("PRAGMA journal_mode = OFF")  # a reading that ends early is begun anew
        rows.execute("PRAGMA synchronous = OFF")
        rows.execute(_ROWS)
        faults: Faults = [] if file else None
        first = _store(table, rows, most, faults)
        names = {name: name for (name,) in rows.execute("SELECT split FROM rows GROUP BY split ORDER BY min(rowid)")}
        if len(names) > 1 and (twice := rows.execute(_OF_TWO.format("split")).fetchone()):
            place, name, split, former, former_place = twice
            check_split(place, name, split, former=former, former_place=former_place)
        if table.movie_column and (twice := rows.execute(_OF_TWO.format("movie")).fetchone()):
            place, name, _, former, former_place = twice
            raise VideoContrastError(
                f"{place}: the clip {name!r} is of the movie {former!r} too, at {former_place}; give each clip one "
                "movie, or an id of its own with --id-column"
            )
        splits = table.built_splits(names)
        sizes = {}
        for split, name in splits.items():
            n_rows, n_clips, with_caption, captions, empty = rows.execute(_SIZES, (name,)).fetchone()
            sizes[split] = {"rows": n_rows, "clips": with_caption, "captions": captions, "empty_captions": empty}
            sizes[split]["clips_without_caption"] = n_clips - with_caption
        if not any(of_split["clips"] for of_split in sizes.values()):
            column = first.usual(table.caption_column, CAPTION)
            raise VideoContrastError(f"{table.captions}: every caption in column {column!r} is empty")
        without_ending = sum(rows.execute(_GUESSED, (name,)).fetchone()[0] for name in splits.values())
        table.say({split: of_split["rows"] for split, of_split in sizes.items()}, first, without_ending)
        yield CaptionRows(table, rows, splits, sizes, faults or ())


def read_splits(
    table: CaptionTable, *, most: int | None = None
) -> tuple[dict[str, list[CaptionedClip]], dict[str, int]]:
    """Reads the clips of a table.

    Rows of the same video, start and end (or of the same id) are one clip. Empty captions are counted and left out.
    Returns split -> clips in the order of their first rows, and the counts of `CaptionRows`. `most`: captions that the
    table may have. Raises UsageError, VideoContrastError, TooManyCaptions: as `caption_rows` and `CaptionRows.clips`.
    """
    with caption_rows(table, most=most) as rows:
        splits = {split: list(rows.clips(split)) for split in rows.splits}
        return {split: clips for split, clips in splits.items() if clips}, rows.counts()


def _store(table: CaptionTable, rows: sqlite3.Connection, most: int | None, faults: Faults) -> PlacedRow:
    """Stores every row of the table; returns the first. Where there are `faults`, it is streamed, and goes on disk."""
    first: PlacedRow | None = None
    places: dict[str, int] = {}  # of clips in the order of their first rows
    batch: list[tuple[object, ...]] = []
    n_captions = 0

    def write() -> None:
        rows.execute("BEGIN")
        rows.executemany(f"INSERT INTO rows VALUES ({','.join('?' * 11)})", batch)
        rows.execute("COMMIT")
        batch.clear()

    for row in bar(table.rows(streamed=faults is not None, faults=faults), desc="reading", unit="row"):
        first = first or row
        split, span = table.split_of(row), table.span(row)
        movie, captions = table.movie(row), table.texts(row)
        n_captions += len(captions)
        if most is not None and n_captions > most:
            raise TooManyCaptions
        order = places.setdefault(span.id, len(places)) if faults is None else digest("blocks", movie or span.id)[:8]
        batch.append(
            (
                split, order, span.id, row.place, span.path, span.start, span.end, span.name, span.ending_guessed,
                movie, json.dumps(captions),
            )
        )  # fmt: skip
        if len(batch) == _BATCH:
            write()
    if first is None:
        raise VideoContrastError("\n".join(map(str, faults or ())) or f"{table.captions}: no rows")
    write()
    return first


CLIPS = 5000  # of a block, about
CAPTIONS = 50_000  # of a block, at most about


def block_path(folder: Address, number: int) -> str:
    """The file of a block of clips."""
    return f"{folder}/clips/{number:05d}.jsonl"


def read_block(folder: Address, number: int) -> list[CaptionedClip]:
    """The clips of a block."""
    with open_binary(block_path(folder, number)) as handle:
        clips = [json.loads(line) for line in handle]
    return [CaptionedClip(**clip | {key: tuple(clip[key]) for key in ("captions", "other_captions")}) for clip in clips]


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
        return Cut(blocks, {"counts": rows.counts()}, rows.faults)


def _parts(clips: Iterator[CaptionedClip], count: int, most: int) -> Iterator[Sequence[CaptionedClip]]:
    """`most` parts of about equal size, fewer where a movie is larger than one."""
    part: list[CaptionedClip] = []
    part_number = 0
    for n, clip in enumerate(clips):
        place = n * most // count
        if part and place > part_number and (not clip.pool or clip.pool != part[-1].pool):
            yield part
            part = []
        if not part:
            part_number = place
        part.append(clip)
    if part:
        yield part
