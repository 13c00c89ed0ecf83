"""The order of graded candidates: how near a model's order of them is to the best one."""

import numpy as np
from numpy.typing import NDArray

from video_contrast.metrics.checks import Values, choices, listed
from video_contrast.metrics.interval import interval_keys, share_interval
from video_contrast.metrics.ranks import Numbers, exact_mean

Floats = NDArray[np.float64]
FIGURES = ("ndcg", "ndcg_min_max")


def ndcg(
    scores: Values, grades: Values, *, clusters: Values = None, interval: bool = False, ragged: bool = False
) -> Numbers:
    """Normalised discounted cumulative gain of items whose candidates are graded from 1 (true) to worse ones.

    The gain of a candidate is the number of grades from its own to the worst of its item, the discount of a place is
    1 / log2(place + 1). Equal scores share the gains of their places, so that a constant scorer gets exactly chance.

    Args:
        scores: `[n][k]`, higher is better.
        grades: `[n][k]`, whole numbers from 1, the best; at least two different ones an item.
        clusters: `[n]`, the source video of each item, for the intervals.
        interval: add 95 % intervals (`share_interval`).
        ragged: allow items with different numbers of candidates.

    Returns:
        `ndcg` (1 for the best order), `ndcg_min_max` (1 for the best order, 0 for the worst, as the VidHal benchmark
        has it), `chance_<figure>` of a random order; with interval `<figure>_low` and `<figure>_high`.

    Raises:
        ValueError: as `multiple_choice`, or grades that do not match the scores; the message names the item.

    >>> result = ndcg([[0.9, 0.1, 0.5]], [[1, 2, 3]])
    >>> round(result["ndcg"], 4), round(result["ndcg_min_max"], 4), round(result["chance_ndcg_min_max"], 4)
    (0.9725, 0.8691, 0.5)
    """
    array, _, sizes = choices(scores, ragged=ragged)
    if len(grades) != len(array):
        raise ValueError(f"{len(array)} items need {len(array)} lists of grades, not {len(grades)}")
    values = np.empty((len(FIGURES), 2, len(array)))  # figure, (value, chance), item
    for item, (row, size) in enumerate(zip(array, sizes, strict=True)):
        gains = _gains(grades[item], int(size), item)
        best, worst = _dcg(gains, gains), _dcg(-gains, gains)
        both = np.array([_dcg(row[:size], gains), _dcg(np.zeros(size), gains)])
        values[0, :, item], values[1, :, item] = both / best, (both - worst) / (best - worst)
    result: Numbers = {}
    for name, (of_items, chances) in zip(FIGURES, np.clip(values, 0.0, 1.0), strict=True):
        result |= {name: exact_mean(of_items), f"chance_{name}": exact_mean(chances)}
        if interval:
            result |= interval_keys(name, share_interval(of_items, clusters))
    return result


def _gains(grades: Values, size: int, item: int) -> Floats:
    numbers = listed(grades)
    if len(numbers) != size or not all(isinstance(n, int) and n > 0 for n in numbers) or len(set(numbers)) < 2:
        raise ValueError(
            f"grades: item {item} has {size} candidates and needs as many whole numbers from 1, not all alike, not "
            f"{grades!r}"
        )
    return np.array([max(numbers) + 1 - n for n in numbers], np.float64)


def _dcg(scores: Floats, gains: Floats) -> float:
    """The discounted gains in the order of the scores, the highest first; equal scores share their places."""
    _, tied, counts = np.unique(-scores, return_inverse=True, return_counts=True)
    discounts = np.add.reduceat(1 / np.log2(np.arange(len(scores)) + 2.0), np.cumsum(counts) - counts)
    return float(np.bincount(tied, gains) / counts @ discounts)
