"""Video files in and out: whole clips as uint8 RGB arrays, through PyAV.

Writing is deterministic: equal frames give equal bytes on one machine (one thread, fixed key frames, no encoder
version string, no time stamp of the day). Reading is strict: a file that cannot be read to its end is an error that
says how far it went, never a shorter clip.

Frames come out upright (rotation metadata is applied), in display order, one array entry a stored frame. In a file
with a variable frame rate `fps` is the average and `times` holds the true times; no frame is invented or dropped.
"""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import atomic_path

if TYPE_CHECKING:
    import av

Frames = npt.NDArray[np.uint8]
Quality = Literal["high", "lossless"]

# h264 constant rate factor 12 at 4:2:0 costs about 43 dB against the source: below what any model notices.
_CRF = {"high": "12", "lossless": "0"}
_KEY_FRAME_EVERY = 24
# x264's macroblock tree looks ahead into memory that was never set: with it, the first file of a process differs
# from the same file written again (measured). Without it and without B-frames equal frames give equal bytes.
_STEADY = "mbtree=0:rc-lookahead=0:bframes=0:sync-lookahead=0:threads=1"
# The picture may end this much before the file promises to: containers round, and start times shift by a frame.
_SLACK = 0.1


@dataclass(frozen=True)
class Clip:
    """A decoded clip.

    Attributes:
        frames: uint8[T, H, W, 3], RGB.
        fps: frames a second; the average where the rate varies.
        times: float64[T], seconds from the beginning of the *file* at which each frame is shown.
        first: index in the file of `frames[0]`.
    """

    frames: Frames
    fps: float
    times: npt.NDArray[np.float64]
    first: int = 0


