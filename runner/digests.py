"""Short digests by which the inputs of two runs are compared."""

from __future__ import annotations

import hashlib

import numpy as np


def digest(content: bytes | str) -> str:
    """16 hexadecimal digits that name some content."""
    data = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
    return hashlib.blake2b(data, digest_size=8).hexdigest()


def frames_digest(frames: np.ndarray) -> str:
    """A digest of the shape of frames, uint8[T, H, W, 3], and of every eighth pixel in both directions."""
    return digest(repr(frames.shape).encode() + frames[:, ::8, ::8].tobytes())
