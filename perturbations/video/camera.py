"""Camera perturbations: a rotated or shaken camera."""

from collections.abc import Sequence
from functools import cache

import cv2
import numpy as np
import numpy.typing as npt

from video_contrast.perturbations.registry import Frame, video_perturbation

DEGREES = (7.5, 15.0, 30.0, 45.0, 90.0)  # not in the paper
SHORT_SIDE, CROP = 256, 224


@video_perturbation("static_rotate", category="Camera", acts="frame")
def static_rotate(frame: Frame, severity: int, rng: np.random.Generator) -> Frame:
    """Every frame rotated counter-clockwise by 7.5, 15, 30, 45, 90 degrees; black corners."""
    return _turn(frame, DEGREES[severity - 1])


@video_perturbation("rotate", category="Camera", acts="frame", profiles={"released": {"extra": 0}})
def rotate(frame: Frame, severity: int, rng: np.random.Generator, extra: int = 1) -> Frame:
    """Each frame rotated by a random whole degree within +-(6 severity + 1); black corners."""
    most = 6 * severity + extra
    return _turn(frame, float(rng.integers(-most, most + 1)))


@video_perturbation(
    "translate",
    category="Camera",
    acts="frame",
    version="2",
    # The paper's offsets start at the corner and end at the picture's edge; `monotone` shakes about the middle.
    profiles={"released": {"stream": "clip"}, "monotone": {"reach": (3, 6, 9, 12, 16)}},
)
def translate(frame: Frame, severity: int, rng: np.random.Generator, reach: Sequence[int] | None = None) -> Frame:
    """A shaking camera: short side to 256, then a 224x224 crop at a random offset of 0..8 severity - 1 a frame.

    An offset that would leave the picture (short sides, severity 5) stops at its edge. Released: one offset a clip.
    With `reach`, the offset is up to so many pixels to either side of the middle.
    """
    return crop_at(frame, *crop_offset(severity, rng, reach, scaled_size(*frame.shape[:2])))


def crop_offset(
    severity: int, rng: np.random.Generator, reach: Sequence[int] | None, size: tuple[int, int]
) -> tuple[int, int]:
    """Returns how far down and right of the scaled frame's corner `translate` crops, in pixels.

    `reach`: see `translate`. `size`: height and width of the scaled frame.
    """
    if reach is None:
        down, right = (int(offset) for offset in rng.integers(0, 8 * severity, size=2))
        return min(down, size[0] - CROP), min(right, size[1] - CROP)
    down, right = (round(pixels) for pixels in (2 * rng.random(2) - 1) * reach[severity - 1])
    top, left = middle(size)
    return top + down, left + right


def middle(size: tuple[int, int]) -> tuple[int, int]:
    """Returns how far down and right the crop in the middle of a scaled frame begins, in pixels."""
    return (size[0] - CROP) // 2, (size[1] - CROP) // 2


def scaled_size(height: int, width: int) -> tuple[int, int]:
    """Height and width of a frame whose shorter side is scaled to `SHORT_SIDE` pixels."""
    scale = SHORT_SIDE / min(height, width)
    return max(SHORT_SIDE, round(height * scale)), max(SHORT_SIDE, round(width * scale))


def crop_at(frame: Frame, top: int, left: int) -> Frame:
    """Returns the 224x224 crop that `translate` takes.

    `frame`: uint8[H, W, 3]; scaled first, so that its shorter side has `SHORT_SIDE` pixels. `top`: offset from the
    upper edge, in pixels of the scaled frame.
    """
    tall, wide = scaled_size(*frame.shape[:2])
    scaled = cv2.resize(frame, (wide, tall), interpolation=cv2.INTER_LINEAR)
    return np.ascontiguousarray(scaled[top : top + CROP, left : left + CROP])


def _turn(frame: Frame, degrees: float) -> Frame:
    if degrees == 0:
        return frame.copy()
    height, width = frame.shape[:2]
    matrix = turning(height, width, degrees)
    return np.asarray(cv2.warpAffine(frame, matrix, (width, height), flags=cv2.INTER_NEAREST), np.uint8)


@cache
def turning(height: int, width: int, degrees: float) -> npt.NDArray[np.float64]:
    """Returns the matrix of a rotation about the middle of the picture, float64[2, 3]."""
    return np.asarray(cv2.getRotationMatrix2D(((width - 1) / 2, (height - 1) / 2), degrees, 1.0), np.float64)
