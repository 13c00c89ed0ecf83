"""Totals over resampled clusters: what most statistics of a bootstrap are made of."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from video_contrast.metrics.bootstrap_weights import bootstrap_weights
from video_contrast.seeds import stream

_BINOMIAL = 30  # a cell of a multinomial draw costs about as much as this many drawn clusters
_CONVERTED = 1 << 18  # cells of draws turned into floats at a time: they stay in the cache
_FEW = 8  # so few types are always drawn by the multinomial


def drawn_totals(each: NDArray[Any], draws: int, seed: int) -> NDArray[Any]:
    """Totals `[draws, m]` over resampled clusters of what each of them contributes, `each[clusters, m]`.

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
