"""What gives the answers of a set away: words and features of form, items that are won blind, and their tasks.

A word tells where it stands in some candidates of an item and not in the others: how often is the true one among those
that have it? A feature of form tells where the candidates differ in it: how often is the true one that with the most?
"""

import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

import numpy as np

from video_contrast.audit.blind_audit import AuditedItem, BlindResult, accuracy_facts
from video_contrast.audit.blind_models import ngrams, wins
from video_contrast.audit.records import BlindWin, TaskFacts, Tell
from video_contrast.audit.text_features import named_features
from video_contrast.rows import MultipleChoiceRow

SHOWN = 10
LEAST_VIDEOS = 10  # that a word must tell items of apart
TASKS = 50  # more groups are no tasks
_MARK = "'"  # around words


def tells(items: Sequence[AuditedItem]) -> list[Tell]:
    """The words and the features of form that give most answers away, the strongest first.

    Returns of each what it is, the items in which it sets candidates apart, in how many of these the true one has it,
    how many that would be by chance, and the standard score of the difference. Of words within a stronger run of words
    and of runs that hold a stronger one, only the stronger is taken. `items`: the audited candidates, the true one
    first.
    """
    sums: dict[str, np.ndarray] = defaultdict(lambda: np.zeros(4))  # items, true, expected, variance
    videos: dict[str, set[str]] = defaultdict(set)
    for item in items:
        for what, true, share in _set_apart(item):
            sums[what] += (1, true, share, share * (1 - share))
            if len(videos[what]) < LEAST_VIDEOS:
                videos[what].add(item.cluster)
    scored = [
        (float((true - expected) / math.sqrt(variance)), what, int(count), float(true), float(expected))
        for what, (count, true, expected, variance) in sums.items()
        if len(videos[what]) >= LEAST_VIDEOS
    ]
    strongest: list[Tell] = []
    for score, what, count, true, expected in sorted(scored, key=lambda entry: (-abs(entry[0]), entry[1])):
        if not any(_overlap(what, other["what"]) for other in strongest):
            strongest.append({"what": what, "items": count, "true": round(true, 1), "expected": round(expected, 1),
                              "score": round(score, 1)})  # fmt: skip
        if len(strongest) == SHOWN:
            break
    return strongest


def _overlap(first: str, second: str) -> bool:
    """Whether one of two runs of words holds the other."""
    short, long = sorted((f" {first.strip(_MARK)} ", f" {second.strip(_MARK)} "), key=len)
    return short in long


def _set_apart(item: AuditedItem) -> Iterator[tuple[str, float, float]]:
    """What some candidates of an item have: what it is, whether the true one has it, and the share that has."""
    held = [set(ngrams(text)) for text in item.texts]
    counts = Counter(gram for grams in held for gram in grams)
    for gram, count in counts.items():
        if count < len(held):
            yield f"{_MARK}{gram}{_MARK}", float(gram in held[0]), count / len(held)
    table = named_features(item.texts, item.question)
    for name in table[0]:
        values = np.array([of_text[name] for of_text in table])
        most = values == values.max()
        if not most.all():
            yield name, float(most[0]), float(most.mean())


def blind_wins(items: Sequence[AuditedItem], best: BlindResult) -> list[BlindWin]:
    """The items that a blind model wins by the widest margin, with the candidate that it takes for the next one.

    `items`: the audited candidates, the true one first.
    """
    margins = [float(scores[0] - scores[1:].max()) for scores in best.scores]
    order = sorted((at for at, margin in enumerate(margins) if margin > 0), key=lambda at: -margins[at])
    return [
        {
            "id": items[at].id,
            "question": items[at].question,
            "true": items[at].texts[0],
            "next": items[at].texts[1 + int(np.argmax(best.scores[at][1:]))],
        }
        for at in order[:SHOWN]
    ]


def task_facts(
    rows: Sequence[MultipleChoiceRow], items: Sequence[AuditedItem], best: BlindResult
) -> list[TaskFacts] | None:
    """How well a blind model does on each task of a set; None where it has one task, or too many to be tasks.

    `rows`: whose `meta` holds the task; where it does not, the kinds of the negatives are tasks. `items`: the audited
    candidates of the rows.
    """
    given = [json.loads(row["meta"] or "{}").get("task") for row in rows]
    names = [str(task or item.kind) for task, item in zip(given, items, strict=True)]
    if not 1 < len(set(names)) <= TASKS:
        return None
    won = wins(best.scores)
    facts: list[TaskFacts] = []
    for name in dict.fromkeys(names):
        here = [at for at, task in enumerate(names) if task == name]
        chance = float(np.mean([1 / len(items[at].texts) for at in here]))
        accuracy = accuracy_facts(won[here], [items[at].cluster for at in here])
        facts.append({"task": name, "items": len(here), "chance": round(chance, 4), **accuracy})
    return sorted(facts, key=lambda task: task["chance"] - task["accuracy"])
