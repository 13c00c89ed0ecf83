"""Decoding: exactly the requested frames, from only the groups of pictures that hold them.

A number means the same picture whatever was sought. Only frames that are kept are converted to RGB. Frames that the
decoder marks corrupt, or that come after an error in their group of pictures, are never handed out unnoticed.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace

import numpy as np

from video_contrast.files import AnyPath
from video_contrast.untyped import AvContainer, AvFrame, AvPacket, AvStream
from video_contrast.video.clock import VideoIndex, index_of
from video_contrast.video.container import BrokenVideo, DamagedVideo, logged_errors, opened, reason
from video_contrast.video.picture import picture, remarks_on
from video_contrast.video.sampling import Frames, Seconds

# A seek costs about as much as decoding this many small frames; below it, decoding forward is cheaper.
WORTH_A_SEEK = 4


@dataclass
class Counter:
    """The cost of decoding, and its faults."""

    decoded: int = 0  # frames that were decoded
    minimum: int = 0  # frames that had to be: see `VideoIndex.minimum`
    converted: int = 0  # frames that were kept
    damaged: dict[str, str] = field(default_factory=dict)  # file that was accepted -> what is wrong with it
    remarks: dict[str, set[str]] = field(default_factory=dict)  # of `VideoIndex.remarks` -> the files it is true of

    def remark(self, path: AnyPath, remarks: Sequence[str]) -> None:
        """Notes remarks on a file."""
        for remark in remarks:
            self.remarks.setdefault(remark, set()).add(str(path))

    def add(self, other: Counter) -> None:
        """Adds another counter's figures."""
        self.decoded += other.decoded
        self.minimum += other.minimum
        self.converted += other.converted
        self.damaged |= other.damaged
        for remark, files in other.remarks.items():
            self.remarks.setdefault(remark, set()).update(files)


def decode(
    path: AnyPath, indices: Sequence[int], counter: Counter | None = None, *, accept_damaged: bool = False
) -> Frames:
    """Decodes frames by number.

    Returns uint8[len(indices), H, W, 3], RGB, upright, in the order of `indices`. Raises DamagedVideo: the file stops
    in the middle, a requested frame does not come out of it, or the decoder reports damage in its group of pictures at
    it, before it, or in a later frame that is decoded before it; BrokenVideo: it cannot be read, or has no such frame.

    Args:
        path: the file.
        indices: frame numbers in order of display, in any order and with repeats, each in 0..n_frames-1.
        counter: is added to.
        accept_damaged: hand out damaged frames as the decoder makes them; the frame before stands in for one that
            does not come out at all.
    """
    unique = sorted({int(number) for number in indices})
    index = index_of(path)
    if not unique or unique[0] < 0 or unique[-1] >= index.n_frames:
        raise BrokenVideo(f"{path}: has frames 0..{index.n_frames - 1}, not {unique[:1]}..{unique[-1:]}")
    counter = counter if counter is not None else Counter()

    def note(fault: str) -> None:
        if fault and not accept_damaged:
            raise DamagedVideo(f"{path}: damaged: {fault}")
        if fault:
            counter.damaged.setdefault(str(path), fault)

    note(index.damage)
    counter.remark(path, index.remarks)
    counter.minimum += index.minimum(unique)
    out: Frames | None = None
    with closing(_walk(index, unique, counter)) as frames:
        for row, (frame, fault) in enumerate(frames):
            note(fault)
            if frame is None:
                raise DamagedVideo(f"{path}: damaged: {fault}")
            counter.converted += 1
            pixels = picture(frame)
            if out is None:
                out = np.empty((len(unique), *pixels.shape), np.uint8)
            if pixels.shape != out.shape[1:]:
                raise BrokenVideo(_changes_size(path, out.shape[1:3], pixels.shape[:2]))
            out[row] = pixels  # at once: the frames of many views are held a single time
            counter.remark(path, remarks_on(frame))
    assert out is not None
    return out if list(indices) == unique else out[np.searchsorted(unique, indices)]


