"""Text, video and group score of pairs: two captions and two videos, each caption true for one."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from video_contrast.metrics.checks import rows_of_one_length
from video_contrast.metrics.interval import interval_keys, share_interval
from video_contrast.metrics.ranks import exact_mean

CHANCE = {"text_score": 1 / 4, "video_score": 1 / 4, "group_score": 1 / 6}


def group_score(scores: Any, *, clusters: Any = None, interval: bool = False) -> dict[str, Any]:
    """How many pairs are right in every comparison by text, by video, and in both.

    Args:
        scores: `[n, 2, 2]`, `scores[i, c, v]` of caption c with video v; caption 0 is true for video 0, 1 for 1.
        clusters: `[n]`, for the intervals.
        interval: add 95 % intervals (`share_interval`).

    Returns:
        `text_score` (each video prefers its caption), `video_score` (each caption prefers its video), `group_score`
        (both), each the expected value under random tie-breaking, with `chance_<score>` (of random scores: 1/4, 1/4
        and 1/6; a constant scorer gets exactly that), `n_ties` and `n`.

    Raises:
        ValueError: not `[n, 2, 2]`, empty, NaN or infinite; the message names the pair.

    Source: Winoground (Thrush et al. 2022), for videos.

    >>> result = group_score([[[0.9, 0.2], [0.1, 0.8]], [[0.9, 0.95], [0.1, 0.97]]])
    >>> result["text_score"], result["video_score"], result["group_score"]
    (1.0, 0.5, 0.5)
    """
    array = rows_of_one_length(scores, "scores", "numbers").astype(np.float64)
    if array.ndim != 3 or array.shape[1:] != (2, 2) or not len(array):
        raise ValueError(f"scores must be [n, 2 captions, 2 videos] with n of at least 1, not the shape {array.shape}")
    bad = np.flatnonzero(~np.isfinite(array).all(axis=(1, 2)))
    if len(bad):
        raise ValueError(
            f"scores: pair {bad[0]} is {array[bad[0]].tolist()}; NaN and infinite scores cannot be compared"
        )
    right, wrong = array[:, [0, 1], [0, 1]], array[:, [1, 0], [0, 1]]  # wrong[:, v]: the other caption with video v
    per_pair = {
        "text_score": _beats(right, wrong).prod(axis=1),
        "video_score": _beats(right, wrong[:, ::-1]).prod(axis=1),
        "group_score": _all_beat_all(right, wrong),
    }
    result: dict[str, Any] = {
        "n": len(array),
        "n_ties": int((right[:, :, None] == wrong[:, None, :]).any((1, 2)).sum()),
    }
    for name, values in per_pair.items():
        result[name], result[f"chance_{name}"] = exact_mean(values), CHANCE[name]
        if interval:
            result.update(interval_keys(name, share_interval(values, clusters)))
    return result


def _beats(right: NDArray[np.float64], wrong: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray((right > wrong) + 0.5 * (right == wrong), np.float64)


def _all_beat_all(right: NDArray[np.float64], wrong: NDArray[np.float64]) -> NDArray[np.float64]:
    """The chance that both right scores are above both wrong ones, if equal scores are ordered at random."""
    lowest, highest = right.min(axis=1), wrong.max(axis=1)
    above = (right == lowest[:, None]).sum(axis=1)
    below = (wrong == highest[:, None]).sum(axis=1)
    # Of the orders of `above` right and `below` wrong equal scores one in binom(above + below, above) is right.
    one_in = np.array([[2.0, 3.0], [3.0, 6.0]])[above - 1, below - 1]
    return np.where(lowest > highest, 1.0, np.where(lowest < highest, 0.0, 1.0 / one_in))
