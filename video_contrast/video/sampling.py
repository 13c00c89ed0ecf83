"""Which frames of a clip are looked at: pure functions, the same for every model, logged with every score."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from video_contrast.errors import UsageError, VideoContrastError

Policy = Literal["uniform", "linspace", "head"]
POLICIES: tuple[Policy, ...] = ("uniform", "linspace", "head")


def frame_range(n_frames: int, fps: float, start: float | None = None, end: float | None = None) -> tuple[int, int]:
    """The frames (first, one past the last) shown between `start` and `end` seconds: frame k is shown at k / fps.

    Args:
        n_frames: frames of the file, at least 1.
        fps: mean frames a second.
        start: seconds; None is the beginning.
        end: seconds; None (or a time past the last frame) is the end.

    Returns:
        (first, stop) with 0 <= first < stop <= n_frames; a span shorter than a frame holds the frame shown then.

    Raises:
        VideoContrastError: `start` is past the last frame.

    >>> frame_range(100, 25.0), frame_range(100, 25.0, 1.0, 2.0), frame_range(100, 25.0, 1.01, 1.02)
    ((0, 100), (25, 50), (25, 26))
    """
    if n_frames < 1:
        raise VideoContrastError("the video has no frames")
    tiny = 1e-6  # start and end were written as decimals; k / fps was not
    first = 0 if start is None else math.ceil(start * fps - tiny)
    stop = n_frames if end is None else min(n_frames, math.ceil(end * fps - tiny))
    if start is not None and start * fps >= n_frames:
        raise VideoContrastError(f"start {start} s is past the end of the video ({n_frames / fps:.2f} s)")
    if stop <= first:
        first = min(math.floor((start or 0.0) * fps + tiny), n_frames - 1)
        stop = first + 1
    return first, stop


def frame_indices(n_frames: int, count: int, policy: Policy = "uniform") -> np.ndarray:
    """Which `count` of `n_frames` frames are sampled, in order.

    - `uniform`: the middle of each of `count` equal segments. The indices are symmetric in time (for even `count`),
      so a clip and its reversal give the same set of frames.
    - `linspace`: from the first to the last frame in equal steps, both included.
    - `head`: the first `count` frames.

    A clip with fewer frames than `count` repeats frames; it is never padded with black.

    Returns:
        int64[count], non-decreasing, in 0..n_frames-1.

    Raises:
        UsageError: `count` or `n_frames` is below 1, or the policy is unknown.

    >>> frame_indices(12, 6).tolist(), frame_indices(12, 6, "linspace").tolist(), frame_indices(3, 6).tolist()
    ([0, 2, 4, 7, 9, 11], [0, 2, 4, 7, 9, 11], [0, 0, 1, 1, 2, 2])
    """
    if n_frames < 1 or count < 1:
        raise UsageError(f"cannot sample {count} of {n_frames} frames")
    if policy == "head":
        return np.minimum(np.arange(count, dtype=np.int64), n_frames - 1)
    if policy == "linspace":
        if count == 1:
            return np.zeros(1, np.int64)
        return np.array([(i * (n_frames - 1) * 2 + count - 1) // (2 * (count - 1)) for i in range(count)], np.int64)
    if policy != "uniform":
        raise UsageError(f"--sampling {policy!r} is not one of {', '.join(POLICIES)}")
    # The middle of segment i in frame numbers, rounded down; the second half is the mirror image of the first. With
    # fewer frames than asked for, the frame that is shown at the segment's middle (half a frame later).
    shift = count if n_frames >= count else 0
    half = np.array([((2 * i + 1) * n_frames - shift) // (2 * count) for i in range(count)], np.int64)
    return np.where(np.arange(count) < (count + 1) // 2, half, n_frames - 1 - half[::-1])