@dataclass(frozen=True)
class DecodedClip:
    """A decoded clip."""

    frames: Frames  # uint8[T, H, W, 3], RGB, upright, in display order
    fps: float  # frames a second; the average where the rate varies
    times: Seconds  # float64[T], seconds from the beginning of the *file* at which each frame is shown
    first: int = 0  # number in the file of the clip's first frame


def read_video(
    path: AnyPath, start: float | None = None, end: float | None = None, *, keep: Sequence[int] | None = None
) -> DecodedClip:
    """Reads the frames shown at start <= time < end (seconds from the beginning of the file; None: all of it).

    A span that falls between two frames holds the one that is shown then. No frame is invented or dropped: a damaged
    file is an error, never a shorter clip. Raises BrokenVideo: no such file, not a video, a clip that begins after the
    end of the file or after its own, or (`DamagedVideo`) a file that stops in the middle or is damaged where read.

    Args:
        path, start, end: the file, and the span in it.
        keep: numbers of frames within the clip, increasing; only these are decoded and returned. All where None.
    """
    index = index_of(os.fspath(path))
    first, stop = index.span(start, end)
    numbers = np.arange(first, stop) if keep is None else first + np.asarray(keep, np.int64)
    return DecodedClip(decode(index.path, numbers.tolist()), index.fps, index.times[numbers], first)


def verify(path: AnyPath) -> VideoIndex:
    """Decodes every frame of a file, keeps none, returns its index. Raises DamagedVideo, BrokenVideo: as `decode`."""
    index, size = index_of(path), None
    if index.damage:
        raise DamagedVideo(f"{path}: damaged: {index.damage}")
    remarks = dict.fromkeys(index.remarks)
    with closing(_walk(index, range(index.n_frames), Counter())) as frames:
        for frame, fault in frames:
            if fault:
                raise DamagedVideo(f"{path}: damaged: {fault}")
            size = size or (frame.height, frame.width)
            if size != (frame.height, frame.width):
                raise BrokenVideo(_changes_size(path, size, (frame.height, frame.width)))
            remarks |= dict.fromkeys(remarks_on(frame))
    return replace(index, remarks=tuple(remarks))


def _changes_size(path: AnyPath, first: tuple[int, ...], other: tuple[int, ...]) -> str:
    return f"{path}: its frames change size ({first[0]}x{first[1]} and {other[0]}x{other[1]} pixels, height first)"


def _walk(index: VideoIndex, indices: Sequence[int], counter: Counter) -> Generator[tuple[AvFrame, str], None, None]:
    """The requested frames (increasing numbers) as they are decoded, each with what is wrong with it, or "".

    Where anything is wrong after a seek, the rest is decoded again from the beginning (some key frames are none: a
    picture that is refreshed in stripes), and only what is wrong then is damage.
    """
    n_done = 0
    with opened(index.path) as (container, stream), logged_errors() as new_errors:
        for run in _runs(index, indices):
            key = index.key_of(run[0])
            after_seek = n_done > 0 or key > WORTH_A_SEEK
            packets = _packets_from(container, stream, index, key) if after_seek else container.demux(stream)
            for frame, fault in _forward(packets, index, run, counter, new_errors, first=key if after_seek else 0):
                if fault and (after_seek or n_done):
                    break
                yield frame, fault
                n_done += 1
            else:
                continue
            break
        else:
            return
    with opened(index.path) as (container, stream), logged_errors() as new_errors:
        yield from _forward(container.demux(stream), index, indices[n_done:], counter, new_errors)


