"""A log of another harness: what each item contributed, and which source video it belongs to."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from video_contrast.errors import VideoContrastError
from video_contrast.files import Json

# Names of the source video in what harnesses write of an item, the most telling first.
VIDEO = (
    "cluster", "videoID", "video_id", "video_uid", "video_name", "video_path", "video", "youtube_id", "vid",
    "video_idx",
)  # fmt: skip


@dataclass(frozen=True)
class ForeignLog:
    """A log.

    Attributes:
        path: the file.
        harness: who wrote it.
        model: the model's name, as far as the log or its path says it.
        task: the benchmark.
        metric: which figure the items contribute to.
        hits: item id -> what it contributed, mostly 0..1; empty where the log holds no samples.
        clusters: item id -> source video; empty where the log does not name it.
        failed: items without an answer, counted as wrong.
        mean: the figure that the harness itself reports; None where it does not.
        standard_error: its own; None where it reports none.
        choices: item id -> number of the chosen candidate, where the log says it.
        notes: what a reader must know.
    """

    path: Path
    harness: str
    model: str
    task: str
    metric: str
    hits: Mapping[str, float]
    clusters: Mapping[str, str] = field(default_factory=dict)
    failed: int = 0
    mean: float | None = None
    standard_error: float | None = None
    choices: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def video_of(*sources: Mapping[str, Json] | None) -> str | None:
    """The source video that a sample's fields name; None where they do not."""
    for name in VIDEO:
        for source in sources:
            value = (source or {}).get(name)
            if isinstance(value, str | int) and not isinstance(value, bool) and value != "":
                return str(value)
    return None


def add_item(hits: dict[str, float], item: str, value: float, place: str) -> None:
    """Adds an item.

    Args:
        hits: of the items before.
        item: its id.
        value: what it contributed.
        place: file and row, for the message.

    Raises:
        VideoContrastError: the id was there before, or the value is no finite number.
    """
    if item in hits:
        raise VideoContrastError(f"{place}: the id {item!r} stands in the log twice")
    if not abs(value) < float("inf"):
        raise VideoContrastError(f"{place}: the score of {item!r} is {value}, no finite number")
    hits[item] = value


def letter_number(answer: object) -> int | None:
    """The number of a candidate from its letter.

    >>> letter_number("C"), letter_number("(b) a man runs"), letter_number("a man")
    (2, 1, None)
    """
    text = str(answer).strip()
    inner = text[1:] if text.startswith("(") else text
    if inner[:1].isalpha() and inner[:1].isascii() and (len(inner) == 1 or inner[1] in ").:"):
        return ord(inner[0].upper()) - ord("A")
    return None


def whole(clusters: Mapping[str, str | None], items: Iterable[str]) -> dict[str, str]:
    """The source videos, where every item has one; else none: a half-named cluster is no cluster."""
    names = {item: clusters.get(item) for item in items}
    return {item: str(name) for item, name in names.items()} if all(names.values()) else {}
