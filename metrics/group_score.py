"""Text, video and group score of pairs (n captions and n videos, each caption true for one of them); and how well
captions find the clips that they are true of, among clips of which some are others.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from math import factorial
from typing import cast

import numpy as np
from numpy.typing import NDArray

from video_contrast.metrics.checks import Floats, Ints, Values, as_array, refuse_large_integers
from video_contrast.metrics.interval import interval_keys, share_interval
from video_contrast.metrics.ranks import Numbers, choice_ranks, exact_mean

LARGEST = 12  # videos of a group: the exact chance of a tie takes 2 ** n steps
SCORES = ("text_score", "video_score", "group_score")


def group_score(scores: Values, *, clusters: Values = None, interval: bool = False) -> Numbers:
    """The numbers of groups that are right in every comparison by text, by video, and in both.

    Returns `text_score` (each video prefers its caption), `video_score` (each caption prefers its video), `group_score`
    (both), each the expected value under random tie-breaking, with `chance_<score>` (of random scores: for pairs 1/4,
    1/4 and 1/6; a constant scorer gets exactly that), `n_ties` and `n`. Raises ValueError: no square matrices, empty,
    NaN or infinite; the message names the pair.

    Args:
        scores: a square matrix a group, `[n, k, k]` or a list of matrices of several sizes: `scores[i][c][v]` of
            caption c with video v; caption j is true for video j. A pair is k = 2.
        clusters: `[n]`, for the intervals.
        interval: add 95 % intervals (`share_interval`).

    Source: Winoground (Thrush et al. 2022), for videos.

    >>> result = group_score([[[0.9, 0.2], [0.1, 0.8]], [[0.9, 0.95], [0.1, 0.97]]])
    >>> result["text_score"], result["video_score"], result["group_score"]
    (1.0, 0.5, 0.5)
    >>> group_score([np.zeros((3, 3))])["group_score"] == group_chance(3)["group_score"]
    True
    """
    matrices = _matrices(scores)
    values = group_hits(matrices)
    n_ties = 0  # groups in which a right score equals a wrong one of any caption or video
    for _, stack in _by_size(matrices):
        right, wrong = np.diagonal(stack, axis1=1, axis2=2), stack[:, ~np.eye(stack.shape[1], dtype=bool)]
        n_ties += int((right[:, :, None] == wrong[:, None, :]).any(axis=(1, 2)).sum())
    result: Numbers = {"n": len(matrices), "n_ties": n_ties}
    sizes, of_size = np.unique([len(matrix) for matrix in matrices], return_inverse=True)
    chances = [group_chance(int(size)) for size in sizes]
    for name in SCORES:
        result[name] = exact_mean(values[name])
        result[f"chance_{name}"] = exact_mean(np.array([chance[name] for chance in chances])[of_size])
        if interval:
            result.update(interval_keys(name, share_interval(values[name], clusters)))
    return result


def group_hits(matrices: Sequence[Floats]) -> dict[str, Floats]:
    """Score -> the share from 0 to 1, `float64[n]`, that each group contributes to it.

    `matrices`: square, finite; as for `group_score`.

    >>> group_hits([np.array([[0.9, 0.2], [0.9, 0.8]])])["text_score"]
    array([0.5])
    """
    hits = {name: np.empty(len(matrices)) for name in SCORES}
    for places, stack in _by_size(matrices):
        hits["text_score"][places] = _all_first(stack.swapaxes(1, 2))
        hits["video_score"][places] = _all_first(stack)
        hits["group_score"][places] = _all_beat_all(stack)
    return hits


def group_chance(k: int) -> dict[str, float]:
    """The expected scores of a group of `k` videos under random scores.

    >>> [round(100 * share, 2) for share in group_chance(2).values()]
    [25.0, 25.0, 16.67]
    """
    # The smallest right score must be above 2 (k - 1) wrong ones, the next above 2 (k - 2) more, and so on: of all
    # orders one in (2k - 1)! / (k - 1)! is right.
    return {"text_score": k**-k, "video_score": k**-k, "group_score": factorial(k - 1) / factorial(2 * k - 1)}


def _matrices(scores: Values) -> Sequence[Floats]:
    if hasattr(scores, "detach") or isinstance(scores, np.ndarray):
        scores = as_array(scores)
        square = scores.ndim == 3 and 2 <= scores.shape[1] == scores.shape[2] <= LARGEST
        if square and len(scores) and scores.dtype.kind == "f" and np.isfinite(scores).all():
            return cast(Sequence[Floats], scores.astype(np.float64))  # there may be millions
    matrices: list[Floats] = []
    for number, rows in enumerate(scores):
        try:
            matrix = as_array(rows).astype(np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"scores: item {number} holds lists of different lengths, or no numbers") from error
        if matrix.ndim != 2 or len(matrix) != len(matrix.T) or not 2 <= len(matrix) <= LARGEST:
            raise ValueError(
                f"scores must be [n, 2 captions, 2 videos] (or k x k, up to {LARGEST}); pair {number} has the shape "
                f"{matrix.shape}"
            )
        refuse_large_integers(as_array(rows), "scores")
        if not np.isfinite(matrix).all():
            raise ValueError(f"scores: pair {number} is {matrix.tolist()}; NaN and infinite scores cannot be compared")
        matrices.append(matrix)
    if not matrices:
        raise ValueError("scores must be [n, 2 captions, 2 videos] with n of at least 1, not empty")
    return matrices


def _by_size(matrices: Sequence[Floats]) -> Iterator[tuple[Ints, Floats]]:
    """The places of the matrices of each size, and these as one array [n, k, k]."""
    if isinstance(matrices, np.ndarray):
        yield np.arange(len(matrices)), matrices
        return
    sizes = np.array([len(matrix) for matrix in matrices])
    for size in np.unique(sizes):
        places = np.flatnonzero(sizes == size)
        yield places, np.stack([matrices[int(place)] for place in places])


def _all_first(stack: Floats) -> Floats:
    """The chance that the diagonal is first in every row; rows share no score, so their ties are independent."""
    n, k, _ = stack.shape
    ranks = choice_ranks(stack.reshape(n * k, k), np.tile(np.arange(k), n))
    ways = (1.0 + ranks.equal).reshape(n, k).prod(axis=1)
    return np.where(ranks.greater.reshape(n, k).any(axis=1), 0.0, 1 / ways)


def _all_beat_all(stack: Floats) -> Floats:
    """The chance that each right score is above all wrong ones of its caption and of its video."""
    right = np.diagonal(stack, axis1=1, axis2=2)
    lower = np.minimum(right[:, :, None], right[:, None, :])  # a wrong score must stay below it
    wrong = ~np.eye(stack.shape[1], dtype=bool)
    chances = np.where(((stack > lower) & wrong).any(axis=(1, 2)), 0.0, 1.0)
    tied = (stack == lower) & wrong
    for n in np.flatnonzero(tied.any(axis=(1, 2)) & (chances > 0)):
        chance = Fraction(1)  # equal scores are ordered at random, each value apart from the others
        for value in np.unique(stack[n][tied[n]]):
            rights = tuple(np.flatnonzero(right[n] == value).tolist())
            wrongs = tuple(map(tuple, np.argwhere(tied[n] & (stack[n] == value)).tolist()))
            chance *= _order(rights, wrongs)
        chances[n] = float(chance)
    return chances


@lru_cache(maxsize=256)
def _order(tied: tuple[int, ...], wrong: tuple[tuple[int, int], ...]) -> Fraction:
    """The share of the orders of equal scores in which each wrong one is below the right ones of its row and column.

    Counted from the lowest right score up: among the first m right scores and the wrong ones that hang on them, the
    m-th must be the highest.
    """
    chances = {0: Fraction(1)}
    for subset in range(1, 1 << len(tied)):
        members = {tied[n] for n in range(len(tied)) if subset >> n & 1}
        size = len(members) + sum(not members.isdisjoint(pair) for pair in wrong)
        without_one = (chances[subset & ~(1 << n)] for n in range(len(tied)) if subset >> n & 1)
        chances[subset] = sum(without_one, Fraction()) / size
    return chances[(1 << len(tied)) - 1]


def average_precision(
    scores: Sequence[Values], true: Sequence[Values], *, clusters: Values = None, interval: bool = False
) -> Numbers:
    """Mean average precision and R@1 of captions, each of which is true of one or several of its clips.

    Returns `clip_mAP`, `clip_R@1` (the best clip is a true one), each the expected value under random tie-breaking,
    `chance_<figure>`, which a constant scorer gets, and `shared_captions` (n); with interval `<figure>_low` and
    `<figure>_high`. Raises ValueError: no captions, scores that are NaN or infinite, or a caption that is true of none
    or all of its clips.

    Args:
        scores: `[n][k]`, of each caption with each of its clips, higher is better; the numbers of clips may differ.
        true: `[n][k]`, whether the caption is true of the clip; of one at least, and not of all.
        clusters: `[n]`, what captions share their clips, for the intervals.
        interval: add 95 % intervals (`share_interval`).

    >>> result = average_precision([[0.9, 0.5, 0.1]], [[True, False, True]])
    >>> round(result["clip_mAP"], 4), round(result["chance_clip_mAP"], 4), result["clip_R@1"]
    (0.8333, 0.8056, 1.0)
    """
    if not len(scores) == len(true) > 0:
        raise ValueError(f"{len(scores)} captions have scores, {len(true)} truths: as many are needed, one at least")
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


def _expected(scores: Floats, true: NDArray[np.bool_]) -> tuple[float, float]:
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
