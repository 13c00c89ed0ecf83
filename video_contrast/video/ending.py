"""Whether a file is as long as its own structure says, for containers that say it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import BinaryIO

_SEGMENT = 0x18538067
_EBML = 0x1A45DFA3
_PADDING = 16  # bytes that writers of AVI files miscount
_SYNC = 0x47  # begins every packet of a transport stream
_PACKETS = ((188, 0), (192, 4), (204, 0))  # bytes of a packet, and where in it the sync byte is
_OGG_PAGE = 27 + 255 + 255 * 255  # bytes at most
_ASF_PROPERTIES = bytes.fromhex("a1dcab8c47a9cf118ee400c00c205365")


def cut_short(path: str, container: str) -> str:
    """Returns what is missing at the end of a file, or "" where nothing is or the container does not say."""
    size = Path(path).stat().st_size
    with open(path, "rb") as handle:
        if container.startswith("mov"):
            end = _boxes(handle, size)
        elif container.startswith("matroska"):
            end = _segment(handle)
        elif container == "avi":
            handle.seek(4)
            end = 8 + int.from_bytes(handle.read(4), "little") - _PADDING
        elif container == "asf":
            end = _properties(handle)
        elif container == "mpegts":
            end = _packets(handle, size)
        elif container == "ogg":
            end = _page(handle, size)
        elif container == "gif":
            end = _blocks(handle, size)
        else:
            end = 0
    return f"{size:,} of {end:,} bytes" if end > size else ""


def _boxes(handle: BinaryIO, size: int) -> int:
    """Where the last box of MP4 ends."""
    at = 0
    while at + 4 <= size:
        handle.seek(at)
        head = handle.read(16)
        length = int.from_bytes(head[:4], "big")
        if length == 1:
            length = int.from_bytes(head[8:16], "big")
        if length < 8:  # 0: up to the end of the file, or padding
            return at
        at += length
    return at


def _segment(handle: BinaryIO) -> int:
    """Where the segment of Matroska ends; 0 where its size is unknown, as in streams."""
    for expected in (_EBML, _SEGMENT):
        if int.from_bytes(handle.read(4), "big") != expected:
            return 0
        first = handle.read(1)
        if not first or not first[0]:
            return 0
        length = 8 - first[0].bit_length()
        bits = 7 * (length + 1)
        value = int.from_bytes(bytes([first[0] & (0x7F >> length)]) + handle.read(length), "big")
        if expected == _EBML:
            handle.seek(value, os.SEEK_CUR)
    return 0 if value == (1 << bits) - 1 else handle.tell() + value


def _properties(handle: BinaryIO) -> int:
    """The size in the header of an ASF file; 0 where it was broadcast."""
    head = handle.read(1 << 16)
    at = head.find(_ASF_PROPERTIES)
    if at < 0 or len(head) < at + 92 or head[at + 88] & 1:
        return 0
    return int.from_bytes(head[at + 40 : at + 48], "little")


def _packets(handle: BinaryIO, size: int) -> int:
    """Where the last packet of a transport stream ends; recordings may begin within one."""
    head = handle.read(8 * 204)
    for length, offset in _PACKETS:
        for first in range(length):
            if len(head) > first + offset + 4 * length and all(
                head[first + offset + k * length] == _SYNC for k in range(5)
            ):
                return size + (first - size) % length
    return 0


def _page(handle: BinaryIO, size: int) -> int:
    """Where the last page of an Ogg file ends."""
    begin = max(0, size - _OGG_PAGE)
    handle.seek(begin)
    tail = handle.read()
    at = tail.rfind(b"OggS")
    if at < 0:
        return 0
    sizes = tail[at + 27 : at + 27 + tail[at + 26]] if len(tail) > at + 26 else b""
    whole = bool(sizes) and len(sizes) == tail[at + 26]
    return begin + at + 27 + len(sizes) + sum(sizes) if whole else size + 1


def _blocks(handle: BinaryIO, size: int) -> int:
    """Where the trailer of a GIF ends, or more than its size where there is none."""
    handle.seek(10)
    handle.seek(13 + _colours(handle.read(1)))
    while kind := handle.read(1):
        if kind == b";":
            return handle.tell()
        if kind == b"!":
            handle.seek(1, os.SEEK_CUR)
        elif kind == b",":
            handle.seek(8, os.SEEK_CUR)
            handle.seek(_colours(handle.read(1)) + 1, os.SEEK_CUR)
        else:  # what no reader knows
            return 0
        while (block := handle.read(1)) and block[0]:
            handle.seek(block[0], os.SEEK_CUR)
    return max(size, handle.tell()) + 1


def _colours(flags: bytes) -> int:
    """Bytes of the table of colours that follows."""
    return 3 << ((flags[0] & 7) + 1) if flags and flags[0] & 0x80 else 0
