"""Writing frames as a video file: deterministic, atomic, with the times at which the frames are shown.

Equal frames give equal bytes on one machine (one thread, fixed key frames, no encoder version string, no time stamp of
the day).
"""

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from video_contrast.errors import UsageError
from video_contrast.files import AnyPath, atomic_path
from video_contrast.untyped import AvPacket, AvStream
from video_contrast.video.sampling import Frames, Seconds

if TYPE_CHECKING:
    import av

Quality = Literal["high", "lossless"]

# h264 constant rate factor 12 at 4:2:0 costs about 43 dB against the source: below what any model notices.
_CRF = {"high": "12", "lossless": "0"}
_KEY_FRAME_EVERY = 24
# x264's macroblock tree looks ahead into memory that was never set: with it, the first file of a process differs
# from the same file written again (measured). Without it and without B-frames equal frames give equal bytes.
_STEADY = "mbtree=0:rc-lookahead=0:bframes=0:sync-lookahead=0:threads=1"
_ENDINGS = (".mp4", ".mkv", ".mov", ".avi")
_TICKS = 90_000  # a second, where the rate varies


def write_video(
    path: AnyPath, frames: Frames, fps: float, *, quality: Quality = "high", times: Seconds | None = None
) -> Path:
    """Writes frames as an h264 mp4 file, atomically; returns its path.

    Raises UsageError: another ending, the frames are not uint8 RGB, there is none, or a side is shorter than 2.

    Args:
        path: the file, ending in .mp4 (or .mkv, .mov, .avi).
        frames: uint8[T, H, W, 3], RGB, T >= 1. Any size of at least 2x2: with an odd side the chroma is kept at
            full resolution (4:4:4), so that the size does not change.
        fps: frames a second.
        quality: "high" (about 43 dB, plays everywhere) or "lossless" (`read_video` returns the same bits).
        times: float64[T], seconds at which each frame is shown, increasing. Written where a frame is shown half a
            frame or more away from its place at `fps`, so that the file has the clip's clock.
    """
    import av

    check_target(path)
    frames = as_frames(frames)
    height, width = frames.shape[1:3]
    if min(height, width) < 2:
        raise UsageError(f"a video file needs frames of at least 2x2 pixels, not {width}x{height}")
    if quality not in _CRF:
        raise UsageError(f"quality must be 'high' or 'lossless', not {quality!r}")
    rate = Fraction(fps).limit_denominator(1001)
    if not 0 < rate <= 1000:
        raise UsageError(f"frames a second must be above 0 and at most 1000, not {fps}")
    stamps: list[int] | None = None
    if times is not None and np.abs(times - times[0] - np.arange(len(times)) / fps).max() >= 0.5 / fps:
        stamps = np.rint((times - times[0]) * _TICKS).astype(np.int64).tolist()
    lossless = quality == "lossless"
    with atomic_path(path) as temporary, av.open(str(temporary), "w", options={"fflags": "+bitexact"}) as container:
        stream = container.add_stream("libx264rgb" if lossless else "libx264", rate=rate)
        stream.width, stream.height = width, height
        stream.pix_fmt = "rgb24" if lossless else ("yuv444p" if height % 2 or width % 2 else "yuv420p")
        stream.options = {"crf": _CRF[quality], "preset": "veryfast", "flags": "+bitexact", "x264-params": _STEADY}
        stream.codec_context.gop_size = _KEY_FRAME_EVERY
        stream.codec_context.thread_count = 1
        # x264 writes its version and settings into a message of type 6; without it the bytes are the picture's only
        strip = av.BitStreamFilterContext("filter_units=remove_types=6", stream)
        if stamps is not None:
            stream.codec_context.time_base = Fraction(1, _TICKS)
        for number, pixels in enumerate(frames):
            frame = av.VideoFrame.from_ndarray(pixels, format="rgb24")
            if stamps is not None:
                frame.pts, frame.time_base = stamps[number], Fraction(1, _TICKS)
            _write_packets(container, strip, stream.encode(frame))
        _write_packets(container, strip, stream.encode(None))
        container.mux(strip.filter(None))
    return Path(path)


def check_target(path: AnyPath) -> None:
    """Raises a UsageError for a name without an ending of a container that `write_video` writes; says which are."""
    if Path(path).suffix.lower() not in _ENDINGS:
        raise UsageError(f"{path}: a video file that is written ends in {', '.join(_ENDINGS)}")


def as_frames(frames: object) -> Frames:
    """The array itself if it is a clip: uint8[T >= 1, H >= 1, W >= 1, 3].

    Raises UsageError: says what it is instead (float, greyscale, RGBA, empty) and how to convert it.
    """
    if not isinstance(frames, np.ndarray):
        raise UsageError(f"frames must be a numpy array uint8[T,H,W,3], not {type(frames).__name__}")
    shape = "x".join(map(str, frames.shape))
    if frames.ndim == 3 and frames.shape[-1] == 3:
        raise UsageError(f"frames are {shape}: one picture? Give a clip of one frame, frames[None]")
    if frames.ndim == 3 or (frames.ndim == 4 and frames.shape[-1] == 1):
        raise UsageError(f"frames are {shape}, greyscale: repeat the channel three times to make them RGB")
    if frames.ndim == 4 and frames.shape[-1] == 4:
        raise UsageError(f"frames are {shape}, RGBA: drop the alpha channel, frames[..., :3]")
    if frames.ndim != 4 or frames.shape[-1] != 3:
        raise UsageError(f"frames are {shape}: give uint8[T,H,W,3]")
    if frames.dtype != np.uint8:
        raise UsageError(f"frames are {frames.dtype}: convert to uint8 in 0..255, e.g. (frames * 255).round()")
    if 0 in frames.shape:
        raise UsageError(f"frames are {shape}: the clip is empty")
    return frames


def _write_packets(container: "av.container.OutputContainer", strip: AvStream, packets: list[AvPacket]) -> None:
    for packet in packets:
        container.mux(strip.filter(packet))
