"""Percentile intervals by the cluster bootstrap: videos are drawn with replacement, with all of their items.

Items of one video are not independent (its twenty captions are hard or easy together), so intervals that draw
items are too narrow. The draws are vectorised: videos that contribute the same thing are one type, and the number
of times that each type is drawn is one multinomial draw.
"""

import math
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from video_contrast.metrics.checks import as_array, cluster_codes
from video_contrast.seeds import stream

Statistic = Callable[[NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64]]
_CELLS = 1 << 20  # cells of a block of draws: a few MB
_KEPT = 1 << 25  # cells of draws worth keeping: 32 MB
_BINOMIAL = 30  # a cell of a multinomial draw costs about as much as this many drawn clusters
_FEW = 8  # so few types are always drawn by the multinomial
_NARROW = 256  # distinct values up to which a cluster is described by its histogram

# Statistics that depend on the column means only: `means[draws, m] -> [draws]`.
_OF_MEANS: dict[str, Callable[[NDArray[np.float64]], NDArray[np.float64]]] = {
    "mean": lambda means: means[:, 0],
    "difference": lambda means: means[:, 1] - means[:, 0],
    "ratio": lambda means: means[:, 1] / means[:, 0],
}


class Interval(NamedTuple):
    """An estimate with its bootstrap interval; `low`, `high` and `standard_error` are NaN where undefined."""

    estimate: float
    low: float
    high: float
    standard_error: float
    n_clusters: int


def cluster_bootstrap(
    values: Any,
    clusters: Any = None,
    *,
    statistic: str | Statistic = "mean",
    draws: int = 10_000,
    level: float = 0.95,
    seed: int = 0,
) -> Interval:
    """The percentile interval of a statistic of items that belong to clusters.

    Args:
        values: `[n]`, one number an item, or `[n, m]`, m paired numbers (clean and perturbed; model a and b).
        clusters: `[n]`, the source video of each item; None: every item is its own cluster.
        statistic: "mean" (of the first column), "median", "difference" (mean of column 1 less that of column 0),
            "ratio" (mean of column 1 over that of column 0), or any function
            `f(counts[draws, V], values[V, m]) -> [draws]` of how often each distinct row of values was drawn.
        draws: number of bootstrap draws.
        level: coverage of the interval, between 0 and 1.
        seed: the draws depend on it and on nothing else.

    Returns:
        The estimate on the items as they are, the interval, the standard error and the number of clusters. With
        one cluster the interval is undefined: NaN. Draws in which the statistic is undefined (a ratio over a
        mean of zero) are left out; if that is more than half of them the interval is NaN.

    Raises:
        ValueError: no items, values that are not finite, unknown statistic, level or draws out of range.

    Source: Miller (2024), "Adding error bars to evals", for the clusters; the types are our own device.

    >>> hits = [1, 1, 0, 1, 0, 1, 1, 0]
    >>> result = cluster_bootstrap(hits, ["a", "a", "b", "b", "c", "c", "d", "d"])
    >>> result.estimate, result.low < 0.625 < result.high, result.n_clusters
    (0.625, True, 4)
    """
    columns = _columns(values)
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1, not {level}")
    if draws < 1:
        raise ValueError(f"draws must be at least 1, not {draws}")
    codes, n_clusters = cluster_codes(clusters, len(columns))
    if isinstance(statistic, str) and statistic in _OF_MEANS:
        if statistic != "mean" and columns.shape[1] < 2:
            raise ValueError(f"statistic {statistic!r} needs two columns of values, not one")
        of_means = _OF_MEANS[statistic]
        with np.errstate(divide="ignore", invalid="ignore"):
            estimate = float(of_means(columns.mean(axis=0, keepdims=True))[0])
            drawn = of_means(_drawn_means(columns, codes, n_clusters, draws, seed)) if n_clusters > 1 else None
    else:
        if isinstance(statistic, str) and statistic != "median":
            raise ValueError(f"unknown statistic {statistic!r}: mean, median, difference, ratio or a function")
        function = median_of_counts if isinstance(statistic, str) else statistic
        distinct, index = np.unique(columns, axis=0, return_inverse=True)
        index = index.reshape(-1)
        estimate = float(function(np.bincount(index, minlength=len(distinct))[None].astype(np.float64), distinct)[0])
        drawn = _drawn_statistic(function, distinct, index, codes, n_clusters, draws, seed) if n_clusters > 1 else None
    return _interval(estimate, drawn, level, n_clusters)


