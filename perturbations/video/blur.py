"""Blurs, at any frame size: at most one grey level from the exact sums.

Pictures are extended at their edges: mirrored by the lens, repeated by the streak. In the lens's sums a padded
picture is one long row, so that a shift by (dy, dx) is an offset and every sum runs over contiguous memory. These sums
are 10 to 43 times faster than imagecorruptions (docs/robustness.md, 224x224).
"""

import math
from functools import cache

import cv2
import numpy as np
import numpy.typing as npt

from video_contrast.perturbations.registry import Frame, video_perturbation

STREAK = ((10, 3), (15, 5), (15, 8), (15, 12), (20, 15))  # radius, sigma; robustness paper, appendix A.1
DISK = ((3, 0.1), (4, 0.5), (6, 0.5), (8, 0.5), (10, 0.5))  # radius, softening of its edge; appendix A.1
# largest zoom and step in hundredths; not in the paper
ZOOM = ((10, 1), (15, 1), (20, 2), (25, 2), (30, 3))


@video_perturbation("motion_blur", category="Blur", acts="frame")
def motion_blur(frame: Frame, severity: int, rng: np.random.Generator) -> Frame:
    """A streak with a Gaussian tail (radius, sigma) (10,3) to (20,15), at a random angle within +-45 degrees a frame.

    Appendix A.1 of the robustness paper; the angle is not in the paper.
    """
    radius, sigma = STREAK[severity - 1]
    angle = math.radians(rng.uniform(-45, 45))
    height, width = frame.shape[:2]
    pad = 2 * radius
    padded = cv2.copyMakeBorder(frame, pad, pad, pad, pad, cv2.BORDER_REPLICATE)
    total: npt.NDArray[np.int16] | None = None
    for kernel, dy, dx in _streak(radius, sigma, angle):
        rows, columns = kernel.shape
        # The window holds exactly what these taps read, so the filter's own border handling never shows.
        window = padded[pad + dy : pad + dy + height + rows - 1, pad + dx : pad + dx + width + columns - 1]
        part = cv2.filter2D(window, cv2.CV_16S, kernel, anchor=(0, 0))[:height, :width]
        total = part if total is None else np.add(total, part, out=total)
    assert total is not None
    return np.asarray(cv2.convertScaleAbs(total, alpha=1 / STREAK_SCALE), np.uint8)


@video_perturbation("defocus_blur", category="Blur", acts="frame")
def defocus_blur(frame: Frame, severity: int, rng: np.random.Generator) -> Frame:
    """An out-of-focus lens: a disk of radius 3, 4, 6, 8, 10 with a soft edge (robustness paper, appendix A.1)."""
    radius, softness = DISK[severity - 1]
    height, width = frame.shape[:2]
    pad = radius + 2
    padded = cv2.copyMakeBorder(frame, pad, pad, pad, pad, cv2.BORDER_REFLECT_101)
    if softness > 0.3:  # a softness of .1 leaves 1 - 2e-22 of the weight where it is
        padded = cv2.GaussianBlur(padded, (3, 3), softness)
    disk_sums, area = _disk_sum(padded, radius)
    rows = disk_sums.reshape(padded.shape)[pad : pad + height, pad : pad + width]
    return np.asarray(cv2.convertScaleAbs(np.ascontiguousarray(rows), alpha=1 / area), np.uint8)


@video_perturbation("zoom_blur", category="Blur", acts="frame")
def zoom_blur(frame: Frame, severity: int, rng: np.random.Generator) -> Frame:
    """The mean of the frame and of itself zoomed by 1 up to 1.10, 1.15, 1.20, 1.25, 1.30 (not in the paper)."""
    height, width = frame.shape[:2]
    last, step = ZOOM[severity - 1]
    factors = [1 + hundredths / 100 for hundredths in range(step, last + 1, step)]
    # Four channels: OpenCV warps them twice as fast as three.
    wide = cv2.cvtColor(frame, cv2.COLOR_RGB2RGBA)
    total = np.multiply(wide, np.float32(2))  # 1.0 stands among the zooms, so the frame itself counts twice
    for factor in factors:
        across, down = stretch(width, factor), stretch(height, factor)
        matrix = np.array([[across[0], 0, across[1]], [0, down[0], down[1]]])
        flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
        cv2.accumulate(
            cv2.warpAffine(wide, matrix, (width, height), flags=flags, borderMode=cv2.BORDER_REPLICATE), total
        )
    mean = cv2.convertScaleAbs(total, alpha=1 / (len(factors) + 2))
    return np.asarray(cv2.cvtColor(mean, cv2.COLOR_RGBA2RGB), np.uint8)


