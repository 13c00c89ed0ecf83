"""Whether a file is as long as its own structure says, for containers that say it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import BinaryIO, NamedTuple

_SEGMENT = 0x18538067
_EBML = 0x1A45DFA3
_PADDING = 16  # bytes that writers of AVI files miscount
_SYNC = 0x47  # begins every packet of a transport stream
_PACKETS = ((188, 0), (192, 4), (204, 0))  # bytes of a packet, and where in it the sync byte is


class Ending(NamedTuple):
    """Where a file ends by its own structure."""

    at: int  # bytes
    known: bool  # whether it says so; False where a file that is cut between two of its parts looks like a shorter one


def ending(path: str, container: str) -> Ending:
    """Returns where a file ends by the structure of its container (names of FFmpeg's demuxers)."""
    size = Path(path).stat().st_size
    readers = {
        "mov": _boxes, "matroska": _segment, "avi": _chunks, "mpegts": _packets, "gif": _blocks,
    }  # fmt: skip
    read = readers.get(container.partition(",")[0])
    if read is None:
        return Ending(0, known=False)
    with open(path, "rb") as handle:
        return read(handle, size)


def _boxes(handle: BinaryIO, size: int) -> Ending:
    """The last box of MP4. Of fragments an index says how many there are, at the beginning or at the end."""
    at = indexed = 0
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
            indexed = max(indexed, at + length + _of_fragments(handle.read(length)))
        fragments = fragments or kind == b"moof"
        at += length
        if kind == b"mfra":
            return Ending(at, known=True)
    return Ending(max(at, indexed), known=not fragments or indexed > 0)


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
    known = value != (1 << bits) - 1
    return Ending(handle.tell() + value if known else 0, known)


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
            if len(head) > first + offset + 4 * length and all(
                head[first + offset + k * length] == _SYNC for k in range(5)
            ):
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
        else:  # what no reader knows, and where FFmpeg stops
            break
        while (block := handle.read(1)) and block[0]:
            handle.seek(block[0], os.SEEK_CUR)
    return Ending(max(size, handle.tell()) + 1, known=True)


def _colours(flags: bytes) -> int:
    """Bytes of the table of colours that follows."""
    return 3 << ((flags[0] & 7) + 1) if flags and flags[0] & 0x80 else 0
