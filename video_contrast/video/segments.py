"""A clip: a span of a video, or an edit of several, whose recipe is a list of segments (spans as they are shown)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from video_contrast.files import JsonObject, is_safe_relative


@dataclass(frozen=True, order=True)
class Segment:
    """A part of an edited clip."""

    video_path: str  # the file, relative to the video root, POSIX; "" for a pause, which is grey
    start: float  # seconds from the beginning of the file; 0 for a pause
    end: float  # seconds from the beginning of the file; the length of a pause
    speed: float = 1.0  # how fast it is played; 2 shows the span in half its time
    reversed: bool = False  # whether it is played backwards
    mirrored: bool = False  # whether left and right are swapped
    fade: float = 0.0  # seconds of cross-fade with the segment before it

    @property
    def seconds(self) -> float:
        """The seconds for which it is shown."""
        return (self.end - self.start) / self.speed

    def record(self) -> JsonObject:
        """The segment as a row stores it."""
        return asdict(self)


def pause(seconds: float) -> Segment:
    """A pause of grey frames.

    >>> pause(0.5).seconds
    0.5
    """
    return Segment("", 0.0, seconds)


def segments_of(row: Mapping[str, Any]) -> tuple[Segment, ...]:
    """The segments of a row; () where its clip is a span of one file."""
    return tuple(Segment(**part) for part in row.get("segments") or ())


def segments_problem(parts: Sequence[Mapping[str, Any]] | None) -> str | None:
    """The fault of a row's segments; None where there is none.

    >>> segments_problem([Segment("a.mp4", 2.0, 1.0).record()])
    'segment 0 ends at 1.0, not after its start 2.0'
    """
    if not parts:
        return "needs at least one segment"
    try:
        segments = [Segment(**part) for part in parts]
    except TypeError as error:
        return f"is no list of segments: {error}"
    for number, segment in enumerate(segments):
        if segment.video_path and not is_safe_relative(segment.video_path):
            return f"segment {number}: {segment.video_path!r} must be relative, with '/' and without '..'"
        numbers = (segment.start, segment.end, segment.speed, segment.fade)
        if not all(isinstance(value, int | float) and math.isfinite(value) and value >= 0 for value in numbers):
            return f"segment {number} has a time that is no number from 0 on: {numbers}"
        if segment.end <= segment.start:
            return f"segment {number} ends at {segment.end}, not after its start {segment.start}"
        if segment.speed == 0:
            return f"segment {number} has the speed 0"
        following = segments[number + 1].fade if number + 1 < len(segments) else 0.0
        if segment.fade + following > segment.seconds or (number == 0 and segment.fade):
            return f"segment {number} is shorter than its cross-fades, or fades in with none before it"
    if all(not segment.video_path for segment in segments):
        return "shows no video"
    return None


@dataclass(frozen=True, order=True, slots=True)
class Clip:
    """One clip. Equal clips are decoded and encoded once."""

    video_id: str  # the name of the video; random perturbations are seeded by it
    video_path: str  # the file, relative to the video root, POSIX; the first one of an edited clip
    start: float | None = None  # seconds from the beginning of the file; None is the beginning
    end: float | None = None  # seconds from the beginning of the file; None is the end
    segments: tuple[Segment, ...] = ()  # parts of an edited clip; () for a span of one file

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Clip:
        """The clip of a row."""
        return cls(row["video_id"], row["video_path"], row["start"], row["end"], segments_of(row))

    @property
    def name(self) -> str:
        """The clip's name in records: its file, or the name of an edited clip."""
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
