"""The tasks of a page: who gets which item next, what is shown of it, faults of written sentences, places of answers.

Answers are lines of a file that only grows: a killed server loses nothing, two servers do not mix their lines.
"""

import json
import os
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal

from video_contrast.builders.assembly.captioned_clip import normal
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import JsonObject
from video_contrast.options import Config, Seed, Split, VideoRoot
from video_contrast.perturbations.contrast.edit import difference
from video_contrast.perturbations.english.forms import without_auxiliaries
from video_contrast.rows import EditRecord, MultipleChoiceRow, contrast_places, multiple_choice_row
from video_contrast.seeds import stream

PageTask = Literal["judge", "write"]
UNCLEAR = "not clear"
_PAGE = ("html.jinja", "css", "js")  # the files of the page


@dataclass(frozen=True)
class Vote:
    """One answer of one person to one item."""

    task: PageTask  # of its page
    item: str  # id of the row
    annotator: str  # name of the person
    # judge: number of the chosen candidate, or "not clear"; write: the new sentence. A returned answer repeats
    # the former one.
    answer: int | str
    seconds: float = 0.0  # from the item's showing to the answer
    status: Literal["done", "returned"] = "done"  # "done", or "returned" by a reviewer, who may say why in `note`
    note: str = ""
    shown: tuple[int, ...] = ()  # judge: the candidates' numbers in the order in which they were shown
    time: float = 0.0  # seconds since 1970


class Votes:
    """The file of answers. Every answer is on the disk before `add` returns.

    `path`: a `.jsonl` file; made if there is none. `task`: only answers of this page are read. Raises
    VideoContrastError: a line in the middle of the file is broken (the last one may be: a killed server).
    """

    def __init__(self, path: str | Path, task: PageTask) -> None:
        self.path = Path(path)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.task = task
        self._lock = threading.RLock()
        self._latest: dict[tuple[str, str], Vote] = {}
        self._read = 0
        self.refresh()

    def refresh(self) -> None:
        """Reads what another server has added since."""
        with self._lock:
            if not self.path.exists():
                return
            with open(self.path, "rb") as handle:
                handle.seek(self._read)
                content = handle.read()
            whole = content.rfind(b"\n") + 1
            for number, line in enumerate(content[:whole].splitlines(), 1):
                try:
                    vote = Vote(**json.loads(line)) if line.strip() else None
                except (ValueError, TypeError) as error:
                    if line.startswith(b"{") and not line.rstrip().endswith(b"}"):  # begun, and never finished
                        continue
                    raise VideoContrastError(f"{self.path}, line {number}: not an answer: {error}") from error
                if vote is not None and vote.task == self.task:
                    vote = replace(vote, shown=tuple(vote.shown))
                    self._latest[vote.item, vote.annotator] = vote
            self._read += whole

    def add(self, vote: Vote) -> Vote:
        """Appends an answer. Raises VideoContrastError: the person has answered the item, and it was not sent back."""
        with self._lock:
            with open(self.path, "ab") as handle:
                with suppress(ImportError):  # other servers wait, where the system can
                    import fcntl

                    fcntl.flock(handle, fcntl.LOCK_EX)
                self.refresh()
                former = self._latest.get((vote.item, vote.annotator))
                if former is not None and former.status == "done" and vote.status == "done":
                    raise VideoContrastError(f"{vote.annotator} has already answered {vote.item}")
                vote = replace(vote, time=vote.time or time.time())
                line = json.dumps(asdict(vote), ensure_ascii=False, sort_keys=True) + "\n"
                # A line that a killed server left unfinished is closed first, so that this one stands alone.
                torn = self.path.stat().st_size > self._read
                handle.write((b"\n" if torn else b"") + line.encode("utf-8"))
                handle.flush()
                os.fsync(handle.fileno())
            self.refresh()
            return vote

    def of(self, annotator: str) -> dict[str, Vote]:
        """The latest answer of a person to each item."""
        with self._lock:
            return {item: vote for (item, name), vote in self._latest.items() if name == annotator}

    def latest(self) -> list[Vote]:
        """The latest answer of each person to each item, in the order of their first answers."""
        with self._lock:
            return list(self._latest.values())

    def standing(self) -> dict[str, list[Vote]]:
        """Item -> its answers that stand."""
        by_item: dict[str, list[Vote]] = {}
        for vote in self.latest():
            if vote.status == "done":
                by_item.setdefault(vote.item, []).append(vote)
        return by_item


LEASE = 900.0  # seconds for which an item that somebody looks at is not given to others


