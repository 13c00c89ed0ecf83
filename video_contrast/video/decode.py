"""Decoding with PyAV: exactly the wanted frames, from only the groups of pictures that hold them.

A file's packets are listed once without decoding (`index_of`): that gives the true number of frames, the time of
each and where decoding may start. Frame k is the k-th in order of display, so a number means the same picture
whatever was sought. Only frames that are kept are converted to RGB.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from video_contrast.errors import VideoContrastError
from video_contrast.video.sampling import frame_range

# A seek costs about as much as decoding this many small frames; below it, decoding forward is cheaper.
WORTH_A_SEEK = 4


class BrokenVideo(VideoContrastError):
    """A file that is missing, unreadable or holds no frame; a run records it and goes on."""


@dataclass
class Counter:
    """What decoding cost. `minimum` counts, for every group of pictures with a wanted frame, up to the last wanted."""

    decoded: int = 0
    minimum: int = 0
    converted: int = 0

    def add(self, other: Counter) -> None:
        """Adds another counter's figures."""
        self.decoded += other.decoded
        self.minimum += other.minimum
        self.converted += other.converted


@dataclass(frozen=True)
class VideoIndex:
    """What is in a file, by its packets.

    Attributes:
        times: presentation time of frame k in the stream's time base, increasing; empty where the container has none
            (frames are then counted while decoding).
        keys: numbers of the frames at which decoding may start, increasing, first 0.
        n_frames: frames that are shown.
        fps: mean frames a second, above 0.
    """

    path: str
    times: tuple[int, ...]
    keys: tuple[int, ...]
    n_frames: int
    fps: float
    width: int
    height: int
    facts: dict[str, Any] = field(default_factory=dict, compare=False)

    def range(self, start: float | None = None, end: float | None = None) -> tuple[int, int]:
        """First and one past the last frame between `start` and `end` seconds."""
        try:
            return frame_range(self.n_frames, self.fps, start, end)
        except VideoContrastError as error:
            raise BrokenVideo(f"{self.path}: {error}") from error

    def minimum(self, wanted: Sequence[int]) -> int:
        """How many frames must be decoded to get the frames `wanted` (increasing)."""
        last: dict[int, int] = {}
        for number in wanted:
            last[self.key_of(number)] = number
        return sum(number - key + 1 for key, number in last.items())

    def key_of(self, number: int) -> int:
        """The frame at which decoding towards frame `number` starts."""
        return self.keys[bisect_right(self.keys, number) - 1]


def index_of(path: str | Path) -> VideoIndex:
    """Lists a file's packets (cached by path, size and time of change).

    Raises:
        BrokenVideo: no such file, no video stream, not a video, or no frame in it.
    """
    try:
        stat = Path(path).stat()
    except OSError as error:
        raise BrokenVideo(f"{path}: no such file") from error
    return _index(str(path), stat.st_size, stat.st_mtime_ns)


@lru_cache(maxsize=64)  # an hour of video is a list of 90,000 times
def _index(path: str, size: int, changed: int) -> VideoIndex:
    with _opened(path) as (container, stream):
        stamps: list[tuple[int, bool]] = []
        complete = True
        for packet in container.demux(stream):
            if packet.size == 0 or packet.is_discard:
                continue
            if packet.pts is None:
                complete = False
            stamps.append((packet.pts if packet.pts is not None else len(stamps), bool(packet.is_keyframe)))
        rate = stream.average_rate or stream.guessed_rate or stream.base_rate
        base = stream.time_base
        width, height = stream.codec_context.width, stream.codec_context.height
    if not complete or len({stamp for stamp, _ in stamps}) != len(stamps):
        return _counted(path, float(rate or 25.0), width, height)
    stamps.sort()
    times = tuple(stamp for stamp, _ in stamps)
    if not times:
        raise BrokenVideo(f"{path}: holds no video frame")
    keys = tuple(k for k, (_, key) in enumerate(stamps) if key)
    fps = float(rate or 0.0)
    if fps <= 0:
        span = float((times[-1] - times[0]) * base) if len(times) > 1 and base else 0.0
        fps = (len(times) - 1) / span if span > 0 else 25.0
    return VideoIndex(path, times, keys if keys and keys[0] == 0 else (0, *keys), len(times), fps, width, height)


def _counted(path: str, fps: float, width: int, height: int) -> VideoIndex:
    """The index of a file without usable times: its frames are counted by decoding, and never sought."""
    with _opened(path) as (container, stream):
        n_frames = 0
        for _ in _frames(container, stream, path):
            n_frames += 1
    if not n_frames:
        raise BrokenVideo(f"{path}: holds no video frame")
    return VideoIndex(path, (), (0,), n_frames, fps, width, height)


