"""Reads tables of captions: files of every kind that `table_file` reads, or a data set of the Hub, row by row.

Every row comes with its place in the file, so that an error can name it. `CaptionTable` says which of its columns is
what, where the user names them, and which clip a row is of.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Annotated, NamedTuple, TypeVar

from video_contrast.addresses import explained, filesystem, is_remote
from video_contrast.builders.assembly.captioned_clip import VideoSpan
from video_contrast.console import counted, note
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import Json, is_safe_relative
from video_contrast.hub import set_of_hub
from video_contrast.rows import AnyRow
from video_contrast.storage.set_folder import Facts
from video_contrast.storage.table_columns import lies_there, plain_name, with_ending
from video_contrast.storage.table_file import ENCODING, SUFFIXES, read_table_file

_HUB_NAME = re.compile(r"[\w.-]+(/[\w.-]+)?")


class PlacedRow(NamedTuple):
    """A row of a table, and where it stands ("captions.csv, line 2")."""

    place: str
    cells: AnyRow

    def value(self, column: str, option: str) -> Json:
        """The value of a column; one that the table lacks is an error that lists those it has and names the option."""
        if column not in self.cells:
            names = ", ".join(map(str, self.cells))
            how = f"Choose with {option}" if option.startswith("--") else f"It needs {option}"
            raise UsageError(f"{self.place}: no column {column!r}; the table has {names}. {how}")
        return self.cells[column]

    def usual(self, column: str | None, usual: Sequence[str]) -> str:
        """The column that the user names; else the first of usual names that the table has, or the first of all."""
        if column is not None or usual[0] in self.cells:
            return column or usual[0]
        columns = {plain_name(column): column for column in reversed(list(self.cells))}  # the first of two
        return next((columns[name] for name in usual if name in columns), usual[0])

    def texts(self, column: str, option: str) -> list[str]:
        """The captions in a cell: one text, or a list of texts (JSON, parquet, Hub). Raises VideoContrastError: deeper.

        >>> PlacedRow("line 2", {"caption": [" a man  runs ", None, " "]}).texts("caption", "--caption-column")
        ['a man runs']
        """
        value = self.value(column, option)
        cells: Sequence[Json] = value if isinstance(value, list | tuple) else [value]
        if nested_cells := [cell for cell in cells if isinstance(cell, dict | list)]:
            what = f"column {column!r} must hold a text or a list of texts, not {str(nested_cells[0])[:80]}"
            raise VideoContrastError(f"{self.place}: {what}")
        return [text for cell in cells if cell is not None and (text := " ".join(str(cell).split()))]

    def text(self, column: str, option: str) -> str:
        """The one caption in a cell. Raises VideoContrastError: it holds none, or several."""
        texts = self.texts(column, option)
        if len(texts) != 1:
            raise VideoContrastError(f"{self.place}: the column {column!r} must hold one text")
        return texts[0]

    def clip_name(self) -> str:
        """The name of a row's clip, in a column `clip`, `video_id` or `id`."""
        return self.text(self.usual(None, ("clip", "video_id", "id")), "a column clip, video_id or id")


Faults = list[VideoContrastError] | None  # faults of files that are passed over; None: no file is


def read_table(
    source: str | Path,
    *,
    split: str | None = None,
    encoding: str = ENCODING,
    delimiter: str | None = None,
    streamed: bool = False,
    faults: Faults = None,
) -> Iterator[PlacedRow]:
    """Yields the rows of a table in the order of the file.

    `source`: a file with a suffix of `table_file.SUFFIXES` (in .tsv quotation marks are text, as in the released
    contrast sets), its address (`s3://...`), a pattern of several (`captions-*.parquet`), or the name of a data set of
    the Hub (`owner/name`, or `owner/name:config`), of which `split` is read (`test` by default), if `streamed` as it
    comes and not as a whole first. `encoding`, `delimiter`: as of `read_table_file`. `faults`: as of `read_files`.

    Raises UsageError: neither a file nor the name of a data set; a suffix that is not known; VideoContrastError: the
    file is not UTF-8, a column is named twice, a quotation mark is never closed, a row has another number of fields
    than the header, or a line is not JSON; the message names the line.
    """
    path = Path(source)
    if files := table_files(source):
        yield from read_files(files, encoding=encoding, delimiter=delimiter, faults=faults)
        return
    if path.is_dir():
        raise UsageError(f"{path} is a folder; give the file of captions in it")
    name, _, config = str(source).partition(":")
    if path.suffix.lower() in SUFFIXES or not _HUB_NAME.fullmatch(name):
        raise UsageError(f"no such file: {source}")
    import datasets

    with set_of_hub(name):
        rows = datasets.load_dataset(name, config or None, split=split or "test", streaming=streamed)
    # Reading a Video or Image column would decode it; only its path is wanted.
    for column_name, feature in (rows.features or {}).items():
        if isinstance(feature, datasets.Video | datasets.Image | datasets.Audio):
            rows = rows.cast_column(column_name, type(feature)(decode=False))
    for number, row in enumerate(rows):
        cells = {key: v["path"] if isinstance(v, dict) and set(v) == {"bytes", "path"} else v for key, v in row.items()}
        yield PlacedRow(f"{name}, row {number}", cells)


