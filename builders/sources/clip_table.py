"""Reads clips from a table of videos and captions whose columns the user names."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, TypeVar

from video_contrast.builders.assembly.captioned_clip import VideoSpan
from video_contrast.builders.sources.caption_table import TableRow, read_table, seconds
from video_contrast.console import counted, note
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import is_safe_relative
from video_contrast.storage.set_records import Facts
from video_contrast.storage.table_columns import lies_there, with_ending
from video_contrast.storage.table_file import ENCODING

SPLITS = ("train", "validation", "test")  # that a column `split` may hold, where the user does not name it
DEFAULT = "test"  # split of rows without any
NO_COLUMN = "none"  # what a user gives to have the column `split` ignored
Part = TypeVar("Part")
# Columns that are taken where none is named, the first that a table has.
VIDEO = ("video", "video_path", "video_file", "file", "filename", "file_name", "video_name", "video_id")
CAPTION = ("caption", "captions", "sentence", "text")


@dataclass(frozen=True, kw_only=True)
class VideoTable:
    """A table of videos: where it is, and which of its columns say which clip a row is of."""

    captions: Annotated[str, "table of captions: .csv .tsv .xlsx .jsonl .json .parquet .zip, or a set of the Hub"]
    video_column: Annotated[
        str | None, "column with the video file, relative to the video root; default: video, or another usual name"
    ] = None
    id_column: Annotated[str | None, "column with the clip's id; default: the video file without its suffix"] = None
    start_column: Annotated[str | None, "column with the clip's start in seconds"] = None
    end_column: Annotated[str | None, "column with the clip's end in seconds"] = None
    video_root: Annotated[Path | None, "folder that absolute paths of the table are made relative to"] = None
    source_split: Annotated[str | None, "split of the Hub data set"] = None
    split: Annotated[
        str | None,
        "name of the split that is written, or of the column's splits the one to build; default: test, or all",
    ] = None
    split_column: Annotated[
        str | None,
        "column with the split of each row, none: there is none; default: a column split (train, validation, test)",
    ] = None
    title: Annotated[str | None, "title of the set's card"] = None
    licence: Annotated[str | None, "licence of the set: the Hub's name of one (cc-by-4.0), or in words"] = None
    language: Annotated[str, "language of the captions, as its code"] = "en"
    encoding: Annotated[str, "encoding of a text file"] = ENCODING
    delimiter: Annotated[str | None, "delimiter of a CSV file; default: the one that its header holds"] = None

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[a-z]{2,3}(-[A-Za-z0-9]+)*|multilingual", self.language):  # the Hub refuses such a card
            raise UsageError(f"--language {self.language}: give the code of the language, such as en, de or zh")

    def rows(
        self,
        source: str | None = None,
        *,
        streamed: bool = False,
        faults: list[VideoContrastError] | None = None,
    ) -> Iterator[TableRow]:
        """The rows of the table, or of another one in the same form; `streamed`, `faults` as of `read_table`."""
        return read_table(
            source or self.captions, split=None if source else self.source_split, encoding=self.encoding,
            delimiter=self.delimiter, streamed=streamed, faults=faults,
        )  # fmt: skip

    def card_facts(self) -> Facts:
        """What the user says of the set for its card."""
        known = re.fullmatch(r"[a-z0-9]+(-[a-z0-9.]+)*", self.licence or "")
        facts = {
            "pretty_name": self.title,
            "licence": self.licence,
            "licence_id": self.licence if known else None,
            "language": [self.language],
        }
        return {name: value for name, value in facts.items() if value}

    def source_name(self) -> str:
        """The name of the file, or of the data set."""
        return Path(self.captions).name if Path(self.captions).is_file() else self.captions

    def span(self, row: TableRow) -> "Span":
        """The clip that a row is of.

        Raises UsageError: no such column; VideoContrastError: a path that leaves the video root, or a bad time; names
        the line.
        """
        place = row.place
        column = row.usual(self.video_column, VIDEO)
        named = self._relative(row.value(column, "--video-column"), column, place)
        path = with_ending(named, self.video_root)
        start, end = (
            seconds(row.value(name, option), name, place) if name else None
            for name, option in ((self.start_column, "--start-column"), (self.end_column, "--end-column"))
        )
        both = row.cells.get("timestamps")  # of ActivityNet's form
        if self.start_column is self.end_column is None and isinstance(both, list) and len(both) == 2:
            start, end = (seconds(time, "timestamps", place) for time in both)
        if end is not None and end <= (start or 0):
            raise VideoContrastError(f"{place}: the clip ends at {end:g} s, not after its start {start or 0:g}")
        name = str(row.value(self.id_column, "--id-column")) if self.id_column else None
        return Span(path, start, end, name, guessed=path != named and not lies_there(path, self.video_root))

    def say(self, rows: Mapping[str, int], first: TableRow | None, guessed: int) -> None:
        """Says what was taken for what; `guessed` videos have no ending and do not lie under the video root."""
        column = None if first is None else self._split_column(first)
        if column is not None:
            sizes = ", ".join(f"{name} {count:,}" for name, count in rows.items())
            note(f"{self.source_name()}: rows by their column {column!r}: {sizes}")
        if first is not None and (videos := first.usual(self.video_column, VIDEO)) not in (self.video_column, VIDEO[0]):
            note(f"{self.source_name()}: videos by their column {videos!r}")
        if guessed:
            named = f"{counted(guessed, 'video')} {'is' if guessed == 1 else 'are'} named without an ending"
            note(f"{self.source_name()}: {named}: taken for .mp4 (--video-root finds others where they lie)")

    def _split_column(self, row: TableRow) -> str | None:
        """The column that holds the split of a row; None where there is none."""
        if self.split_column is None:
            column = row.usual(None, ("split",))
            return column if column in row.cells else None
        return None if self.split_column == NO_COLUMN else self.split_column

    def split_of(self, row: TableRow) -> str | None:
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

    def _relative(self, value: object, column: str, place: str) -> str:
        """A video's path as the tables store it: relative to the video root, POSIX."""
        text = str(value or "").strip()
        path = Path(text)
        if path.is_absolute() and self.video_root is not None:
            try:
                text = path.resolve().relative_to(self.video_root.resolve()).as_posix()
            except ValueError:
                why = f"{text!r} does not lie under --video-root {self.video_root}"
                raise VideoContrastError(f"{place}: {why}") from None
        text = text.removeprefix("./")
        if not is_safe_relative(text):
            hint = "; give --video-root" if path.is_absolute() else ""
            raise VideoContrastError(
                f"{place}: column {column!r} must be a path relative to the video root, with '/' and "
                f"without '..', not {text!r}{hint}"
            )
        return text


