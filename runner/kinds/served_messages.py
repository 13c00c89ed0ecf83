"""What a served model is sent: frames as images, or as one video of JPEG pictures, with a text."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from video_contrast.runner.kinds.base import ClipFrames

FramesAs = Literal["images", "video"]
# What vLLM takes as the frames of one video: pictures after one another, separated by commas.
VIDEO_OF_PICTURES = "data:video/jpeg;base64,"
QUALITY = 95  # of JPEG


def parts_of(clip: ClipFrames | None, frames_as: FramesAs = "images") -> list[dict[str, Any]]:
    """The parts of a message that show a clip; [] where there is none (the blind control).

    Args:
        clip: the frames as sampled.
        frames_as: "images" (PNG, one part a frame), or "video" (one part; servers that know vLLM's format).
    """
    if clip is None:
        return []
    if frames_as == "video":
        url = VIDEO_OF_PICTURES + ",".join(_encoded(frame, "JPEG", quality=QUALITY) for frame in clip.frames)
        return [{"type": "video_url", "video_url": {"url": url}}]
    urls = ["data:image/png;base64," + _encoded(frame, "PNG") for frame in clip.frames]
    return [{"type": "image_url", "image_url": {"url": url}} for url in urls]


def message(parts: Sequence[dict[str, Any]], text: str) -> list[dict[str, Any]]:
    """A conversation of one question about what the parts show."""
    return [{"role": "user", "content": [*parts, {"type": "text", "text": text}]}]


def _encoded(frame: np.ndarray, container: str, **options: int) -> str:
    from PIL import Image

    sink = io.BytesIO()
    Image.fromarray(frame).save(sink, format=container, **options)
    return base64.b64encode(sink.getvalue()).decode("ascii")
