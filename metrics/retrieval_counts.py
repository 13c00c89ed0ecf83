"""Counting, for every caption and every video, how many wrong answers score higher or the same.

That is all that ranks need, so nothing is sorted and no matrix of the size of the similarities is made: the
similarities pass by in blocks, from an array, from a memory-mapped file, or computed from embeddings.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from video_contrast.metrics.ranks import Places

_CACHE = 1 << 20  # bytes of similarities compared at a time: they should still be in the cache when read again
_VIDEOS, _CAPTIONS = 512, 2048  # similarities computed at a time, from embeddings


class BothWays(NamedTuple):
    """Where the true answers stand: for each caption among the videos, for each video among the captions.

    `video_to_text` holds the videos that have captions, in order; `videos` says which they are.
    """

    text_to_video: Places
    video_to_text: Places
    videos: NDArray[np.int64]


class _Tally:
    """Scores of the true answers, and counts of all answers that are above them or equal to them."""

    def __init__(self, own: NDArray[Any], owners: NDArray[np.int64], n_videos: int) -> None:
        bad = np.flatnonzero(~np.isfinite(own))
        if len(bad):
            raise ValueError(_not_finite(int(owners[bad[0]]), int(bad[0]), own[bad[0]]))
        self.own, self.owners = own, owners
        self.videos, starts, per_video = np.unique(np.sort(owners), return_index=True, return_counts=True)
        by_video = own[np.argsort(owners, kind="stable")]
        best = np.maximum.reduceat(by_video, starts)
        self.same = np.add.reduceat((by_video == np.repeat(best, per_video)).astype(np.int64), starts)
        # A video without captions asks nothing; it is above no threshold and costs nothing.
        self.best = np.full(n_videos, np.inf, own.dtype)
        self.best[self.videos] = best
        self.rows = np.zeros((2, n_videos), np.int64)  # greater, at least
        self.columns = np.zeros((2, len(own)), np.int64)

    def add(self, block: NDArray[Any], first_video: int, captions: slice | NDArray[np.int64]) -> None:
        """Counts the similarities of some videos (rows, from `first_video` on) with some captions (columns)."""
        own, width = self.own[captions], block.shape[1]
        height = min(255, max(1, _CACHE // (width * block.itemsize)))  # 255: columns are added up in one byte
        buffer = np.zeros((height, -(-width // 8) * 8), np.bool_)  # rows of whole words, to be counted as such
        above = np.zeros((2, width), np.int64)
        for start in range(0, len(block), height):
            part = block[start : start + height]
            rows = slice(first_video + start, first_video + start + len(part))
            with np.errstate(over="ignore", invalid="ignore"):
                finite = bool(np.isfinite(part.sum()))
            if not finite:
                self._refuse(part, rows.start, captions)
            whole, best = buffer[: len(part)], self.best[rows, None]
            flags = whole[:, :width]
            for which, compare in enumerate((np.greater, np.greater_equal)):
                compare(part, best, out=flags)
                self.rows[which, rows] += _count_rows(whole)
                compare(part, own, out=flags)
                above[which] += np.add.reduce(flags.view(np.uint8), axis=0, dtype=np.uint8)
        self.columns[:, captions] += above

    def places(self) -> BothWays:
        greater, at_least = self.columns
        captions = Places(greater, at_least - greater - 1, np.ones(len(greater), np.int64))
        greater, at_least = self.rows[:, self.videos]
        return BothWays(captions, Places(greater, at_least - greater - self.same, self.same), self.videos)

    def _refuse(self, part: NDArray[Any], first_video: int, captions: slice | NDArray[np.int64]) -> None:
        """Raises if a similarity is not finite (the sum of very large finite ones may overflow)."""
        bad = np.argwhere(~np.isfinite(part))
        if len(bad):
            row, column = bad[0]
            caption = int(np.arange(len(self.own))[captions][column])
            raise ValueError(_not_finite(first_video + int(row), caption, part[row, column]))


def _count_rows(flags: NDArray[np.bool_]) -> NDArray[np.int64]:
    """How many flags of each row are set: eight at a time, as the bytes of a word that cannot overflow in 255 adds."""
    words = flags.view(np.uint64)
    sums = np.add.reduceat(words, np.arange(0, words.shape[1], 255), axis=1)
    return sums.view(np.uint8).sum(axis=1, dtype=np.int64)


def matrix_places(similarity: NDArray[Any], owners: NDArray[np.int64]) -> BothWays:
    """Places from a matrix of similarities, in memory or memory-mapped, read once from top to bottom.

    Args:
        similarity: floats `[videos, captions]`, higher is better; compared in their own precision.
        owners: `int64[captions]`, the row of each caption's video.

    Raises:
        ValueError: a similarity is NaN or infinite; the message names the video and the caption.
    """
    tally = _Tally(np.asarray(similarity[owners, np.arange(len(owners))]), owners, len(similarity))
    height = max(255, _CACHE * 16 // max(1, similarity.shape[1] * similarity.itemsize))
    for start in range(0, len(similarity), height):
        tally.add(np.asarray(similarity[start : start + height]), start, slice(None))
    return tally.places()


def embedding_places(
    videos: NDArray[Any], captions: NDArray[Any], owners: NDArray[np.int64], *, normalise: bool = False
) -> BothWays:
    """Places from embeddings: similarities are computed in blocks and forgotten.

    A product in float32 depends, in its last bit, on where in a block the pair stands, which would break the tie of
    equal captions. Products are taken in float64 and rounded to float32, so equal embeddings give equal similarities.

    Args:
        videos: floats `[videos, d]`, in memory or memory-mapped.
        captions: floats `[captions, d]`.
        owners: `int64[captions]`, the row of each caption's video.
        normalise: divide every embedding by its length first (cosines instead of products).

    Raises:
        ValueError: a similarity is NaN or infinite; the message names the video and the caption.
    """
    order = np.argsort(owners, kind="stable")  # captions of one video side by side: true pairs lie in few blocks
    own = np.empty(len(captions), np.float32)
    product = np.empty((_VIDEOS, _CAPTIONS), np.float64)
    rounded = np.empty((_VIDEOS, _CAPTIONS), np.float32)

    def similarities(first: int, texts: NDArray[np.float64]) -> NDArray[np.float32]:
        """Of one tile of videos and one of captions; overwritten by the next call."""
        clips = _tile(videos, slice(first, first + _VIDEOS), normalise)
        block = product[: len(clips), : len(texts)]
        np.matmul(clips, texts.T, out=block)
        with np.errstate(over="ignore"):
            np.copyto(rounded[: len(clips), : len(texts)], block, casting="same_kind")
        return rounded[: len(clips), : len(texts)]

    for columns, texts in _tiles(captions, order, _CAPTIONS, normalise):
        tile_of = owners[columns] // _VIDEOS
        for tile in np.unique(tile_of):
            inside = np.flatnonzero(tile_of == tile)
            own[columns[inside]] = similarities(tile * _VIDEOS, texts)[owners[columns[inside]] - tile * _VIDEOS, inside]
    tally = _Tally(own, owners, len(videos))
    for columns, texts in _tiles(captions, order, _CAPTIONS, normalise):
        for first in range(0, len(videos), _VIDEOS):
            tally.add(similarities(first, texts), first, columns)
    return tally.places()


def _tiles(
    embeddings: NDArray[Any], order: NDArray[np.int64], height: int, normalise: bool
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float64]]]:
    for start in range(0, len(order), height):
        rows = order[start : start + height]
        yield rows, _tile(embeddings, rows, normalise)


def _tile(embeddings: NDArray[Any], rows: slice | NDArray[np.int64], normalise: bool) -> NDArray[np.float64]:
    """Some embeddings as float64."""
    part = np.asarray(embeddings[rows], np.float64)
    if normalise:
        with np.errstate(divide="ignore", invalid="ignore"):
            part = part / np.linalg.norm(part, axis=1, keepdims=True)
    return part


def _not_finite(video: int, caption: int, value: Any) -> str:
    return f"the similarity of video {video} and caption {caption} is {value}; NaN and infinite scores have no rank"
