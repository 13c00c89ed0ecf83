"""Sensitivity: how much a score falls when the caption becomes false, and how often it rises instead."""

import numpy as np

from video_contrast.metrics.bootstrap import OfMeans, cluster_bootstrap
from video_contrast.metrics.checks import Values, vector
from video_contrast.metrics.interval import interval_keys, median_interval, share_interval

_SPREAD = OfMeans(lambda means: np.sqrt(np.maximum(means[:, 1] - means[:, 0] ** 2, 0.0)))


def sensitivity(
    true_scores: Values, contrast_scores: Values, *, clusters: Values = None, interval: bool = False, seed: int = 0
) -> dict[str, float | None]:
    """The change of score from the true caption to its contrast; it should be negative.

    Args:
        true_scores: `[n]`, score of each video with its true caption.
        contrast_scores: `[n]`, score of the same video with the contrast, in the same order.
        clusters: `[n]`, the source videos, for the intervals.
        interval: add 95 % intervals of `change`, `change_std` (`cluster_bootstrap`), `change_median`
            (`median_interval`) and `wrong_sign` (`share_interval`).
        seed: of the bootstrap.

    Returns:
        `change` (mean of contrast less true), `change_std`, `change_median`, `wrong_sign` (share of pairs in which
        the contrast scores higher; an equal score counts half), `n_ties`, `n`.

    Raises:
        ValueError: empty, unequal lengths, NaN or infinite scores; the message names the item.

    Source: RCAD paper, section "Sensitivity to the change of object or action".

    >>> result = sensitivity([0.5, 0.5, 0.5, 0.5], [0.3, 0.4, 0.6, 0.5])
    >>> round(result["change"], 3), result["wrong_sign"]
    (-0.05, 0.375)
    """
    before, after = vector(true_scores, "true_scores"), vector(contrast_scores, "contrast_scores")
    if len(before) != len(after):
        raise ValueError(f"{len(before)} true scores but {len(after)} contrast scores: they must be pairs")
    change = after - before
    wrong = (change > 0) + 0.5 * (change == 0)
    result: dict[str, float | None] = {
        "change": float(change.mean()),
        "change_std": float(change.std()),
        "change_median": float(np.median(change)),
        "wrong_sign": float(wrong.mean()),
        "n_ties": int((change == 0).sum()),
        "n": len(change),
    }
    if interval:
        centred = change - change.mean()  # squares of large numbers would lose the spread
        squares = np.stack([centred, centred**2], axis=1)
        for name, interval_of in (
            ("change", cluster_bootstrap(change, clusters, seed=seed)),
            ("change_std", cluster_bootstrap(squares, clusters, statistic=_SPREAD, seed=seed, bounds=(0, np.inf))),
            ("change_median", median_interval(change, clusters)),
            ("wrong_sign", share_interval(wrong, clusters)),
        ):
            result.update(interval_keys(name, interval_of))
    return result
