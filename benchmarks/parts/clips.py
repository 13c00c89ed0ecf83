"""Clips made on the spot, and sets of them."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from video_contrast.builders.registry import BuiltSet
from video_contrast.builders.writing import write_set
from video_contrast.rows import Row, retrieval_row


def drifting(colours: np.ndarray, square: int, step: int, count: int) -> np.ndarray:
    """Returns a field of coloured squares that drifts to the right, uint8[count, H, W, 3]."""
    field = colours.astype(np.uint8).repeat(square, 0).repeat(square, 1)
    return np.stack([np.roll(field, step * t, 1) for t in range(count)])


def retrieval_set(folder: Path, captions: Mapping[str, str]) -> Path:
    """Writes a set with the config `retrieval`: path of each clip below the folder -> its caption."""
    rows: list[Row] = [
        retrieval_row(id=f"c{n}", video_id=f"v{n}", video_path=path, captions=[caption])
        for n, (path, caption) in enumerate(captions.items())
    ]
    return write_set(BuiltSet("captions", {"retrieval": {"test": rows}}, {"summary": "benchmark"}), folder)