def read_files(
    files: Sequence[str | Path], *, encoding: str = ENCODING, delimiter: str | None = None, faults: Faults = None
) -> Iterator[PlacedRow]:
    """Yields the rows of one file after the other.

    `encoding`, `delimiter`: as of `read_table_file`. `faults`: takes what is wrong with each of several files that
    cannot be read, while the others are; without it, all that is raised as one error at the end.
    """
    errors: list[VideoContrastError] = [] if faults is None else faults
    for file in files:
        try:
            table = read_table_file(file, encoding=encoding, delimiter=delimiter, marks=False)
            for number, row in table.numbered:
                yield PlacedRow(f"{PurePosixPath(file).name}, {table.unit} {number}", row)
        except VideoContrastError as error:
            if len(files) == 1:
                raise
            errors.append(error)
    if errors and faults is None:
        raise VideoContrastError("\n".join(map(str, errors)))


def table_files(source: str | Path) -> list[str]:
    """The files of a table by their addresses; none where the source is no file and no pattern of files."""
    is_file = not is_remote(source) and Path(source).is_file()
    if is_file or not any(mark in str(source) for mark in "*?["):
        return [str(source)] if is_file or is_remote(source) else []
    with explained(source):
        system, path = filesystem(source)
        paths = sorted(map(str, system.glob(path)))
        return [system.unstrip_protocol(file) if is_remote(source) else file for file in paths]


def _as_text(value: Json) -> str:
    return "" if value is None else str(value)


