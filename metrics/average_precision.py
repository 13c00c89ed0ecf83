"""How well captions find the clips that they are true of, among clips of which some are others."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from video_contrast.metrics.checks import Values
from video_contrast.metrics.interval import interval_keys, share_interval
from video_contrast.metrics.ranks import Numbers, exact_mean


def average_precision(
    scores: Sequence[Values], true: Sequence[Values], *, clusters: Values = None, interval: bool = False
) -> Numbers:
    """Mean average precision and R@1 of captions, each of which is true of one or several of its clips.

    Args:
        scores: `[n][k]`, of each caption with each of its clips, higher is better; the numbers of clips may differ.
        true: `[n][k]`, whether the caption is true of the clip; of one at least, and not of all.
        clusters: `[n]`, what captions share their clips, for the intervals.
        interval: add 95 % intervals (`share_interval`).

    Returns:
        `clip_mAP`, `clip_R@1` (the best clip is a true one), each the expected value under random tie-breaking,
        `chance_<figure>`, which a constant scorer gets, and `shared_captions` (n); with interval `<figure>_low` and
        `<figure>_high`.

    Raises:
        ValueError: no captions, scores that are NaN or infinite, or a caption that is true of none or all of its clips.

    >>> result = average_precision([[0.9, 0.5, 0.1]], [[True, False, True]])
    >>> round(result["clip_mAP"], 4), round(result["chance_clip_mAP"], 4), result["clip_R@1"]
    (0.8333, 0.8056, 1.0)
    """
    if not len(scores) == len(true) > 0:
        raise ValueError(
            f"{len(scores)} captions with scores, {len(true)} with truths: as many are needed, one at least"
        )
    values = np.empty((4, len(scores)))
    for n, (row, truth) in enumerate(zip(map(np.asarray, scores), map(np.asarray, true), strict=True)):
        if row.shape != truth.shape or row.ndim != 1 or not np.isfinite(row).all() or truth.all() or not truth.any():
            raise ValueError(f"caption {n} needs finite scores of clips, some of which it is true of and some not")
        values[:, n] = (*_expected(row, truth), *_expected(np.zeros(len(row)), truth))
    result: Numbers = {"shared_captions": len(scores)}
    for name, own, chance in zip(("clip_mAP", "clip_R@1"), values[:2], values[2:], strict=True):
        result |= {name: exact_mean(own), f"chance_{name}": exact_mean(chance)}
        if interval:
            result |= interval_keys(name, share_interval(own.clip(0.0, 1.0), clusters))
    return result


def _expected(scores: NDArray[np.float64], true: NDArray[np.bool_]) -> tuple[float, float]:
    """Average precision and R@1 of a caption, the means over all orders of clips with equal scores."""
    _, level, size = np.unique(-scores, return_inverse=True, return_counts=True)
    hits = np.bincount(level, true)
    above, hits_above = np.cumsum(size) - size, np.cumsum(hits) - hits
    precision = 0.0
    for n in np.flatnonzero(hits):
        before = np.arange(size[n])  # clips of the same score that stand before a true one
        hits_before = before * (hits[n] - 1) / max(size[n] - 1, 1)
        precision += hits[n] / size[n] * float(((hits_above[n] + hits_before + 1) / (above[n] + before + 1)).sum())
    return precision / float(hits.sum()), float(hits[0] / size[0])
