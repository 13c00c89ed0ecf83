"""A log of another harness: what each item contributed, and which source video it belongs to.

A harness counts the rows of its own copy of a benchmark, so ids of a log and of a set are seldom the same: the samples
are found in a set by the texts that they hold.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from video_contrast.errors import VideoContrastError
from video_contrast.files import Json
from video_contrast.question_text import LETTERS, letter_place
from video_contrast.rows import MultipleChoiceRow

# Names of the source video in what harnesses write of an item, the most telling first.
VIDEO = (
    "cluster", "videoID", "video_id", "video_uid", "video_name", "video_path", "video", "youtube_id", "vid",
    "video_idx",
)  # fmt: skip


@dataclass(frozen=True)
class Sample:
    """The entry of an item in a log, once an epoch."""

    item: str  # its id
    value: float  # its contribution to the figure
    place: str  # file and row, for messages
    video: str | None  # its source video; None where the log does not name it
    answer: object = None  # the model's choice; a letter is the number of a candidate
    reply: object = None  # the answer as the model gave it, where the log holds it
    key: object = None  # the letter of the right one, where the log holds it
    asked: object = None  # the question and its options, where the log holds them
    epoch: object = None  # where items are asked several times
    failed: bool = False  # whether there is no answer


@dataclass(frozen=True)
class LogItem:
    """An item of a log."""

    value: float  # its contribution, mostly 0..1; the mean of its epochs
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
    metric: str  # the figure to which the items contribute
    items: Mapping[str, LogItem]  # by id; empty where the log holds no samples
    failed: int = 0  # samples without an answer, counted as wrong
    mean: float | None = None  # the figure that the harness itself reports; None where it does not
    standard_error: float | None = None  # its own; None where it reports none
    asked_whole: bool = False  # whether what items were asked is the whole prompt
    notes: tuple[str, ...] = ()  # for a reader of the figure

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
    items = {}
    for item, epochs in by_item.items():
        first, reread = next(iter(epochs.values())), None
        if isinstance(first.reply, str) and isinstance(first.key, str) and re.fullmatch("[A-Z]", first.key):
            place = letter_place(first.reply, len(LETTERS))
            reread = float(place is not None and place[0] == first.key)
        value = sum(sample.value for sample in epochs.values()) / len(epochs)
        question = first.asked if isinstance(first.asked, str) else ""
        items[item] = LogItem(value, first.video, letter_number(first.answer), reread, question)
    return items


def letter_number(answer: object) -> int | None:
    """The number of a candidate from its letter.

    >>> letter_number("C"), letter_number("(b) a man runs"), letter_number("a man")
    (2, 1, None)
    """
    place = letter_place(str(answer), len(LETTERS))
    return LETTERS.index(place[0]) if place else None


def named_by_text(log: ForeignLog, rows: Iterable[MultipleChoiceRow]) -> ForeignLog:
    """The log with the ids of a set's rows, and its letters as the places of candidates in them.

    A sample is of a row where it holds the row's question and every candidate, and names its video where several rows
    have these texts. What is of no row, or of several, keeps its name and has no choice.
    """
    prompts = {name: _words(text) for name, text in log.asked.items()}
    row_of = _rows_by_sample(log, prompts, rows)
    items = {}
    for name, item in log.items.items():
        row = row_of.get(name)
        places = []  # in the row, of the candidate that the letter stood for
        if row is not None and item.choice is not None:
            letter = LETTERS[item.choice].lower()
            places = [n for n, text in enumerate(row["candidates"]) if f" {letter}{_words(text)}" in prompts[name]]
        items[name if row is None else row["id"]] = replace(item, choice=places[0] if len(places) == 1 else None)
    return replace(log, items=items)


def _rows_by_sample(
    log: ForeignLog, prompts: Mapping[str, str], rows: Iterable[MultipleChoiceRow]
) -> dict[str, MultipleChoiceRow]:
    """Sample -> its row, where each is the only one of the other."""
    with_word: dict[str, set[str]] = defaultdict(set)
    for name, text in prompts.items():
        for word in text.split():
            with_word[word].add(name)
    pairs: list[tuple[str, MultipleChoiceRow]] = []
    for row in rows:
        # its question and its candidates, but for yes and no
        texts = [_words(text) for text in (row.get("question") or "", *row["candidates"])]
        texts = [text for text in texts if text.strip() not in ("", "yes", "no")]
        having = sorted((with_word.get(word, set()) for word in set("".join(texts).split())), key=len)
        names = [name for name in set.intersection(*having or [set()]) if all(text in prompts[name] for text in texts)]
        if len(names) > 1:
            videos = {row["video_id"], Path(row["video_path"]).stem}
            names = [name for name in names if Path(log.clusters.get(name, "")).stem in videos]
        if len(names) == 1:
            pairs.append((names[0], row))
    times = Counter(name for name, _ in pairs)
    return {name: row for name, row in pairs if times[name] == 1}


def _words(text: str) -> str:
    """A text in lower case without punctuation, with a blank at both ends."""
    words = " ".join(re.findall(r"[^\W_]+", text.lower()))
    return f" {words} "
