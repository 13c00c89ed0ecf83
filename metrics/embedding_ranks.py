"""Counting for retrieval from embeddings: products are taken in blocks, and forgotten.

A product in single precision depends, in its last bits, on where in a block the pair stands and on the machine. That
would break the tie of equal captions and let ranks depend on the size of the blocks. So similarities are defined by
embeddings on a grid, so fine that nothing is lost beyond single precision and so coarse that their products add up in
double precision without any rounding, in whatever order. The blocks are still multiplied in single precision, which is
twice as fast; what lies too near to the true answer to tell which is greater is looked up in double precision.
"""

import numpy as np
from numpy.typing import NDArray

from video_contrast.metrics.checks import Array
from video_contrast.metrics.retrieval_counts import BothWays, Tally, exactly

_VIDEOS, _CAPTIONS = 512, 8192  # similarities computed at a time
_ROWS = 4096  # embeddings read at a time
# Numbers of an embedding are multiples of 2**-26 of its length (rounded up to a power of two). Products of two then
# are multiples of 2**-52 of both lengths, and no sum of them is longer than both: all fit into a double.
_BITS = 26
_LOOK_UP = 32  # looking up a pair costs about as much as this many similarities of a block in double precision


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
    tally = Tally(own, caption_to_video, len(videos))
    product = np.empty((min(_VIDEOS, len(videos)), min(_CAPTIONS, len(captions))), np.float32)
    for first_caption in range(0, len(captions), _CAPTIONS):
        texts = right.on_grid(slice(first_caption, first_caption + _CAPTIONS))
        single = texts.astype(np.float32)
        for first_video in range(0, len(videos), _VIDEOS):
            clips = left.on_grid(slice(first_video, first_video + _VIDEOS))
            block = product[: len(clips), : len(texts)]
            np.matmul(clips.astype(np.float32), single.T, out=block)
            numbers = np.arange(len(clips)) + first_video, np.arange(len(texts)) + first_caption
            tally.add(block, *numbers, _Nearly(clips, texts))
    return tally.ranks()


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


class _Nearly:
    """Compares products in single precision with the true similarities, and looks up those that are too near."""

    def __init__(self, clips: NDArray[np.float64], texts: NDArray[np.float64]) -> None:
        self.clips, self.texts = clips, texts
        # The classical bound on the rounding of an inner product, in any order: d roundings of at most 2**-24 each,
        # relative to the lengths of both embeddings, and two more of the factors. Below the least normal number a
        # machine may round to 0.
        size = clips.shape[1]
        lengths = np.sqrt(_products(clips, clips).max()) * np.sqrt(_products(texts, texts).max())
        self.margin = 1.01 * (size + 4) * 2.0**-24 * lengths + 4 * size * float(np.finfo(np.float32).tiny)

    def __call__(
        self, part: NDArray[np.float32], true: NDArray[np.float64], rows: slice, flags: NDArray[np.bool_]
    ) -> None:
        low = np.nextafter((true - self.margin).astype(np.float32), np.float32(-np.inf))
        high = np.nextafter((true + self.margin).astype(np.float32), np.float32(np.inf))
        np.greater(part, high, out=flags[0])
        np.greater_equal(part, low, out=flags[1])
        doubtful = np.flatnonzero(flags[0] != flags[1])
        if len(doubtful) * _LOOK_UP > part.size:
            exactly(self.clips[rows] @ self.texts.T, true, rows, flags)
        elif len(doubtful):
            i, j = np.divmod(doubtful, part.shape[1])
            products = _products(self.clips[rows][i], self.texts[j])
            true_index = np.broadcast_to(true, part.shape)[i, j]
            flags[0, i, j], flags[1, i, j] = products > true_index, products >= true_index


def _products(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
    """The inner product of each row on the left with that on the right."""
    return np.asarray(np.einsum("ij,ij->i", first, second), np.float64)