def decode(path: str | Path, wanted: Sequence[int], counter: Counter | None = None) -> np.ndarray:
    """Decodes frames by number.

    Args:
        path: the file.
        wanted: frame numbers in order of display, in any order and with repeats, each in 0..n_frames-1.
        counter: is added to.

    Returns:
        uint8[len(wanted), H, W, 3], RGB, in the order of `wanted`.

    Raises:
        BrokenVideo: the file cannot be read, or a wanted frame does not come out of it.
    """
    unique = sorted(set(int(number) for number in wanted))
    index = index_of(path)
    if not unique or unique[0] < 0 or unique[-1] >= index.n_frames:
        raise BrokenVideo(f"{path}: has frames 0..{index.n_frames - 1}, not {unique[:1]}..{unique[-1:]}")
    counter = counter if counter is not None else Counter()
    counter.minimum += index.minimum(unique)
    out: np.ndarray | None = None
    for row, (_, picture) in enumerate(_walk(index, unique, counter)):
        if out is None:
            out = np.empty((len(unique), *picture.shape), np.uint8)
        if picture.shape != out.shape[1:]:
            raise BrokenVideo(f"{path}: its frames change size ({out.shape[1:3]} and {picture.shape[:2]})")
        out[row] = picture  # at once: the frames of many views are held a single time
    assert out is not None
    return out if list(wanted) == unique else out[np.searchsorted(unique, wanted)]


def _walk(
    index: VideoIndex, wanted: list[int], counter: Counter, seeks: bool = True
) -> Iterator[tuple[int, np.ndarray]]:
    """The wanted frames (increasing numbers) with their pictures.

    Some containers (transport streams) seek inexactly: where a seek lands past its frame, the rest is decoded again
    from the beginning.
    """
    number_of = {time: k for k, time in enumerate(index.times)}
    at = 0  # the frame that decoding would give next
    done = 0
    sought = False
    with _opened(index.path) as (container, stream):
        while done < len(wanted):
            key = index.key_of(wanted[done])
            if seeks and index.times and key > at + WORTH_A_SEEK:
                container.seek(index.times[key], stream=stream, backward=True)
                sought = True
            before = done
            for order, frame in enumerate(_frames(container, stream, index.path)):
                counter.decoded += 1
                number = number_of.get(frame.pts) if index.times else order
                if number is None or number < wanted[done]:
                    continue
                if number > wanted[done]:
                    break
                counter.converted += 1
                yield number, _picture(frame)
                at, done = number + 1, done + 1
                if done == len(wanted) or (seeks and index.key_of(wanted[done]) > at + WORTH_A_SEEK):
                    break
            else:
                number = None
            if done == len(wanted) or (done > before and number == wanted[done - 1]):
                continue  # finished, or on to the next group of pictures
            if sought:
                yield from _walk(index, wanted[done:], counter, seeks=False)
                return
            raise BrokenVideo(
                f"{index.path}: frame {wanted[done]} of {index.n_frames} cannot be decoded: damaged or cut short"
            )


def _picture(frame: Any) -> np.ndarray:
    picture = frame.to_ndarray(format="rgb24")
    turns = round(getattr(frame, "rotation", 0) / 90) % 4  # phones store a picture and how to turn it
    return np.ascontiguousarray(np.rot90(picture, turns)) if turns else picture


@contextmanager
def _opened(path: str) -> Iterator[tuple[Any, Any]]:
    import av

    try:
        container = av.open(path)
    except (av.error.FFmpegError, OSError, ValueError) as error:
        raise BrokenVideo(f"{path}: cannot be read as a video ({_reason(error)})") from error
    with container:
        if not container.streams.video:
            raise BrokenVideo(f"{path}: has no video stream")
        stream = container.streams.video[0]
        # One thread a file: the workers are the parallelism, and the bits then never depend on the machine.
        stream.codec_context.thread_count = 1
        stream.codec_context.thread_type = "NONE"
        try:
            yield container, stream
        except av.error.FFmpegError as error:
            raise BrokenVideo(f"{path}: damaged ({_reason(error)})") from error


def _frames(container: Any, stream: Any, path: str) -> Iterator[Any]:
    import av

    try:
        for packet in container.demux(stream):
            yield from packet.decode()
    except av.error.FFmpegError as error:
        raise BrokenVideo(f"{path}: damaged ({_reason(error)})") from error


def _reason(error: BaseException) -> str:
    return str(getattr(error, "strerror", "") or error)
