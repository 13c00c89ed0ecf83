"""Medians over resampled clusters."""

import numpy as np
from numpy.typing import NDArray

from video_contrast.metrics.bootstrap_weights import bootstrap_weights
from video_contrast.metrics.drawn_counts import drawn_statistic, median_of_counts
from video_contrast.metrics.drawn_totals import drawn_totals
from video_contrast.seeds import stream

_CUTS = 24  # values in reach of the median that are counted in all draws; those between two cuts in some
_LOOKED_AT = 1 << 20  # cells of draws looked at together


def drawn_medians(
    values: NDArray[np.float64], codes: NDArray[np.int64], n_clusters: int, draws: int, seed: int
) -> NDArray[np.float64]:
    """Medians `[draws]`: counted is how many drawn items are at most each value that the median may reach.

    Args:
        values: `[n]`.
        codes: `[n]`, the cluster of each, from 0.
        n_clusters, draws, seed: of the bootstrap.
    """
    if n_clusters == len(values):
        return _medians_of_items(np.sort(values), draws, seed)
    distinct, index = np.unique(values, return_inverse=True)
    share = np.cumsum(np.bincount(index)) / len(index)
    # The share of items below the median, five standard errors either way.
    centre = int(np.searchsorted(share, 0.5))
    within = np.bincount(codes, weights=(index <= centre) - share[centre], minlength=n_clusters)
    reach = 5 * np.sqrt((within**2).sum()) / len(index) + 2 / len(index)
    low, high = np.searchsorted(share, [0.5 - reach, 0.5 + reach])
    high = min(high, len(distinct) - 1)
    cuts = np.unique(np.linspace(low, high, min(_CUTS, high - low + 1)).astype(np.int64))
    # Columns: how many items are below the reach, at most each cut, and in all.
    columns = np.concatenate([[0], 1 + np.searchsorted(cuts, np.arange(low, high + 1)), [len(cuts) + 1]])
    column = columns[np.clip(index - low + 1, 0, high - low + 2)]
    cells = np.bincount(codes * (len(cuts) + 2) + column, minlength=n_clusters * (len(cuts) + 2))
    # Whole numbers far below 2**24, so float32 holds them exactly.
    counts = np.cumsum(cells.reshape(n_clusters, -1), axis=1).astype(np.float32)
    if len(cuts) == high - low + 1:
        found = drawn_totals(counts, draws, seed)
        if _in_reach(found):
            return np.mean([distinct[cuts[_bins(found, wanted)]] for wanted in _middles(found)], axis=0)
    else:
        medians = _between_cuts(distinct, index, codes, counts, column, draws, seed)
        if medians is not None:
            return medians
    return drawn_statistic(median_of_counts, distinct[:, None], index, codes, n_clusters, draws, seed)


def _between_cuts(
    distinct: NDArray[np.float64],
    index: NDArray[np.int64],
    codes: NDArray[np.int64],
    counts: NDArray[np.float32],
    column: NDArray[np.int64],
    draws: int,
    seed: int,
) -> NDArray[np.float64] | None:
    """Medians where a median may lie between two cuts: there its items are counted; None if one is out of reach."""
    order = np.lexsort(counts.T)  # so that the order of the items has no influence
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    # Items of each column in the order of their values, by value and place.
    inside = []
    for between in range(counts.shape[1]):
        items = np.flatnonzero(column == between)
        items = items[np.lexsort((place[codes[items]], index[items]))]
        inside.append((distinct[index[items]], place[codes[items]]))
    medians = []
    height = max(1, _LOOKED_AT // len(counts))
    for block in bootstrap_weights(len(counts), draws, seed):
        for start in range(0, len(block), height):
            part = block[start : start + height]
            found = part.astype(np.float32) @ counts[order]
            if not _in_reach(found):
                return None
            middles = []
            for wanted in _middles(found):
                bins, value = _bins(found, wanted), np.empty(len(part))
                for one in np.unique(bins):
                    rows = np.flatnonzero(bins == one)
                    sizes, clusters = inside[one + 1]
                    running = np.cumsum(part[rows[:, None], clusters], axis=1, dtype=np.int64)
                    missing = (wanted[rows, 0] - found[rows, one])[:, None]
                    value[rows] = sizes[np.argmax(running >= missing, axis=1)]
                middles.append(value)
            medians.append(np.mean(middles, axis=0))
    return np.concatenate(medians)


def _middles(found: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Which items, counted from 1, are in the middle of each draw, `[draws, 1]`."""
    size = found[:, -1:]
    return np.floor((size + 1) / 2), np.floor(size / 2) + 1


def _in_reach(found: NDArray[np.float32]) -> bool:
    lower, upper = _middles(found)
    return bool((found[:, :1] < lower).all() and (found[:, -2:-1] >= upper).all())


def _bins(found: NDArray[np.float32], wanted: NDArray[np.float32]) -> NDArray[np.int64]:
    """The first cut at or below which there are as many items as wanted."""
    return (found[:, 1:-1] < wanted).sum(axis=1)


def _medians_of_items(ordered: NDArray[np.float64], draws: int, seed: int) -> NDArray[np.float64]:
    """Medians `[draws]` where every item is its own cluster: which items are in the middle has a known distribution.

    The k-th smallest of n uniform numbers has a beta distribution, and so has the next one, of what is left above it.
    """
    n, rng = len(ordered), stream(seed, "cluster_bootstrap", "median", len(ordered))
    lower = rng.beta((n + 1) // 2, n + 1 - (n + 1) // 2, size=draws)
    upper = lower if n % 2 else lower + (1 - lower) * rng.beta(1, n // 2, size=draws)
    places = np.minimum(np.stack([lower, upper]) * n, n - 1).astype(np.int64)
    return ordered[places].mean(axis=0)