@dataclass(frozen=True, kw_only=True)
class CaptionTable(VideoTable):
    """A table of videos with a caption, or several, a row."""

    caption_column: Annotated[
        str | None, "column with the caption, or a list of captions; default: caption, or another usual name"
    ] = None
    movie_column: Annotated[str | None, "column with the movie: distractors and names come from the same movie"] = None
    training: Annotated[
        str | None,
        "table of training captions (same columns), which are added to the counts of the package",
    ] = None

    def texts(self, row: TableRow) -> list[str]:
        """The captions of a row."""
        return row.texts(row.usual(self.caption_column, CAPTION), "--caption-column")

    def movie(self, row: TableRow) -> str:
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
    guessed: bool = field(default=False, compare=False)  # whether the ending of the file is

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
    """Returns the captions of the training table by video (column `--video-column`)."""
    videos: dict[str, list[str]] = {}
    for row in _training_rows(table):
        name = str(row.value(row.usual(table.video_column, VIDEO), "--video-column"))
        videos.setdefault(name, []).extend(table.texts(row))
    return videos


def _training_rows(table: CaptionTable) -> Iterator[TableRow]:
    """The rows of the training table; what is wrong with it is said of the option."""
    try:
        yield from table.rows(str(table.training))
    except UsageError as error:
        raise UsageError(f"--training: {error}") from error
