"""Retrieval both ways, with several captions a video: R@K, mean and median rank."""

from collections.abc import Sequence

import numpy as np

from video_contrast.metrics.checks import (
    Array,
    Ints,
    Values,
    as_array,
    at_most,
    cluster_codes,
    listed,
    not_whole,
    refuse,
    refuse_large_integers,
    rows_of_one_length,
)
from video_contrast.metrics.ranks import Numbers, Ranks, exact_mean, rank_figures
from video_contrast.metrics.retrieval_counts import BothWays, embedding_ranks, matrix_ranks

_KS = (1, 5, 10)


def retrieval(
    similarity: Values,
    caption_to_video: Values = None,
    *,
    video_ids: Sequence[object] | None = None,
    ks: Sequence[int] | None = None,
    clusters: Values = None,
    interval: bool = False,
    seed: int = 0,
) -> Numbers:
    """Text-to-video and video-to-text retrieval from similarities.

    A caption looks for its video among all videos. A video looks for its captions among all captions, and the first of
    them that it finds counts. A video without captions is only a wrong answer for the captions of others. Returns for
    `t2v` and `v2t`: `<way>_R@K` (expected value under random tie-breaking) with `_worst` and `_best` (every tie decided
    against and for the true answer), `<way>_chance_R@K`, `<way>_mean_rank` with `_worst` and `_best`,
    `<way>_median_rank`, `<way>_n_ties`, `<way>_n` (queries); `n_videos`, `n_captions`; with interval `<key>_low` and
    `<key>_high` (None below five clusters) and `clusters` (their number). Raises ValueError: empty, NaN or infinite
    similarities, captions whose video is not there, equal ids, a K larger than a gallery; the message names the item.

    Args:
        similarity: `[videos, captions]`, higher is better; an array, a memory-mapped array, a tensor or lists.
            Float32 and float64 are compared as they are. It is read once, in blocks.
        caption_to_video: `[captions]`, the row of each caption's video, or its id if `video_ids` are given; None:
            caption i belongs to video i.
        video_ids: `[videos]`, the ids of the rows.
        ks: the Ks of R@K; None: those of 1, 5, 10 that both galleries are large enough for.
        clusters: `[videos]`, the source video of each row (clips of one video belong together), for the intervals;
            None: every row is its own. Captions belong to the cluster of their video.
        interval: add 95 % intervals of R@K (`share_interval`), mean (`cluster_bootstrap`) and median rank
            (`median_interval`).

    >>> result = retrieval([[0.9, 0.8, 0.1], [0.2, 0.3, 0.3]], [0, 0, 1], ks=[1])
    >>> result["t2v_R@1"], result["v2t_R@1"], result["v2t_R@1_worst"], result["v2t_R@1_best"]
    (1.0, 0.75, 0.5, 1.0)
    """
    matrix = _matrix(similarity)
    rows = _video_rows(caption_to_video, video_ids, *matrix.shape)
    ranks = matrix_ranks(matrix, rows)
    return figures_of_ranks(ranks, rows, len(matrix), ks=ks, clusters=clusters, interval=interval, seed=seed)


def retrieval_from_embeddings(
    videos: Values,
    captions: Values,
    caption_to_video: Values = None,
    *,
    video_ids: Sequence[object] | None = None,
    normalise: bool = True,
    ks: Sequence[int] | None = None,
    clusters: Values = None,
    interval: bool = False,
    seed: int = 0,
) -> Numbers:
    """The metrics of `retrieval` from embeddings, without ever holding the matrix of similarities.

    200,000 captions and 100,000 videos of 512 numbers take the embeddings and less than 200 MB. Comparisons are exact
    on embeddings rounded to 2**-27 of their length, so the result depends neither on blocks and threads nor on the
    order of the embeddings, and equal ones tie. Returns as `retrieval`. Raises ValueError: as `retrieval`; embeddings
    of different sizes; one that is not finite or, to be normalised, has the length 0; the message names it.

    Args:
        videos: floats `[videos, d]`, in memory or memory-mapped.
        captions: floats `[captions, d]`.
        caption_to_video, video_ids, ks, clusters, interval, seed: as for `retrieval`.
        normalise: compare cosines (the default) instead of products.

    >>> result = retrieval_from_embeddings([[1.0, 0.0], [0.0, 1.0]], [[2.0, 0.1], [0.3, 1.0]], ks=[1])
    >>> result["t2v_R@1"], result["v2t_R@1"]
    (1.0, 1.0)
    """
    left, right = _matrix(videos, "videos"), _matrix(captions, "captions")
    if left.shape[1] != right.shape[1]:
        raise ValueError(f"embeddings of videos have {left.shape[1]} numbers, of captions {right.shape[1]}")
    rows = _video_rows(caption_to_video, video_ids, len(left), len(right))
    ranks = embedding_ranks(left, right, rows, normalise=normalise)
    return figures_of_ranks(ranks, rows, len(left), ks=ks, clusters=clusters, interval=interval, seed=seed)


