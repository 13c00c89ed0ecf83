"""Who gets which item next, and what the page shows of it."""

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from video_contrast.errors import UsageError
from video_contrast.reports.annotate.votes import UNCLEAR, Vote, Votes
from video_contrast.reports.annotate.writing import phrase_of, problem_with
from video_contrast.rows import MultipleChoiceRow
from video_contrast.seeds import stream

LEASE = 900.0  # seconds for which an item that somebody looks at is not given to others


@dataclass(frozen=True)
class Task:
    """One item as a person sees it."""

    row: MultipleChoiceRow  # the row of the set
    options: tuple[str, ...] = ()  # judge: the candidates in the order shown; write: empty
    shown: tuple[int, ...] = ()  # the candidates' numbers in that order
    phrase: tuple[int, int] = (0, 0)  # write: the verb phrase, as (start, end) in the true caption
    note: str = ""  # what a reviewer said who sent it back
    former: int | str | None = None  # the person's former answer, if it was sent back

    @property
    def caption(self) -> str:
        """The true caption."""
        return str(self.row["candidates"][self.row["label"]])


class Desk:
    """Deals out the items of a set, so that each gets enough answers and no one sees an item twice.

    Args:
        rows: of a multiple-choice set.
        votes: where answers go.
        per_item: how many people answer each item.
        seed: of the order of items and options.

    Raises:
        UsageError: no rows, or `per_item` below 1.
    """

    def __init__(self, rows: Sequence[MultipleChoiceRow], votes: Votes, *, per_item: int, seed: int = 0) -> None:
        if per_item < 1:
            raise UsageError(f"--people must be at least 1, not {per_item}")
        usable = [row for row in rows if votes.task == "judge" or phrase_of(row) is not None]
        if not usable:
            raise UsageError("the set has no item with a verb phrase to rewrite" if rows else "the set has no items")
        order = stream("annotate", seed, votes.task).permutation(len(usable))
        self.rows = {str(usable[n]["id"]): usable[n] for n in order}
        self.votes, self.per_item, self.seed = votes, per_item, seed
        self._claims: dict[str, dict[str, float]] = {}
        self._lock = threading.Lock()

    def next(self, annotator: str) -> Task | None:
        """The next item for a person: first what was sent back, then the one with the most answers that needs more.

        None when there is nothing left for this person (others may still be looking at some).
        """
        with self._lock:
            self.votes.refresh()
            own_votes = self.votes.of(annotator)
            back = next(
                (item for item, vote in own_votes.items() if vote.status == "returned" and item in self.rows), None
            )
            if back is not None:
                return self._task(back, annotator, own_votes[back])
            held = next((i for i, c in self._claims.items() if annotator in c and i not in own_votes), None)
            if held is not None:
                return self._task(held, annotator)
            item = self._open_item(annotator, own_votes)
            if item is None:
                return None
            self._claims.setdefault(item, {})[annotator] = time.monotonic()
            return self._task(item, annotator)

    def answer(self, annotator: str, item: str, answer: int | str, seconds: float) -> str:
        """Takes an answer; returns what is wrong with it, or "" if it was kept.

        Args:
            annotator: the person.
            item: id of the row.
            answer: judge: number of the candidate, or "not clear"; write: the sentence.
            seconds: from the item's showing to the answer.

        Raises:
            VideoContrastError: the person has answered the item before.
        """
        row = self.rows[item]
        task = self._task(item, annotator)
        if self.votes.task == "write":
            problem = problem_with(str(answer), row)
            if problem:
                return problem
        elif answer != UNCLEAR and answer not in task.shown:
            return "Choose one of the sentences, or “not clear”."
        vote = Vote(self.votes.task, item, annotator, answer, seconds=round(seconds, 2), shown=task.shown)
        self.votes.add(vote)
        with self._lock:
            self._claims.get(item, {}).pop(annotator, None)
        return ""

    def send_back(self, item: str, annotator: str, note: str) -> None:
        """Returns an answer to the person who gave it.

        Args:
            item: id of the row.
            annotator: the person.
            note: what should change.

        Raises:
            UsageError: there is no such answer.
        """
        former = self.votes.of(annotator).get(item)
        if former is None or former.status == "returned":
            raise UsageError(f"{annotator} has no answer to {item} that could be sent back")
        self.votes.add(replace(former, status="returned", note=note, time=0.0))

    def progress(self, annotator: str) -> tuple[int, int, int]:
        """(answers of this person, answers in all, answers wanted)."""
        done = self.votes.done()
        own = sum(vote.status == "done" for vote in self.votes.of(annotator).values())
        return own, sum(len(votes) for votes in done.values()), self.per_item * len(self.rows)

    def _open_item(self, annotator: str, own_votes: Mapping[str, Vote]) -> str | None:
        """Of the items that still need this person's answer the one with the most answers."""
        now, done, open_items = time.monotonic(), self.votes.done(), []
        for place, item in enumerate(self.rows):
            claims = {name: since for name, since in self._claims.pop(item, {}).items() if now - since <= LEASE}
            self._claims |= {item: claims} if claims else {}
            answers = len(done.get(item, ())) + len(claims.keys() - {annotator})
            if item not in own_votes and answers < self.per_item:
                open_items.append((-answers, place, item))
        return min(open_items)[2] if open_items else None

    def _task(self, item: str, annotator: str, former: Vote | None = None) -> Task:
        row = self.rows[item]
        note = former.note if former else ""
        answer = former.answer if former else None
        if self.votes.task == "write":
            return Task(row, phrase=phrase_of(row) or (0, 0), note=note, former=answer)
        rng = stream("annotate", self.seed, "options", *(item, annotator))
        shown = tuple(int(n) for n in rng.permutation(len(row["candidates"])))
        return Task(row, tuple(row["candidates"][n] for n in shown), shown, note=note, former=answer)
