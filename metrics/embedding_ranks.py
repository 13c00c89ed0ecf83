"""Ranks of retrieval from embeddings, block by block, that are exact: no rounding decides which answer is above.

The similarities of floating-point products depend in their last bits on the place of a pair in its block, so that equal
captions would not tie. Here embeddings are rounded to a grid, finer than single precision and so coarse that their
products add up in double precision without any rounding, in whatever order.
"""

from collections.abc import Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from video_contrast.metrics.checks import Array
from video_contrast.metrics.retrieval_counts import BothWays, SimilarityBlock, block_ranks

_VIDEOS, _CAPTIONS = 256, 4096  # similarities computed at a time
_ROWS = 4096  # embeddings read at a time
# Numbers of an embedding are multiples of 2**-26 of its length (rounded up to a power of two). Products of two then
# are multiples of 2**-52 of both lengths, and no sum of them is longer than both: all fit into a double.
_BITS = 26


def embedding_ranks(
    videos: Array, captions: Array, caption_to_video: NDArray[np.int64], *, normalise: bool = False
) -> BothWays:
    """Ranks from embeddings, without ever holding the matrix of similarities.

    The result is the same for any size of the blocks, number of threads and order of the embeddings: comparisons are
    exact on embeddings that are rounded to 2**-27 of their length. Equal embeddings tie exactly.

    Args:
        videos: floats `[videos, d]`, in memory or memory-mapped.
        captions: floats `[captions, d]`.
        caption_to_video: `int64[captions]`, the row of each caption's video.
        normalise: divide every embedding by its length first (cosines instead of products).

    Raises:
        ValueError: an embedding holds NaN or infinity or, to be normalised, has the length 0; the message names it.
    """
    left, right = _Embeddings(videos, "video", normalise), _Embeddings(captions, "caption", normalise)
    own = np.empty(len(captions))
    for start in range(0, len(captions), _ROWS):
        part = slice(start, start + _ROWS)
        own[part] = _products(left.on_grid(caption_to_video[part]), right.on_grid(part))

    def product(rows: NDArray[np.int64], texts: Array) -> Array:
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

    def on_grid(self, rows: slice | NDArray[np.int64]) -> NDArray[np.float64]:
        part = np.array(self.embeddings[rows], np.float64, order="C")
        part *= self.scale[rows, None]
        np.rint(part, out=part)
        part *= self.unit[rows, None]
        return part


def _products(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
    """The inner product of each row on the left with that on the right."""
    return np.asarray(np.einsum("ij,ij->i", first, second), np.float64)