STREAK_SCALE = 128  # weights sum to this: 128 * 255 is the most an int16 holds
# OpenCV turns to a Fourier transform for kernels of more taps than this, which is ten times slower here.
_DIRECT_TAPS = 120


def streak_taps(
    radius: int, sigma: float, angle: float
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Returns the taps of the streak, in order: weights that sum to 128, row and column offsets from the pixel.

    `radius`: of the streak, in pixels; it has 2 * radius + 1 taps. `sigma`: of the weights' tail, in pixels.
    """
    steps = np.arange(2 * radius + 1)
    weights = np.exp(-(steps**2) / (2 * sigma * sigma))
    weights *= STREAK_SCALE / weights.sum()
    # nearest pixels along the line, halves down
    dy = np.ceil(steps * math.sin(angle) - 0.5).astype(np.int64)
    dx = np.ceil(steps * math.cos(angle) - 0.5).astype(np.int64)
    return weights, dy, dx


def _streak(radius: int, sigma: float, angle: float) -> list[tuple[npt.NDArray[np.float32], int, int]]:
    """The taps of the streak as small kernels: (kernel, first row, first column), offsets from the pixel."""
    weights, dy, dx = streak_taps(radius, sigma, angle)
    length = len(weights)
    parts = []
    first = 0
    while first < length:
        last = first + 1
        while last < length and _box(dy[first : last + 1]) * _box(dx[first : last + 1]) <= _DIRECT_TAPS:
            last += 1
        rows, columns = dy[first:last], dx[first:last]
        kernel = np.zeros((_box(rows), _box(columns)), dtype=np.float32)
        np.add.at(kernel, (rows - rows.min(), columns - columns.min()), weights[first:last])
        parts.append((kernel, int(rows.min()), int(columns.min())))
        first = last
    return parts


def _box(offsets: npt.NDArray[np.int64]) -> int:
    return int(offsets.max() - offsets.min()) + 1


def _disk_sum(padded: Frame, radius: int) -> tuple[npt.NDArray[np.uint16 | np.int32], int]:
    """The sum over a disk around every pixel of a padded picture, flat, and the number of pixels in the disk.

    A disk is a stack of runs; runs of one length are summed once, each from the next shorter one.
    """
    reach = [math.isqrt(radius * radius - dy * dy) for dy in range(radius + 1)]
    area = sum((2 * run + 1) * (1 if dy == 0 else 2) for dy, run in enumerate(reach))
    row = padded.shape[1] * 3
    runs = padded.reshape(-1).astype(np.uint16)
    # 65,535 / 255 = 257 pixels is what 16 bits hold; the largest disk has 317 (and OpenCV 4 takes no uint32)
    total: npt.NDArray[np.uint16 | np.int32] = np.zeros(runs.size, dtype=np.uint16 if area <= 257 else np.int32)
    single = runs.copy()
    run = 0
    for dy in sorted(range(radius + 1), key=lambda dy: reach[dy]):
        while run < reach[dy]:
            run += 1
            shift = 3 * run
            np.add(runs[shift:], single[:-shift], out=runs[shift:])
            np.add(runs[:-shift], single[shift:], out=runs[:-shift])
        for offset in {dy * row, -dy * row}:
            low, high = max(0, -offset), runs.size - max(0, offset)
            np.add(total[low:high], runs[low + offset : high + offset], out=total[low:high])
    return total, area


@cache
def stretch(size: int, factor: float) -> tuple[float, float]:
    """The rows of a picture that zoomed rows come from: (step, offset), row i being its row `step * i + offset`.

    The middle `ceil(size / factor)` rows are stretched, their first and last row staying the first and last of
    `round(middle * factor)`, of which the middle `size` are shown.
    """
    middle = math.ceil(size / factor)
    new_size = max(round(middle * factor), size)
    step = (middle - 1) / max(new_size - 1, 1)
    return step, (size - middle) // 2 + (new_size - size) // 2 * step
