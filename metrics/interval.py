"""Intervals of shares (accuracies, R@K) and of their differences that hold for few items and for few clusters.

Items of one video are not independent: its twenty captions are hard or easy together. The variance over clusters says
how many independent items the data are worth (the effective size); an interval for a binomial share of that size
follows. Below `MINIMUM_CLUSTERS` clusters no interval is given.

Source: Korn and Graubard (1998), "Confidence intervals for proportions with small expected number of positive counts";
Clopper and Pearson (1934); Bonett and Price (2012) for paired differences.
"""

from typing import NamedTuple

import numpy as np

from video_contrast.metrics.checks import Floats, Ints, Values, cluster_codes, refuse, shares, vector

MINIMUM_CLUSTERS = 5
_TAIL = 0.025  # outside of a 95 % interval, on either side


class Interval(NamedTuple):
    """An estimate with its interval; `low`, `high` and `standard_error` are NaN where undefined."""

    estimate: float  # the statistic of the items as they are
    low: float = np.nan  # end of the interval
    high: float = np.nan
    standard_error: float = np.nan  # cluster-robust, or the standard deviation over bootstrap draws
    n_clusters: int = 0  # independent units: clusters, or items where no clusters are given

    @property
    def bounds(self) -> tuple[float, float] | tuple[None, None]:
        """`low` and `high`, for a table of results; None where the interval is undefined."""
        return (self.low, self.high) if np.isfinite(self.low) and np.isfinite(self.high) else (None, None)


def interval_keys(name: str, interval: Interval) -> dict[str, float | None]:
    """`{name}_low` and `{name}_high` for a table of results; None where the interval is undefined."""
    low, high = interval.bounds
    return {f"{name}_low": low, f"{name}_high": high}


def share_interval(hits: Values, clusters: Values = None, *, weights: Values = None, level: float = 0.95) -> Interval:
    """The interval of a mean of numbers in 0..1: Clopper-Pearson at the effective size (Korn and Graubard 1998).

    Returns the (weighted) mean with its interval, never of zero width; NaN ends below `MINIMUM_CLUSTERS` clusters.
    Raises ValueError: empty, hits outside 0..1, not one cluster or weight an item, weights below 0 or all 0, level out
    of range; the message names the item.

    Args:
        hits: `[n]`, each 0..1 (1 right, 0 wrong, between them on a tie).
        clusters: `[n]`, the source video of each item; None: every item is its own cluster.
        weights: `[n]`, what each item counts, at least 0; None: 1.
        level: coverage, between 0 and 1.

    >>> share_interval([1, 1, 1, 1, 1]).low.__round__(3), share_interval([1, 1, 1, 1]).low
    (0.478, nan)
    """
    values = shares(hits, "hits")
    codes, n_clusters = cluster_codes(clusters, len(values))
    weight = np.ones(len(values)) if weights is None else vector(weights, "weights")
    if len(weight) != len(values):
        raise ValueError(f"{len(values)} items need {len(values)} weights, not {len(weight)}")
    refuse(weight < 0, lambda i: f"weights: item {i} is {weight[i]}, below 0")
    if not weight.any():
        raise ValueError("weights are all 0: nothing counts")
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1, not {level}")
    tail = (1 - level) / 2
    mean = float((weight * values).sum() / weight.sum())
    error = cluster_error(values, codes, n_clusters, weight)
    if n_clusters < MINIMUM_CLUSTERS:
        return Interval(mean, standard_error=error, n_clusters=n_clusters)
    from scipy.special import betaincinv

    size = _effective_size(values, mean * (1 - mean), codes=codes, weights=weight, tail=tail)
    right, wrong = mean * size, (1 - mean) * size
    low = float(betaincinv(right, wrong + 1, tail)) if right > 0 else 0.0
    high = float(betaincinv(right + 1, wrong, 1 - tail)) if wrong > 0 else 1.0
    return Interval(mean, min(low, mean), high=max(high, mean), standard_error=error, n_clusters=n_clusters)


def difference_interval(change: Values, clusters: Values = None) -> Interval:
    """The interval of the mean of paired differences of hits (Bonett and Price 2012, at the effective size).

    Returns the mean with its interval, never of zero width; NaN ends below `MINIMUM_CLUSTERS` clusters. Raises
    ValueError: empty, a change that is not finite or outside -1..1, not one cluster an item. `change`: `[n]`, each
    -1..1: what an item contributes to the second score less what it does to the first. `clusters`: `[n]`, the source
    videos; None: every item is its own cluster.

    >>> interval = difference_interval([0, 0, 0, 0, 0])
    >>> interval.low < 0 < interval.high
    True
    """
    values = vector(change, "change")
    far = np.abs(values) > 1
    refuse(far, lambda i: f"change: item {i} is {values[i]}, not between -1 and 1: hits differ by no more")
    codes, n_clusters = cluster_codes(clusters, len(values))
    weight, tail = np.ones(len(values)), _TAIL
    mean = float(values.mean())
    error = cluster_error(values, codes, n_clusters, weight)
    if n_clusters < MINIMUM_CLUSTERS:
        return Interval(mean, standard_error=error, n_clusters=n_clusters)
    from scipy.special import ndtri

    up, down = np.maximum(values, 0).mean(), np.maximum(-values, 0).mean()
    size = _effective_size(values, up + down - mean**2, codes=codes, weights=weight, tail=tail)
    up, down = (up * size + 1) / (size + 2), (down * size + 1) / (size + 2)
    half = float(-ndtri(tail) * np.sqrt((up + down - (up - down) ** 2) / (size + 2)))
    low, high = max(-1.0, up - down - half), min(1.0, up - down + half)
    return Interval(mean, min(float(low), mean), max(float(high), mean), standard_error=error, n_clusters=n_clusters)