@dataclass(frozen=True, kw_only=True)
class PageItems:
    """The items of a set that a page shows, in order: options that the commands and the Space of a page share."""

    config: Config = "verb_mc"
    split: Split = "test"
    video_root: VideoRoot = None
    seed: Seed = 0


@dataclass(frozen=True)
class Task:
    """One item as a person sees it."""

    row: MultipleChoiceRow  # the row of the set
    options: tuple[str, ...] = ()  # judge: the candidates in the order shown; write: empty
    shown: tuple[int, ...] = ()  # the candidates' numbers in that order
    phrase: tuple[int, int] = (0, 0)  # write: the verb phrase, as (start, end) in the true caption
    note: str = ""  # from a reviewer who sent it back
    former: int | str | None = None  # the person's former answer, if it was sent back

    @property
    def caption(self) -> str:
        """The true caption."""
        return str(self.row["candidates"][self.row["label"]])

    @property
    def parts(self) -> tuple[str, str, str]:
        """write: the true caption before its verb phrase, that phrase, and what follows."""
        start, end = self.phrase
        return self.caption[:start], self.caption[start:end], self.caption[end:]


class Desk:
    """Deals out the items of a set, so that each gets enough answers and no one sees an item twice.

    `rows`: of a multiple-choice set. `votes`: where answers go. `per_item`: how many people answer each item. `seed`:
    of the order of items and options. Raises UsageError: no rows, or `per_item` below 1.
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
            to_redo = (item for item, vote in own_votes.items() if vote.status == "returned" and item in self.rows)
            if (back := next(to_redo, None)) is not None:
                return self._task(back, annotator, own_votes[back])
            claim = next((i for i, c in self._claims.items() if annotator in c and i not in own_votes), None)
            if claim is not None:
                return self._task(claim, annotator)
            now, votes_of, open_items = time.monotonic(), self.votes.standing(), []
            for place, item in enumerate(self.rows):
                claims = {name: since for name, since in self._claims.pop(item, {}).items() if now - since <= LEASE}
                self._claims |= {item: claims} if claims else {}
                answers = len(votes_of.get(item, ())) + len(claims.keys() - {annotator})
                if item not in own_votes and answers < self.per_item:
                    open_items.append((-answers, place, item))
            if not open_items:
                return None
            _, _, item = min(open_items)
            self._claims.setdefault(item, {})[annotator] = now
            return self._task(item, annotator)

    def answer(self, annotator: str, item: str, answer: int | str, seconds: float) -> str:
        """Takes an answer; returns what is wrong with it, or "" if it was kept.

        Raises VideoContrastError: the person has answered the item before.

        Args:
            annotator, item: the person, and the id of the row.
            answer: judge: number of the candidate, or "not clear"; write: the sentence.
            seconds: from the item's showing to the answer.
        """
        row = self.rows[item]
        task = self._task(item, annotator)
        if self.votes.task == "write":
            problem = problem_with(str(answer), row)
            if problem:
                return problem
        elif answer != UNCLEAR and answer not in task.shown:
            return "Choose one of the sentences, or “not clear”."
        self.votes.add(Vote(self.votes.task, item, annotator, answer, seconds=round(seconds, 2), shown=task.shown))
        with self._lock:
            self._claims.get(item, {}).pop(annotator, None)
        return ""

    def send_back(self, item: str, annotator: str, note: str) -> None:
        """Returns an answer to the person who gave it.

        Raises UsageError: there is no such answer.

        Args:
            item, annotator, note: id of the row, the person, and what should change.
        """
        former = self.votes.of(annotator).get(item)
        if former is None or former.status == "returned":
            raise UsageError(f"{annotator} has no answer to {item} that could be sent back")
        self.votes.add(replace(former, status="returned", note=note, time=0.0))

    def progress(self, annotator: str) -> tuple[int, int, int]:
        """(answers of this person, answers in all, answers wanted)."""
        votes_of = self.votes.standing()
        own = sum(vote.status == "done" for vote in self.votes.of(annotator).values())
        return own, sum(len(votes) for votes in votes_of.values()), self.per_item * len(self.rows)

    def _task(self, item: str, annotator: str, former: Vote | None = None) -> Task:
        row = self.rows[item]
        note, answer = (former.note, former.answer) if former else ("", None)
        if self.votes.task == "write":
            return Task(row, phrase=phrase_of(row) or (0, 0), note=note, former=answer)
        rng = stream("annotate", self.seed, "options", *(item, annotator))
        order = tuple(int(n) for n in rng.permutation(len(row["candidates"])))
        return Task(row, tuple(row["candidates"][n] for n in order), order, note=note, former=answer)


def page_html(task: PageTask | Literal["read"], title: str, data: JsonObject | None = None) -> str:
    """The page of a task: a part of a Gradio app; or an HTML file without network, with the pairs to read as `data`."""
    import jinja2
    from markupsafe import Markup

    environment = jinja2.Environment(autoescape=True)
    environment.policies["json.dumps_kwargs"] = {"ensure_ascii": False}  # `tojson` escapes what could end the script
    template, css, js = (Path(__file__).with_name(f"page.{kind}").read_text("utf-8") for kind in _PAGE)
    return environment.from_string(template).render(task=task, title=title, data=data, css=Markup(css), js=Markup(js))


def phrase_of(row: MultipleChoiceRow) -> tuple[int, int] | None:
    """The span of the verb phrase in the true caption: that of the set's own contrast, else the first one found."""
    caption = row["candidates"][row["label"]]
    for edit in row["edits"]:
        if edit and edit["old"] and caption[edit["start"] : edit["start"] + len(edit["old"])] == edit["old"]:
            return edit["start"], edit["start"] + len(edit["old"])
    from video_contrast.perturbations.english import parse_one

    sentence = parse_one(caption)
    verbs = [sentence.words[n] for n in sentence.verbs if sentence.words[n].lemma not in ("be", "have")]
    return (verbs[0].start, verbs[0].end) if verbs else None


