"""What video processors are told of sampled frames."""

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from video_contrast.runner.kinds.base import ClipFrames
from video_contrast.untyped import Processor, Tensor


def takes_rate(processor: Processor | None) -> bool:
    """Whether a processor takes the rate of the frames as `fps` and not from the metadata (Qwen2.5-Omni, Qwen3-Omni).

    It believes in two frames a second where it is not given.
    """
    return hasattr(processor, "position_id_per_seconds")


# How processors write times: Qwen3-VL and its like, VideoLLaMA 3, GLM-4.1V and 4.6V (after the frames), Molmo 2,
# SmolVLM and Gemma 4 (minutes and whole seconds).
WRITTEN = (
    r"<(\d+(?:\.\d+)?) seconds>",
    r"Time (\d+(?:\.\d+)?)s:",
    r"<\|end_of_image\|>(\d+(?:\.\d+)?)",
    r"(\d+\.\d) ?<frame_start>",
    r"(?<![\d:])(\d\d):(\d\d)(?!\d)",
)
# Seconds of a temporal patch, of models that know times by their positions.
SPACED = ("second_per_grid_ts", "video_second_per_grid")


def told_times(prompt: str, inputs: Mapping[str, Tensor]) -> list[float]:
    """The times that a model is told of a clip, one a frame or a temporal patch; [] where it is told none.

    `prompt`: as the model reads it, up to the end of the clip.

    >>> told_times("<0.3 seconds><|video_pad|><1.1 seconds><|video_pad|>", {})
    [0.3, 1.1]
    >>> told_times("Frame from 00:59:<image>Frame from 01:01:<image>", {})
    [59.0, 61.0]
    """
    for name in SPACED:
        if name in inputs:
            count, seconds = int(inputs["video_grid_thw"][0][0]), float(inputs[name][0])
            return [n * seconds for n in range(count)]
    for pattern in WRITTEN:
        if marks := list(re.finditer(pattern, prompt)):
            return [60.0 * float(mark[1]) + float(mark[2]) if mark.re.groups > 1 else float(mark[1]) for mark in marks]
    return []


def metadata_of(clip: ClipFrames) -> dict[str, Any]:  # of several types
    """What processors of transformers take as `VideoMetadata`: a video of `len(frames)` frames, each at its own time.

    fps is the rate at which the clip was sampled: frames by the length of the clip, as in qwen-vl-utils; by their mean
    spacing where the length is not known. A frame's number is its time in units of 1 / fps, so number / fps is the time
    (a float number where the first frame is not at 0).
    """
    count, height, width = clip.frames.shape[:3]
    times = clip.times if len(clip.times) == count else tuple(float(n) for n in range(count))
    spacing = clip.seconds / count or (float(np.mean(np.diff(times))) if count > 1 else 0.0)
    fps = 1.0 / spacing if spacing > 0 else 1.0
    return {
        "total_num_frames": count,
        "fps": fps,
        "frames_indices": [time * fps for time in times],
        "height": height,
        "width": width,
        "duration": count / fps,
    }
