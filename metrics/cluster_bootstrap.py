"""Percentile intervals by the cluster bootstrap: videos are drawn with replacement, with all of their items.

Items of one video are not independent (its twenty captions are hard or easy together), so intervals that draw
items are too narrow. The draws are vectorised: videos that contribute the same thing are one type, and the number
of times that each type is drawn is one multinomial draw.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from video_contrast.metrics.bootstrap_weights import bootstrap_weights
from video_contrast.metrics.checks import as_array, cluster_codes
from video_contrast.seeds import stream

Statistic = Callable[[NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64]]
_CELLS = 1 << 20  # cells of a block of counts: a few MB
_BINOMIAL = 30  # a cell of a multinomial draw costs about as much as this many drawn clusters
_CONVERTED = 1 << 18  # cells of draws turned into floats at a time: they stay in the cache
_FEW = 8  # so few types are always drawn by the multinomial
_WIDE = 1024  # values in reach of a median, up to which they are counted one by one
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
    drawn: NDArray[np.float64] | None = None
    if isinstance(statistic, str) and statistic in _OF_MEANS:
        if statistic != "mean" and columns.shape[1] < 2:
            raise ValueError(f"statistic {statistic!r} needs two columns of values, not one")
        of_means = _OF_MEANS[statistic]
        with np.errstate(divide="ignore", invalid="ignore"):
            estimate = float(of_means(columns.mean(axis=0, keepdims=True))[0])
            if n_clusters > 1:
                drawn = of_means(_drawn_means(columns, codes, n_clusters, draws, seed))
    elif isinstance(statistic, str):
        if statistic != "median":
            raise ValueError(f"unknown statistic {statistic!r}: mean, median, difference, ratio or a function")
        estimate = float(np.median(columns[:, 0]))
        if n_clusters > 1:
            drawn = _drawn_medians(columns[:, 0], codes, n_clusters, draws, seed)
    else:
        distinct, index = _distinct(columns)
        with np.errstate(divide="ignore", invalid="ignore"):
            estimate = float(statistic(np.bincount(index, minlength=len(distinct))[None].astype(float), distinct)[0])
            if n_clusters > 1:
                drawn = _drawn_statistic(statistic, distinct, index, codes, n_clusters, draws, seed)
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


def _distinct(columns: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The distinct rows, in order, and which of them each row is."""
    if columns.shape[1] == 1:  # many times faster than by rows
        values, index = np.unique(columns[:, 0], return_inverse=True)
        return values[:, None], index
    rows, index = np.unique(columns, axis=0, return_inverse=True)
    return rows, index.reshape(-1)


def _drawn_means(
    columns: NDArray[np.float64], codes: NDArray[np.int64], n_clusters: int, draws: int, seed: int
) -> NDArray[np.float64]:
    """Means `[draws, m]` over resampled clusters: the sums and the size are all that matters of a cluster."""
    sums = [np.bincount(codes, weights=column, minlength=n_clusters) for column in columns.T]
    each = np.stack([*sums, np.bincount(codes, minlength=n_clusters).astype(np.float64)], axis=1)
    totals = drawn_totals(each, draws, seed)
    return totals[:, :-1] / totals[:, -1:]


