"""Any statistic of how often each distinct value was drawn."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from video_contrast.metrics.bootstrap_weights import bootstrap_weights
from video_contrast.metrics.drawn_totals import drawn_totals

Statistic = Callable[[NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64]]
_CELLS = 1 << 20  # cells of a block of drawn items, and of a table of histograms: a few MB
_COUNTS = 1 << 15  # cells of counts that the function is given at once: it and what it makes of them stay in the cache
_NARROW = 256  # distinct values up to which a cluster is described by its histogram


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
        height = max(1, _COUNTS // values)
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
