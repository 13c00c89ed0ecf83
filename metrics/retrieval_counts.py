"""Counting, for every caption and every video, how many wrong answers score higher or the same.

That is all that ranks need, so nothing is sorted and no matrix of the size of the similarities is made: the
similarities pass by in blocks, from an array, from a memory-mapped file, or computed from embeddings.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from video_contrast.metrics.checks import Array, Values
from video_contrast.metrics.ranks import Ranks

_CACHE = 1 << 20  # bytes of similarities compared at a time: they should still be in the cache when read again


class BothWays(NamedTuple):
    """Where the true answers stand: for each caption among the videos, for each video among the captions.

    `video_to_text` holds the videos that have captions, in order; `videos` says which they are.
    """

    text_to_video: Ranks
    video_to_text: Ranks
    videos: NDArray[np.int64]


class SimilarityBlock(NamedTuple):
    """Similarities of some videos with some captions, which are computed at every call of `values`.

    Every pair is in one block; `values()` is floats `[videos, captions]`, the same at every call.
    """

    videos: NDArray[np.int64]
    captions: NDArray[np.int64]
    values: Callable[[], Array]


def matrix_ranks(similarity: Array, caption_to_video: NDArray[np.int64]) -> BothWays:
    """Ranks from a matrix of similarities, in memory or memory-mapped, read once from top to bottom.

    Args:
        similarity: floats `[videos, captions]`, higher is better; compared in their own precision.
        caption_to_video: `int64[captions]`, the row of each caption's video.

    Raises:
        ValueError: a similarity is NaN or infinite; the message names the video and the caption.
    """
    own = np.asarray(similarity[caption_to_video, np.arange(len(caption_to_video))])
    captions = np.arange(similarity.shape[1])
    height = max(255, _CACHE * 16 // max(1, similarity.shape[1] * similarity.itemsize))
    blocks = [
        SimilarityBlock(rows, captions, lambda rows=rows: np.asarray(similarity[rows[0] : rows[-1] + 1]))  # type: ignore[misc]
        for rows in np.split(np.arange(len(similarity)), range(height, len(similarity), height))
    ]
    return block_ranks(blocks, own, caption_to_video, len(similarity))


def own_similarities(blocks: Sequence[SimilarityBlock], caption_to_video: NDArray[np.int64], n_videos: int) -> Array:
    """The similarity of each caption with its video, `[captions]`, as the blocks hold it; others are not computed."""
    own: Array | None = None
    for block in blocks:
        place = np.full(n_videos, -1)
        place[block.videos] = np.arange(len(block.videos))
        rows = place[caption_to_video[block.captions]]
        columns = np.flatnonzero(rows >= 0)
        if len(columns):
            values = block.values()
            own = np.empty(len(caption_to_video), values.dtype) if own is None else own
            own[block.captions[columns]] = values[rows[columns], columns]
    assert own is not None, "no block holds a caption's own video"
    return own


def block_ranks(
    blocks: Iterable[SimilarityBlock],
    own: Array,
    caption_to_video: NDArray[np.int64],
    n_videos: int,
    keep: Callable[[SimilarityBlock, Array], None] | None = None,
) -> BothWays:
    """Ranks from similarities that pass by in blocks, compared in their own precision.

    `own`: the similarity of each caption with its video. `keep`: told every block with its values. Raises ValueError: a
    similarity is NaN or infinite; the message names the video and the caption.
    """
    bad = np.flatnonzero(~np.isfinite(own))
    if len(bad):
        raise ValueError(_not_finite(int(caption_to_video[bad[0]]), int(bad[0]), own[bad[0]]))
    videos, starts, per_video = np.unique(np.sort(caption_to_video), return_index=True, return_counts=True)
    by_video = own[np.argsort(caption_to_video, kind="stable")]
    # A video without captions asks nothing; it is above no threshold and costs nothing.
    best = np.full(n_videos, np.inf, own.dtype)
    best[videos] = np.maximum.reduceat(by_video, starts)
    same = np.add.reduceat((by_video == np.repeat(best[videos], per_video)).astype(np.int64), starts)
    of_videos, of_captions = np.zeros((2, n_videos), np.int64), np.zeros((2, len(own)), np.int64)  # greater, at least
    for block in blocks:
        values = block.values()
        of_captions[:, block.captions] += _counted(values, block, best, own[block.captions], of_videos)
        if keep is not None:
            keep(block, values)
    greater, at_least = of_captions
    captions = Ranks(greater, at_least - greater - 1, np.ones(len(greater), np.int64))
    greater, at_least = of_videos[:, videos]
    return BothWays(captions, Ranks(greater, at_least - greater - same, same), videos)


def _counted(
    values: Array, block: SimilarityBlock, best: Array, own: Array, of_videos: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Counts, of each caption and (into `of_videos`) of each video, what is above a true answer, and what at least so.

    Raises ValueError: a similarity is NaN or infinite; the message names the video and the caption.
    """
    width = values.shape[1]
    height = min(255, max(1, _CACHE // (width * values.itemsize)))  # 255: columns are added up in one byte
    buffer = np.empty((2, height, width), np.bool_)
    above = np.zeros((2, width), np.int64)
    for start in range(0, len(values), height):
        part = values[start : start + height]
        videos = block.videos[start : start + height]
        _refuse(part, videos, block.captions)
        flags = buffer[:, : len(part)]
        _compare(part, best[videos, None], flags)
        for which in (0, 1):
            # Row by row: with an axis count_nonzero is fifteen times slower.
            of_videos[which, videos] += [np.count_nonzero(row) for row in flags[which]]
        _compare(part, own, flags)
        for which in (0, 1):
            above[which] += np.add.reduce(flags[which].view(np.uint8), axis=0, dtype=np.uint8)
    return above


def _compare(part: Array, true: Array, flags: NDArray[np.bool_]) -> None:
    """Writes to `flags[0]` which similarities are greater than the true ones, to `flags[1]` which at least as great."""
    np.greater(part, true, out=flags[0])
    np.greater_equal(part, true, out=flags[1])


def _refuse(part: Array, videos: NDArray[np.int64], captions: NDArray[np.int64]) -> None:
    """Raises if a similarity is not finite (the sum of very large finite ones may overflow)."""
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(part.sum()):
            return
    bad = np.argwhere(~np.isfinite(part))
    if len(bad):
        row, column = bad[0]
        raise ValueError(_not_finite(int(videos[row]), int(captions[column]), part[row, column]))


def _not_finite(video: int, caption: int, value: Values) -> str:
    return f"the similarity of video {video} and caption {caption} is {value}; NaN and infinite scores have no rank"
