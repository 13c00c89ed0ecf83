"""A log of another harness: what each item contributed, and which source video it belongs to."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
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
class Sample:
    """What a log says of an item, once an epoch."""

    item: str  # its id
    value: float  # what it contributes to the figure
    place: str  # file and row, for messages
    video: str | None  # its source video; None where the log does not name it
    answer: object = None  # what the model chose; a letter is the number of a candidate
    reply: object = None  # the answer as the model gave it, where the log holds it
    key: object = None  # the letter of the right one, where the log holds it
    asked: object = None  # the question and its options, where the log holds them
    epoch: object = None  # where items are asked several times
    failed: bool = False  # whether there is no answer


@dataclass(frozen=True)
class LogItem:
    """An item of a log."""

    value: float  # what it contributed, mostly 0..1; the mean of its epochs
    video: str | None = None  # its source video; None where the log does not name it
    choice: int | None = None  # number of the chosen candidate in the first epoch, where the log says it
    reread: float | None = None  # 1 where our reading of the answer finds the key, else 0; where the log holds both
    asked: str = ""  # the question and its options as the model was asked, where the log holds them


@dataclass(frozen=True)
class ForeignLog:
    """A log."""

    path: Path  # the file
    harness: str  # who wrote it
    model: str  # the model's name, as far as the log or its path says it
    task: str  # the benchmark
    metric: str  # which figure the items contribute to
    items: Mapping[str, LogItem]  # by id; empty where the log holds no samples
    failed: int = 0  # samples without an answer, counted as wrong
    mean: float | None = None  # the figure that the harness itself reports; None where it does not
    standard_error: float | None = None  # its own; None where it reports none
    asked_whole: bool = False  # whether what items were asked is the whole prompt
    notes: tuple[str, ...] = ()  # what a reader must know

    @cached_property
    def hits(self) -> dict[str, float]:
        """Item id -> what it contributed."""
        return {name: item.value for name, item in self.items.items()}

    @cached_property
    def clusters(self) -> dict[str, str]:
        """Item id -> source video, where every item has one; else none: a half-named cluster is no cluster."""
        videos = {name: item.video for name, item in self.items.items() if item.video}
        return videos if len(videos) == len(self.items) else {}

    @cached_property
    def choices(self) -> dict[str, int]:
        """Item id -> number of the chosen candidate, where the log says it."""
        return {name: item.choice for name, item in self.items.items() if item.choice is not None}

    @cached_property
    def reread(self) -> dict[str, float]:
        """Item id -> whether our reading of the answer finds the key, where the log holds both."""
        return {name: item.reread for name, item in self.items.items() if item.reread is not None}

    @property
    def read_otherwise(self) -> list[str]:
        """The items whose answers we read as right and the harness as wrong, or the reverse."""
        return [name for name, item in self.items.items() if item.reread not in (None, item.value)]

    @cached_property
    def asked(self) -> dict[str, str]:
        """Item id -> what the model was asked, where the log holds it."""
        return {name: item.asked for name, item in self.items.items() if item.asked}


def video_of(*sources: Mapping[str, Json] | None) -> str | None:
    """The source video that a sample's fields name; None where they do not."""
    for name in VIDEO:
        for source in sources:
            value = (source or {}).get(name)
            if isinstance(value, str | int) and not isinstance(value, bool) and value != "":
                return str(value)
    return None


def items_of(samples: Iterable[Sample]) -> dict[str, LogItem]:
    """The items by id; of the epochs of one, the first says what was chosen.

    Raises VideoContrastError: an id stands in the log twice (in an epoch), or a value is no finite number.
    """
    by_item: dict[str, dict[object, Sample]] = {}
    for sample in samples:
        epochs = by_item.setdefault(sample.item, {})
        name = sample.item if sample.epoch is None else f"{sample.item} in epoch {sample.epoch}"
        if sample.epoch in epochs:
            raise VideoContrastError(f"{sample.place}: the id {name!r} stands in the log twice")
        if not abs(sample.value) < float("inf"):
            raise VideoContrastError(f"{sample.place}: the score of {name!r} is {sample.value}, no finite number")
        epochs[sample.epoch] = sample
    return {item: _item(list(epochs.values())) for item, epochs in by_item.items()}


def _item(epochs: Sequence[Sample]) -> LogItem:
    first, reread = epochs[0], None
    if isinstance(first.reply, str) and isinstance(first.key, str) and re.fullmatch("[A-Z]", first.key):
        place = letter_place(first.reply, len(LETTERS))
        reread = float(place is not None and place[0] == first.key)
    value = sum(sample.value for sample in epochs) / len(epochs)
    asked = first.asked if isinstance(first.asked, str) else ""
    return LogItem(value, first.video, letter_number(first.answer), reread, asked)


def letter_number(answer: object) -> int | None:
    """The number of a candidate from its letter.

    >>> letter_number("C"), letter_number("(b) a man runs"), letter_number("a man")
    (2, 1, None)
    """
    place = letter_place(str(answer), len(LETTERS))
    return LETTERS.index(place[0]) if place else None
