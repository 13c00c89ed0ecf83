"""A captioned clip: what every builder of real sets reads its source into."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from video_contrast.rows import Row, retrieval_row
from video_contrast.seeds import Streams


@dataclass(frozen=True, slots=True)
class Clip:
    """One clip and what people wrote about it.

    Attributes:
        id: unique in its split.
        video_id: the name of the video.
        video_path: relative to the video root.
        captions: at least one, none empty; the same text may stand twice.
        cluster: the source video. Items of one cluster are not independent, and never distract each other.
        pool: distractors come from clips of the same pool (a movie); all clips are one pool by default.
        siblings: captions that are true of the clip but must not stand in the set; they only reject contrasts.
        meta: further columns, JSON-able.
    """

    id: str
    video_id: str
    video_path: str
    captions: tuple[str, ...]
    cluster: str
    pool: str = ""
    start: float | None = None
    end: float | None = None
    siblings: tuple[str, ...] = ()
    meta: Mapping[str, Any] = field(default_factory=dict)

    def truths(self) -> set[str]:
        """Everything that is known to be true of the clip, normalised for comparison."""
        return {normal(text) for text in (*self.captions, *self.siblings)}

    def where(self) -> dict[str, Any]:
        """The columns that every table has."""
        return {"video_id": self.video_id, "video_path": self.video_path, "start": self.start, "end": self.end}


def normal(caption: str) -> str:
    """A caption with case, spacing and closing marks taken out: equal results say the same.

    >>> normal("A man  runs.") == normal("a man runs")
    True
    """
    return " ".join(caption.lower().split()).rstrip(" .!?")


def caption_order(clip: Clip, seed: int, streams: Streams) -> list[int]:
    """The seeded order in which a clip's captions are tried; its first is the base caption of every config."""
    if len(clip.captions) == 1:
        return [0]
    rng = streams.at(seed, "captions", clip.id)
    return [int(n) for n in rng.permutation(len(clip.captions))]


def retrieval_rows(clips: Iterable[Clip]) -> list[Row]:
    """The retrieval table: each clip with all of its captions."""
    return [
        retrieval_row(
            id=clip.id, captions=list(clip.captions), meta={"cluster": clip.cluster, **clip.meta}, **clip.where()
        )
        for clip in clips
    ]


def meta_of(row: Mapping[str, Any]) -> dict[str, Any]:
    """The `meta` column of a row as a dict."""
    return json.loads(row["meta"] or "{}")


def shares(count: int, total: int) -> float:
    """A share in percent with one decimal, as cards print it; 0 of 0 is 0.

    >>> shares(2477, 2990)
    82.8
    """
    return float(np.round(100.0 * count / total, 1)) if total else 0.0