def problem_with(sentence: str, row: MultipleChoiceRow) -> str:
    """The fault of a person's sentence, as a sentence for that person; "" if it may be kept."""
    caption = row["candidates"][row["label"]]
    span = phrase_of(row)
    if span is None:
        return "This item has no verb phrase to change."
    start, end = span
    before, after = normal(caption[:start]), normal(caption[end:])
    text = " ".join(sentence.split())
    words = normal(text)
    if not words:
        return "The sentence is empty."
    if words == normal(caption):
        return "The sentence is unchanged: change the marked words."
    if not (words.startswith(before) and words.endswith(after)):
        return "Change only the marked words; the rest of the sentence stays as it is."
    new = words[len(before) : len(words) - len(after)].strip()
    if not new:
        return "The marked words are gone: put others in their place."
    if any(words == normal(other) for other in row["candidates"]):
        return "Another candidate of this item says the same: write something else."
    old = caption[start:end].lower()
    if _means_the_same(old, new):
        return f"“{new}” means the same as “{old}”: the sentence would stay true."
    return ""


def written_rows(rows: Iterable[MultipleChoiceRow], votes: Mapping[str, Sequence[Vote]]) -> list[MultipleChoiceRow]:
    """A set of the written negatives: in each answered item one takes the place of the contrast (or of an option).

    Raises VideoContrastError: no item was answered. `rows`: the rows that were shown. `votes`: item -> answers; the
    first of each item is used, and the others are kept in `meta`.
    """
    new_rows = []
    for row in rows:
        answers = votes.get(str(row["id"]), ())
        if not answers:
            continue
        caption = row["candidates"][row["label"]]
        edit = difference(caption, " ".join(str(answers[0].answer).split()), "human")
        hard = contrast_places(row["kinds"])
        place = hard[0] if hard else next(n for n, kind in enumerate(row["kinds"]) if kind != "true")
        candidates, kinds = list(row["candidates"]), list(row["kinds"])
        edits: list[EditRecord | None] = [None] * len(candidates)
        replaced = row["replaced"] if hard else candidates[place]
        candidates[place], kinds[place] = edit.text, "verb_human"
        edits[place] = edit.row()
        meta = json.loads(row["meta"] or "{}")
        if len(answers) > 1:
            meta["also_written"] = [str(vote.answer) for vote in answers[1:]]
        new_rows.append(
            multiple_choice_row(
                id=row["id"], video_id=row["video_id"], video_path=row["video_path"], start=row["start"],
                end=row["end"], candidates=candidates, label=row["label"], kinds=kinds, edits=edits, replaced=replaced,
                cluster=row["cluster"], meta=meta,
            )
        )  # fmt: skip
    if not new_rows:
        raise VideoContrastError("no item has an answer yet, so there is no set to write")
    return new_rows


def _means_the_same(old: str, new: str) -> bool:
    """Another form of the same verb, or a synonym by one of the first two senses of WordNet."""
    from video_contrast.perturbations.english import wordnet
    from video_contrast.perturbations.english.forms import lemma

    first, second = without_auxiliaries(old), without_auxiliaries(new)
    old_lemma, new_lemma = lemma(first[0], "VB"), lemma(second[0], "VB")
    if old_lemma == new_lemma and first[1:] == second[1:]:
        return True
    if len(first) > 1 or len(second) > 1:
        return False
    return any(new_lemma in sense.words for sense in wordnet.senses(old_lemma.lower(), "v")[:2])
