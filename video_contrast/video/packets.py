"""The packets of a file's picture, listed without decoding, and whether it is as long as its container says."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice, pairwise
from pathlib import Path
from typing import BinaryIO, NamedTuple

from video_contrast.untyped import AvContainer, AvStream
from video_contrast.video.container import FORMATS, BrokenVideo, logged_errors, opened, reason, streams_of

# Containers whose header says how long they are, so that a missing end is noticed.
_PROMISING = {"mov", "matroska", "avi", "flv", "asf", "mxf"}
_COUNTING = {"avi", "ivf"}  # their header says how many packets the picture has
# Containers that store times of display. In the others the order of packets with B-frames is not that of display.
_TIMED = {"mov", "matroska", "mpegts", "mpeg", "flv", "nut"}
_LOOKED_AT = 64  # frames, to see whether times that never go back are those of display
_SEEN = 0.02  # of a pixel's sides: who stretches pictures by less changes nothing that can be seen
_RESTART = 1.0  # seconds by which times go back where another recording begins
OPEN_END = "its container does not say where it ends, so that a missing end would not be noticed"


@dataclass(frozen=True)
class Packet:
    """A packet of the picture: times in ticks of the stream, whether it is a key frame, whether it came out whole."""

    pts: int | None
    dts: int | None
    duration: int
    key: bool
    whole: bool


@dataclass(frozen=True)
class Packets:
    """The packets of the picture that are shown."""

    path: str  # the file
    packets: Sequence[Packet]  # in the order of the file
    base: Fraction  # seconds a tick
    rate: Fraction  # frames a second as the container gives them; 0 where it does not
    width: int  # of the stored picture, in pixels
    height: int  # of the stored picture, in pixels
    reached: float  # seconds that any stream reaches
    promised: float  # seconds that the container says it has; 0 where it does not
    fault: str  # of the file; empty where it has none
    by_time: bool  # whether the packets' times are those of display
    has_durations: bool  # whether it says how long each frame is shown, so that no gap in its times is a loss
    seekable: bool  # whether packets have the same times after a seek
    expected: int  # how many frames should come out
    remarks: tuple[str, ...]  # for a reader of the file


def packets_of(path: str) -> Packets:
    """Lists the packets of a file. Raises BrokenVideo: it cannot be read as a video."""
    import av

    with logged_errors() as new_errors, opened(path) as (container, stream):
        names = set(container.format.name.split(","))
        every, reached, fault = _listed(container, stream)
        fault = fault or new_errors(container.format.name)
        packets = [packet for packet in every if packet is not None]
        base = stream.time_base or Fraction(1, 1000)
        rate = Fraction(stream.average_rate or stream.guessed_rate or stream.base_rate or 0)
        width, height = stream.codec_context.width, stream.codec_context.height
        reorders = bool(stream.codec_context.has_b_frames)
        promised = (container.duration or 0) / av.time_base if names & _PROMISING else 0.0
        n_stated = stream.frames if names & _COUNTING else 0
        remarks = _remarks(container, stream)
    end = ending(path, min(names & set(FORMATS), key=FORMATS.index))
    if not (end.known or n_stated or ("mov" not in names and promised)):
        remarks.insert(0, OPEN_END)
    if end.at > (size := Path(path).stat().st_size):
        fault = f"its end is missing: {size:,} of {end.at:,} bytes"
    return Packets(
        path, packets, base=base, rate=rate, width=width, height=height, reached=reached, promised=promised,
        fault=fault or _incomplete(every, n_stated, float(base)),
        by_time=_trusted(path, packets, float(base), reorders=reorders, has_times=bool(names & _TIMED)),
        has_durations=bool(names & {"mov", "avi", "gif"}), seekable="mpeg" not in names, remarks=tuple(remarks),
        # Matroska cannot store times before 0: what has none was cut off from the pictures that it refers to.
        expected=sum("matroska" not in names or not p.dts is p.pts is None for p in packets),
    )  # fmt: skip


def _remarks(container: AvContainer, stream: AvStream) -> list[str]:
    """The remarks on a picture: that it is one of several, or that players stretch it."""
    count, aspect = len(streams_of(container)), stream.sample_aspect_ratio
    remarks = []
    if count > 1:
        remarks.append(f"of its {count} video streams one is read, the one flagged default or else the first")
    if aspect and abs(aspect - 1) >= _SEEN:  # scalers that round a width write 640/639
        remarks.append(f"its pixels are not square ({aspect}): its pictures are given as they are stored")
    return remarks


def _listed(container: AvContainer, stream: AvStream) -> tuple[list[Packet | None], float, str]:
    """The packets of the picture (None: not shown), the seconds that any stream reaches, and what failed."""
    import av

    packets: list[Packet | None] = []
    reached, fault = 0.0, ""
    begin = min(0, container.start_time or 0) / av.time_base
    codec = stream.codec_context.name
    empty = 8 if codec == "mpeg4" else 0  # bytes of a packet without a picture
    try:
        for packet in container.demux():
            stamp = packet.pts if packet.pts is not None else packet.dts
            if packet.size and stamp is not None:
                reached = max(reached, float((stamp + (packet.duration or 0)) * packet.time_base) - begin)
            if packet.stream_index != stream.index or (not packet.size and packet.dts is None):
                continue
            # VP8 keeps pictures that are only referred to in packets of their own
            unseen = packet.size <= empty or (codec == "vp8" and not memoryview(packet)[0] & 0x10)
            key, whole = packet.is_keyframe, not packet.is_corrupt
            listed_packet = Packet(packet.pts, packet.dts, packet.duration or 0, key=key, whole=whole)
            packets.append(None if packet.is_discard or unseen else listed_packet)
    except av.error.FFmpegError as error:
        fault = reason(error)
    return packets, reached, fault


def _restarts(packets: Sequence[Packet], base: float) -> set[int]:
    """The packets after which times begin anew, as where recordings were joined."""
    pairs = enumerate(pairwise(packet.dts for packet in packets))
    return {n for n, (a, b) in pairs if a is not None and b is not None and (a - b) * base > _RESTART}


def _incomplete(every: Sequence[Packet | None], n_stated: int, base: float) -> str:
    """Says that there are fewer packets than the container states, or how many did not come out whole."""
    if len(every) < n_stated:
        return f"{len(every)} of its {n_stated} frames are there"
    packets = [packet for packet in every if packet is not None]
    # Where another recording begins, the demuxer marks the packet before: the decoder says whether it is whole.
    joints = _restarts(packets, base)
    at_joints = joints | {n - 1 for n in joints}  # a parser hands the mark on to the frame before
    count = sum(not packet.whole for n, packet in enumerate(packets) if n not in at_joints)
    return f"{count} of its packets are incomplete" if count else ""


def _trusted(path: str, packets: Sequence[Packet], base: float, *, reorders: bool, has_times: bool) -> bool:
    """Whether the packets' times are those of display, where the codec reorders or the container stores these times."""
    stamps = [packet.pts for packet in packets if packet.pts is not None]
    if len(set(stamps)) != len(packets) or _restarts(packets, base):
        return False
    if not (reorders and has_times):
        return not reorders
    if any(later < earlier for earlier, later in pairwise(stamps)):
        return True
    # No packet is out of order, though pictures may be: times of decoding, copied from another container?
    with opened(path) as (container, stream):
        times = [frame.pts for frame in islice(container.decode(stream), _LOOKED_AT)]
    return all(a is not None and b is not None and a < b for a, b in pairwise(times))


