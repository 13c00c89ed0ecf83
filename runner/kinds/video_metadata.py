"""What video processors are told of sampled frames."""

from __future__ import annotations

from typing import Any

import numpy as np

from video_contrast.runner.kinds.base import ClipFrames


def takes_rate(processor: Any) -> bool:
    """Whether a processor takes the rate of the frames as `fps` and not from the metadata (Qwen2.5-Omni, Qwen3-Omni).

    It believes in two frames a second where it is not given.
    """
    return hasattr(processor, "position_id_per_seconds")


def metadata_of(clip: ClipFrames) -> dict[str, Any]:
    """The fields of transformers' `VideoMetadata`: a video of `len(frames)` frames, each at its own time.

    A frame's number is its time in units of the mean spacing, so number / fps is the time (a float number where the
    first frame is not at 0), and fps the rate at which the clip was sampled.
    """
    count, height, width = clip.frames.shape[:3]
    times = clip.times if len(clip.times) == count else tuple(float(n) for n in range(count))
    spacing = float(np.mean(np.diff(times))) if count > 1 else 1.0
    fps = 1.0 / spacing if spacing > 0 else 1.0
    return {
        "total_num_frames": count,
        "fps": fps,
        "frames_indices": [time * fps for time in times],
        "height": height,
        "width": width,
        "duration": count / fps,
    }
