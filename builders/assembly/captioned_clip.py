"""A captioned clip: what every builder of real sets reads its source into."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypedDict
from unicodedata import normalize

import numpy as np

from video_contrast.rows import RetrievalRow, retrieval_row
from video_contrast.seeds import Streams


class ClipSpan(TypedDict):
    """The columns of a row that name its clip."""

    video_id: str
    video_path: str
    start: float | None
    end: float | None


@dataclass(frozen=True)
class VideoSpan:
    """A video file, or a span of it."""

    path: str  # relative to the video root
    start: float | None = None  # seconds
    end: float | None = None

    @property
    def video_id(self) -> str:
        """The path without its suffix."""
        head, dot, tail = self.path.rpartition(".")
        return head if dot and "/" not in tail else self.path

    def columns(self) -> ClipSpan:
        """Returns the columns of a row that name its clip."""
        return {"video_id": self.video_id, "video_path": self.path, "start": self.start, "end": self.end}


@dataclass(frozen=True, slots=True)
class CaptionedClip:
    """One clip and what people wrote about it."""

    id: str  # unique in its split
    video_id: str  # the name of the video
    video_path: str  # relative to the video root
    captions: tuple[str, ...]  # at least one, none empty; the same text may stand twice
    cluster: str  # the source video; items of one cluster are not independent, and never distract each other
    pool: str = ""  # distractors come from clips of the same pool (a movie); all clips are one pool by default
    start: float | None = None
    end: float | None = None
    siblings: tuple[str, ...] = ()  # true captions that must not stand in the set; they only reject contrasts
    meta: Mapping[str, object] = field(default_factory=dict)  # further columns, JSON-able

    @property
    def names(self) -> tuple[str, str, str]:
        """What a table may call it: its id, its video's id, or its video's file."""
        return self.id, self.video_id, self.video_path

    def truths(self) -> set[str]:
        """Everything that is known to be true of the clip, normalised for comparison."""
        return {normal(text) for text in (*self.captions, *self.siblings)}

    def caption_order(self, seed: int, streams: Streams) -> list[int]:
        """The seeded order in which the captions are tried; the first is the base caption of every config."""
        if len(self.captions) == 1:
            return [0]
        return [int(n) for n in streams.at(seed, "captions", self.id).permutation(len(self.captions))]

    def columns(self) -> ClipSpan:
        """Returns the columns of a row that name its clip."""
        return {"video_id": self.video_id, "video_path": self.video_path, "start": self.start, "end": self.end}


def normal(caption: str) -> str:
    """A caption with case, spacing, closing marks and the way accents are coded taken out: equal results say the same.

    >>> normal("A man  runs.") == normal("a man runs"), normal("caf\u00e9") == normal("cafe\u0301")
    (True, True)
    """
    return " ".join(normalize("NFC", caption).lower().split()).rstrip(" .!?")


def retrieval_rows(clips: Iterable[CaptionedClip]) -> list[RetrievalRow]:
    """The retrieval table: each clip with all of its captions."""
    return [
        retrieval_row(
            id=clip.id, captions=list(clip.captions), meta={"cluster": clip.cluster, **clip.meta}, **clip.columns()
        )
        for clip in clips
    ]


def percent(count: int, total: int) -> float:
    """The share `count` of `total` in percent with one decimal; 0 of 0 is 0.

    >>> percent(2477, 2990)
    82.8
    """
    return float(np.round(100.0 * count / total, 1)) if total else 0.0
