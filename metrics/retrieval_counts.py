"""Counting, for every caption and every video, how many wrong answers score higher or the same.

That is all that ranks need, so nothing is sorted and no matrix of the size of the similarities is made: the
similarities pass by in blocks, from an array, from a memory-mapped file, or computed from embeddings.

The similarities of floating-point products depend in their last bits on the place of a pair in its block, so that equal
captions would not tie. Here embeddings are rounded to a grid, finer than single precision and so coarse that their
products add up in double precision without any rounding, in whatever order: none decides which answer is above.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from video_contrast.metrics.checks import Array, Floats, Ints, Values, refuse
from video_contrast.metrics.ranks import Ranks
from video_contrast.storage.run_file_fields import SimilarityMatrix

_CACHE = 1 << 20  # bytes of similarities compared at a time: they should still be in the cache when read again


class BothWays(NamedTuple):
    """The rank counts of both directions: of each caption's video, and of each video's captions.

    `video_to_text` holds the videos that have captions, in order; `videos` says which they are.
    """

    text_to_video: Ranks
    video_to_text: Ranks
    videos: Ints


class SimilarityBlock(NamedTuple):
    """Similarities of some videos with some captions, which are computed at every call of `values`.

    Every pair is in one block; `values()` is floats `[videos, captions]`, the same at every call.
    """

    videos: Ints
    captions: Ints
    values: Callable[[], Array]


def matrix_ranks(similarity: Array, caption_to_video: Ints) -> BothWays:
    """Ranks from a matrix of similarities, in memory or memory-mapped, read once from top to bottom.

    Raises ValueError: a similarity is NaN or infinite; the message names the video and the caption. `similarity`:
    floats `[videos, captions]`, higher is better; compared in their own precision. `caption_to_video`:
    `int64[captions]`, the row of each caption's video.
    """
    own = np.asarray(similarity[caption_to_video, np.arange(len(caption_to_video))])
    captions = np.arange(similarity.shape[1])
    height = max(255, _CACHE * 16 // max(1, similarity.shape[1] * similarity.itemsize))
    blocks = [
        SimilarityBlock(rows, captions, lambda rows=rows: np.asarray(similarity[rows[0] : rows[-1] + 1]))  # type: ignore[misc]
        for rows in np.split(np.arange(len(similarity)), range(height, len(similarity), height))
    ]
    return block_ranks(blocks, own, caption_to_video, len(similarity))


def ranks_of(matrix: SimilarityMatrix) -> BothWays:
    """The ranks of the true captions and clips, from all similarities or from the counts that were kept."""
    relevant = np.asarray(matrix.relevant, np.int64)
    if matrix.best is None:
        return matrix_ranks(matrix.values, relevant)
    (greater, equal), (greater_captions, equal_captions, same) = matrix.best.captions, matrix.best.clips
    captions = Ranks(greater, equal, np.ones(len(relevant), np.int64))
    return BothWays(captions, Ranks(greater_captions, equal_captions, same), np.unique(relevant))


def own_similarities(blocks: Sequence[SimilarityBlock], caption_to_video: Ints, n_videos: int) -> Array:
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
    caption_to_video: Ints,
    n_videos: int,
    keep: Callable[[SimilarityBlock, Array], None] | None = None,
) -> BothWays:
    """Ranks from similarities that pass by in blocks, compared in their own precision.

    `own`: the similarity of each caption with its video. `keep`: told every block with its values. Raises ValueError: a
    similarity is NaN or infinite; the message names the video and the caption.
    """
    refuse(~np.isfinite(own), lambda i: _not_finite(int(caption_to_video[i]), i, own[i]))
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


def _counted(values: Array, block: SimilarityBlock, best: Array, own: Array, of_videos: Ints) -> Ints:
    """Counts, of each caption and (into `of_videos`) of each video, what is above a true answer, and what at least so.

    Raises ValueError: a similarity is NaN or infinite; the message names the video and the caption.
    """
    width = values.shape[1]
    height = min(255, max(1, _CACHE // (width * values.itemsize)))  # 255: columns are added up in one byte
    buffer = np.empty((height, width), np.bool_)
    above = np.zeros((2, width), np.int64)
    for start in range(0, len(values), height):
        part = values[start : start + height]
        videos = block.videos[start : start + height]
        with np.errstate(over="ignore", invalid="ignore"):
            finite = np.isfinite(part.sum())
        if not finite:  # or the sum of very large finite ones overflows
            for row, column in np.argwhere(~np.isfinite(part)):
                raise ValueError(_not_finite(int(videos[row]), int(block.captions[column]), part[row, column]))
        flags = buffer[: len(part)]
        for which, compare in enumerate((np.greater, np.greater_equal)):
            compare(part, best[videos, None], out=flags)
            # Row by row: with an axis count_nonzero is fifteen times slower.
            of_videos[which, videos] += [np.count_nonzero(row) for row in flags]
            compare(part, own, out=flags)
            above[which] += np.add.reduce(flags.view(np.uint8), axis=0, dtype=np.uint8)
    return above


def _not_finite(video: int, caption: int, value: Values) -> str:
    return f"the similarity of video {video} and caption {caption} is {value}; NaN and infinite scores have no rank"


_VIDEOS, _CAPTIONS = 256, 4096  # similarities computed at a time
_ROWS = 4096  # embeddings read at a time
# Numbers of an embedding are multiples of 2**-26 of its length (rounded up to a power of two). Products of two then
# are multiples of 2**-52 of both lengths, and no sum of them is longer than both: all fit into a double.
_BITS = 26


def embedding_ranks(videos: Array, captions: Array, caption_to_video: Ints, *, normalise: bool = False) -> BothWays:
    """Ranks from embeddings, without ever holding the matrix of similarities.

    The result is the same for any size of the blocks, number of threads and order of the embeddings: comparisons are
    exact on embeddings that are rounded to 2**-27 of their length. Equal embeddings tie exactly. Raises ValueError: an
    embedding holds NaN or infinity or, to be normalised, has the length 0; the message names it.

    Args:
        videos: floats `[videos, d]`, in memory or memory-mapped.
        captions: floats `[captions, d]`.
        caption_to_video: `int64[captions]`, the row of each caption's video.
        normalise: divide every embedding by its length first (cosines instead of products).
    """
    left, right = _Embeddings(videos, "video", normalise), _Embeddings(captions, "caption", normalise)
    own = np.empty(len(captions))
    for start in range(0, len(captions), _ROWS):
        part = slice(start, start + _ROWS)
        own[part] = _products(left.on_grid(caption_to_video[part]), right.on_grid(part))

    def product(rows: Ints, texts: Array) -> Array:
        return left.on_grid(rows) @ texts

    def blocks() -> Iterator[SimilarityBlock]:
        for first_caption in range(0, len(captions), _CAPTIONS):
            columns = np.arange(first_caption, min(first_caption + _CAPTIONS, len(captions)))
            texts = right.on_grid(columns).T
            for first_video in range(0, len(videos), _VIDEOS):
                rows = np.arange(first_video, min(first_video + _VIDEOS, len(videos)))
                yield SimilarityBlock(rows, columns, partial(product, rows, texts))

    return block_ranks(blocks(), own, caption_to_video, len(videos))


class _Embeddings:
    """Embeddings on their grid, some at a time, scaled so that the longest has a length of at most 1."""

    def __init__(self, embeddings: Array, name: str, normalise: bool) -> None:
        lengths = np.empty(len(embeddings))
        for start in range(0, len(embeddings), _ROWS):
            part = np.ascontiguousarray(embeddings[start : start + _ROWS], np.float64)
            with np.errstate(over="ignore", invalid="ignore"):
                lengths[start : start + _ROWS] = np.sqrt(_products(part, part))
        bad = np.flatnonzero(~np.isfinite(lengths) | (normalise & (lengths == 0)))
        if len(bad):
            what = "the length 0: it has no direction" if lengths[bad[0]] == 0 else f"the length {lengths[bad[0]]}"
            raise ValueError(f"the embedding of {name} {bad[0]} has {what}; {len(bad)} of {len(lengths)} are like that")
        self.embeddings = embeddings
        if normalise:
            self.scale, self.unit = 2.0**_BITS / lengths, np.full(len(lengths), 2.0**-_BITS)
        else:
            exponents = np.frexp(lengths)[1]
            self.scale = np.ldexp(1.0, _BITS - exponents)
            self.unit = np.ldexp(1.0, exponents - exponents.max() - _BITS)

    def on_grid(self, rows: slice | Ints) -> Floats:
        part = np.array(self.embeddings[rows], np.float64, order="C")
        part *= self.scale[rows, None]
        np.rint(part, out=part)
        part *= self.unit[rows, None]
        return part


def _products(first: Floats, second: Floats) -> Floats:
    return np.asarray(np.einsum("ij,ij->i", first, second), np.float64)
