"""Several annotators: what the majority says, and how far they agree."""

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Any

from video_contrast.metrics.cluster_bootstrap import cluster_bootstrap, interval_keys

Votes = Sequence[Sequence[Hashable | None]]


def majority_vote(
    votes: Votes,
    labels: Sequence[Hashable] | None = None,
    *,
    clusters: Any = None,
    interval: bool = False,
    seed: int = 0,
) -> dict[str, Any]:
    """The answer that most annotators of each item gave, and its accuracy.

    Args:
        votes: `[n][annotators]`, answers (option numbers, "yes" ...); None where an annotator gave none.
        labels: `[n]`, the true answers; None: no accuracy.
        clusters: `[n]`, the source videos, for the interval.
        interval: add the 95 % cluster bootstrap interval of the accuracy.
        seed: of the bootstrap.

    Returns:
        `majority` (`[n]`, None on a tie for the most votes), `n_ties`, `n`; with labels `accuracy` (a tie between m
        answers counts 1/m if the true one is among them) and `individual_accuracy` (of single votes).

    Raises:
        ValueError: no items, an item without votes, not one label an item.

    Source: contrast-set paper: its human lines are the majority of three judges.

    >>> majority_vote([[0, 0, 1], [1, 1, 1], [0, 1, None]], [0, 0, 0])["accuracy"]
    0.5
    """
    counted = _counted(votes)
    if labels is not None and len(labels) != len(counted):
        raise ValueError(f"{len(counted)} items need {len(counted)} labels, not {len(labels)}")
    modes = [[answer for answer, n in counts.items() if n == max(counts.values())] for counts in counted]
    result: dict[str, Any] = {
        "majority": [mode[0] if len(mode) == 1 else None for mode in modes],
        "n_ties": sum(len(mode) > 1 for mode in modes),
        "n": len(counted),
    }
    if labels is not None:
        right = [1 / len(mode) if label in mode else 0.0 for mode, label in zip(modes, labels, strict=True)]
        single = sum(counts[label] for counts, label in zip(counted, labels, strict=True))
        result["accuracy"] = sum(right) / len(right)
        if interval:
            result.update(interval_keys("accuracy", cluster_bootstrap(right, clusters, seed=seed)))
        result["individual_accuracy"] = single / sum(counts.total() for counts in counted)
    return result


def agreement(votes: Votes) -> dict[str, float | None]:
    """How far annotators agree: pairs that agree, Fleiss' kappa, Krippendorff's alpha (nominal).

    Args:
        votes: `[n][annotators]`, as for `majority_vote`. Items with fewer than two votes say nothing and are left out.

    Returns:
        `pairwise` (0..1, mean over items), `fleiss_kappa` (None if items have different numbers of votes),
        `krippendorff_alpha`; kappa and alpha are None where all votes are the same answer (nothing to agree about).

    Raises:
        ValueError: no item has two votes.

    >>> {name: round(value, 3) for name, value in agreement([[0, 0, 1], [1, 1, 1], [0, 0, 0]]).items()}
    {'pairwise': 0.778, 'fleiss_kappa': 0.55, 'krippendorff_alpha': 0.6}
    """
    counted = [counts for counts in _counted(votes) if counts.total() > 1]
    if not counted:
        raise ValueError("agreement needs an item with at least two votes")
    pairs = [sum(n * (n - 1) for n in c.values()) / (c.total() * (c.total() - 1)) for c in counted]
    pairwise = sum(pairs) / len(pairs)
    overall: Counter[Hashable] = sum(counted, Counter())
    total = overall.total()
    kappa = alpha = None
    if len(overall) > 1:
        by_chance = sum((n / total) ** 2 for n in overall.values())
        if len({c.total() for c in counted}) == 1:
            kappa = (pairwise - by_chance) / (1 - by_chance)
        observed = sum(c.total() * (1 - p) for c, p in zip(counted, pairs, strict=True)) / total
        expected = 1 - sum(n * (n - 1) for n in overall.values()) / (total * (total - 1))
        alpha = 1 - observed / expected
    return {"pairwise": pairwise, "fleiss_kappa": kappa, "krippendorff_alpha": alpha}


def _counted(votes: Votes) -> list[Counter[Hashable]]:
    if not len(votes):
        raise ValueError("votes are empty: there are no items")
    counted = [Counter(vote for vote in row if vote is not None) for row in votes]
    for i, counts in enumerate(counted):
        if not counts:
            raise ValueError(f"votes: item {i} has none")
    return counted
