"""The clock of a file: when each frame is shown, where decoding may start, and whether the file is whole.

A file's packets are listed once without decoding. Frame k is the k-th in order of display, and its time counts from
the first frame that is shown. Spans in seconds become frames here and nowhere else, by these times, so a file of
variable rate gives the same frames to perturbing, scoring, teaching and checking.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import islice, pairwise

import numpy as np
import numpy.typing as npt

from video_contrast.errors import VideoContrastError
from video_contrast.untyped import AvContainer, AvStream
from video_contrast.video.ending import cut_short
from video_contrast.video.open import BrokenVideo, opened, reason, regular
from video_contrast.video.sampling import Policy, sampled_frames, span_frames

# Containers whose header says how long they are, so that a missing end is noticed.
_PROMISING = {"mov", "matroska", "avi", "flv", "asf"}
# Containers that store times of display. In the others the order of packets with B-frames is not that of display.
_TIMED = {"mov", "matroska", "mpegts", "mpeg", "flv", "nut"}
# The picture may end this much before the file promises to: containers round, and start times shift by a frame.
_SLACK = 0.1
_FAR = 0.1  # by how much the rate that a container gives may differ from that of its frames
_REORDERED = 16  # frames by which codecs reorder at most
_LOOKED_AT = 64  # frames, to see whether times that never go back are those of display


@dataclass(frozen=True, eq=False)
class VideoIndex:
    """What is in a file.

    Attributes:
        path: the file.
        times: float64[n_frames], seconds at which each frame is shown, counted from the first, increasing.
        end: seconds at which the last frame stops being shown.
        stamps: int64[n_frames], presentation time of each frame in the stream's time base, increasing; empty where
            the container has none that can be trusted (frames are then counted while decoding).
        keys: numbers of the frames at which decoding may start, increasing, first 0.
        ahead: uint8[n_frames], of each frame how many frames later the last one is that is decoded before it:
            what a B-frame may refer to.
        fps: mean frames a second, above 0.
        width: of the stored picture, in pixels.
        height: of the stored picture, in pixels.
        seekable: whether packets have the same times after a seek (a program stream's are counted on from others).
        damage: what is wrong with the file as a whole (it stops in the middle); empty where nothing is.
    """

    path: str
    times: npt.NDArray[np.float64]
    end: float
    stamps: npt.NDArray[np.int64]
    keys: tuple[int, ...]
    ahead: npt.NDArray[np.uint8]
    fps: float
    width: int
    height: int
    seekable: bool = True
    damage: str = ""

    @property
    def n_frames(self) -> int:
        """How many frames are shown."""
        return len(self.times)

    def span(self, start: float | None = None, end: float | None = None) -> tuple[int, int]:
        """First and one past the last frame shown at start <= time < end; see `sampling.span_frames`.

        Raises:
            BrokenVideo: `start` is past the end of the file, or `end` is not after it.
        """
        try:
            return span_frames(self.times, self.end, start, end)
        except VideoContrastError as error:
            raise BrokenVideo(f"{self.path}: {error}") from error

    def sample(self, span: tuple[int, int], count: int, policy: Policy = "uniform") -> npt.NDArray[np.int64]:
        """The numbers of `count` frames of a span, int64[count]; see `sampling.sampled_frames`.

        Args:
            span: first and one past the last frame, as `span` returns them.
            count: frames wanted.
            policy: "uniform", "linspace" or "head".
        """
        first, stop = span
        until = float(self.times[stop]) if stop < self.n_frames else self.end
        return first + sampled_frames(self.times[first:stop], until, count, policy)

    def minimum(self, frames: Sequence[int]) -> int:
        """How many frames must be decoded to get the frames `wanted` (increasing)."""
        last: dict[int, int] = {}
        for number in frames:
            last[self.key_of(number)] = number
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


def index_of(path: str | os.PathLike[str]) -> VideoIndex:
    """Returns the index of a file (cached by path, size and time of change).

    Raises:
        BrokenVideo: no such file, no video stream, not a video, or no frame in it.
    """
    status = regular(path)
    return _index(os.fspath(path), status.st_size, status.st_mtime_ns)


def frame_times(path: str | os.PathLike[str]) -> npt.NDArray[np.float64]:
    """Returns the seconds, counted from the first frame, at which each frame of a file is shown, float64[n_frames].

    Raises:
        BrokenVideo: as `index_of`.
    """
    return index_of(path).times


@dataclass(frozen=True)
class _Packet:
    """A packet of the picture: times in ticks of the stream, whether it is a key frame, whether it came out whole."""

    pts: int | None
    dts: int | None
    duration: int
    key: bool
    whole: bool


@lru_cache(maxsize=64)  # an hour of video is a list of 90,000 times
def _index(path: str, size: int, changed: int) -> VideoIndex:
    import av

    with opened(path) as (container, stream):
        packets, reached, fault = _packets(container, stream)
        fault = fault or (f"its end is missing: {cut}" if (cut := cut_short(path, container.format.name)) else "")
        names = set(container.format.name.split(","))
        rate = stream.average_rate or stream.guessed_rate or stream.base_rate
        base = stream.time_base or Fraction(1, 1000)
        width, height = stream.codec_context.width, stream.codec_context.height
        reorders = bool(stream.codec_context.has_b_frames)
        matroska = "matroska" in names
        promised = (container.duration or 0) / av.time_base if names & _PROMISING else 0.0
    if not packets:
        raise BrokenVideo(f"{path}: " + (f"damaged ({fault})" if fault else "holds no video frame"))
    fps = float(rate or 0)
    if _trusted(path, packets, reorders=reorders, timed=bool(names & _TIMED)):
        shown = sorted(packets, key=lambda packet: packet.pts or 0)
        if early := next((k for k, packet in enumerate(shown) if packet.key), 0):
            handed_out, why = _made_before(path, shown[early].pts or 0)
            fault = fault or why
            shown = [packet for packet in shown[:early] if packet.pts in handed_out] + shown[early:]
        keys = tuple(k for k, packet in enumerate(shown) if packet.key)
        keys = keys if keys[:1] == (0,) else (0, *keys)
        stamps = ticks = np.array([packet.pts for packet in shown], np.int64)
        last = shown[-1].duration
    else:
        counted, why = _counted(path)
        # Matroska cannot store times before 0: what has none was cut off from the pictures that it refers to.
        expected = len(packets) - (sum(packet.dts is packet.pts is None for packet in packets) if matroska else 0)
        fault = fault or why or (f"{counted} of {len(packets)} frames come out of it" if counted < expected else "")
        keys, stamps, last = (0,), np.zeros(0, np.int64), 0
        ticks = np.unique([packet.dts for packet in packets if packet.dts is not None])
        if len(ticks) != counted:
            ticks, base = np.arange(counted), 1 / Fraction(rate or 25)
    times = (ticks - ticks[0]) * float(base)
    step = float(np.median(np.diff(times))) if len(times) > 1 else 0.0
    fps = fps or (1 / step if step else 25.0)
    end = float(times[-1]) + (float(last * base) or step or 1 / fps)
    if abs(fps * end - len(times)) > _FAR * len(times):  # the clock of the codec, or the rate of parts of a clip
        fps = len(times) / end
    longest = float(np.diff(times).max()) if len(times) > 1 else 0.0  # the last frame may be shown as long
    slack = max(_SLACK, 2.5 / fps, 1.5 * longest)
    damage = ""
    if promised - reached > slack:
        holds = f"{len(times)} frames ({end:.2f} s of {promised:.2f} s)"
        damage = f"the file stops in the middle, after {holds}; copy or download it again"
    elif incomplete := sum(not packet.whole for packet in packets):
        damage = f"{incomplete} of its packets are incomplete"
    return VideoIndex(
        path,
        times=times,
        end=end,
        stamps=stamps,
        keys=keys,
        ahead=_ahead(packets, stamps, len(times)),
        fps=fps,
        width=width,
        height=height,
        seekable="mpeg" not in names,
        damage=damage or fault,
    )


def _packets(container: AvContainer, stream: AvStream) -> tuple[list[_Packet], float, str]:
    """The packets of the picture that are shown, the seconds that any stream reaches, and what failed."""
    import av

    packets: list[_Packet] = []
    reached, fault = 0.0, ""
    begin = min(0, container.start_time or 0) / av.time_base
    codec = stream.codec_context.name
    try:
        for packet in container.demux():
            stamp = packet.pts if packet.pts is not None else packet.dts
            if packet.size and stamp is not None:
                reached = max(reached, float((stamp + (packet.duration or 0)) * packet.time_base) - begin)
            if not packet.size or packet.stream_index != stream.index:
                continue
            # VP8 keeps pictures that are only referred to in packets of their own; MPEG-4 has packets without a picture
            unseen = (codec == "vp8" and not memoryview(packet)[0] & 0x10) or (codec == "mpeg4" and packet.size <= 8)
            if not packet.is_discard and not unseen:
                packets.append(
                    _Packet(
                        packet.pts,
                        packet.dts,
                        duration=packet.duration or 0,
                        key=packet.is_keyframe,
                        whole=not packet.is_corrupt,
                    )
                )
    except av.error.FFmpegError as error:
        fault = reason(error)
    return packets, reached, fault


def _trusted(path: str, packets: Sequence[_Packet], *, reorders: bool, timed: bool) -> bool:
    """Whether the packets' times are those of display, where the codec reorders or the container stores these times."""
    stamps = [packet.pts for packet in packets if packet.pts is not None]
    if len(set(stamps)) != len(packets):
        return False
    if not reorders:
        return True
    if not timed:
        return False
    if any(later < earlier for earlier, later in pairwise(stamps)):
        return True
    # No packet is out of order, though pictures may be: times of decoding, copied from another container?
    with opened(path) as (container, stream):
        shown = [frame.pts for frame in islice(container.decode(stream), _LOOKED_AT)]
    return all(a is not None and b is not None and a < b for a, b in pairwise(shown))


def _made_before(path: str, stamp: int) -> tuple[set[int], str]:
    """Which frames come out before the first key frame that is shown, by their times, and what went wrong.

    Where an edit list begins within a group of pictures, its key frame is decoded and not shown, and the frames after
    it come out. Where a stream was cut, they lack the pictures that they refer to: decoders and players leave them out.

    Args:
        path: the file.
        stamp: time of the first key frame that is shown, in ticks of the stream.
    """
    import av

    handed_out: set[int] = set()
    begun, fault = False, ""
    with opened(path) as (container, stream):
        for packet in container.demux(stream):
            begun = begun or packet.is_keyframe
            try:
                for frame in packet.decode():
                    if frame.pts is not None and frame.pts >= stamp:
                        return handed_out, fault
                    if frame.pts is not None:
                        handed_out.add(frame.pts)
            except (av.error.FFmpegError, ValueError) as error:
                if begun:  # what comes before the first key frame of the stream cannot be decoded
                    fault = fault or f"near its beginning: {reason(error)}"
    return handed_out, fault


def _ahead(packets: Sequence[_Packet], stamps: npt.NDArray[np.int64], n_frames: int) -> npt.NDArray[np.uint8]:
    """`VideoIndex.ahead`; where frames are counted their order is not known, and the most is assumed."""
    numbers = np.arange(n_frames)
    most = np.minimum(_REORDERED, n_frames - 1 - numbers)
    if len(stamps):
        shown = np.array([packet.pts for packet in packets if packet.pts is not None], np.int64)
        in_order = np.searchsorted(stamps, shown[np.isin(shown, stamps)])
        most[in_order] = np.minimum(np.maximum.accumulate(in_order) - in_order, most[in_order])
    return most.astype(np.uint8)


def _counted(path: str) -> tuple[int, str]:
    """How many frames come out of a file without usable times, and what went wrong on the way."""
    import av

    count, fault = 0, ""
    with opened(path) as (container, stream):
        for packet in container.demux(stream):
            try:
                for frame in packet.decode():
                    count += 1
                    fault = fault or (f"frame {count - 1} is corrupt" if frame.is_corrupt else "")
            except (av.error.FFmpegError, ValueError) as error:
                fault = fault or f"after frame {count}: {reason(error)}"
    if not count:
        raise BrokenVideo(f"{path}: holds no video frame")
    return count, fault
