"""Several annotators: what the majority says, and how far they agree."""

from collections import Counter
from collections.abc import Hashable, Sequence

import numpy as np

from video_contrast.metrics.bootstrap import OfMeans, cluster_bootstrap
from video_contrast.metrics.checks import Figures, Floats, Values, as_array, cluster_codes, listed, refuse
from video_contrast.metrics.interval import interval_keys, share_interval
from video_contrast.metrics.ranks import Numbers

Votes = Sequence[Sequence[Hashable | None]]


def majority_vote(
    votes: Votes, labels: Sequence[Hashable] | None = None, *, clusters: Values = None, interval: bool = False
) -> Figures:
    """The answer that most annotators of each item gave, and its accuracy.

    Returns `majority` (`[n]`, None on a tie for the most votes), `n_ties`, `n`; with labels `accuracy` (a tie between m
    answers counts 1/m if the true one is among them) and `individual_accuracy` (of single votes); with interval
    `<key>_low` and `<key>_high` of both. Raises ValueError: no items, an item without votes, not one label an item, a
    label that is missing; the message names the item.

    Args:
        votes: `[n][annotators]`, answers (candidate numbers, "yes" ...); None or NaN where an annotator gave none.
        labels: `[n]`, the true answers; None: no accuracy.
        clusters: `[n]`, the source videos, for the interval.
        interval: add 95 % intervals of both accuracies (`share_interval`).

    Source: contrast-set paper: its human lines are the majority of three judges.

    >>> majority_vote([[0, 0, 1], [1, 1, 1], [0, 1, None]], [0, 0, 0])["accuracy"]
    0.5
    """
    counts = counted_votes(votes)
    if labels is not None:
        labels = listed(labels)
        if len(labels) != len(counts):
            raise ValueError(f"{len(counts)} items need {len(counts)} labels, not {len(labels)}")
        refuse([label is None for label in labels], lambda i: f"labels: item {i} has none")
    modes = [[answer for answer, n in counts.items() if n == max(counts.values())] for counts in counts]
    result: Figures = {
        "majority": [mode[0] if len(mode) == 1 else None for mode in modes],
        "n_ties": sum(len(mode) > 1 for mode in modes),
        "n": len(counts),
    }
    if labels is not None:
        right = [1 / len(mode) if label in mode else 0.0 for mode, label in zip(modes, labels, strict=True)]
        single = [[counts.total(), counts[label]] for counts, label in zip(counts, labels, strict=True)]
        result["accuracy"] = sum(right) / len(right)
        result["individual_accuracy"] = sum(hits for _, hits in single) / sum(total for total, _ in single)
        if interval:
            totals, hits = np.array(single, np.float64).T
            individual = share_interval(hits / totals, clusters, weights=totals)
            result |= interval_keys("accuracy", share_interval(right, clusters))
            result |= interval_keys("individual_accuracy", individual)
    return result


def counted_votes(votes: Votes) -> list[Counter[Hashable]]:
    """The number of times that each answer was given, an item.

    Raises ValueError: no items, an item that is no list of votes or has none; the message names it.
    """
    rows = list(as_array(votes) if hasattr(votes, "shape") else votes)
    if not rows:
        raise ValueError("votes are empty: there are no items")
    odd = [isinstance(row, str) or not hasattr(row, "__iter__") for row in rows]
    refuse(odd, lambda i: f"votes: item {i} must be a list of votes, not {rows[i]!r}")
    counts = [Counter(vote for vote in listed(row) if vote is not None) for row in rows]
    refuse([not counts for counts in counts], lambda i: f"votes: item {i} has none")
    return counts


def agreement(votes: Votes, *, clusters: Values = None, interval: bool = False, seed: int = 0) -> Numbers:
    """The agreement of annotators: pairs that agree, Fleiss' kappa, Krippendorff's alpha (nominal).

    Returns `pairwise` (0..1, mean over items), `fleiss_kappa` (None if items have different numbers of votes),
    `krippendorff_alpha`; kappa and alpha are None where all votes are the same answer (nothing to agree about). With
    interval `<key>_low` and `<key>_high`, None where the figure is. Raises ValueError: no item has two votes, an item
    has none, not one cluster an item.

    Args:
        votes: `[n][annotators]`, as for `majority_vote`. Items with fewer than two votes say nothing and are left out.
        clusters: `[n]`, the source videos, for the intervals.
        interval: add 95 % intervals (`share_interval` of pairs, else `cluster_bootstrap`).

    Source: Fleiss (1971); Krippendorff (2004), nominal data.

    >>> {name: round(value, 3) for name, value in agreement([[0, 0, 1], [1, 1, 1], [0, 0, 0]]).items()}
    {'pairwise': 0.778, 'fleiss_kappa': 0.55, 'krippendorff_alpha': 0.6}
    """
    every = counted_votes(votes)
    if clusters is not None:
        clusters, _ = cluster_codes(clusters, len(every))
    several = [i for i, counts in enumerate(every) if counts.total() > 1]
    if not several:
        raise ValueError("agreement needs an item with at least two votes")
    columns = _columns([every[i] for i in several])
    groups = None if clusters is None else clusters[several]
    statistics = {"pairwise": OfMeans(lambda means: means[:, 0])}
    if columns.shape[1] > 4:  # two answers
        if len(set(columns[:, 1])) == 1:
            statistics["fleiss_kappa"] = OfMeans(_kappa)
        statistics["krippendorff_alpha"] = OfMeans(lambda means: _alpha(means, len(columns)))
    result: Numbers = {}
    for name in ("pairwise", "fleiss_kappa", "krippendorff_alpha"):
        statistic = statistics.get(name)
        result[name] = None if statistic is None else statistic.of(columns)
        if interval and statistic is None:
            result |= {f"{name}_low": None, f"{name}_high": None}
        elif interval and name == "pairwise":
            result |= interval_keys(name, share_interval(columns[:, 0], groups))
        elif interval and statistic is not None:
            bootstrap = cluster_bootstrap(columns, groups, statistic=statistic, seed=seed, bounds=(-1, 1))
            result |= interval_keys(name, bootstrap)
    return result


def _columns(counts: list[Counter[Hashable]]) -> Floats:
    """The columns, a row an item: share of pairs that agree, votes, votes times pairs that do not, votes by answer."""
    totals = np.array([counts.total() for counts in counts], float)
    pairs = np.array([sum(n * (n - 1) for n in counts.values()) for counts in counts]) / (totals * (totals - 1))
    # Sorted, so that the order of the items has no influence on the draws.
    answers = sorted({answer for counts in counts for answer in counts}, key=repr)
    by_answer = [[counts[answer] for counts in counts] for answer in answers]
    return np.stack([pairs, totals, totals * (1 - pairs), *by_answer], axis=1)


def _kappa(means: Floats) -> Floats:
    by_chance = ((means[:, 3:] / means[:, 1:2]) ** 2).sum(axis=1)
    return np.asarray((means[:, 0] - by_chance) / (1 - by_chance), np.float64)


def _alpha(means: Floats, items: int) -> Floats:
    votes, total = items * means[:, 3:], items * means[:, 1]
    expected = 1 - (votes * (votes - 1)).sum(axis=1) / (total * (total - 1))
    return np.asarray(1 - means[:, 2] / means[:, 1] / expected, np.float64)