def median_of_counts(counts: NDArray[np.float64], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The median of the first column, from how often each distinct row was drawn.

    >>> median_of_counts(np.array([[1.0, 0.0, 3.0], [2.0, 1.0, 1.0]]), np.array([[1.0], [2.0], [5.0]])).tolist()
    [5.0, 1.5]
    """
    order = np.argsort(values[:, 0], kind="stable")
    ordered = values[order, 0]
    running = np.cumsum(counts[:, order], axis=1)
    n = running[:, -1]
    lower = ordered[np.argmax(running >= np.ceil(n / 2)[:, None], axis=1)]
    upper = ordered[np.argmax(running >= (np.floor(n / 2) + 1)[:, None], axis=1)]
    return (lower + upper) / 2


def interval_keys(name: str, interval: Interval) -> dict[str, float | None]:
    """`{name}_low` and `{name}_high` for a table of results; None where the interval is undefined."""
    defined = np.isfinite(interval.low) and np.isfinite(interval.high)
    return {
        f"{name}_low": interval.low if defined else None,
        f"{name}_high": interval.high if defined else None,
    }


def _columns(values: Any) -> NDArray[np.float64]:
    columns = as_array(values).astype(np.float64)
    columns = columns[:, None] if columns.ndim == 1 else columns
    if columns.ndim != 2 or not len(columns):
        raise ValueError(f"values must be [n] or [n, m] with n of at least 1, not the shape {columns.shape}")
    bad = np.flatnonzero(~np.isfinite(columns).all(axis=1))
    if len(bad):
        raise ValueError(f"values: item {bad[0]} is {columns[bad[0]].tolist()}, which is not finite")
    return columns


def bootstrap_weights(n_clusters: int, draws: int, seed: int = 0) -> Iterator[NDArray[np.uint8]]:
    """How often each cluster is drawn, in blocks `[draws of the block, n_clusters]`; every row adds up to n_clusters.

    The building block for statistics of your own: the same seed gives the same draws, so two models that are scored
    on the same clusters are compared on the same resamples. The last draws of moderate size are kept, since a report
    asks for dozens of intervals over the same clusters.

    >>> [block.sum(axis=1).tolist() for block in bootstrap_weights(5, 3)]
    [[5, 5, 5]]
    """
    if n_clusters * draws <= _KEPT:
        yield from _kept_weights(n_clusters, draws, seed)
    else:
        yield from _new_weights(n_clusters, draws, seed)


@lru_cache(maxsize=2)
def _kept_weights(n_clusters: int, draws: int, seed: int) -> tuple[NDArray[np.uint8], ...]:
    return tuple(_new_weights(n_clusters, draws, seed))


def _new_weights(n_clusters: int, draws: int, seed: int) -> Iterator[NDArray[np.uint8]]:
    """Draws in blocks.

    Independent Poisson counts, given their sum, are a multinomial draw of that many; further clusters drawn one by one
    fill it up to `n_clusters`. That is the exact distribution at a third of the cost of drawing all one by one. The
    rate is chosen so low that the sum is rarely too large; such draws are made again.
    """
    rng = stream(seed, "cluster_bootstrap", n_clusters)
    rate = max(0.0, 1.0 - 3.0 / math.sqrt(n_clusters))
    height = max(1, _CELLS // n_clusters)
    for start in range(0, draws, height):
        rows = min(height, draws - start)
        counts = _poisson(rate, rows * n_clusters, rng).reshape(rows, n_clusters)
        sums = counts.sum(axis=1, dtype=np.int64)
        while len(again := np.flatnonzero(sums > n_clusters)):
            counts[again] = _poisson(rate, len(again) * n_clusters, rng).reshape(len(again), n_clusters)
            sums[again] = counts[again].sum(axis=1, dtype=np.int64)
        missing = n_clusters - sums
        cells = np.repeat(np.arange(rows) * n_clusters, missing)
        np.add.at(counts.reshape(-1), cells + rng.integers(0, n_clusters, size=len(cells)), np.uint8(1))
        counts.flags.writeable = False
        yield counts


def _poisson(rate: float, size: int, rng: np.random.Generator) -> NDArray[np.uint8]:
    """Poisson counts `uint8[size]` from two random bytes each.

    A number below 65536 is compared with the cumulated probabilities, rounded down; what rounding leaves over (some
    ten in 65536) is drawn from the rest of the distribution, so the result is exact. Counts end at 40: the chance of
    more is below 1e-45.
    """
    values = np.arange(40)
    factorials = np.array([math.lgamma(value + 1) for value in values])
    probability = np.exp(values * math.log(rate) - rate - factorials) if rate > 0 else (values == 0).astype(float)
    whole = np.floor(probability * 65536)
    bits = rng.bit_generator.random_raw(-(-size // 4)).view(np.uint16)[:size]
    counts = np.zeros(size, np.uint8)
    flags = np.empty(size, np.bool_)
    edges = np.cumsum(whole)
    for edge in edges[whole > 0][:-1]:
        np.greater_equal(bits, np.uint16(edge), out=flags)
        np.add(counts, flags.view(np.uint8), out=counts)
    if edges[-1] < 65536:
        left = np.flatnonzero(bits >= np.uint16(edges[-1]))
        rest = np.cumsum(probability * 65536 - whole)
        counts[left] = np.searchsorted(rest / rest[-1], rng.random(len(left)), side="right")
    return counts


def _drawn_means(
    columns: NDArray[np.float64], codes: NDArray[np.int64], n_clusters: int, draws: int, seed: int
) -> NDArray[np.float64]:
    """Means `[draws, m]` over resampled clusters: the sums and the size are all that matters of a cluster."""
    sums = [np.bincount(codes, weights=column, minlength=n_clusters) for column in columns.T]
    each = np.stack([*sums, np.bincount(codes, minlength=n_clusters).astype(np.float64)], axis=1)
    totals = np.concatenate([block @ rows for block, rows in draw_rows(each, draws, seed)])
    return totals[:, :-1] / totals[:, -1:]


def _drawn_statistic(
    function: Statistic,
    distinct: NDArray[np.float64],
    index: NDArray[np.int64],
    codes: NDArray[np.int64],
    n_clusters: int,
    draws: int,
    seed: int,
) -> NDArray[np.float64]:
    """The statistic `[draws]`: how often each distinct row of values is drawn is all that matters."""
    values = len(distinct)
    if values <= _NARROW and n_clusters * values <= _CELLS:
        histograms = np.bincount(codes * values + index, minlength=n_clusters * values).reshape(n_clusters, values)
        # Counts are whole numbers far below 2**24, so float32 holds them exactly.
        drawn = draw_rows(histograms.astype(np.float32), draws, seed)
        return np.concatenate([function((block @ rows).astype(np.float64), distinct) for block, rows in drawn])
    # Items in the order of their values, so that the counts of one value are a run of columns.
    order = np.argsort(index, kind="stable")
    starts = np.searchsorted(index[order], np.arange(values))
    results = []
    for weights in bootstrap_weights(n_clusters, draws, seed):
        counts = weights[:, codes[order]].astype(np.float64)
        results.append(function(np.add.reduceat(counts, starts, axis=1) if values < len(order) else counts, distinct))
    return np.concatenate(results)


def draw_rows(each: NDArray[Any], draws: int, seed: int) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
    """Pairs of counts and rows whose product are the totals of a block of draws.

    Clusters are sorted by what they contribute, so that the order of the items has no influence. Equal ones are one
    type; if there are few types a multinomial draw over them is all it takes, else every cluster is drawn.
    """
    ordered = each[np.lexsort(each.T)]
    new = np.concatenate([[True], np.any(ordered[1:] != ordered[:-1], axis=1)])
    starts = np.flatnonzero(new)
    n_clusters = len(each)
    if len(starts) <= _FEW or len(starts) * _BINOMIAL <= n_clusters:
        times = np.diff(np.append(starts, n_clusters))
        rng = stream(seed, "cluster_bootstrap", "types")
        counts = rng.multinomial(n_clusters, times / n_clusters, size=draws)
        yield counts.astype(each.dtype), ordered[starts]
    else:
        for block in bootstrap_weights(n_clusters, draws, seed):
            yield block.astype(each.dtype), ordered


def _interval(estimate: float, drawn: NDArray[np.float64] | None, level: float, n_clusters: int) -> Interval:
    defined = drawn[np.isfinite(drawn)] if drawn is not None else np.empty(0)
    if drawn is None or 2 * len(defined) < len(drawn) or len(defined) == 0:
        return Interval(estimate, float("nan"), float("nan"), float("nan"), n_clusters)
    tail = (1 - level) / 2
    low, high = np.quantile(defined, [tail, 1 - tail])
    return Interval(estimate, float(low), float(high), float(defined.std()), n_clusters)