def _packets_from(container: AvContainer, stream: AvStream, index: VideoIndex, key: int) -> Iterator[AvPacket]:
    """The packets from that of a key frame on. Transport streams seek inexactly: then from further back."""
    at = index.keys.index(key)
    for back in (at, max(0, at - 2)):
        if index.seekable:
            container.seek(int(index.stamps[index.keys[back]]), stream=stream, backward=True)
        else:  # forward without decoding
            stream.codec_context.flush_buffers()
        packets = container.demux(stream)
        for packet in packets:
            if packet.is_keyframe and packet.pts == index.stamps[key]:
                yield packet
                yield from packets
                return
            if packet.is_keyframe and packet.pts is not None and packet.pts > index.stamps[key]:
                break


def _runs(index: VideoIndex, indices: Sequence[int]) -> Iterator[Sequence[int]]:
    """Cuts the requested frames where a seek is worth it."""
    begin = 0
    for at in range(1, len(indices)):
        if len(index.stamps) and index.key_of(indices[at]) > indices[at - 1] + 1 + WORTH_A_SEEK:
            yield indices[begin:at]
            begin = at
    yield indices[begin:]


def _forward(
    packets: Iterator[AvPacket], index: VideoIndex, indices: Sequence[int], counter: Counter,
    new_errors: Callable[[str], str], *, first: int = 0,
) -> Iterator[tuple[AvFrame, str]]:  # fmt: skip
    """The requested frames out of packets that begin at frame `first`; another, or None, in the place of a lost one."""
    faults: dict[int, str] = {}  # first frame of a group of pictures -> what is wrong in it
    waiting: deque[tuple[int, AvFrame, str]] = deque()  # frames that may refer to one which comes out later
    spare: AvFrame | None = None
    n_done = 0
    coming = first

    def with_fault(number: int, frame: AvFrame, fault: str) -> tuple[AvFrame, str]:
        groups = (index.key_of(number), index.key_of(index.settled(number)))
        return frame, next((faults[key] for key in groups if key in faults), fault)

    for number, frame, fault in _frames(packets, index, new_errors):
        if fault:
            faults.setdefault(index.key_of(number), fault)
        if frame is None:
            continue
        counter.decoded += 1
        for absent in range(coming, number):  # frames behind it in its group refer to other pictures than they should
            faults.setdefault(index.key_of(absent), _lost(index, absent))
        coming = max(coming, number + 1)
        while n_done < len(indices) and number >= indices[n_done]:
            lacks = "" if number == indices[n_done] else _lost(index, indices[n_done])
            waiting.append((indices[n_done], (spare or frame) if lacks else frame, lacks))
            n_done += 1
        while waiting and index.settled(waiting[0][0]) <= number:
            yield with_fault(*waiting.popleft())
        if n_done == len(indices) and not waiting:
            return
        spare = frame
    for number, frame, fault in waiting:
        yield with_fault(number, frame, fault)
    for number in indices[n_done:]:
        yield with_fault(number, spare, _lost(index, number))


def _frames(
    packets: Iterator[AvPacket], index: VideoIndex, new_errors: Callable[[str], str]
) -> Iterator[tuple[int, AvFrame, str]]:
    """(number, frame, what is wrong) in order of display; an error of the decoder comes without a frame."""
    import av

    new_errors("")  # errors of opening the file: its beginning is decoded again
    order = number = 0
    try:
        for packet in packets:
            frames: list[AvFrame] = []
            fault = ""
            try:
                frames = packet.decode()
            except (av.error.FFmpegError, ValueError) as error:  # the latter once a decoder could not be opened
                fault = reason(error)
            if fault := new_errors("") or fault:
                at = index.number_of(packet.pts)
                at = number if at is None else at
                yield at, None, f"near frame {at}: {fault}"
            for frame in frames:
                at = index.number_of(frame.pts) if len(index.stamps) else order
                order += 1
                if at is not None:
                    number = at
                    yield number, frame, f"frame {number} is corrupt" if frame.is_corrupt else ""
    except av.error.FFmpegError as error:
        yield number, None, f"after frame {number}: {reason(error)}"


def _lost(index: VideoIndex, number: int) -> str:
    return f"frame {number} of {index.n_frames} does not come out of it"
