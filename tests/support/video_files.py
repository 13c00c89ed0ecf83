"""Small video files of every kind, in which every frame differs."""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import av
import numpy as np

FRAMES = 26
FPS = 25


def even(number: int) -> int:
    """The place of a frame at an even rate, in 25ths of a second."""
    return number


def write_clip(
    path: Path,
    codec: str = "libx264",
    options: dict[str, str] | None = None,
    *,
    gop: int = 5,
    shown_at: Callable[[int], int] = even,
    n_frames: int = FRAMES,
    container_options: dict[str, str] | None = None,
) -> np.ndarray:
    """Writes a clip of 64x48 and returns its frames in the order in which the decoder hands them out."""
    with av.open(str(path), "w", options=container_options or {}) as container:
        stream = container.add_stream(codec, rate=Fraction(FPS))
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        stream.codec_context.gop_size = gop
        stream.options = options or {}
        for t in range(n_frames):
            picture = np.full((48, 64, 3), 40, np.uint8)
            picture[:, 2 * t % 64 : 2 * t % 64 + 4] = (250, 9 * t % 256, 120)
            frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
            frame.pts, frame.time_base = shown_at(t), Fraction(1, FPS)
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return in_sequence(path)


def in_sequence(path: Path) -> np.ndarray:
    """All frames of a file, uint8[T, H, W, 3], decoded one after another."""
    with av.open(str(path)) as container:
        return np.stack([frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)])
