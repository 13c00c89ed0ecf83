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
_OGG_PAGE = 27 + 255 + 255 * 255  # bytes at most
_OGG_LAST = 4  # the flag of a stream's last page
_ASF_PROPERTIES = bytes.fromhex("a1dcab8c47a9cf118ee400c00c205365")
_NUT_INDEX = bytes.fromhex("4e58dd672f23e64e")
_MXF_PARTITION = bytes.fromhex("060e2b34020501010d01020101")


class Ending(NamedTuple):
    """Where a file ends by its own structure."""

    at: int  # bytes
    known: bool  # whether it says so; False where a file that is cut between two of its parts looks like a shorter one


def ending(path: str, container: str) -> Ending:
    """Returns where a file ends by the structure of its container (names of FFmpeg's demuxers)."""
    size = Path(path).stat().st_size
    readers = {
        "mov": _boxes, "matroska": _segment, "avi": _chunks, "asf": _properties, "mpegts": _packets, "ogg": _page,
        "gif": _blocks, "nut": _index, "mxf": _footer,
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


def _properties(handle: BinaryIO, size: int) -> Ending:
    """The size in the header of an ASF file; none where it was broadcast."""
    head = handle.read(1 << 16)
    at = head.find(_ASF_PROPERTIES)
    if at < 0 or len(head) < at + 92 or head[at + 88] & 1:
        return Ending(0, known=False)
    return Ending(int.from_bytes(head[at + 40 : at + 48], "little"), known=True)


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


def _page(handle: BinaryIO, size: int) -> Ending:
    """The last page of an Ogg file, which says that it is the last."""
    begin = max(0, size - _OGG_PAGE)
    handle.seek(begin)
    tail = handle.read()
    at = tail.rfind(b"OggS")
    if at < 0:
        return Ending(0, known=False)
    sizes = tail[at + 27 : at + 27 + tail[at + 26]] if len(tail) > at + 26 else b""
    whole = bool(sizes) and len(sizes) == tail[at + 26]
    if not whole or not tail[at + 5] & _OGG_LAST:
        return Ending(size + 1, known=True)
    return Ending(begin + at + 27 + len(sizes) + sum(sizes), known=True)


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


def _index(handle: BinaryIO, size: int) -> Ending:
    """The index that ends a NUT file: its length stands before the last 4 bytes."""
    handle.seek(max(0, size - 12))
    back = int.from_bytes(handle.read(8), "big")
    handle.seek(max(0, size - back))
    return Ending(0, known=back <= size and handle.read(8) == _NUT_INDEX)


def _footer(handle: BinaryIO, size: int) -> Ending:
    """The footer partition of MXF, whose place the header states once the file is finished."""
    head = handle.read(1 << 16)
    at = head.find(_MXF_PARTITION)
    if at < 0 or len(head) < at + 64:
        return Ending(0, known=False)
    length = head[at + 16]  # of the length, in the BER form
    value = at + 17 + (length & 0x7F if length & 0x80 else 0)
    footer = int.from_bytes(head[value + 24 : value + 32], "big")
    return Ending(footer + 1 if footer else 0, known=footer > 0)
