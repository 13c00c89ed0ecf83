"""How often each cluster is drawn in each draw of a bootstrap, vectorised."""

import math
from collections.abc import Iterator
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from video_contrast.seeds import stream

_BLOCK = (
    1 << 24
)  # cells of a block: 16 MB, large enough for numpy to ask for huge pages, which saves thousands of faults
_PART = 1 << 17  # cells drawn at a time: they and their random bits stay in the cache
_KEPT = 1 << 25  # cells of draws worth keeping: 32 MB


def bootstrap_weights(n_clusters: int, draws: int, seed: int = 0) -> Iterator[NDArray[np.uint8]]:
    """How often each cluster is drawn, in blocks `[draws of the block, n_clusters]`; every row adds up to n_clusters.

    The building block for statistics of your own: the same seed gives the same draws, so two models that are scored
    on the same clusters are compared on the same resamples. The last draws of moderate size are kept, since a report
    asks for dozens of intervals over the same clusters.

    Args:
        n_clusters: how many there are, at least 1.
        draws: number of bootstrap draws.
        seed: the draws depend on it and on the number of clusters, and on nothing else.

    Returns:
        Blocks of whole numbers, not to be written to.

    >>> [block.sum(axis=1).tolist() for block in bootstrap_weights(5, 3)]
    [[5, 5, 5]]
    """
    if n_clusters < 1:
        raise ValueError(f"n_clusters must be at least 1, not {n_clusters}")
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
    poisson = _Poisson(n_clusters)
    height = max(1, _PART // n_clusters)
    rows = max(1, _BLOCK // (n_clusters * height)) * height
    for first in range(0, draws, rows):
        block = np.empty((min(rows, draws - first), n_clusters), np.uint8)
        parts = [block[start : start + height] for start in range(0, len(block), height)]
        sums = np.concatenate([poisson.draw(rng, part) for part in parts])
        while len(again := np.flatnonzero(sums > n_clusters)):
            fresh = np.empty((len(again), n_clusters), np.uint8)
            sums[again] = poisson.draw(rng, fresh)
            block[again] = fresh
        missing = n_clusters - sums
        for start, part in zip(range(0, len(block), height), parts, strict=True):
            cells = np.repeat(np.arange(len(part)) * n_clusters, missing[start : start + height])
            np.add.at(part.reshape(-1), cells + rng.integers(0, n_clusters, size=len(cells)), np.uint8(1))
        block.flags.writeable = False
        yield block


class _Poisson:
    """Poisson counts from one random byte each.

    A byte is compared with the cumulated probabilities of the counts in 256ths, rounded down; what rounding leaves
    over is drawn from the rest of the distribution, so the result is exact. Counts end at 40: the chance of more is
    below 1e-45.
    """

    def __init__(self, n: int) -> None:
        """With a rate at which the sum of `n` counts is above `n` once in 20 to 200 times."""
        self.few = n < 16  # all counts are 0: nothing to be gained
        # Of the rates that will do, that at which rounding leaves least over.
        rates = 1.0 - np.linspace(1.6, 2.6, 101)[:, None] / math.sqrt(max(n, 16))
        values = np.arange(40)
        factorials = np.array([math.lgamma(value + 1) for value in values])
        parts = 256 * np.exp(values * np.log(rates) - rates - factorials)
        whole = np.floor(parts)
        best = int((parts - whole).sum(axis=1).argmin())
        rest = (parts - whole)[best]
        self.edges = np.cumsum(whole[best][whole[best] > 0]).astype(np.uint8)
        self.rest = np.cumsum(rest) / rest.sum()

    def draw(self, rng: np.random.Generator, rows: NDArray[np.uint8]) -> NDArray[np.int64]:
        """Fills `rows` with counts; returns the sum of each row."""
        if self.few:
            rows[:] = 0
            return np.zeros(len(rows), np.int64)
        counts = rows.reshape(-1)
        drawn = rng.bit_generator.random_raw(-(-len(counts) // 8)).view(np.uint8)[: len(counts)]
        flags = np.greater_equal(drawn, self.edges[0])
        np.copyto(counts, flags.view(np.uint8))
        for edge in self.edges[1:]:
            np.greater_equal(drawn, edge, out=flags)
            np.add(counts, flags.view(np.uint8), out=counts)
        left = np.flatnonzero(flags)
        counts[left] = np.searchsorted(self.rest, rng.random(len(left)), side="right")
        return rows.sum(axis=1, dtype=np.uint32).astype(np.int64)