def videos_of_captions(captions_of: Sequence[Sequence[int]], n_captions: int) -> Ints:
    """The row of each caption's video, from the lists of captions of each video.

    Raises ValueError: a caption is in no list or in two, or there is none of that number; the message names it.

    >>> videos_of_captions([[0, 1], [], [2]], 3).tolist()
    [0, 0, 2]
    """
    owner: dict[int, int] = {}
    for video, captions in enumerate(captions_of):
        for caption in captions:
            if not 0 <= int(caption) < n_captions:
                raise ValueError(f"video {video} names caption {caption}, but the captions are 0..{n_captions - 1}")
            if owner.setdefault(int(caption), video) != video:
                raise ValueError(f"caption {caption} belongs to video {owner[int(caption)]} and to video {video}")
    refuse([caption not in owner for caption in range(n_captions)], lambda i: f"caption {i} belongs to no video")
    return np.array([owner[caption] for caption in range(n_captions)], np.int64)


def _matrix(values: Values, name: str = "similarity") -> Array:
    array = values if isinstance(values, np.memmap) else rows_of_one_length(values, name, "columns")
    if not len(array):
        raise ValueError(f"{name} is empty: there are no rows")
    if array.ndim != 2 or 0 in array.shape:
        raise ValueError(f"{name} must have rows and columns, not the shape {array.shape}")
    if array.dtype.kind not in "fiu":
        raise ValueError(f"{name} must be numbers, not {array.dtype}")
    refuse_large_integers(array, name)
    return array if array.dtype.kind == "f" else array.astype(np.float64)


def _video_rows(caption_to_video: Values, video_ids: Sequence[object] | None, n_videos: int, n_captions: int) -> Ints:
    if caption_to_video is None and video_ids is None:
        if n_videos != n_captions:
            raise ValueError(f"{n_captions} captions of {n_videos} videos: say whose they are with caption_to_video=")
        return np.arange(n_videos)
    if caption_to_video is None:
        raise ValueError("video_ids are given but not the video of each caption (caption_to_video=)")
    if len(caption_to_video) != n_captions:
        raise ValueError(f"{n_captions} captions need as many entries in caption_to_video, not {len(caption_to_video)}")
    if video_ids is not None:
        video_ids, caption_to_video = listed(video_ids), listed(caption_to_video)
        if len(video_ids) != n_videos:
            raise ValueError(f"{n_videos} videos need {n_videos} ids, not {len(video_ids)}")
        row_of: dict[object, int] = {}
        for row, name in enumerate(video_ids):
            if row_of.setdefault(name, row) != row:
                raise ValueError(f"video_ids: {name!r} stands at rows {row_of[name]} and {row}")
        names, unknown = caption_to_video, [name not in row_of for name in caption_to_video]
        refuse(unknown, lambda i: f"caption {i} belongs to video {names[i]!r}, which is not among the videos")
        return np.array([row_of[name] for name in caption_to_video], np.int64)
    rows = as_array(caption_to_video)
    if rows.ndim != 1:
        raise ValueError(f"caption_to_video must be one row number a caption, not the shape {rows.shape}")
    advice = "not a row number; give video_ids= for ids"
    refuse(not_whole(rows), lambda i: f"caption_to_video: caption {i} has {rows[i]}, {advice}")
    outside = (rows < 0) | (rows >= n_videos)
    refuse(outside, lambda i: f"caption {i} belongs to video {rows[i]}, but the videos are 0..{n_videos - 1}")
    return rows.astype(np.int64)


def figures_of_ranks(
    ranks: BothWays,
    caption_to_video: Ints,
    n_videos: int,
    *,
    ks: Sequence[int] | None = None,
    clusters: Values = None,
    interval: bool = False,
    seed: int = 0,
) -> Numbers:
    """The result of `retrieval` from the ranks alone; the options are those of `retrieval`."""
    smaller = min(n_videos, len(caption_to_video))
    ks = tuple(k for k in _KS if k <= smaller) if ks is None else at_most(ks, smaller, "videos and captions")
    groups, n_clusters = cluster_codes(clusters, n_videos)
    result: Numbers = {"n_videos": n_videos, "n_captions": len(caption_to_video)}
    if interval:
        result["clusters"] = n_clusters
    captions_of = np.bincount(caption_to_video, minlength=n_videos)[ranks.videos]
    ones = np.ones(len(caption_to_video), np.int64)
    of_guesses = (
        Ranks(0 * ones, (n_videos - 1) * ones, ones),
        Ranks(0 * captions_of, len(caption_to_video) - captions_of, captions_of),
    )
    of_queries = (groups[caption_to_video], groups[ranks.videos])
    for way, rank, guess, group in zip(("t2v", "v2t"), ranks[:2], of_guesses, of_queries, strict=True):
        result[f"{way}_n"] = len(group)
        result[f"{way}_n_ties"] = int(rank.tied.sum())
        result |= {f"{way}_chance_R@{k}": exact_mean(guess.hit(k)) for k in ks}
        figures = rank_figures(rank, ks, group, interval=interval, seed=seed)
        result |= {f"{way}_{name}": figure for name, figure in figures.items()}
    return result