def write_video(
    path: str | os.PathLike[str],
    frames: Frames,
    fps: float,
    *,
    quality: Quality = "high",
) -> Path:
    """Writes frames as an h264 mp4 file, atomically.

    Args:
        path: the file, ending in .mp4 (or .mkv, .mov).
        frames: uint8[T, H, W, 3], RGB, T >= 1. Any size of at least 2x2: with an odd side the chroma is kept at
            full resolution (4:4:4), so that the size does not change.
        fps: frames a second.
        quality: "high" (about 43 dB, plays everywhere) or "lossless" (`read_video` gives the same bits back).

    Raises:
        UsageError: the frames are not uint8 RGB, there is none, or a side is shorter than 2.
    """
    import av

    frames = as_frames(frames)
    height, width = frames.shape[1:3]
    if min(height, width) < 2:
        raise UsageError(f"a video file needs frames of at least 2x2 pixels, not {width}x{height}")
    if quality not in _CRF:
        raise UsageError(f"quality must be 'high' or 'lossless', not {quality!r}")
    rate = Fraction(fps).limit_denominator(1001)
    if not 0 < rate <= 1000:
        raise UsageError(f"frames a second must be above 0 and at most 1000, not {fps}")
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
        for picture in frames:
            _write_packets(container, strip, stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        _write_packets(container, strip, stream.encode(None))
        container.mux(strip.filter(None))
    return Path(path)


def read_video(
    path: str | os.PathLike[str],
    start: float | None = None,
    end: float | None = None,
    *,
    keep: Callable[[int], bool] | None = None,
) -> Clip:
    """Reads the frames shown at start <= time < end (seconds from the beginning of the file; null: all of it).

    A span that falls between two frames holds the one that is shown then.

    Args:
        path: a video file.
        start: seconds, or None for the beginning.
        end: seconds, or None for the end of the file.
        keep: given the index of a frame within the clip, whether to convert and return it; the others are decoded
            but cost no conversion or memory.

    Raises:
        VideoContrastError: no such file, not a video, a clip that holds no frame, or a file that stops in the
            middle; the message says which and how many frames could be read.
    """
    low = 0.0 if start is None else float(start)
    high = float("inf") if end is None else float(end)
    pictures: list[Frames] = []
    times: list[float] = []
    first = -1
    fps = 0.0
    before: tuple[int, float, Callable[[], Frames]] | None = None
    for index, (time, rate, convert) in enumerate(_decode(path, high)):
        fps = rate
        # half a millisecond of slack: containers round times
        if time < low - 5e-4:
            before = index, time, convert
            continue
        if first < 0:
            first = index
        if keep is None or keep(index - first):
            pictures.append(convert())
            times.append(time)
    if first < 0 and before is not None and low < before[1] + 1 / fps:
        # the span falls between two frames: it holds the one that is shown then
        first = before[0]
        if keep is None or keep(0):
            pictures.append(before[2]())
            times.append(before[1])
    if not pictures:
        held = "no frame" if keep is None else "none of the wanted frames"
        raise VideoContrastError(f"{path}: {held} between {low:g} s and {'the end' if end is None else f'{end:g} s'}")
    return Clip(np.stack(pictures), fps, np.asarray(times), max(first, 0))


def frame_times(path: str | os.PathLike[str]) -> npt.NDArray[np.float64]:
    """Seconds from the beginning of the file at which each frame is shown, read from the index without decoding."""
    import av

    try:
        with av.open(str(path)) as container:
            stream = container.streams.video[0]
            base = stream.time_base
            pts = sorted(p.pts for p in container.demux(stream) if p.pts is not None and not p.is_discard)
    except (av.error.FFmpegError, IndexError) as error:
        raise _unreadable(path, error) from error
    if not pts or base is None:
        raise VideoContrastError(f"{path}: holds no frames")
    return (np.asarray(pts, np.float64) - pts[0]) * float(base)


def as_frames(frames: Any) -> Frames:
    """The array itself if it is a clip: uint8[T >= 1, H >= 1, W >= 1, 3].

    Raises:
        UsageError: says what it is instead (float, greyscale, RGBA, empty) and how to convert it.
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


def _write_packets(container: "av.container.OutputContainer", strip: Any, packets: list[Any]) -> None:
    for packet in packets:
        container.mux(strip.filter(packet))


def _decode(path: str | os.PathLike[str], until: float) -> Iterator[tuple[float, float, Callable[[], Frames]]]:
    """(seconds, fps, a function that converts to RGB) a frame, in display order, up to `until` seconds."""
    import av

    n, last, promised, fps = 0, 0.0, None, 0.0
    try:
        with av.open(str(path)) as container:
            if not container.streams.video:
                raise VideoContrastError(f"{path}: holds no video stream")
            stream = container.streams.video[0]
            stream.thread_count = 1
            rate = stream.average_rate or stream.guessed_rate or Fraction(25)
            fps = float(rate)
            promised = _promised_seconds(container, stream)
            zero: float | None = None
            for packet in container.demux(stream):
                if packet.is_corrupt:
                    raise VideoContrastError(_stops(path, n, last, promised))
                for frame in packet.decode():
                    time = frame.time if frame.time is not None else n / fps
                    zero = time if zero is None else zero
                    time -= zero
                    if time >= until - 5e-4:
                        return
                    yield time, fps, partial(_upright, frame)
                    shown = float(frame.duration * frame.time_base) if frame.duration and frame.time_base else 1 / fps
                    n, last = n + 1, time + shown
    except FileNotFoundError as error:
        raise VideoContrastError(f"{path}: no such video file") from error
    except (av.error.FFmpegError, IndexError) as error:
        if n:
            raise VideoContrastError(_stops(path, n, last, promised)) from error
        raise _unreadable(path, error) from error
    if not n:
        raise VideoContrastError(f"{path}: holds no frames")
    if promised is not None and promised - last > max(_SLACK, 2.5 / fps):
        raise VideoContrastError(_stops(path, n, last, promised))


def _promised_seconds(container: Any, stream: Any) -> float | None:
    """How long the file says its picture is: the stream's own length, else the container's (it may hold sound)."""
    if stream.duration:
        return float(stream.duration * stream.time_base)
    if container.duration and len(container.streams) == 1:
        return container.duration / 1e6
    return None


def _upright(frame: Any) -> Frames:
    picture = frame.to_ndarray(format="rgb24")
    turns = round((frame.rotation or 0) / 90) % 4
    return np.ascontiguousarray(np.rot90(picture, turns)) if turns else picture


def _stops(path: str | os.PathLike[str], n: int, last: float, promised: float | None) -> str:
    of = f" of {promised:.2f} s" if promised else ""
    return f"{path}: the file stops in the middle, after {n} frames ({last:.2f} s{of}); copy or download it again"


def _unreadable(path: str | os.PathLike[str], error: Exception) -> VideoContrastError:
    what = getattr(error, "strerror", None) or str(error)
    return VideoContrastError(f"{path}: cannot be read as a video ({what}); it may be cut off or not a video at all")
