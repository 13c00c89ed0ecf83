"""Statistics of which numbers were drawn how often: the median, and any of one's own."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from video_contrast.metrics.bootstrap_weights import bootstrap_weights
from video_contrast.metrics.drawn_totals import drawn_totals
from video_contrast.seeds import stream

Statistic = Callable[[NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64]]
_CELLS = 1 << 20  # cells of a block of counts: a few MB
_WIDE = 1024  # values in reach of a median, up to which they are counted one by one
_NARROW = 256  # distinct values up to which a cluster is described by its histogram


def drawn_medians(
    values: NDArray[np.float64], codes: NDArray[np.int64], n_clusters: int, draws: int, seed: int
) -> NDArray[np.float64]:
    """Medians `[draws]`: counted is how many drawn items are at most each value that the median may reach."""
    if n_clusters == len(values):
        return _medians_of_items(np.sort(values), draws, seed)
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
    return drawn_statistic(median_of_counts, distinct[:, None], index, codes, n_clusters, draws, seed)


def _medians_of_items(ordered: NDArray[np.float64], draws: int, seed: int) -> NDArray[np.float64]:
    """Medians `[draws]` where every item is its own cluster: which items are in the middle has a known distribution.

    The k-th smallest of n uniform numbers has a beta distribution, and so has the next one, of what is left above it.
    """
    n, rng = len(ordered), stream(seed, "cluster_bootstrap", "median", len(ordered))
    lower = rng.beta((n + 1) // 2, n + 1 - (n + 1) // 2, size=draws)
    upper = lower if n % 2 else lower + (1 - lower) * rng.beta(1, n // 2, size=draws)
    places = np.minimum(np.stack([lower, upper]) * n, n - 1).astype(np.int64)
    return ordered[places].mean(axis=0)


def drawn_statistic(
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
