"""The tie rule, in one place: what a rank and a hit are when scores are equal, and what is reported of ranks.

Equal scores are ordered at random, and every figure is the expected value of that: a constant scorer gets
exactly chance. The pessimistic and the optimistic bound say how much hangs on the ties.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from video_contrast.metrics.bootstrap import cluster_bootstrap
from video_contrast.metrics.checks import Array, Floats, Ints, Values, at_most, choices
from video_contrast.metrics.interval import interval_keys, median_interval, share_interval


class Ranks(NamedTuple):
    """The places of the true answers of n queries among the wrong ones: counts `[n]`."""

    greater: Ints  # wrong answers with a greater score than the best true one
    equal: Ints  # wrong answers with the same score as it
    same: Ints  # true answers that share that score (1 unless a query has several true answers)

    @property
    def best(self) -> Array:
        """The rank of the first true answer if every tie is decided for it."""
        return 1.0 + self.greater

    @property
    def worst(self) -> Array:
        """The rank of the first true answer if every tie is decided against it."""
        return 1.0 + self.greater + self.equal

    @property
    def expected(self) -> Array:
        """The expected rank of the best true answer under random tie-breaking: 1 + greater + equal / (same + 1)."""
        return 1.0 + self.greater + self.equal / (self.same + 1.0)

    @property
    def tied(self) -> NDArray[np.bool_]:
        """Whether a wrong answer has the same score."""
        return self.equal > 0

    def hit(self, k: int) -> Floats:
        """The chance, `float64[n]` in 0..1, that a true answer is among the first `k`.

        With one true answer it is clip((k - greater) / (equal + 1), 0, 1). With `same` of them sharing the score,
        it is one minus the chance that the `k - greater` places left all go to wrong answers.
        """
        left = np.maximum(k - self.greater, 0)
        single: Floats = np.minimum(left / (self.equal + 1.0), 1.0)
        several = np.flatnonzero((self.same > 1) & (left > 0) & (self.equal > 0))
        if len(several):
            wrong, right, room = self.equal[several], self.same[several], left[several]
            chances = np.ones(len(several))
            for position in range(int(room.max())):
                remaining = np.maximum(wrong - position, 0)
                chances *= np.where(position < room, remaining / (remaining + right), 1.0)
            single[several] = 1.0 - chances
        return single

    def hit_bounds(self, k: int) -> tuple[Floats, Floats]:
        """The hits with every tie decided against and for the true answer, each 0 or 1."""
        return (self.worst <= k).astype(np.float64), (self.best <= k).astype(np.float64)


def first_chance(scores: Sequence[float] | Floats, label: int = 0) -> float:
    """The chance that the true candidate of one item is first: `Ranks.hit(1)` without the arrays.

    >>> first_chance([0.2, 0.9, 0.2], 1), first_chance([0.5, 0.5, 0.1])
    (1.0, 0.5)
    """
    true = scores[label]
    return 0.0 if max(scores) > true else 1 / sum(score == true for score in scores)


def choice_ranks(scores: Floats, labels: Ints, among: NDArray[np.bool_] | None = None) -> Ranks:
    """The rank counts of the true candidate of each item.

    Args:
        scores: `[n, k]`, checked (`checks.choices`).
        labels: `[n]`, the true candidates.
        among: `[n, k]`, the wrong candidates to count; None counts all.

    >>> ranks = choice_ranks(np.array([[0.2, 0.9, 0.2], [0.5, 0.5, 0.5]]), np.array([0, 0]))
    >>> ranks.expected.tolist(), ranks.hit(1).tolist()
    ([2.5, 2.0], [0.0, 0.3333333333333333])
    """
    true = np.take_along_axis(scores, labels[:, None], axis=1)
    greater, equal = scores > true, scores == true
    np.put_along_axis(equal, labels[:, None], False, axis=1)
    if among is not None:
        greater, equal = greater & among, equal & among
    return Ranks(np.count_nonzero(greater, axis=1), np.count_nonzero(equal, axis=1), np.ones(len(scores), np.int64))


def exact_mean(values: Array) -> float:
    """The mean, without the rounding that would move a constant scorer off chance or depend on the order of items.

    >>> exact_mean(np.full(7, 0.2)), float(np.full(7, 0.2).mean())
    (0.2, 0.19999999999999998)
    """
    lowest = float(values.min())
    above = values - lowest
    # Hits and ranks are whole numbers but for ties, and sums of those are exact in any order.
    total = float(above.sum()) if np.array_equal(above, np.floor(above)) else math.fsum(above.tolist())
    return lowest + total / len(values)


def exact_std(values: Array, ddof: int = 0) -> float:
    """The standard deviation, which is exactly 0 for equal values.

    >>> exact_std(np.full(7, 0.2)), exact_std(np.array([1.0, 3.0]))
    (0.0, 1.0)
    """
    squares = (values - exact_mean(values)) ** 2
    return math.sqrt(squares.sum() / (len(values) - ddof))


Numbers = dict[str, float | int | None]


def rank_figures(
    ranks: Ranks, ks: Sequence[int], clusters: Values = None, *, interval: bool, seed: int = 0, best: bool = False
) -> Numbers:
    """R@K (`hit_figures`), mean and median rank of true answers.

    `interval`: add the intervals of R@K, mean (`cluster_bootstrap`) and median rank (`median_interval`), over the
    source videos `clusters` of the queries. `best`: every tie counts for the true answer.
    """
    rank = ranks.best if best else ranks.expected
    bounds = {"mean_rank_worst": exact_mean(ranks.worst), "mean_rank_best": exact_mean(ranks.best)}
    result: Numbers = {"mean_rank": exact_mean(rank), **bounds, "median_rank": float(np.median(rank))}
    if interval:
        mean = cluster_bootstrap(rank, clusters, seed=seed, bounds=(1, np.inf))
        result |= interval_keys("mean_rank", mean) | interval_keys("median_rank", median_interval(rank, clusters))
    for k in ks:
        result |= hit_figures(f"R@{k}", ranks, clusters, k=k, interval=interval, best=best)
    return result


def hit_figures(
    name: str, ranks: Ranks, clusters: Values = None, *, k: int = 1, interval: bool, best: bool = False
) -> Numbers:
    """The share of queries whose true answer is among the first `k`, with its bounds and its interval.

    `name`: of the figure; what ties could make of it is called NAME_worst and NAME_best. `ranks, clusters, interval,
    best`: as in `rank_figures`.
    """
    worst, most = ranks.hit_bounds(k)
    hits = most if best else ranks.hit(k)
    result: Numbers = {
        name: exact_mean(hits), f"{name}_worst": exact_mean(worst), f"{name}_best": exact_mean(most)
    }  # fmt: skip
    return result | interval_keys(name, share_interval(hits, clusters)) if interval else result


def accuracy(scores: Values, labels: Values = None) -> float:
    """The share of items whose true candidate scores highest; a tie among m candidates counts 1/m.

    Returns 0..1; exactly 1/k for a scorer that gives every candidate the same score.

    >>> accuracy([[0.7, 0.1], [0.5, 0.5]])
    0.75
    """
    return recall_at_k(scores, labels, k=1)


def recall_at_k(scores: Values, labels: Values = None, *, k: int = 1) -> float:
    """The share of items whose true candidate is among the first `k`, as expected under random tie-breaking.

    An item with g candidates above the true one and e equal to it counts clip((k - g) / (e + 1), 0, 1). Returns 0..1;
    exactly k / candidates for a scorer that gives every candidate the same score.

    Args:
        scores, labels: as of all figures here.
        k: from 1 to the number of candidates.

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
