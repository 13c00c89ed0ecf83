"""Median rank under the tie rule."""

import numpy as np

from video_contrast.metrics.checks import Values, choices
from video_contrast.metrics.ranks import choice_ranks


def median_rank(scores: Values, labels: Values = None) -> float:
    """The median of the expected ranks of the true candidate, from 1; a tie counts half a place.

    Args:
        scores: `[n][k]`, higher is better.
        labels: `[n]`, the position of the true candidate; None: always 0.

    Raises:
        ValueError: as `multiple_choice`.

    >>> median_rank([[0.7, 0.1, 0.2], [0.5, 0.5, 0.9], [0.1, 0.2, 0.3]])
    2.5
    """
    array, truth, _ = choices(scores, labels)
    return float(np.median(choice_ranks(array, truth).expected))
