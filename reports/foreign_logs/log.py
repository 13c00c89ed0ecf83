"""A log of another harness: what each item contributed, and which source video it belongs to."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from video_contrast.errors import VideoContrastError
from video_contrast.files import Json
from video_contrast.question_text import LETTERS, letter_place

# Names of the source video in what harnesses write of an item, the most telling first.
VIDEO = (
    "cluster", "videoID", "video_id", "video_uid", "video_name", "video_path", "video", "youtube_id", "vid",
    "video_idx",
)  # fmt: skip


@dataclass(frozen=True)
class ForeignLog:
    """A log."""

    path: Path  # the file
    harness: str  # who wrote it
    model: str  # the model's name, as far as the log or its path says it
    task: str  # the benchmark
    metric: str  # which figure the items contribute to
    hits: Mapping[str, float]  # item id -> what it contributed, mostly 0..1; empty where the log holds no samples
    # item id -> source video; empty where the log does not name it.
    clusters: Mapping[str, str] = field(default_factory=dict)
    failed: int = 0  # items without an answer, counted as wrong
    mean: float | None = None  # the figure that the harness itself reports; None where it does not
    standard_error: float | None = None  # its own; None where it reports none
    # item id -> number of the chosen candidate, where the log says it.
    choices: Mapping[str, int] = field(default_factory=dict)
    # item id -> 1 where our reading of the answer finds the key, else 0; where the log holds both.
    reread: Mapping[str, float] = field(default_factory=dict)
    # item id -> the question and its options as the model was asked, where the log holds them.
    asked: Mapping[str, str] = field(default_factory=dict)
    asked_whole: bool = False  # whether that is the whole prompt
    notes: tuple[str, ...] = ()  # what a reader must know

    @property
    def read_otherwise(self) -> list[str]:
        """The items whose answers we read as right and the harness as wrong, or the reverse."""
        return [item for item, value in self.reread.items() if value != self.hits[item]]


def video_of(*sources: Mapping[str, Json] | None) -> str | None:
    """The source video that a sample's fields name; None where they do not."""
    for name in VIDEO:
        for source in sources:
            value = (source or {}).get(name)
            if isinstance(value, str | int) and not isinstance(value, bool) and value != "":
                return str(value)
    return None


class LogItems:
    """The items of a log, read one by one."""

    def __init__(self) -> None:
        self._values: dict[str, dict[str, float]] = {}  # item -> what it contributed under each of its names
        self.choices: dict[str, int] = {}
        self.reread: dict[str, float] = {}
        self.asked: dict[str, str] = {}
        self._videos: dict[str, str | None] = {}

    def add(
        self, item: str, value: float, place: str, *, video: str | None, answer: object = None, epoch: object = None,
        reply: object = None, key: object = None, asked: object = None,
    ) -> None:  # fmt: skip
        """Adds an item.

        Raises VideoContrastError: the id was there before (in this epoch), or the value is no finite number.

        Args:
            place: file and row, for the message.
            video: its source video; None where the log does not name it.
            answer: what the model chose; a letter is the number of a candidate. That of the first epoch counts.
            epoch: where items are asked several times.
            reply, key: the answer as the model gave it, and the letter of the right one, where the log holds them.
            asked: the question and its options, where the log holds them.
        """
        name, values = item if epoch is None else f"{item} in epoch {epoch}", self._values.setdefault(item, {})
        if name in values:
            raise VideoContrastError(f"{place}: the id {name!r} stands in the log twice")
        if not abs(value) < float("inf"):
            raise VideoContrastError(f"{place}: the score of {name!r} is {value}, no finite number")
        choice = letter_number(answer)
        if choice is not None and not values:
            self.choices[item] = choice
        if isinstance(reply, str) and isinstance(key, str) and re.fullmatch("[A-Z]", key) and not values:
            place_of_letter = letter_place(reply, len(LETTERS))
            self.reread[item] = float(place_of_letter is not None and place_of_letter[0] == key)
        if isinstance(asked, str) and asked:
            self.asked[item] = asked
        values[name], self._videos[item] = value, video

    @property
    def hits(self) -> dict[str, float]:
        """What each item contributed, the mean of its epochs."""
        return {item: sum(values.values()) / len(values) for item, values in self._values.items()}

    @property
    def clusters(self) -> dict[str, str]:
        """The source videos, where every item has one; else none: a half-named cluster is no cluster."""
        return {item: str(video) for item, video in self._videos.items()} if all(self._videos.values()) else {}


def letter_number(answer: object) -> int | None:
    """The number of a candidate from its letter.

    >>> letter_number("C"), letter_number("(b) a man runs"), letter_number("a man")
    (2, 1, None)
    """
    place = letter_place(str(answer), len(LETTERS))
    return LETTERS.index(place[0]) if place else None
