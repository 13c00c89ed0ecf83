"""Right wherever the true candidate stands."""

import numpy as np

from video_contrast.metrics.checks import Values, rows_of_one_length
from video_contrast.metrics.interval import interval_keys, share_interval


def right_in_all_rotations(
    hits: Values, *, clusters: Values = None, interval: bool = False
) -> dict[str, float | int | None]:
    """The share of items that a letter-choice model gets right in every rotation of the candidates.

    Args:
        hits: `[n][rotations]`, 1 right, 0 wrong, between them on a tie.
        clusters: `[n]`, the source videos, for the intervals.
        interval: add 95 % intervals of both figures (`share_interval`).

    Returns:
        `right_in_all`, `accuracy` (the mean over rotations), `rotations`, `n`; with interval `<key>_low` and
        `<key>_high`.

    Raises:
        ValueError: empty, rows of different lengths, values outside 0..1; the message names the item.

    >>> right_in_all_rotations([[1, 1, 1], [1, 0, 1]])["right_in_all"]
    0.5
    """
    array = rows_of_one_length(hits, "hits", "rotations").astype(np.float64)
    if not len(array):
        raise ValueError("hits are empty: there are no items")
    if array.ndim != 2 or not array.shape[1]:
        raise ValueError(f"hits must be one row an item and one column a rotation, not the shape {array.shape}")
    bad = np.argwhere(~((array >= 0) & (array <= 1)))
    if len(bad):
        raise ValueError(f"hits: item {bad[0][0]}, rotation {bad[0][1]} is {array[tuple(bad[0])]}, not between 0 and 1")
    figures = {"right_in_all": array.prod(axis=1), "accuracy": array.mean(axis=1)}
    result: dict[str, float | int | None] = {"n": len(array), "rotations": array.shape[1]}
    for name, values in figures.items():
        result[name] = float(values.mean())
        if interval:
            result |= interval_keys(name, share_interval(values, clusters))
    return result
