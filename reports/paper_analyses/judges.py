"""Accuracy and agreement of the people who judged a set."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypedDict

import numpy as np

from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.metrics import agreement, majority_vote
from video_contrast.rows import MultipleChoiceRow


class JudgesResult(TypedDict):
    """Accuracy and agreement of judges."""

    accuracy: float | None  # of the majority
    individual_accuracy: float | None
    n: int  # items
    n_ties: int
    judges: float  # an item, mean
    agreement: dict[str, float | None] | None  # of `metrics.agreement`; None where no item has two votes


def judges(rows: Sequence[MultipleChoiceRow], votes: Iterable[tuple[str, Mapping[str, object]]]) -> JudgesResult:
    """Accuracy of judges by majority vote, and how far they agree.

    Args:
        rows: of the set that was judged.
        votes: rows with their places: `item` (or `id`), `annotator`, `answer` (number of the candidate; anything
            that is not a number, such as "not clear", is a vote for none). A later answer of the same annotator to the
            same item replaces the earlier one.

    Raises:
        VideoContrastError: a vote for an item or a candidate that the set does not have; names the line.
    """
    labels = {row["id"]: (row["label"], len(row["candidates"])) for row in rows}
    answers: dict[str, dict[str, int | str]] = {}
    for place, vote in votes:
        item = str(vote.get("item", vote.get("id", "")))
        if item not in labels:
            raise VideoContrastError(f"{place}: the set has no item {item!r}")
        answer = str(vote.get("answer", "")).strip()
        candidate: int | str = int(answer) if answer.isdigit() else "none"
        if isinstance(candidate, int) and candidate >= labels[item][1]:
            raise VideoContrastError(f"{place}: item {item!r} has no candidate {candidate}")
        answers.setdefault(item, {})[str(vote.get("annotator", ""))] = candidate
    if not answers:
        raise UsageError("no votes")
    table = [list(item_answers.values()) for item_answers in answers.values()]
    majority = majority_vote(table, [labels[item][0] for item in answers])
    several = any(len(item_answers) > 1 for item_answers in table)
    return {
        "accuracy": majority["accuracy"],
        "individual_accuracy": majority["individual_accuracy"],
        "n": majority["n"],
        "n_ties": majority["n_ties"],
        "judges": float(np.mean([len(item_answers) for item_answers in table])),
        "agreement": agreement(table) if several else None,
    }
