"""Retrieval from counterfactually augmented data: a video's true caption among its own counterfactual ones."""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from video_contrast.metrics.checks import (
    Ints,
    Values,
    at_most,
    choices,
    cluster_codes,
    refuse,
    refuse_large_integers,
    rows_of_one_length,
)
from video_contrast.metrics.ranks import Numbers, choice_ranks, rank_figures


def rcad(
    similarity: Values,
    labels: Values = None,
    *,
    columns: Values = None,
    normalise: Literal["videos"] | None = None,
    scale: float = 1.0,
    ties: Literal["expected", "released"] = "expected",
    ks: Sequence[int] | None = None,
    clusters: Values = None,
    interval: bool = False,
    seed: int = 0,
) -> Numbers:
    """R@1, R@2, R@3, mean and median rank of the true caption among a video's own captions.

    Returns `R@K` with `_worst` and `_best`, `chance_R@K`, `mean_rank` with `_worst` and `_best`, `median_rank`,
    `n_ties`, `n`; with interval `<key>_low` and `<key>_high` (None below five clusters) and `clusters` (their number).
    Raises ValueError: NaN or infinite similarities, ragged rows, a K larger than the captions of a video, columns that
    do not exist or that a video names twice; the message names the item.

    Args:
        similarity: `[videos][k]`, each video with its own k captions (six in Feint6K); or `[videos][texts]`, each
            video with the captions of all videos, and `columns` (needed for `normalise`).
        labels: `[videos]`, the position of the true caption among the video's own; None: 0, the first.
        columns: `[videos][k]`, which texts are the video's own; None with `normalise`: consecutive blocks of
            texts / videos columns.
        normalise: "videos" reproduces the released metric, whose input is a softmax over the videos of each text's
            similarities. It needs all videos against all texts and changes ranks: a caption that suits every video
            loses. Computed as logarithms, so that probabilities near 0 or 1 do not become equal.
        scale: factor of the similarities before the softmax (the model's logit scale, where that is not in them).
        ties: "expected" under random tie-breaking; "released" counts every tie for the model.
        ks: the Ks of R@K; None: those of 1, 2, 3 that a video has captions for. (The paper's column "R@2" holds R@3 in
            some rows, so all three are given.)
        clusters: `[videos]`, for the intervals.
        interval: add 95 % intervals of R@K (`share_interval`), mean (`cluster_bootstrap`) and median rank
            (`median_interval`).

    Source: RCAD paper, section 5.1, and its released evaluation for `normalise` and `ties`.

    >>> tied = [[0.5, 0.5, 0.1, 0.0, 0.0, 0.0], [0.9, 0.8, 0.7, 0.6, 0.5, 0.4]]
    >>> rcad(tied)["R@1"], rcad(tied, ties="released")["R@1"]
    (0.75, 1.0)
    """
    if ties not in ("expected", "released"):
        raise ValueError(f"ties must be 'expected' or 'released', not {ties!r}")
    if normalise not in (None, "videos"):
        raise ValueError(f"normalise must be None or 'videos', not {normalise!r}")
    array, truth, sizes = choices(_own(similarity, columns, normalise, scale), labels, name="similarity")
    most = int(sizes.min())
    ks = [k for k in (1, 2, 3) if k <= most] if ks is None else at_most(ks, most, "captions a video")
    ranks = choice_ranks(array, truth)
    result: Numbers = {"n": len(array), "n_ties": int(ranks.tied.sum())}
    if interval:
        result["clusters"] = cluster_codes(clusters, len(array))[1]
    result |= rank_figures(ranks, ks, clusters, interval=interval, seed=seed, best=ties == "released")
    result |= {f"chance_R@{k}": k / array.shape[1] for k in ks}
    return result


def _own(similarity: Values, columns: Values, normalise: str | None, scale: float) -> Values:
    if normalise is None and columns is None:
        return similarity
    rows = rows_of_one_length(similarity, "similarity", "texts")
    refuse_large_integers(rows, "similarity")
    matrix = rows.astype(np.float64)
    if matrix.ndim != 2 or not matrix.size:
        raise ValueError(f"similarity must be videos by texts, not the shape {matrix.shape}")
    bad = ~np.isfinite(matrix)
    refuse(bad, lambda v, t: f"similarity: video {v} and text {t} is {matrix[v, t]}, which has no rank")
    texts = _text_columns(columns, *matrix.shape)
    if normalise == "videos":
        if not np.isfinite(scale):
            raise ValueError(f"scale must be a finite number, not {scale}")
        matrix = matrix * scale
        matrix -= matrix.max(axis=0)
        odds = np.exp(matrix)
        odds[matrix.argmax(axis=0), np.arange(matrix.shape[1])] = 0  # log1p has the 1 of the highest
        matrix -= np.log1p(odds.sum(axis=0))
    return np.take_along_axis(matrix, texts, axis=1)


def _text_columns(columns: Values, n_videos: int, n_texts: int) -> Ints:
    if columns is None:
        if n_texts % n_videos:
            raise ValueError(f"{n_texts} texts do not divide into {n_videos} videos: say which are whose (columns=)")
        return np.arange(n_texts).reshape(n_videos, -1)
    own = rows_of_one_length(columns, "columns", "texts")
    if own.ndim != 2 or len(own) != n_videos or own.dtype.kind not in "iu":
        raise ValueError(f"columns must be whole numbers [videos][k] for {n_videos} videos, not {own.dtype}{own.shape}")
    outside = (own < 0) | (own >= n_texts)
    refuse(outside, lambda v, n: f"columns: video {v} names text {own[v, n]}, but there are 0..{n_texts - 1}")
    sorted_scores = np.sort(own, axis=1)
    twice = sorted_scores[:, 1:] == sorted_scores[:, :-1]
    refuse(twice, lambda v, n: f"columns: video {v} names text {sorted_scores[v, n]} twice")
    return own.astype(np.int64)
