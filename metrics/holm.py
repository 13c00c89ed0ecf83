"""Holm's correction of a family of p-values."""

import numpy as np
from numpy.typing import NDArray

from video_contrast.metrics.checks import Values, shares


def holm(p_values: Values) -> NDArray[np.float64]:
    """P-values adjusted so that the chance of any false positive in the family stays below the level.

    Args:
        p_values: `[m]`, each from 0 to 1.

    Returns:
        `float64[m]`, adjusted, in the order given; at most 1.

    Raises:
        ValueError: empty, or a value outside 0..1; the message names it.

    Source: Holm (1979).

    >>> holm([0.01, 0.04, 0.03]).round(3).tolist()
    [0.03, 0.06, 0.06]
    """
    values = shares(p_values, "p_values")
    order = np.argsort(values, kind="stable")
    scaled = values[order] * np.arange(len(values), 0, -1)
    adjusted = np.empty_like(values)
    adjusted[order] = np.minimum(np.maximum.accumulate(scaled), 1.0)
    return adjusted