def _drawn_medians(
    values: NDArray[np.float64], codes: NDArray[np.int64], n_clusters: int, draws: int, seed: int
) -> NDArray[np.float64]:
    """Medians `[draws]`: counted is how many drawn items are at most each value that the median may reach."""
    if n_clusters == len(values):
        return _drawn_medians_of_items(np.sort(values), draws, seed)
    distinct, index = np.unique(values, return_inverse=True)
    share = np.cumsum(np.bincount(index)) / len(index)
    # The share of items below the median, five standard errors either way.
    centre = int(np.searchsorted(share, 0.5))
    within = np.bincount(codes, weights=(index <= centre) - share[centre], minlength=n_clusters)
    reach = 5 * np.sqrt((within**2).sum()) / len(index) + 2 / len(index)
    first, last = np.searchsorted(share, [0.5 - reach, 0.5 + reach])
    for low, high in ((int(first), min(int(last), len(distinct) - 1)), (0, len(distinct) - 1)):
        width = high - low + 1
        if width > _WIDE or n_clusters * width > _CELLS:
            break
        # A column for what is below the reach, one a value in it, one for all.
        column = np.minimum(np.maximum(index - low + 1, 0), width + 1)
        cells = np.bincount(codes * (width + 2) + column, minlength=n_clusters * (width + 2))
        counts = np.cumsum(cells.reshape(n_clusters, width + 2), axis=1)
        found = drawn_totals(counts.astype(np.float32), draws, seed).astype(np.int64)
        size = found[:, -1]
        lower, upper = ((size + 1) // 2)[:, None], (size // 2 + 1)[:, None]
        if (found[:, :1] < lower).all() and (found[:, -2:-1] >= upper).all():
            below = found[:, 1:-1]
            return (distinct[low + (below < lower).sum(axis=1)] + distinct[low + (below < upper).sum(axis=1)]) / 2
    return _drawn_statistic(median_of_counts, distinct[:, None], index, codes, n_clusters, draws, seed)


def _drawn_medians_of_items(ordered: NDArray[np.float64], draws: int, seed: int) -> NDArray[np.float64]:
    """Medians `[draws]` where every item is its own cluster: which items are in the middle has a known distribution.

    The k-th smallest of n uniform numbers has a beta distribution, and so has the next one, of what is left above it.
    """
    n, rng = len(ordered), stream(seed, "cluster_bootstrap", "median", len(ordered))
    lower = rng.beta((n + 1) // 2, n + 1 - (n + 1) // 2, size=draws)
    upper = lower if n % 2 else lower + (1 - lower) * rng.beta(1, n // 2, size=draws)
    places = np.minimum(np.stack([lower, upper]) * n, n - 1).astype(np.int64)
    return ordered[places].mean(axis=0)


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
    results = []
    if values <= _NARROW and n_clusters * values <= _CELLS:
        histograms = np.bincount(codes * values + index, minlength=n_clusters * values).reshape(n_clusters, values)
        # Counts are whole numbers far below 2**24, so float32 holds them exactly.
        counts = drawn_totals(histograms.astype(np.float32), draws, seed)
        height = max(1, _CELLS // values)
        for start in range(0, draws, height):
            results.append(function(counts[start : start + height].astype(np.float64), distinct))
        return np.concatenate(results)
    # Items in the order of their values, so that the counts of one value are a run of columns.
    order = np.argsort(index, kind="stable")
    starts = np.searchsorted(index[order], np.arange(values))
    height = max(1, _CELLS // len(order))
    for weights in bootstrap_weights(n_clusters, draws, seed):
        for start in range(0, len(weights), height):
            items = np.take(weights[start : start + height], codes[order], axis=1).astype(np.float64)
            results.append(function(np.add.reduceat(items, starts, axis=1) if values < len(order) else items, distinct))
    return np.concatenate(results)


def drawn_totals(each: NDArray[Any], draws: int, seed: int) -> NDArray[Any]:
    """Totals `[draws, m]` over resampled clusters of what each of them contributes, `[clusters, m]`.

    Clusters are sorted by what they contribute, so that the order of the items has no influence. Equal ones are one
    type; if there are few types a multinomial draw over them is all it takes, else every cluster is drawn.
    """
    ordered = each[np.lexsort(each.T)]
    starts = np.flatnonzero(np.concatenate([[True], np.any(ordered[1:] != ordered[:-1], axis=1)]))
    n_clusters = len(each)
    if len(starts) <= _FEW or len(starts) * _BINOMIAL <= n_clusters:
        times = np.diff(np.append(starts, n_clusters))
        rng = stream(seed, "cluster_bootstrap", "types")
        counts = rng.multinomial(n_clusters, times / n_clusters, size=draws)
        return counts.astype(each.dtype) @ ordered[starts]
    totals = np.empty((draws, each.shape[1]), each.dtype)
    height = max(1, _CONVERTED // n_clusters)
    converted = np.empty((height, n_clusters), each.dtype)
    first = 0
    for block in bootstrap_weights(n_clusters, draws, seed):
        for start in range(0, len(block), height):
            part = block[start : start + height]
            np.copyto(converted[: len(part)], part)
            np.matmul(converted[: len(part)], ordered, out=totals[first : first + len(part)])
            first += len(part)
    return totals


def _interval(estimate: float, drawn: NDArray[np.float64] | None, level: float, n_clusters: int) -> Interval:
    defined = drawn[np.isfinite(drawn)] if drawn is not None else np.empty(0)
    if drawn is None or 2 * len(defined) < len(drawn) or len(defined) == 0:
        return Interval(estimate, float("nan"), float("nan"), float("nan"), n_clusters)
    tail = (1 - level) / 2
    low, high = np.quantile(defined, [tail, 1 - tail])
    return Interval(estimate, float(low), float(high), float(defined.std()), n_clusters)
