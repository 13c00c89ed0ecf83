"""The clock of a file: when each frame is shown, where decoding may start, and whether the file is whole.

A file's packets are listed once without decoding. Frame k is the k-th in order of display, and its time counts from
the first frame that is shown. Spans in seconds become frames here and nowhere else, by these times, so a file of
variable rate gives the same frames to perturbing, scoring, teaching and checking.
"""

import os
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from video_contrast.errors import VideoContrastError
from video_contrast.files import AnyPath, state
from video_contrast.video.container import BrokenVideo, regular
from video_contrast.video.packets import Packets, counted_frames, made_before, packets_of
from video_contrast.video.sampling import Numbers, Policy, Seconds, Span, sampled_frames, span_frames

# The picture may end this much before the file promises to: containers round, and start times shift by a frame.
_SLACK = 0.1
_FAR = 0.1  # by how much the rate that a container gives may differ from that of its frames
_ROUNDED = 0.0011  # seconds by which containers round times
_REORDERED = 16  # frames by which codecs reorder at most


@dataclass(frozen=True, eq=False)
class VideoIndex:
    """The frames of a file by their times."""

    path: str  # the file
    times: Seconds  # float64[n_frames], seconds at which each frame is shown, counted from the first, increasing
    end: float  # seconds at which the last frame stops being shown
    # int64[n_frames], presentation time of each frame in the stream's time base, increasing; empty where the
    # container has none that can be trusted (frames are then counted while decoding).
    stamps: Numbers
    keys: tuple[int, ...]  # numbers of the frames at which decoding may start, increasing, first 0
    ahead: npt.NDArray[np.uint8]  # [n_frames], how many frames later the last one is that it may refer to (B-frames)
    fps: float  # mean frames a second, above 0
    width: int  # of the stored picture, in pixels
    height: int  # of the stored picture, in pixels
    seekable: bool = True  # whether packets have the same times after a seek (not those of a program stream)
    damage: str = ""  # fault of the file as a whole (it stops in the middle); "" where it has none
    remarks: tuple[str, ...] = ()  # a sentence each: which of its pictures is read, what it cannot tell

    @property
    def n_frames(self) -> int:
        """The number of frames that are shown."""
        return len(self.times)

    def span(self, start: float | None = None, end: float | None = None) -> Span:
        """First and one past the last frame at start <= time < end; see `span_frames`. Raises BrokenVideo: none is."""
        try:
            return span_frames(self.times, self.end, start, end)
        except VideoContrastError as error:
            raise BrokenVideo(f"{self.path}: {error}") from error

    def sample(self, span: Span, count: int, policy: Policy = "uniform", fps: float | None = None) -> Numbers:
        """The numbers of `count` frames of a span, int64[count]; see `sampling.sampled_frames`.

        Args:
            span: first and one past the last frame, as `span` returns them.
            count, policy, fps: frames wanted, and where: as of `sampling.sampled_frames`.
        """
        first, stop = span
        until = float(self.times[stop]) if stop < self.n_frames else self.end
        return first + sampled_frames(self.times[first:stop], until, count, policy, fps)

    def minimum(self, frames: Sequence[int]) -> int:
        """The number of frames to decode for these (increasing), with those after one that it may refer to."""
        last = {self.key_of(number): number for number in frames}
        return sum(self.settled(number) - key + 1 for key, number in last.items())

    def key_of(self, number: int) -> int:
        """The frame at which decoding towards frame `number` starts."""
        return self.keys[bisect_right(self.keys, number) - 1]

    def settled(self, number: int) -> int:
        """The last frame, in order of display, that is decoded before frame `number`, which may refer to it."""
        return number + int(self.ahead[number])

    def number_of(self, stamp: int | None) -> int | None:
        """The frame with this presentation time; None where there is none."""
        if stamp is None:
            return None
        number = int(np.searchsorted(self.stamps, stamp))
        return number if number < len(self.stamps) and self.stamps[number] == stamp else None


def index_of(path: AnyPath) -> VideoIndex:
    """Returns the index of a file (cached by path, size and times of change).

    Raises BrokenVideo: no such file, no video stream, not a video, or no frame in it.
    """
    file_state = state(regular(path))
    return (_index_of_small if file_state[0] <= _SMALL else _index_of_large)(os.fspath(path), file_state)


