"""Accuracy by semantic proximity: antonyms, the contrasts nearest to their originals, and the farthest."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from video_contrast.metrics.checks import vector


def proximity(hits: Any, similarity: Any, *, antonym: Any = None, share: float = 0.15) -> dict[str, Any]:
    """Accuracy on antonyms, and on the highest and lowest `share` of the others by similarity.

    Args:
        hits: `[n]`, 1 right, 0 wrong, between them on a tie.
        similarity: `[n]`, similarity of the original and the contrast sentence (by any sentence encoder).
        antonym: `[n]` of booleans; these items are a subset of their own. None: no item is one.
        share: size of the two subsets, above 0 and at most 0.5. Items that tie at the border share the room that is
            left in equal parts, so that their order has no influence.

    Returns:
        `antonym`, `high`, `low` (None where the subset is empty), `n_antonym`, `n_high` (the size of either subset).

    Raises:
        ValueError: empty, unequal lengths, values that are not finite, share out of range.

    Source: contrast-set paper, table 5 (15 %).

    >>> result = proximity([0, 1, 1, 1, 0], [0.9, 0.2, 0.3, 0.8, 0.95], antonym=[0, 0, 0, 0, 1], share=0.25)
    >>> result["antonym"], result["high"], result["low"]
    (0.0, 0.0, 1.0)
    """
    right, near = vector(hits, "hits"), vector(similarity, "similarity")
    opposite = np.zeros(len(right), bool) if antonym is None else np.asarray(antonym, bool)
    if not len(right) == len(near) == len(opposite):
        raise ValueError(f"{len(right)} hits need as many similarities and flags, not {len(near)} and {len(opposite)}")
    if not 0 < share <= 0.5:
        raise ValueError(f"share must be above 0 and at most 0.5, not {share}")
    others = ~opposite
    size = round(share * int(others.sum()))
    return {
        "antonym": float(right[opposite].mean()) if opposite.any() else None,
        "high": _mean_of_top(right[others], near[others], size),
        "low": _mean_of_top(right[others], -near[others], size),
        "n_antonym": int(opposite.sum()),
        "n_high": size,
    }


def _mean_of_top(right: NDArray[np.float64], key: NDArray[np.float64], size: int) -> float | None:
    if size == 0:
        return None
    border = np.sort(key)[-size]
    above, at = key > border, key == border
    return float((right[above].sum() + right[at].mean() * (size - above.sum())) / size)
