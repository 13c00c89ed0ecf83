"""How much a clip moves, and whether it looks different played backwards: optical flow and frame differences (OpenCV).

Motion to and fro (shaking, stirring) adds up to nothing over a clip; what goes one way does not. The share of all
motion that is left over is the clip's asymmetry. Things that appear or fade do not flow: there the change from the
first to the last frame, as a share of all changes on the way, tells the same.
"""

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from video_contrast.video import Clip, footage_of

FRAMES = 16
SIDE = 64  # pixels of the longer side
STILL = 0.1  # grey levels that a pixel changes by on average from frame to frame: below, the clip stands still


@dataclass(frozen=True)
class Motion:
    """What was measured."""

    amount: float  # grey levels that a pixel changes by from one of the sampled frames to the next, on average
    asymmetry: float  # 0 (looks the same backwards, as far as this tells) to 1
    colours: tuple[float, ...] = ()  # share of the pixels in each of 64 colours, over the sampled frames

    @property
    def still(self) -> bool:
        """Whether nothing moves."""
        return self.amount < STILL


def motion_of(root: Path, clip: Clip) -> Motion:
    """Measures a clip on 16 of its frames; a file that cannot be read is a `BrokenVideo`."""
    import cv2

    footage = footage_of(root, clip)
    numbers = np.unique(footage.sample(FRAMES, "linspace"))
    pictures = footage.decode(numbers.tolist())
    scale = SIDE / max(pictures.shape[1:3])
    size = (max(8, round(pictures.shape[2] * scale)), max(8, round(pictures.shape[1] * scale)))
    small = [cv2.resize(picture, size, interpolation=cv2.INTER_AREA) for picture in pictures]
    grey = [cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY) for picture in small]
    codes = (np.stack(small) // 64).astype(np.int64) @ np.array([16, 4, 1])  # 4 x 4 x 4 colours
    colours = tuple((np.bincount(codes.ravel(), minlength=64) / codes.size).tolist())
    if len(grey) < 2:
        return Motion(0.0, 0.0, colours)
    start = np.zeros((*grey[0].shape, 2), np.float32)
    flows = np.stack(
        [cv2.calcOpticalFlowFarneback(a, b, start.copy(), 0.5, 3, 9, 3, 5, 1.1, 0) for a, b in pairwise(grey)]
    )
    levels = np.stack(grey).astype(np.float64)
    steps = np.abs(np.diff(levels, axis=0))
    # Where things move, by how much of it adds up: the sum over places of the net flow, and over the picture.
    path = float(np.linalg.norm(flows, axis=-1).sum())
    together = float(np.linalg.norm(flows.sum(axis=(1, 2)).sum(axis=0)))
    each = float(np.linalg.norm(flows.sum(axis=(1, 2)), axis=-1).sum())
    directed = together / each if each and each > 0.1 * path else 0.0
    changed = float(np.abs(levels[-1] - levels[0]).sum() / steps.sum()) if steps.sum() else 0.0
    amount = float(steps.mean())
    return Motion(round(amount, 3), round(min(1.0, max(directed, changed)), 3) if amount >= STILL else 0.0, colours)


def likeness(first: Motion, second: Motion) -> float:
    """How alike the colours of two clips are: the share of pixels that they have in common, 0 to 1.

    >>> likeness(Motion(0, 0, (1.0, 0.0)), Motion(0, 0, (0.25, 0.75)))
    0.25
    """
    return float(np.minimum(first.colours, second.colours).sum())
