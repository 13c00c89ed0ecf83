"""Reads clips from a table of videos and captions whose columns the user names."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from video_contrast.builders.assembly.captioned_clip import CaptionedClip, VideoSpan
from video_contrast.builders.sources.caption_table import TableRow, read_table, seconds
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import is_safe_relative
from video_contrast.storage.set_records import Facts


@dataclass(frozen=True, kw_only=True)
class VideoTable:
    """A table of videos: where it is, and which of its columns say which clip a row is of."""

    captions: Annotated[str, "table of captions: .csv .tsv .xlsx .jsonl .json .parquet .zip, or a set of the Hub"]
    video_column: Annotated[str, "column with the video file, relative to the video root"] = "video"
    id_column: Annotated[str | None, "column with the clip's id; default: the video file without its suffix"] = None
    start_column: Annotated[str | None, "column with the clip's start in seconds"] = None
    end_column: Annotated[str | None, "column with the clip's end in seconds"] = None
    video_root: Annotated[Path | None, "folder that absolute paths of the table are made relative to"] = None
    source_split: Annotated[str | None, "split of the Hub data set"] = None
    split: Annotated[str, "name of the split that is written"] = "test"
    title: Annotated[str | None, "title of the set's card"] = None
    licence: Annotated[str | None, "licence of the set: the Hub's name of one (cc-by-4.0), or in words"] = None
    language: Annotated[str, "language of the captions, as its code"] = "en"

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[a-z]{2,3}(-[A-Za-z0-9]+)*|multilingual", self.language):  # the Hub refuses such a card
            raise UsageError(f"--language {self.language}: give the code of the language, such as en, de or zh")

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

        Raises:
            UsageError: no such column.
            VideoContrastError: a path that leaves the video root, or a bad time; names the line.
        """
        place = row.place
        path = self._relative(row.value(self.video_column, "--video-column"), place)
        start, end = (
            seconds(row.value(name, option), name, place) if name else None
            for name, option in ((self.start_column, "--start-column"), (self.end_column, "--end-column"))
        )
        if end is not None and end <= (start or 0):
            raise VideoContrastError(f"{place}: the clip ends at {end:g} s, not after its start {start or 0:g}")
        name = str(row.value(self.id_column, "--id-column")) if self.id_column else None
        return Span(path, start, end, name)

    def _relative(self, value: object, place: str) -> str:
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
                f"{place}: column {self.video_column!r} must be a path relative to the video root, with '/' and "
                f"without '..', not {text!r}{hint}"
            )
        return text


@dataclass(frozen=True, kw_only=True)
class CaptionTable(VideoTable):
    """A table of videos with a caption, or several, a row."""

    caption_column: Annotated[str, "column with the caption, or a list of captions"] = "caption"
    movie_column: Annotated[str | None, "column with the movie: distractors and names come from the same movie"] = None
    training: Annotated[
        str | None,
        "table of training captions (same columns) whose words are counted; default: the captions themselves",
    ] = None


@dataclass(frozen=True)
class Span(VideoSpan):
    """A span of a video as a row of a table names it."""

    name: str | None = None  # the id that the row gives

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


@dataclass
class _Rows:
    """What the rows of one clip say."""

    span: Span
    movie: str
    captions: list[str] = field(default_factory=list)


def read_clips(table: CaptionTable) -> tuple[list[CaptionedClip], dict[str, int]]:
    """Reads the clips of a table.

    Rows of the same video, start and end (or of the same id) are one clip. Empty captions are counted and left out.

    Returns:
        Clips in the order of their first rows, and counts ("rows", "clips", "captions", "empty_captions",
        "clips_without_caption").

    Raises:
        UsageError: no such file or column, or two clips would have one id.
        VideoContrastError: a path that leaves the video root, a bad time, or one id for two videos; names the line.
    """
    by_name: dict[Span | str, _Rows] = {}
    rows = empty = 0
    for row in read_table(table.captions, split=table.source_split):
        rows += 1
        span = table.span(row)
        movie = str(row.value(table.movie_column, "--movie-column")) if table.movie_column else ""
        captions = row.texts(table.caption_column, "--caption-column")
        empty += not captions
        entry = by_name.setdefault(span if span.name is None else span.name, _Rows(span, movie))
        entry.span.check_same(span, row.place)
        entry.captions += captions
    if not rows:
        raise VideoContrastError(f"{table.captions}: no rows")
    clips = [_clip(entry) for entry in by_name.values() if entry.captions]
    if not clips:
        raise VideoContrastError(f"{table.captions}: every caption in column {table.caption_column!r} is empty")
    check_ids(clips, table.captions)
    captions_kept = sum(len(clip.captions) for clip in clips)
    counts = {"rows": rows, "clips": len(clips), "captions": captions_kept, "empty_captions": empty}
    return clips, counts | {"clips_without_caption": len(by_name) - len(clips)}


def training_captions(table: CaptionTable, clips: list[CaptionedClip]) -> list[str]:
    """The captions whose words are counted: those of the training table, or of the clips themselves."""
    if table.training is None:
        return [text for clip in clips for text in clip.captions]
    rows = _training_rows(table)
    return [text for row in rows for text in row.texts(table.caption_column, "--caption-column")]


def training_videos(table: CaptionTable) -> dict[str, list[str]]:
    """Returns the captions of the training table by video (column `--video-column`)."""
    videos: dict[str, list[str]] = {}
    for row in _training_rows(table):
        name = str(row.value(table.video_column, "--video-column"))
        videos.setdefault(name, []).extend(row.texts(table.caption_column, "--caption-column"))
    return videos


def _training_rows(table: CaptionTable) -> Iterator[TableRow]:
    """The rows of the training table; what is wrong with it is said of the option."""
    try:
        yield from read_table(str(table.training))
    except UsageError as error:
        raise UsageError(f"--training: {error}") from error


def check_ids(clips: list[CaptionedClip], source: str) -> None:
    """Raises a UsageError if two clips have one id."""
    by_id: dict[str, CaptionedClip] = {}
    for clip in clips:
        other = by_id.setdefault(clip.id, clip)
        if other is not clip:
            raise UsageError(
                f"{source}: {other.video_path} and {clip.video_path} would both have the id {clip.id!r}; "
                "give each clip an id of its own with --id-column"
            )


def _clip(entry: _Rows) -> CaptionedClip:
    span = entry.span
    return CaptionedClip(
        id=span.id,
        captions=tuple(entry.captions),
        cluster=span.video_id,
        pool=entry.movie,
        meta={"movie": entry.movie} if entry.movie else {},
        **span.columns(),
    )