def _index(path: str, state: tuple[int, int, int]) -> VideoIndex:
    file = packets_of(path)
    if not file.packets:
        raise BrokenVideo(f"{path}: " + (f"damaged ({file.fault})" if file.fault else "holds no video frame"))
    frames = _shown_by_time(file) if file.by_time else _shown_by_count(file)
    times = (frames.ticks - frames.ticks[0]) * float(frames.base)
    steps = np.diff(times)
    step = float(np.median(steps)) if len(steps) else 0.0
    fps = float(file.rate) or (1 / step if step else 25.0)
    end = float(times[-1]) + (float(frames.last * frames.base) or step or 1 / fps)
    if abs(fps * end - len(times)) > _FAR * len(times):  # the clock of the codec, or the rate of parts of a clip
        fps = len(times) / end
    longest = float(steps.max(initial=0.0))  # the last frame may be shown as long
    damage = file.fault or frames.fault
    if file.promised - file.reached > max(_SLACK, 2.5 / fps, 1.5 * longest):
        holds = f"{len(times)} frames ({end:.2f} s of {file.promised:.2f} s)"
        damage = f"the file stops in the middle, after {holds}; copy or download it again"
    return VideoIndex(
        path, times=times, end=end, stamps=frames.ticks if file.by_time else np.zeros(0, np.int64), keys=frames.keys,
        ahead=_ahead(file, frames), fps=fps, width=file.width, height=file.height, seekable=file.seekable,
        damage=damage, remarks=file.remarks if file.has_durations else file.remarks + _gap(steps),
    )  # fmt: skip


_SMALL = 1 << 17  # bytes of a file, of which some thousand frames at most are listed
_index_of_small = lru_cache(maxsize=4096)(_index)  # models that are scored together read the same clips in turn
_index_of_large = lru_cache(maxsize=64)(_index)  # an hour of video is a list of 90,000 times


@dataclass(frozen=True, eq=False)
class _Clock:
    """When frames are shown, in order: ticks of `base` seconds, numbers of key frames, ticks that the last is shown."""

    ticks: Numbers
    base: Fraction
    keys: tuple[int, ...] = (0,)
    last: int = 0
    fault: str = ""


def _shown_by_time(file: Packets) -> _Clock:
    """The frames in the order of their packets' times; without those before the first key frame that never come out."""
    packets = sorted(file.packets, key=lambda packet: packet.pts or 0)
    fault = ""
    if early := next((k for k, packet in enumerate(packets) if packet.key), 0):
        handed_out, fault = made_before(file.path, packets[early].pts or 0)
        packets = [packet for packet in packets[:early] if packet.pts in handed_out] + packets[early:]
    keys = tuple(k for k, packet in enumerate(packets) if packet.key)
    ticks = np.array([packet.pts for packet in packets], np.int64)
    return _Clock(ticks, file.base, keys if keys[:1] == (0,) else (0, *keys), last=packets[-1].duration, fault=fault)


def _shown_by_count(file: Packets) -> _Clock:
    """The frames that come out of the decoder, at the packets' times of decoding or else at an even rate."""
    n_frames, fault = counted_frames(file.path)
    if n_frames < file.expected:
        fault = fault or f"{n_frames} of {len(file.packets)} frames come out of it"
    ticks = np.unique([packet.dts for packet in file.packets if packet.dts is not None])
    if len(ticks) == n_frames:
        return _Clock(ticks, file.base, fault=fault)
    return _Clock(np.arange(n_frames), 1 / (file.rate or Fraction(25)), fault=fault)


def _gap(steps: Seconds) -> tuple[str, ...]:
    """Says that frames which follow each other at an even rate have a gap."""
    step = float(np.median(steps)) if len(steps) else 0.0
    if not step or steps.max() < 1.5 * step or np.mean(np.abs(steps - step) > max(_FAR * step, _ROUNDED)) > _FAR:
        return ()
    return ("its even times have gaps, where frames may be lost",)


def _ahead(file: Packets, frames: _Clock) -> npt.NDArray[np.uint8]:
    """`VideoIndex.ahead`; where frames are counted their order is not known, and the most is assumed."""
    n_frames = len(frames.ticks)
    numbers = np.arange(n_frames)
    most = np.minimum(_REORDERED, n_frames - 1 - numbers)
    if file.by_time:
        stamps = np.array([packet.pts for packet in file.packets if packet.pts is not None], np.int64)
        in_order = np.searchsorted(frames.ticks, stamps[np.isin(stamps, frames.ticks)])
        most[in_order] = np.minimum(np.maximum.accumulate(in_order) - in_order, most[in_order])
    return most.astype(np.uint8)
