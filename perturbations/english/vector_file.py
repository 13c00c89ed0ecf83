"""The text format of word vectors: one word and its numbers a line."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from video_contrast.errors import VideoContrastError


def vector_lines(path: Path) -> Iterator[tuple[str, np.ndarray]]:
    """Words and float32 vectors of a text file, one line in memory at a time; word2vec's header line is passed over.

    Raises:
        VideoContrastError: a line is not a word and as many numbers as the first line's; the message names it.
    """
    width = 0
    with open(path, encoding="utf-8", errors="replace") as handle:
        for number, line in enumerate(handle, 1):
            parts = line.split()
            if not parts or (number == 1 and len(parts) == 2):
                continue
            try:
                row = np.array(parts[1:], np.float32)
            except ValueError:
                row = np.zeros(0, np.float32)
            width = width or len(row)
            if not len(row) or len(row) != width:
                raise VideoContrastError(
                    f"{path}: line {number} is not a word and {width or 'some'} numbers: {line[:40].rstrip()!r}"
                )
            yield parts[0], row
