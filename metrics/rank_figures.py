"""What is reported of ranks: R@K, mean and median rank, how much hangs on their ties, and their intervals."""

from collections.abc import Sequence

import numpy as np

from video_contrast.metrics.bootstrap import cluster_bootstrap
from video_contrast.metrics.checks import Values
from video_contrast.metrics.interval import interval_keys, median_interval, share_interval
from video_contrast.metrics.ranks import Ranks, exact_mean

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
