"""The frames of a clip that are looked at: pure functions, the same for every model, logged with every score."""

from typing import Literal

import numpy as np
import numpy.typing as npt

from video_contrast.errors import UsageError, VideoContrastError

Policy = Literal["uniform", "linspace", "starts", "steps", "head"]
POLICIES: tuple[Policy, ...] = ("uniform", "linspace", "starts", "steps", "head")
Seconds = npt.NDArray[np.float64]  # times at which frames are shown
Numbers = npt.NDArray[np.int64]  # of frames
Span = tuple[int, int]  # first and one past the last frame
Frames = npt.NDArray[np.uint8]  # [T, H, W, 3], RGB; a picture: [H, W, 3]
# How a rate becomes a whole number of frames; "ends": a frame for every step that begins, and the clip's last.
Rounding = Literal["down", "nearest", "up", "ends"]
# Containers round times to milliseconds, and seconds are written as decimals.
_ROUNDED = 5.1e-4
_TINY = 1e-9


def span_frames(times: Seconds, end_of_last: float, start: float | None = None, end: float | None = None) -> Span:
    """The frames (first, one past the last) shown at start <= time < end.

    Returns (first, stop) with 0 <= first < stop <= n; a span that falls between two frames holds the one shown then.
    Raises VideoContrastError: `start` is past the end of the last frame, `end` is not after it, or there is no frame.

    Args:
        times: float64[n], seconds at which each frame is shown, increasing, first 0.
        end_of_last: seconds at which the last frame stops being shown.
        start, end: seconds; None is the beginning, and the end, as is a time past the last frame.

    >>> times = np.arange(100) / 25
    >>> span_frames(times, 4.0), span_frames(times, 4.0, 1.0, 2.0), span_frames(times, 4.0, 1.01, 1.02)
    ((0, 100), (25, 50), (25, 26))
    """
    if not len(times):
        raise VideoContrastError("the video has no frames")
    low = 0.0 if start is None else start
    if not low < end_of_last:
        raise VideoContrastError(f"start {low:g} s is past the end of the video ({end_of_last:.2f} s)")
    if end is not None and not end > low:
        raise VideoContrastError(f"end {end:g} s is not after start {low:g} s")
    first = int(np.searchsorted(times, low - _ROUNDED))
    stop = len(times) if end is None else int(np.searchsorted(times, end - _ROUNDED))
    if stop <= first:
        first = max(0, int(np.searchsorted(times, low + _ROUNDED, side="right")) - 1)
        stop = first + 1
    return first, stop


def sampled_frames(
    times: Seconds, end_of_last: float, count: int, policy: Policy = "uniform", fps: float | None = None
) -> Numbers:
    """The numbers of `count` sampled frames of a clip, by the times at which they are shown.

    At an even rate (no frame is shown half a frame or more away from its place in an even rhythm) these are
    `frame_indices`. At a variable rate the same places are taken in time: the frame that is shown at the middle of
    each of `count` equal segments, at its beginning ("starts"), or at `count` equally spaced moments from the first
    frame to the last. "steps" takes the first frame at or after every 1 / fps seconds, by time at any rate; where
    `count` is too small to reach the end so, it is "linspace".

    Returns int64[count], non-decreasing, in 0..n-1. Raises UsageError: as `frame_indices`; "steps" without a rate.

    Args:
        times: float64[n], seconds at which each frame of the clip is shown, increasing.
        end_of_last: seconds at which the last one stops being shown.
        count: frames wanted, at least 1.
        policy: one of `POLICIES`; "head" takes the first `count` frames, whatever their times.
        fps: frames a second of "steps".

    >>> sampled_frames(np.array([0.0, 0.1, 0.2, 4.0]), 4.1, 4).tolist()
    [2, 2, 2, 2]
    """
    length = end_of_last - times[0]
    if policy == "steps":
        if fps is None:
            raise UsageError("--sampling steps takes frames at a rate: give --fps")
        if count > length * fps - 1 - _TINY:
            steps = times[0] + np.arange(count) / fps
            return np.array(np.searchsorted(times, steps - _ROUNDED).clip(max=len(times) - 1), np.int64)
        policy = "linspace"
    even = frame_indices(len(times), count, policy)
    if policy == "head" or is_even(times):
        return even
    if policy == "linspace":
        moments = np.linspace(times[0], times[-1], count)
    else:
        moments = times[0] + (np.arange(count) + (0.5 if policy == "uniform" else 0.0)) * length / count
    return np.maximum(np.searchsorted(times, moments + _TINY, side="right") - 1, 0).astype(np.int64)


def is_even(times: Seconds) -> bool:
    """Whether every frame is shown less than half a frame away from its place in an even rhythm."""
    if len(times) < 3:
        return True
    step = (times[-1] - times[0]) / (len(times) - 1)
    return bool(np.abs(times - times[0] - np.arange(len(times)) * step).max() < step / 2)


def frame_indices(n_frames: int, count: int, policy: Policy = "uniform") -> Numbers:
    """The numbers of `count` sampled frames of `n_frames` where the rate is even.

    - `uniform`: the middle of each of `count` equal segments. The indices are symmetric in time (for even `count`),
      so a clip and its reversal give the same set of frames.
    - `linspace`: from the first to the last frame in equal steps, both included.
    - `starts`: the first frame of each of `count` equal segments.
    - `head`: the first `count` frames.

    A clip with fewer frames than `count` repeats frames; it is never padded with black. Returns int64[count],
    non-decreasing, in 0..n_frames-1. Raises UsageError: a number is below 1, or the policy is unknown or needs a rate.

    Args:
        n_frames, count, policy: frames of the clip and frames wanted, at least 1; and one of the above.

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
    if policy == "starts":
        return np.arange(count, dtype=np.int64) * n_frames // count
    if policy != "uniform":
        raise UsageError(f"--sampling {policy!r} is not one of {', '.join(POLICIES)}")
    # The middle of segment i in frame numbers, rounded down; the second half is the mirror image of the first. With
    # fewer frames than asked for, the frame that is shown at the segment's middle (half a frame later).
    shift = count if n_frames >= count else 0
    half = np.array([((2 * i + 1) * n_frames - shift) // (2 * count) for i in range(count)], np.int64)
    return np.where(np.arange(count) < (count + 1) // 2, half, n_frames - 1 - half[::-1])
