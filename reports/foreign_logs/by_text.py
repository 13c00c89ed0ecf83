"""The samples of a log are found in a set by the texts that they hold.

A harness counts the rows of its own copy of a benchmark, so ids of a log and of a set are seldom the same.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from video_contrast.question_text import LETTERS
from video_contrast.reports.foreign_logs.log import ForeignLog
from video_contrast.rows import MultipleChoiceRow


def named_by_text(log: ForeignLog, rows: Iterable[MultipleChoiceRow]) -> ForeignLog:
    """The log with the ids of a set's rows, and its letters as the places of candidates in them.

    A sample is of a row where it holds the row's question and every candidate, and names its video where several rows
    have these texts. What is of no row, or of several, keeps its name and has no choice.
    """
    asked = {name: _words(text) for name, text in log.asked.items()}
    row_of = _rows_by_sample(log, asked, rows)
    items = {}
    for name, item in log.items.items():
        row = row_of.get(name)
        choice = None if row is None or item.choice is None else _place(item.choice, asked[name], row)
        items[name if row is None else row["id"]] = replace(item, choice=choice)
    return replace(log, items=items)


def _rows_by_sample(
    log: ForeignLog, asked: Mapping[str, str], rows: Iterable[MultipleChoiceRow]
) -> dict[str, MultipleChoiceRow]:
    """Sample -> its row, where each is the only one of the other."""
    with_word: dict[str, set[str]] = defaultdict(set)
    for name, text in asked.items():
        for word in text.split():
            with_word[word].add(name)
    pairs: list[tuple[str, MultipleChoiceRow]] = []
    for row in rows:
        # its question and its candidates, but for yes and no
        texts = [_words(text) for text in (row.get("question") or "", *row["candidates"])]
        texts = [text for text in texts if text.strip() not in ("", "yes", "no")]
        having = sorted((with_word.get(word, set()) for word in set("".join(texts).split())), key=len)
        names = [name for name in set.intersection(*having or [set()]) if all(text in asked[name] for text in texts)]
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


def _place(choice: int, asked: str, row: MultipleChoiceRow) -> int | None:
    """The place in a row of the candidate that a letter stood for; None where the text does not tell."""
    letter = LETTERS[choice].lower()
    places = [n for n, text in enumerate(row["candidates"]) if f" {letter}{_words(text)}" in asked]
    return places[0] if len(places) == 1 else None
