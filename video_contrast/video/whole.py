"""Reading a clip whole: the frames of a span as uint8 RGB arrays, with the times at which they are shown."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from video_contrast.video.clock import index_of
from video_contrast.video.decode import decode


@dataclass(frozen=True)
class DecodedClip:
    """A decoded clip.

    Attributes:
        frames: uint8[T, H, W, 3], RGB, upright, in display order.
        fps: frames a second; the average where the rate varies.
        times: float64[T], seconds from the beginning of the *file* at which each frame is shown.
        first: number in the file of the clip's first frame.
    """

    frames: npt.NDArray[np.uint8]
    fps: float
    times: npt.NDArray[np.float64]
    first: int = 0


def read_video(
    path: str | os.PathLike[str],
    start: float | None = None,
    end: float | None = None,
    *,
    keep: Sequence[int] | None = None,
) -> DecodedClip:
    """Reads the frames shown at start <= time < end (seconds from the beginning of the file; None: all of it).

    A span that falls between two frames holds the one that is shown then. No frame is invented or dropped: a damaged
    file is an error, never a shorter clip.

    Args:
        path: a video file.
        start: seconds, or None for the beginning.
        end: seconds, or None for the end of the file.
        keep: numbers of frames within the clip, increasing; only these are decoded. All where None.

    Returns:
        The clip; with `keep`, its kept frames and their times.

    Raises:
        BrokenVideo: no such file, not a video, a clip that begins after the end, or (`DamagedVideo`) a file that
            stops in the middle or is damaged where it is read.
    """
    index = index_of(os.fspath(path))
    first, stop = index.span(start, end)
    numbers = np.arange(first, stop) if keep is None else first + np.asarray(keep, np.int64)
    return DecodedClip(decode(index.path, numbers.tolist()), index.fps, index.times[numbers], first)