def median_interval(values: Values, clusters: Values = None) -> Interval:
    """The interval of a median between two of the values: the quantiles at the ends of a share of one half.

    Returns the median with its interval, of zero width where most items have the same value; NaN ends below
    `MINIMUM_CLUSTERS` clusters. A median has no standard error here: NaN. Raises ValueError: empty, not finite, not one
    cluster an item; the message names the item. `values`: `[n]`, finite numbers (ranks, scores). `clusters`: `[n]`, the
    source videos; None: every item is its own cluster.

    Source: Woodruff (1952), "Confidence intervals for medians and other position measures".

    >>> median_interval([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])[:3]
    (5.5, 2.0, 9.0)
    """
    array, tail = vector(values, "values"), _TAIL
    codes, n_clusters = cluster_codes(clusters, len(array))
    median = float(np.median(array))
    if n_clusters < MINIMUM_CLUSTERS:
        return Interval(median, n_clusters=n_clusters)
    from scipy.special import betaincinv

    below = (array < median) + 0.5 * (array == median)
    half = _effective_size(below, float(below.var()), codes=codes, weights=np.ones(len(array)), tail=tail) / 2
    share = float(betaincinv(half, half + 1, tail))
    low, high = np.quantile(array, [share, 1 - share], method="inverted_cdf")
    return Interval(median, float(low), high=float(high), n_clusters=n_clusters)


def cluster_error(values: Floats, codes: Ints, n_clusters: int, weights: Floats) -> float:
    """The cluster-robust standard error of a weighted mean (Miller 2024, section 2.2); NaN with one cluster.

    `codes`: int64 `[n]`, the cluster of each value, from 0 on.
    """
    if n_clusters < 2:
        return float("nan")
    within = _cluster_residuals(values, codes, n_clusters, weights)
    return float(np.sqrt((within**2).sum() * n_clusters / (n_clusters - 1)) / weights.sum())


def _cluster_residuals(values: Floats, codes: Ints, n_clusters: int, weights: Floats) -> Floats:
    """The sum over each cluster of what its items are above the mean, float64 `[n_clusters]`."""
    residual = weights * (values - (weights * values).sum() / weights.sum())
    return np.asarray(np.bincount(codes, weights=residual, minlength=n_clusters), np.float64)


def _effective_size(values: Floats, variance: float, codes: Ints, weights: Floats, tail: float) -> float:
    """The number of independent items of this variance that would have the standard error of the clusters.

    It lies between what clusters of equal items are worth and what independent items are worth. The error is that of
    the jackknife over clusters: a large cluster pulls the mean towards itself, so its residual is too small by the
    share that it weighs (Bell and McCaffrey 2002). For clusters of one size it equals `cluster_error`. An error that
    was estimated from few clusters is uncertain: the size shrinks by the squared ratio of the quantiles of Student's
    t. Its degrees of freedom are those of the squared residuals (Satterthwaite), with a factor by which simulated
    intervals hold (docs/measurements/intervals.md): where one video of many is wrong in all of its items, that is all
    that is known.
    """
    from scipy.special import stdtrit

    per_cluster = np.bincount(codes, weights=weights)
    total = weights.sum()
    fewest, most = total**2 / (per_cluster**2).sum(), total**2 / (weights**2).sum()
    n_clusters = len(per_cluster)
    rest = np.maximum(1 - per_cluster / total, 1e-12)  # of 1: what the other clusters weigh
    squares = (_cluster_residuals(values, codes, n_clusters, weights) / rest) ** 2
    error = float(np.sqrt(squares.sum() * (n_clusters - 1) / n_clusters) / total)
    if most - fewest < 1e-9 * most or error < 1e-12:
        return float(fewest)
    freedom = min(n_clusters - 1, 1.5 * squares.sum() ** 2 / (squares**2).sum())
    uncertain = (stdtrit(len(codes) - 1, tail) / stdtrit(freedom, tail)) ** 2
    return float(np.clip(variance / error**2 * uncertain, fewest, most))
