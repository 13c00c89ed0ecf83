"""Accuracy by semantic proximity: antonyms, the contrasts nearest to their originals, and the farthest."""

import numpy as np
from numpy.typing import NDArray

from video_contrast.metrics.checks import Values, cluster_codes, listed, shares, vector
from video_contrast.metrics.interval import interval_keys, share_interval


def proximity(
    hits: Values,
    similarity: Values,
    *,
    antonym: Values = None,
    share: float = 0.15,
    clusters: Values = None,
    interval: bool = False,
) -> dict[str, float | None]:
    """Accuracy on antonyms, and on the highest and lowest `share` of the others by similarity.

    Args:
        hits: `[n]`, 1 right, 0 wrong, between them on a tie.
        similarity: `[n]`, similarity of the original and the contrast sentence (by any sentence encoder).
        antonym: `[n]` of booleans; these items are a subset of their own. None: no item is one.
        share: size of the two subsets, above 0 and at most 0.5. Items that tie at the border share the room that is
            left in equal parts, so that their order has no influence.
        clusters: `[n]`, the source videos, for the intervals.
        interval: add 95 % intervals of the three (`share_interval`), over the items of each subset.

    Returns:
        `antonym`, `high`, `low` (None where the subset is empty), `n_antonym`, `n_high` (the size of either subset).

    Raises:
        ValueError: empty, unequal lengths, hits outside 0..1, similarities that are not finite, antonym flags that
            are neither true nor false, share out of range; the message names the item.

    Source: contrast-set paper, table 5 (15 %).

    >>> result = proximity([0, 1, 1, 1, 0], [0.9, 0.2, 0.3, 0.8, 0.95], antonym=[0, 0, 0, 0, 1], share=0.25)
    >>> result["antonym"], result["high"], result["low"]
    (0.0, 0.0, 1.0)
    """
    right, near = shares(hits, "hits"), vector(similarity, "similarity")
    opposite = np.zeros(len(right), bool) if antonym is None else _flags(antonym)
    if not len(right) == len(near) == len(opposite):
        raise ValueError(f"{len(right)} hits need as many similarities and flags, not {len(near)} and {len(opposite)}")
    if clusters is not None:
        clusters, _ = cluster_codes(clusters, len(right))
    if not 0 < share <= 0.5:
        raise ValueError(f"share must be above 0 and at most 0.5, not {share}")
    size = round(share * int((~opposite).sum()))
    weights = {
        "antonym": opposite.astype(np.float64),
        "high": _top(near, ~opposite, size),
        "low": _top(-near, ~opposite, size),
    }
    result: dict[str, float | None] = {"n_antonym": int(opposite.sum()), "n_high": size}
    for name, weight in weights.items():
        inside = weight > 0
        result[name] = float((right * weight).sum() / weight.sum()) if inside.any() else None
        if interval and inside.any():
            groups = None if clusters is None else clusters[inside]
            result.update(interval_keys(name, share_interval(right[inside], groups, weights=weight[inside])))
    return result


def _flags(values: Values) -> NDArray[np.bool_]:
    """Booleans, or numbers 0 and 1."""
    flags = listed(values)
    odd = next((i for i, flag in enumerate(flags) if flag not in (0, 1)), None)
    if odd is not None:
        raise ValueError(f"antonym: item {odd} is {flags[odd]!r}, neither True nor False")
    return np.array(flags, bool)


def _top(key: NDArray[np.float64], among: NDArray[np.bool_], size: int) -> NDArray[np.float64]:
    """Weights `[n]` that add up to `size`: 1 for the highest, the same share for all that tie at the border."""
    weights = np.zeros(len(key))
    if size:
        border = np.sort(key[among])[-size]
        above, at = among & (key > border), among & (key == border)
        weights[above] = 1.0
        weights[at] = (size - above.sum()) / at.sum()
    return weights
