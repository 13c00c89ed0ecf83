"""A clip: a span of a video file, or an edit of several. The one class that names what is decoded and scored."""

from __future__ import annotations

from dataclasses import dataclass

from video_contrast.row_parts import AnyRow
from video_contrast.video.segments import Segment, segments_of


@dataclass(frozen=True, order=True)
class Clip:
    """One clip. Equal clips are decoded and encoded once."""

    video_id: str  # the name of the video; random perturbations are seeded by it
    video_path: str  # the file, relative to the video root, POSIX; the first one of an edited clip
    start: float | None = None  # seconds from the beginning of the file; None is the beginning
    end: float | None = None  # seconds from the beginning of the file; None is the end
    segments: tuple[Segment, ...] = ()  # what an edited clip is put together from; () for a span of one file

    @classmethod
    def of(cls, row: AnyRow) -> Clip:
        """The clip of a row."""
        return cls(row["video_id"], row["video_path"], row["start"], row["end"], segments_of(row))

    @property
    def name(self) -> str:
        """What it is called in records: its file, or the name of an edited clip."""
        return self.video_id if self.segments else self.video_path

    @property
    def paths(self) -> tuple[str, ...]:
        """The files that it is made from, each once."""
        parts = (segment.video_path for segment in self.segments if segment.video_path)
        return tuple(dict.fromkeys((self.video_path, *parts)))

    @property
    def sort_key(self) -> tuple[str, str, float, float]:
        """Orders clips, so that segments of one file follow each other."""
        return (self.video_path, self.video_id, self.start or 0.0, self.end if self.end is not None else -1.0)