def seconds(value: Json, name: str, place: str) -> float | None:
    """A time in seconds from a cell; empty means none. Raises VideoContrastError: no number; names row and column."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    try:
        time = float(value)
    except (TypeError, ValueError):
        time = math.nan
    if not math.isfinite(time):
        raise VideoContrastError(f"{place}: column {name!r} must be seconds, not {value!r}")
    return time


SPLITS = ("train", "validation", "test")  # that a column `split` may hold, where the user does not name it
DEFAULT = "test"  # split of rows without any
NO_COLUMN = "none"  # the name by which a user has the column `split` ignored
Part = TypeVar("Part")
# Columns that are taken where none is named, the first that a table has.
VIDEO = ("video", "video_path", "video_file", "file", "filename", "file_name", "video_name", "video_id")
CAPTION = ("caption", "captions", "sentence", "text")


@dataclass(frozen=True, kw_only=True)
class VideoTable:
    """A table of videos: where it is, and which of its columns say which clip a row is of."""

    captions: Annotated[str, "table of captions: .csv .tsv .xlsx .jsonl .json .parquet .zip, or a set of the Hub"]
    video_column: Annotated[str | None, "column of the path below the video root; default: video or a usual name"] = (
        None
    )
    id_column: Annotated[str | None, "column with the clip's id; default: the video file without its suffix"] = None
    start_column: Annotated[str | None, "column with the clip's start in seconds"] = None
    end_column: Annotated[str | None, "column with the clip's end in seconds"] = None
    video_root: Annotated[Path | None, "folder that absolute paths of the table are made relative to"] = None
    source_split: Annotated[str | None, "split of the Hub data set"] = None
    split: Annotated[str | None, "split to write, or of the column's splits to build; default: test, or all"] = None
    split_column: Annotated[str | None, "column of the split, or none; default: split (train, validation, test)"] = None
    title: Annotated[str | None, "title of the set's card"] = None
    licence: Annotated[str | None, "licence of the set: the Hub's name of one (cc-by-4.0), or in words"] = None
    language: Annotated[str, "language of the captions, as its code"] = "en"
    encoding: Annotated[str, "encoding of a text file"] = ENCODING
    delimiter: Annotated[str | None, "delimiter of a CSV file; default: the one that its header holds"] = None

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[a-z]{2,3}(-[A-Za-z0-9]+)*|multilingual", self.language):  # the Hub refuses such a card
            raise UsageError(f"--language {self.language}: give the code of the language, such as en, de or zh")

    def rows(self, source: str | None = None, *, streamed: bool = False, faults: Faults = None) -> Iterator[PlacedRow]:
        """The rows of the table, or of another one in the same form; `streamed`, `faults` as of `read_table`."""
        return read_table(
            source or self.captions, split=None if source else self.source_split, encoding=self.encoding,
            delimiter=self.delimiter, streamed=streamed, faults=faults,
        )  # fmt: skip

    def card_facts(self) -> Facts:
        """The facts that the user gives of the set for its card."""
        is_id = re.fullmatch(r"[a-z0-9]+(-[a-z0-9.]+)*", self.licence or "")
        facts = {"pretty_name": self.title, "licence": self.licence, "language": [self.language]}
        facts |= {"licence_id": self.licence} if is_id else {}
        return {name: value for name, value in facts.items() if value}

    def source_name(self) -> str:
        """The name of the file, or of the data set."""
        return Path(self.captions).name if Path(self.captions).is_file() else self.captions

    def span(self, row: PlacedRow) -> "Span":
        """The clip that a row is of.

        Raises UsageError: no such column; VideoContrastError: a path that leaves the video root, or a bad time.
        """
        place = row.place
        column = row.usual(self.video_column, VIDEO)
        file = _as_text(row.value(column, "--video-column")).strip()
        is_absolute = Path(file).is_absolute()
        if is_absolute and self.video_root is not None:
            try:
                file = Path(file).resolve().relative_to(self.video_root.resolve()).as_posix()
            except ValueError:
                why = f"{file!r} does not lie under --video-root {self.video_root}"
                raise VideoContrastError(f"{place}: {why}") from None
        file = file.removeprefix("./")
        if not is_safe_relative(file):
            hint = "; give --video-root" if is_absolute else ""
            raise VideoContrastError(
                f"{place}: column {column!r} must be a path relative to the video root, with '/' and "
                f"without '..', not {file!r}{hint}"
            )
        path = with_ending(file, self.video_root)
        start, end = (
            seconds(row.value(name, option), name, place) if name else None
            for name, option in ((self.start_column, "--start-column"), (self.end_column, "--end-column"))
        )
        both = row.cells.get("timestamps")  # of ActivityNet's form
        if self.start_column is self.end_column is None and isinstance(both, list) and len(both) == 2:
            start, end = (seconds(time, "timestamps", place) for time in both)
        if end is not None and end <= (start or 0):
            raise VideoContrastError(f"{place}: the clip ends at {end:g} s, not after its start {start or 0:g}")
        name = None
        if self.id_column and not (name := _as_text(row.value(self.id_column, "--id-column"))):
            raise VideoContrastError(f"{place}: column {self.id_column!r} must hold the clip's id, and is empty")
        return Span(path, start, end, name, ending_guessed=path != file and not lies_there(path, self.video_root))

    def say(self, rows: Mapping[str, int], first: PlacedRow | None, guesses: int) -> None:
        """Says what was taken for what; `guesses` videos have no ending and do not lie under the video root."""
        column = None if first is None else self._split_column(first)
        if column is not None:
            sizes = ", ".join(f"{name} {count:,}" for name, count in rows.items())
            note(f"{self.source_name()}: rows by their column {column!r}: {sizes}")
        if first is not None and (videos := first.usual(self.video_column, VIDEO)) not in (self.video_column, VIDEO[0]):
            note(f"{self.source_name()}: videos by their column {videos!r}")
        if guesses:
            text = f"{counted(guesses, 'video')} {'is' if guesses == 1 else 'are'} named without an ending"
            note(f"{self.source_name()}: {text}: taken for .mp4 (--video-root finds others where they lie)")

    def _split_column(self, row: PlacedRow) -> str | None:
        """The column that holds the split of a row; None where there is none."""
        if self.split_column is None:
            column = row.usual(None, ("split",))
            return column if column in row.cells else None
        return None if self.split_column == NO_COLUMN else self.split_column

    def split_of(self, row: PlacedRow) -> str | None:
        """The split of a row; None where no column says it, `DEFAULT` where its cell is empty.

        Raises UsageError: no such column; VideoContrastError: no name of a split, or none of `SPLITS` in a column that
        the user did not name.
        """
        column = self._split_column(row)
        if column is None:
            return None
        value = row.value(column, "--split-column")
        name = str(value).strip() if value is not None else ""
        if self.split_column is None and name and name not in SPLITS:
            raise VideoContrastError(
                f"{row.place}: the split {name!r} in the column {column!r} is none of {', '.join(SPLITS)}; rename it, "
                f"or give --split-column {column} for names of your own, --split-column {NO_COLUMN} for one split of "
                "all rows"
            )
        if name and not re.fullmatch(r"\w+", name, re.ASCII):
            raise VideoContrastError(f"{row.place}: the split {name!r} must be letters, digits and '_'")
        return name or DEFAULT

    def built_splits(self, by_split: Mapping[str | None, Part]) -> dict[str, Part]:
        """The splits to build: those of the column, or the one that is asked for; rows without a column are one split.

        `by_split`: what was read by split; under None where no column said it. Raises UsageError: the column does not
        hold the split that is asked for.
        """
        by_name = {name: part for name, part in by_split.items() if name is not None}
        if not by_name:
            return dict.fromkeys([self.split or DEFAULT], by_split[None])
        if self.split is None:
            order = {name: place for place, name in enumerate(SPLITS)}
            return {name: by_name[name] for name in sorted(by_name, key=lambda name: order.get(name, len(order)))}
        if self.split not in by_name:
            raise UsageError(
                f"{self.source_name()} has no split {self.split!r}, only {', '.join(by_name)}; --split-column "
                f"{NO_COLUMN} writes all rows under that name"
            )
        return {self.split: by_name[self.split]}


@dataclass(frozen=True, kw_only=True)
class CaptionTable(VideoTable):
    """A table of videos with a caption, or several, a row."""

    caption_column: Annotated[str | None, "column of the caption, or a list; default: caption, or a usual name"] = None
    movie_column: Annotated[str | None, "column with the movie: distractors and names come from the same movie"] = None
    training: Annotated[str | None, "table of training captions (same columns), added to the package's counts"] = None

    def texts(self, row: PlacedRow) -> list[str]:
        """The captions of a row."""
        return row.texts(row.usual(self.caption_column, CAPTION), "--caption-column")

    def movie(self, row: PlacedRow) -> str:
        """The movie of a row; "" where no column says it."""
        return str(row.value(self.movie_column, "--movie-column")) if self.movie_column else ""


def check_split(place: str, clip: str, split: str | None, *, former: str | None, former_place: str) -> None:
    """Raises a VideoContrastError where a clip that an earlier row has in one split stands in another."""
    if split != former:
        raise VideoContrastError(f"{place}: the clip {clip!r} is of {former or DEFAULT!r} too, at {former_place}")


@dataclass(frozen=True)
class Span(VideoSpan):
    """A span of a video as a row of a table names it."""

    name: str | None = None  # the id that the row gives
    ending_guessed: bool = field(default=False, compare=False)  # whether the ending of the file is

    @property
    def id(self) -> str:
        """The given id; else the video and its times."""
        if self.name is not None:
            return self.name
        if self.start is None and self.end is None:
            return self.video_id
        return f"{self.video_id}_{self.start or 0:g}" + (f"_{self.end:g}" if self.end is not None else "")

    def check_same(self, later: "Span", place: str) -> None:
        """Raises a VideoContrastError where a later row, at `place`, has this id for another span."""
        if later != self:
            before, now = ((s.path, s.start, s.end) for s in (self, later))
            raise VideoContrastError(f"{place}: id {later.name!r} stands for {before} and for {now}")


def training_videos(table: CaptionTable) -> dict[str, list[str]]:
    """Returns the captions of the training table by video (column `--video-column`); its faults name the option."""
    videos: dict[str, list[str]] = {}
    try:
        for row in table.rows(str(table.training)):
            name = str(row.value(row.usual(table.video_column, VIDEO), "--video-column"))
            videos.setdefault(name, []).extend(table.texts(row))
    except UsageError as error:
        raise UsageError(f"--training: {error}") from error
    return videos
