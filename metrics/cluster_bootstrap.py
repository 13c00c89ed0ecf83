"""Percentile intervals by the cluster bootstrap: videos are drawn with replacement, with all of their items.

Items of one video are not independent (its twenty captions are hard or easy together), so intervals that draw
items are too narrow. The one place for intervals: every metric that gives one has it from here.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from video_contrast.metrics.checks import as_array, cluster_codes
from video_contrast.metrics.drawn_counts import Statistic, drawn_statistic
from video_contrast.metrics.drawn_medians import drawn_medians
from video_contrast.metrics.drawn_totals import drawn_totals


class OfMeans(NamedTuple):
    """A statistic that depends on the means of the columns only: `function(means[draws, m]) -> [draws]`.

    Most do: a ratio, a difference, a standard deviation (of columns x and x squared), an F1 score. They cost a
    fraction of what a statistic of counts does.
    """

    function: Callable[[NDArray[np.float64]], NDArray[np.float64]]

    def of(self, values: Any) -> float:
        """The statistic of values `[n]` or `[n, m]` as they are; NaN where it is undefined."""
        means = np.asarray(values, np.float64).reshape(len(values), -1).mean(axis=0, keepdims=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            return float(self.function(means)[0])


_NAMED = {
    "mean": OfMeans(lambda means: means[:, 0]),
    "difference": OfMeans(lambda means: means[:, 1] - means[:, 0]),
    "ratio": OfMeans(lambda means: means[:, 1] / means[:, 0]),
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
    statistic: str | OfMeans | Statistic = "mean",
    draws: int = 10_000,
    level: float = 0.95,
    seed: int = 0,
) -> Interval:
    """The percentile interval of a statistic of items that belong to clusters.

    Args:
        values: `[n]`, one number an item, or `[n, m]`, m paired numbers (clean and perturbed; model a and b).
        clusters: `[n]`, the source video of each item; None: every item is its own cluster.
        statistic: "mean" (of the first column), "median" (of the first), "difference" (mean of column 1 less that of
            column 0), "ratio" (mean of column 1 over that of column 0), `OfMeans(f)` with any function
            `f(means[draws, m]) -> [draws]` of the columns' means, or any function
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

    Source: Miller (2024), "Adding error bars to evals", for the clusters; how the draws are made is our own.

    >>> hits = [1, 1, 0, 1, 0, 1, 1, 0]
    >>> result = cluster_bootstrap(hits, ["a", "a", "b", "b", "c", "c", "d", "d"])
    >>> result.estimate, result.low < 0.625 < result.high, result.n_clusters
    (0.625, True, 4)
    """
    columns = _columns(values)
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1, not {level}")
    if draws < 1 or draws != int(draws):
        raise ValueError(f"draws must be a whole number of at least 1, not {draws}")
    draws = int(draws)
    if isinstance(statistic, str) and statistic not in (*_NAMED, "median"):
        raise ValueError(
            f"unknown statistic {statistic!r}: {', '.join(_NAMED)}, median, OfMeans(function) or a function of counts"
        )
    if statistic in ("difference", "ratio") and columns.shape[1] < 2:
        raise ValueError(f"statistic {statistic!r} needs two columns of values, not one")
    codes, n_clusters = cluster_codes(clusters, len(columns))
    chosen = _NAMED.get(statistic, statistic) if isinstance(statistic, str) else statistic
    several = n_clusters > 1
    drawn: NDArray[np.float64] | None = None
    with np.errstate(divide="ignore", invalid="ignore"):
        if isinstance(chosen, OfMeans):
            estimate = chosen.of(columns)
            if several:
                drawn = chosen.function(_drawn_means(columns, codes, n_clusters, draws, seed))
        elif isinstance(chosen, str):
            estimate = float(np.median(columns[:, 0]))
            if several:
                drawn = drawn_medians(columns[:, 0], codes, n_clusters, draws, seed)
        else:
            distinct, index = _distinct(columns)
            estimate = float(chosen(np.bincount(index, minlength=len(distinct))[None].astype(float), distinct)[0])
            if several:
                drawn = drawn_statistic(chosen, distinct, index, codes, n_clusters, draws, seed)
    return interval_of_draws(estimate, drawn, n_clusters, level)


def interval_of_draws(
    estimate: float, drawn: NDArray[np.float64] | None, n_clusters: int, level: float = 0.95
) -> Interval:
    """The percentile interval of a statistic of which draws are given; NaN where most of them are undefined.

    >>> interval_of_draws(0.5, np.linspace(0, 1, 201), 20).high
    0.975
    """
    defined = drawn[np.isfinite(drawn)] if drawn is not None else np.empty(0)
    if drawn is None or 2 * len(defined) < len(drawn) or len(defined) == 0:
        return Interval(estimate, float("nan"), float("nan"), float("nan"), n_clusters)
    tail = (1 - level) / 2
    low, high = np.quantile(defined, [tail, 1 - tail])
    return Interval(estimate, float(low), float(high), float(defined.std()), n_clusters)


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
