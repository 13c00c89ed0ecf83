"""Whether a file is as long as its own structure says: boxes of MP4, the segment of Matroska, the chunk of AVI."""

from __future__ import annotations

import os
from pathlib import Path
from typing import BinaryIO

_SEGMENT = 0x18538067
_EBML = 0x1A45DFA3
_PADDING = 16  # bytes that writers of AVI files miscount


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
        else:
            end = 0
    return f"{size:,} of {end:,} bytes" if end > size else ""


def _boxes(handle: BinaryIO, size: int) -> int:
    """Where the last box ends."""
    at = 0
    while at + 8 <= size:
        handle.seek(at)
        head = handle.read(16)
        length = int.from_bytes(head[:4], "big")
        if length == 1:
            length = int.from_bytes(head[8:16], "big")
        if length < 8:  # 0: up to the end of the file
            return at
        at += length
    return at


def _segment(handle: BinaryIO) -> int:
    """Where the segment ends; 0 where its size is unknown, as in streams."""
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