def made_before(path: str, stamp: int) -> tuple[set[int], str]:
    """The frames that come out before the first key frame that is shown, by their times, and what went wrong.

    Where an edit list begins within a group of pictures, the frames after its key frame come out; where a stream was
    cut, decoders and players leave them out. `stamp`: of the first key frame that is shown, in ticks of the stream.
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
                if begun:  # packets before the first key frame of the stream cannot be decoded
                    fault = fault or f"near its beginning: {reason(error)}"
    return handed_out, fault


def counted_frames(path: str) -> tuple[int, str]:
    """The number of frames of a file without usable times, and what went wrong on the way."""
    import av

    count, fault = 0, ""
    with opened(path) as (container, stream), logged_errors() as new_errors:
        for packet in container.demux(stream):
            try:
                for frame in packet.decode():
                    count += 1
                    fault = fault or (f"frame {count - 1} is corrupt" if frame.is_corrupt else "")
            except (av.error.FFmpegError, ValueError) as error:
                fault = fault or f"after frame {count}: {reason(error)}"
            if (error_text := new_errors("")) and not fault:
                fault = f"after frame {count}: {error_text}"
    if not count:
        raise BrokenVideo(f"{path}: holds no video frame")
    return count, fault


_SEGMENT = 0x18538067
_EBML = 0x1A45DFA3
_PADDING = 16  # bytes that writers of AVI files miscount
_SYNC = 0x47  # begins every packet of a transport stream
_PACKETS = ((188, 0), (192, 4), (204, 0))  # bytes of a packet, and where in it the sync byte is


class Ending(NamedTuple):
    """The end of a file by its own structure."""

    at: int  # bytes
    known: bool  # whether it says so; False where a file that is cut between two of its parts looks like a shorter one


def ending(path: str, container: str) -> Ending:
    """Returns where a file ends by the structure of its container (names of FFmpeg's demuxers)."""
    readers = {"mov": _boxes, "matroska": _segment, "avi": _chunks, "mpegts": _packets, "gif": _blocks}
    if (read := readers.get(container)) is None:
        return Ending(0, known=False)
    with open(path, "rb") as handle:
        return read(handle, Path(path).stat().st_size)


def _boxes(handle: BinaryIO, size: int) -> Ending:
    """The last box of MP4. Of fragments an index says how many there are, at the beginning or at the end."""
    at = end_of_index = 0
    fragments = False
    while at + 4 <= size:
        handle.seek(at)
        head = handle.read(16)
        length, kind = int.from_bytes(head[:4], "big"), head[4:8]
        if length == 1:
            length = int.from_bytes(head[8:16], "big")
        # 0: up to the end of the file, or padding; what has no name is no box, but what a download appended
        if length < 8 or not all(32 <= letter < 127 for letter in kind):
            break
        if kind == b"sidx" and not fragments:
            handle.seek(at)
            end_of_index = max(end_of_index, at + length + _of_fragments(handle.read(length)))
        fragments = fragments or kind == b"moof"
        at += length
        if kind == b"mfra":
            return Ending(at, known=True)
    return Ending(max(at, end_of_index), known=not fragments or end_of_index > 0)


def _of_fragments(box: bytes) -> int:
    """Bytes of all fragments that a segment index lists; 0 where it lists one, and each fragment has its own."""
    first, at = (int.from_bytes(box[24:28], "big"), 28) if box[8] == 0 else (int.from_bytes(box[28:36], "big"), 36)
    count = int.from_bytes(box[at + 2 : at + 4], "big")
    sizes = [int.from_bytes(box[at + 4 + 12 * n : at + 8 + 12 * n], "big") & 0x7FFFFFFF for n in range(count)]
    return first + sum(sizes) if count > 1 else 0


def _segment(handle: BinaryIO, size: int) -> Ending:
    """The segment of Matroska; its size is unknown in streams."""
    for expected in (_EBML, _SEGMENT):
        if int.from_bytes(handle.read(4), "big") != expected:
            return Ending(0, known=False)
        first = handle.read(1)
        if not first or not first[0]:
            return Ending(0, known=False)
        length = 8 - first[0].bit_length()
        bits = 7 * (length + 1)
        value = int.from_bytes(bytes([first[0] & (0x7F >> length)]) + handle.read(length), "big")
        if expected == _EBML:
            handle.seek(value, os.SEEK_CUR)
    is_known = value != (1 << bits) - 1
    return Ending(handle.tell() + value if is_known else 0, is_known)


def _chunks(handle: BinaryIO, size: int) -> Ending:
    """The first RIFF chunk of AVI; a stream that was not finished says 0."""
    handle.seek(4)
    length = int.from_bytes(handle.read(4), "little")
    return Ending(8 + length - _PADDING, known=0 < length < 0xFFFFFFFF)


def _packets(handle: BinaryIO, size: int) -> Ending:
    """The last packet of a transport stream, which may be followed by others; recordings may begin within one."""
    head = handle.read(8 * 204)
    for length, offset in _PACKETS:
        for first in range(length):
            at = first + offset
            if len(head) > at + 4 * length and all(head[at + k * length] == _SYNC for k in range(5)):
                return Ending(size + (first - size) % length, known=False)
    return Ending(0, known=False)


def _blocks(handle: BinaryIO, size: int) -> Ending:
    """The trailer of a GIF; past its end where there is none."""
    handle.seek(10)
    handle.seek(13 + _colours(handle.read(1)))
    while kind := handle.read(1):
        if kind == b";":
            return Ending(handle.tell(), known=True)
        if kind == b"!":
            handle.seek(1, os.SEEK_CUR)
        elif kind == b",":
            handle.seek(8, os.SEEK_CUR)
            handle.seek(_colours(handle.read(1)) + 1, os.SEEK_CUR)
        else:  # a box that no reader knows, and at which FFmpeg stops
            break
        while (block := handle.read(1)) and block[0]:
            handle.seek(block[0], os.SEEK_CUR)
    return Ending(max(size, handle.tell()) + 1, known=True)


def _colours(flags: bytes) -> int:
    """Bytes of the table of colours that follows."""
    return 3 << ((flags[0] & 7) + 1) if flags and flags[0] & 0x80 else 0
