"""Cluster bootstrap: intervals of medians, ratios and any other statistic that is not a share.

Clusters (source videos) are drawn with replacement, with all of their items. A draw is a row of weights, how often
each cluster was drawn; totals over a draw are products with that row. The ends of an interval are percentiles. They are
too near for few clusters, by as much as the normal distribution is narrower than Student's t: so their distance from
the estimate is stretched by that factor, or, where only some values can be (medians), percentiles further out are taken
(Hesterberg 2015, "What teachers should know about the bootstrap"). Student's t has two degrees of freedom less than
there are clusters: ranks are skewed, and with one less intervals over five videos held in 91 % of simulations.
docs/measurements/intervals.md says how often they hold.
"""

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from video_contrast.metrics.checks import Floats, Ints, Values, as_array, cluster_codes, refuse
from video_contrast.metrics.interval import MINIMUM_CLUSTERS, Interval
from video_contrast.seeds import stream

DRAWS = 4_000
_CELLS = 1 << 21  # weights of a block: 16 MB
_KEPT = 6  # blocks
_FEW = 256  # up to so many distinct values a cluster is described by its histogram
OfCounts = Callable[[Floats, Floats], Floats]


class OfMeans(NamedTuple):
    """A statistic that depends on the means of the columns only: `function(means[draws, m]) -> [draws]`.

    Most do: a ratio, a difference, a standard deviation (of columns x and x squared), an F1 score.
    """

    function: Callable[[Floats], Floats]

    def of(self, values: Values) -> float:
        """The statistic of values `[n]` or `[n, m]` as they are; NaN where it is undefined."""
        means = np.asarray(values, np.float64).reshape(len(values), -1).mean(axis=0, keepdims=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            return float(self.function(means)[0])


MEAN = OfMeans(lambda means: means[:, 0])


def bootstrap_weights(n_clusters: int, draws: int, seed: int = 0) -> Iterator[Floats]:
    """How often each cluster is drawn, in blocks `[draws of the block, n_clusters]`; every row adds up to n_clusters.

    The same seed gives the same draws, so two models that are scored on the same clusters are compared on the same
    resamples. Few blocks are kept, since a report asks for dozens of intervals over the same clusters. Returns
    blocks of whole numbers as float64, not to be written to. Raises ValueError: no clusters.

    Args:
        n_clusters: how many there are, at least 1.
        draws: number of bootstrap draws.
        seed: the draws depend on it and on the number of clusters, and on nothing else.

    >>> [block.sum(axis=1).tolist() for block in bootstrap_weights(5, 3)]
    [[5.0, 5.0, 5.0]]
    """
    if n_clusters < 1:
        raise ValueError(f"n_clusters must be at least 1, not {n_clusters}")
    rows = max(1, _CELLS // n_clusters)
    block = _block if draws <= _KEPT * rows else _block.__wrapped__  # of more blocks none would be found again
    for first in range(0, draws, rows):
        yield block(n_clusters, min(rows, draws - first), first, seed)


@lru_cache(maxsize=_KEPT)
def _block(n_clusters: int, rows: int, first: int, seed: int) -> Floats:
    clusters = stream(seed, "cluster_bootstrap", n_clusters, first).integers(0, n_clusters, (rows, n_clusters))
    clusters += np.arange(rows)[:, None] * n_clusters
    counts = np.bincount(clusters.reshape(-1), minlength=rows * n_clusters)
    weights = counts.reshape(rows, n_clusters).astype(np.float64)
    weights.flags.writeable = False
    return weights


def bootstrap_totals(each: Floats, draws: int, seed: int) -> Floats:
    """Totals over resampled clusters, `[draws, m]`; `each`: `[clusters, m]`, what each cluster contributes."""
    return np.concatenate([weights @ each for weights in bootstrap_weights(len(each), draws, seed)])


def cluster_bootstrap(
    values: Values,
    clusters: Values = None,
    *,
    statistic: OfMeans | OfCounts = MEAN,
    draws: int = DRAWS,
    level: float = 0.95,
    seed: int = 0,
    bounds: tuple[float, float] = (-np.inf, np.inf),
) -> Interval:
    """The bootstrap interval of a statistic of items that belong to clusters.

    For a mean of numbers in 0..1 `share_interval` is better: it holds where all items are right. Returns the estimate
    on the items as they are, the interval, the standard error and the number of clusters. The interval is NaN below
    `MINIMUM_CLUSTERS` clusters, where a statistic of means is the same in all draws (they say nothing of its error),
    and where it is undefined in more draws than lie outside the interval on one side (a ratio over a mean near zero).
    Raises ValueError: no items, values that are not finite, level or draws out of range.

    Args:
        values: `[n]`, one number an item, or `[n, m]`, m paired numbers (clean and perturbed; model a and b).
        clusters: `[n]`, the source video of each item; None: every item is its own cluster.
        statistic: `OfMeans(f)` with a function `f(means[draws, m]) -> [draws]` of the columns' means (by default the
            mean of the first), or any function `f(counts[draws, V], values[V, m]) -> [draws]` of how often each
            distinct row of values was drawn (rows in ascending order).
        draws: number of bootstrap draws.
        level: coverage of the interval, between 0 and 1.
        seed: of the draws.
        bounds: the least and the greatest value that the statistic can have; no end lies outside.

    >>> result = cluster_bootstrap([1, 2, 2, 5, 3, 1, 4, 2, 9, 1])
    >>> result.estimate, result.low < 3 < result.high, result.n_clusters
    (3.0, True, 10)
    """
    columns = as_array(values).astype(np.float64)
    columns = columns[:, None] if columns.ndim == 1 else columns
    if columns.ndim != 2 or not len(columns):
        raise ValueError(f"values must be [n] or [n, m] with n of at least 1, not the shape {columns.shape}")
    bad = ~np.isfinite(columns).all(axis=1)
    refuse(bad, lambda i: f"values: item {i} is {columns[i].tolist()}, which is not finite")
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1, not {level}")
    if draws < 1 or draws != int(draws):
        raise ValueError(f"draws must be a whole number of at least 1, not {draws}")
    codes, n_clusters = cluster_codes(clusters, len(columns))
    # Clusters in the order of what they hold, so that the order of the items has no influence.
    sums = [np.bincount(codes, weights=part) for column in columns.T for part in (column, column**2)]
    codes = np.argsort(np.lexsort([*sums, np.bincount(codes)]))[codes]
    with np.errstate(divide="ignore", invalid="ignore"):
        smooth = isinstance(statistic, OfMeans)
        if isinstance(statistic, OfMeans):
            estimate = statistic.of(columns)
        else:
            distinct, index = _distinct(columns)
            estimate = float(statistic(np.bincount(index)[None].astype(np.float64), distinct)[0])
        if n_clusters < MINIMUM_CLUSTERS:
            return Interval(estimate, n_clusters=n_clusters)
        if isinstance(statistic, OfMeans):
            sums = [np.bincount(codes, weights=column) for column in columns.T]
            totals = bootstrap_totals(np.stack([*sums, np.bincount(codes)], axis=1), int(draws), seed)
            samples = statistic.function(totals[:, :-1] / totals[:, -1:])
        else:
            counts = _sampled_counts(index, codes, shape=(n_clusters, len(distinct)), draws=int(draws), seed=seed)
            samples = np.concatenate([statistic(block, distinct) for block in counts])
    return interval_of_samples(estimate, samples, n_clusters, level=level, bounds=bounds, smooth=smooth)


def interval_of_samples(
    estimate: float,
    samples: Floats,
    n_clusters: int,
    *,
    level: float = 0.95,
    bounds: tuple[float, float] = (-np.inf, np.inf),
    smooth: bool = True,
) -> Interval:
    """The interval of a statistic from its bootstrap samples `[draws]`, NaN where it is undefined.

    `estimate`: the statistic of the items as they are. `bounds`: its least and greatest value. `smooth`: stretch the
    percentiles' distance from the estimate; else take percentiles further out. The interval is NaN below
    `MINIMUM_CLUSTERS` clusters, where too many samples are undefined, and where smooth ones are all the same.

    >>> interval_of_samples(0.5, np.linspace(0, 1, 201), 10_000).high.__round__(3)
    0.975
    """
    from scipy.special import ndtr, ndtri, stdtrit

    tail = (1 - level) / 2
    finite = samples[np.isfinite(samples)]
    too_few = n_clusters < MINIMUM_CLUSTERS or len(finite) < (1 - tail) * len(samples)
    if too_few or (smooth and finite.min() == finite.max()):
        return Interval(estimate, n_clusters=n_clusters)
    quantile = float(stdtrit(n_clusters - 2, tail) * np.sqrt(n_clusters / (n_clusters - 1)))
    outside = tail if smooth else float(ndtr(quantile))
    ends = np.quantile(finite, [outside, 1 - outside])
    if smooth:
        ends = estimate + (ends - estimate) * quantile / ndtri(tail)
    low, high = np.clip(ends, *bounds)
    return Interval(estimate, float(low), high=float(high), standard_error=float(finite.std()), n_clusters=n_clusters)


def _distinct(columns: Floats) -> tuple[Floats, Ints]:
    """The distinct rows in ascending order, and which of them each row is."""
    if columns.shape[1] == 1:  # many times faster than by rows
        values, index = np.unique(columns[:, 0], return_inverse=True)
        return values[:, None], index
    rows, index = np.unique(columns, axis=0, return_inverse=True)
    return rows, index.reshape(-1)


def _sampled_counts(index: Ints, codes: Ints, shape: tuple[int, int], draws: int, seed: int) -> Iterator[Floats]:
    """How often each distinct value is drawn, in blocks `[draws of the block, values]`; `shape`: clusters, values."""
    n_clusters, values = shape
    if values <= _FEW:
        histograms = np.bincount(codes * values + index, minlength=n_clusters * values).reshape(shape)
        for weights in bootstrap_weights(n_clusters, draws, seed):
            yield weights @ histograms.astype(np.float64)
        return
    order = np.lexsort((codes, index))  # items of one value are neighbours
    starts = np.searchsorted(index[order], np.arange(values))
    for weights in bootstrap_weights(n_clusters, draws, seed):
        height = max(1, _CELLS // len(order))  # clusters may hold many items
        for start in range(0, len(weights), height):
            yield np.add.reduceat(weights[start : start + height, codes[order]], starts, axis=1)
