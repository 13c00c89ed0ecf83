"""Accuracy, R@K, mean and median rank under the tie rule; `multiple_choice` has all of them, with their intervals.

`scores`: `[n][k]`, higher is better. `labels`: `[n]`, the position of the true candidate; None: always 0. All raise
ValueError as `multiple_choice` does.
"""

import numpy as np

from video_contrast.metrics.checks import Values, at_most, choices
from video_contrast.metrics.ranks import choice_ranks, exact_mean


def accuracy(scores: Values, labels: Values = None) -> float:
    """The share of items whose true candidate scores highest; a tie among m candidates counts 1/m.

    Returns 0..1; exactly 1/k for a scorer that gives every candidate the same score.

    >>> accuracy([[0.7, 0.1], [0.5, 0.5]])
    0.75
    """
    return recall_at_k(scores, labels, k=1)


def recall_at_k(scores: Values, labels: Values = None, *, k: int = 1) -> float:
    """The share of items whose true candidate is among the first `k`, as expected under random tie-breaking.

    An item with g candidates above the true one and e equal to it counts clip((k - g) / (e + 1), 0, 1).

    Args:
        scores, labels: as of all figures here.
        k: from 1 to the number of candidates.

    Returns:
        0..1; exactly k / candidates for a scorer that gives every candidate the same score.

    >>> recall_at_k([[0.7, 0.1, 0.2], [0.5, 0.5, 0.9]], k=2)
    0.75
    """
    array, truth, sizes = choices(scores, labels)
    (k,) = at_most([k], int(sizes.min()), "candidates an item")
    return exact_mean(choice_ranks(array, truth).hit(k))


def mean_rank(scores: Values, labels: Values = None) -> float:
    """The mean rank of the true candidate, from 1; a tie counts half a place.

    Returns 1..k; exactly (k + 1) / 2 for a scorer that gives every candidate the same score.

    >>> mean_rank([[0.7, 0.1, 0.2], [0.5, 0.5, 0.9]])
    1.75
    """
    array, truth, _ = choices(scores, labels)
    return exact_mean(choice_ranks(array, truth).expected)


def median_rank(scores: Values, labels: Values = None) -> float:
    """The median of the expected ranks of the true candidate, from 1.

    >>> median_rank([[0.7, 0.1, 0.2], [0.5, 0.5, 0.9], [0.1, 0.2, 0.3]])
    2.5
    """
    array, truth, _ = choices(scores, labels)
    return float(np.median(choice_ranks(array, truth).expected))
