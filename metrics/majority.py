"""Several annotators: what the majority says."""

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import NotRequired, TypedDict

import numpy as np

from video_contrast.metrics.checks import Values, as_array, listed
from video_contrast.metrics.interval import share_interval

Votes = Sequence[Sequence[Hashable | None]]


class MajorityVote(TypedDict):
    """What `majority_vote` returns."""

    majority: list[Hashable | None]  # an answer an item; None on a tie for the most votes
    n_ties: int
    n: int
    accuracy: NotRequired[float]  # a tie between m answers counts 1/m if the true one is among them
    accuracy_low: NotRequired[float | None]
    accuracy_high: NotRequired[float | None]
    individual_accuracy: NotRequired[float]  # of single votes
    individual_accuracy_low: NotRequired[float | None]
    individual_accuracy_high: NotRequired[float | None]


def majority_vote(
    votes: Votes, labels: Sequence[Hashable] | None = None, *, clusters: Values = None, interval: bool = False
) -> MajorityVote:
    """The answer that most annotators of each item gave, and its accuracy.

    Args:
        votes: `[n][annotators]`, answers (candidate numbers, "yes" ...); None or NaN where an annotator gave none.
        labels: `[n]`, the true answers; None: no accuracy.
        clusters: `[n]`, the source videos, for the interval.
        interval: add 95 % intervals of both accuracies (`share_interval`).

    Returns:
        The answers; with labels their accuracy and that of single votes.

    Raises:
        ValueError: no items, an item without votes, not one label an item, a label that is missing; the message names
            the item.

    Source: contrast-set paper: its human lines are the majority of three judges.

    >>> majority_vote([[0, 0, 1], [1, 1, 1], [0, 1, None]], [0, 0, 0])["accuracy"]
    0.5
    """
    counted = counted_votes(votes)
    if labels is not None:
        labels = listed(labels)
        if len(labels) != len(counted):
            raise ValueError(f"{len(counted)} items need {len(counted)} labels, not {len(labels)}")
        if None in labels:
            raise ValueError(f"labels: item {labels.index(None)} has none")
    modes = [[answer for answer, n in counts.items() if n == max(counts.values())] for counts in counted]
    result: MajorityVote = {
        "majority": [mode[0] if len(mode) == 1 else None for mode in modes],
        "n_ties": sum(len(mode) > 1 for mode in modes),
        "n": len(counted),
    }
    if labels is not None:
        right = [1 / len(mode) if label in mode else 0.0 for mode, label in zip(modes, labels, strict=True)]
        single = [[counts.total(), counts[label]] for counts, label in zip(counted, labels, strict=True)]
        result["accuracy"] = sum(right) / len(right)
        result["individual_accuracy"] = sum(hits for _, hits in single) / sum(total for total, _ in single)
        if interval:
            result["accuracy_low"], result["accuracy_high"] = share_interval(right, clusters).bounds
            totals, hits = np.array(single, np.float64).T
            individual = share_interval(hits / totals, clusters, weights=totals)
            result["individual_accuracy_low"], result["individual_accuracy_high"] = individual.bounds
    return result


def counted_votes(votes: Votes) -> list[Counter[Hashable]]:
    """How often each answer was given, an item.

    Raises ValueError: no items, an item that is no list of votes or has none; the message names it.
    """
    rows = list(as_array(votes) if hasattr(votes, "shape") else votes)
    if not rows:
        raise ValueError("votes are empty: there are no items")
    odd = next((i for i, row in enumerate(rows) if isinstance(row, str) or not hasattr(row, "__iter__")), None)
    if odd is not None:
        raise ValueError(f"votes: item {odd} must be a list of votes, not {rows[odd]!r}")
    counted = [Counter(vote for vote in listed(row) if vote is not None) for row in rows]
    for i, counts in enumerate(counted):
        if not counts:
            raise ValueError(f"votes: item {i} has none")
    return counted
