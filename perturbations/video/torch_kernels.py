"""Frame perturbations in torch, for a GPU: all frames of a clip at once, with the random numbers of the numpy kernels.

Random bits and angles come from the same streams, drawn on the CPU, so that a clip looks the same wherever it is
perturbed: noise and turns to the last bit, blurs and `translate` to one grey level. jpeg and the codecs run on the CPU
only, and temporal perturbations touch no pixel.

Every kernel takes `frames` (uint8[T, H, W, 3] on a device), `severity` (1 to 5) and `rngs` (one a frame), and returns
frames of the same shape, type and device.
"""

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import cache, lru_cache
from typing import TypeAlias, TypeVar

import cv2
import numpy as np
import numpy.typing as npt
import torch

from video_contrast.perturbations.video import blur, camera, noise

Tensor: TypeAlias = torch.Tensor
Table = TypeVar("Table", Tensor, npt.NDArray[np.int32])
TABLES_KEPT = 256  # the last ones: a set may hold clips of many sizes, and each size needs some hundred
LARGEST_KEPT = 1 << 18  # numbers of a table that is kept
Rngs: TypeAlias = Iterable[np.random.Generator]  # one a frame, each valid until the next is asked for

# Kernels whose pixels are those of numpy to the last bit; the others may differ by one grey level.
EXACT = frozenset({"gaussian_noise", "impulse_noise", "shot_noise", "speckle_noise", "static_rotate", "rotate"})


def gaussian_noise(frames: Tensor, severity: int, rngs: Rngs) -> Tensor:
    """Normal noise: `noise.gaussian_noise` for uint8[T, H, W, 3] on a device."""
    steps = _table(noise.grey_steps, noise.SIGMA[severity - 1], frames.device)
    return (steps[_bits(frames, rngs)] + frames).clamp(0, 255).to(torch.uint8)


def shot_noise(frames: Tensor, severity: int, rngs: Rngs) -> Tensor:
    """Photon noise: `noise.shot_noise` for uint8[T, H, W, 3] on a device."""
    threshold, below, above = _table(noise.alias_tables, noise.PHOTONS[severity - 1], frames.device)
    bits = _bits(frames, rngs)
    column = frames.long() * 256 + (bits & 255)
    return torch.where((bits >> 8) < threshold[column], below[column], above[column])


def impulse_noise(frames: Tensor, severity: int, rngs: Rngs) -> Tensor:
    """Salt and pepper: `noise.impulse_noise` for uint8[T, H, W, 3] on a device."""
    half = round(noise.AMOUNT[severity - 1] / 2 * 65536)
    bits = _bits(frames, rngs)
    salted_frames = torch.where(bits < half, torch.full_like(frames, 255), frames)
    return torch.where(bits < 65536 - half, salted_frames, torch.zeros_like(frames))


def speckle_noise(frames: Tensor, severity: int, rngs: Rngs) -> Tensor:
    """Noise in proportion to the value: `noise.speckle_noise` for uint8[T, H, W, 3] on a device."""
    factors = _table(noise.speckle_factors, noise.SPREAD[severity - 1], frames.device)
    return (frames * factors[_bits(frames, rngs)]).round().clamp(0, 255).to(torch.uint8)


def motion_blur(frames: Tensor, severity: int, rngs: Rngs) -> Tensor:
    """A streak at a random angle a frame: `blur.motion_blur` for uint8[T, H, W, 3] on a device."""
    radius, sigma = blur.STREAK[severity - 1]
    taps = [blur.streak_taps(radius, sigma, math.radians(rng.uniform(-45, 45))) for rng in rngs]
    weights = taps[0][0] / blur.STREAK_SCALE  # the angle moves the taps and leaves their weights
    down = torch.from_numpy(np.stack([dy for _, dy, _ in taps])).to(frames.device)
    right = torch.from_numpy(np.stack([dx for _, _, dx in taps])).to(frames.device)
    count, height, width, _ = frames.shape
    rows = torch.arange(height, device=frames.device)[None, :, None]
    columns = torch.arange(width, device=frames.device)[None, None, :]
    which = torch.arange(count, device=frames.device)[:, None, None]
    total = torch.zeros(frames.shape, device=frames.device)
    for step, weight in enumerate(weights.tolist()):
        y = (rows + down[:, step, None, None]).clamp(0, height - 1)
        x = (columns + right[:, step, None, None]).clamp(0, width - 1)
        total += weight * frames[which, y, x]
    return total.round().clamp(0, 255).to(torch.uint8)


def defocus_blur(frames: Tensor, severity: int, rngs: Rngs) -> Tensor:
    """An out-of-focus lens: `blur.defocus_blur` for uint8[T, H, W, 3] on a device."""
    radius, softness = blur.DISK[severity - 1]
    _, height, width, _ = frames.shape
    pad = radius + 2
    planes = frames.permute(0, 3, 1, 2).float()
    rows, columns = _mirrored(height, pad, frames.device), _mirrored(width, pad, frames.device)
    padded = planes[:, :, rows][:, :, :, columns]
    if softness > 0.3:
        edge = math.exp(-1 / (2 * softness * softness))
        near, far = 1 / (1 + 2 * edge), edge / (1 + 2 * edge)
        padded = near * padded + far * (_shifted(padded, 2, 1) + _shifted(padded, 2, -1))
        padded = (near * padded + far * (_shifted(padded, 3, 1) + _shifted(padded, 3, -1))).round()
    reach = [math.isqrt(radius * radius - dy * dy) for dy in range(radius + 1)]
    area = sum((2 * run + 1) * (1 if dy == 0 else 2) for dy, run in enumerate(reach))
    # Sums of whole numbers below 2^24 are exact in float32, in whatever order.
    runs = torch.nn.functional.pad(padded, (1, 0)).double().cumsum(3).float()
    total = torch.zeros_like(planes)
    for dy in range(-radius, radius + 1):
        run, top = reach[abs(dy)], pad + dy
        band = runs[:, :, top : top + height]
        total += band[..., pad + run + 1 : pad + run + 1 + width] - band[..., pad - run : pad - run + width]
    return (total / area).round().clamp(0, 255).to(torch.uint8).permute(0, 2, 3, 1).contiguous()


def zoom_blur(frames: Tensor, severity: int, rngs: Rngs) -> Tensor:
    """The mean of zooms: `blur.zoom_blur` for uint8[T, H, W, 3] on a device."""
    _, height, width, _ = frames.shape
    last, step = blur.ZOOM[severity - 1]
    planes = frames.permute(0, 3, 1, 2).float()
    total = 2 * planes
    factors = [1 + hundredths / 100 for hundredths in range(step, last + 1, step)]
    for factor in factors:
        total += _resampled(planes, blur.stretch(height, factor), blur.stretch(width, factor)).round()
    return (total / (len(factors) + 2)).round().clamp(0, 255).to(torch.uint8).permute(0, 2, 3, 1).contiguous()


def static_rotate(frames: Tensor, severity: int, rngs: Rngs) -> Tensor:
    """Every frame rotated by the same angle: `camera.static_rotate` for uint8[T, H, W, 3] on a device."""
    return _turned(frames, [camera.DEGREES[severity - 1]] * len(frames))


def rotate(frames: Tensor, severity: int, rngs: Rngs, extra: int = 1) -> Tensor:
    """Each frame rotated by a random angle: `camera.rotate` for uint8[T, H, W, 3] on a device."""
    most = 6 * severity + extra
    return _turned(frames, [float(rng.integers(-most, most + 1)) for rng in rngs])


def translate(frames: Tensor, severity: int, rngs: Rngs, reach: Sequence[int] | None = None) -> Tensor:
    """A shaking camera: `camera.translate` for uint8[T, H, W, 3] on a device, uint8[T, 224, 224, 3]."""
    _, height, width, _ = frames.shape
    tall, wide = camera.scaled_size(height, width)
    planes = frames.permute(0, 3, 1, 2).float()
    vertical = (height / tall, (height / tall - 1) / 2)
    across = (width / wide, (width / wide - 1) / 2)
    scaled = _resampled(planes, vertical, across, sizes=(tall, wide)).round().clamp(0, 255).to(torch.uint8)
    crops = []
    for plane, rng in zip(scaled, rngs, strict=True):
        top, left = camera.crop_offset(severity, rng, reach, (tall, wide))
        crops.append(plane[:, top : top + camera.CROP, left : left + camera.CROP])
    return torch.stack(crops).permute(0, 2, 3, 1).contiguous()


# name of a perturbation -> its kernel: (uint8[T, H, W, 3], severity, generators, **constants) -> uint8[T, H', W', 3]
KERNELS: dict[str, Callable[..., Tensor]] = {
    kernel.__name__: kernel
    for kernel in (
        gaussian_noise, shot_noise, impulse_noise, speckle_noise, motion_blur, defocus_blur, zoom_blur, static_rotate,
        rotate, translate,
    )
}  # fmt: skip


def _kept_if_small(make: Callable[..., Table]) -> Callable[..., Table]:
    """Keeps the tables that a function makes, which has their sizes as its first arguments, but for large ones."""
    cached_table = lru_cache(TABLES_KEPT)(make)

    def table(rows: int, columns: int, *values: float, **options: Hashable) -> Table:
        return (cached_table if rows * columns <= LARGEST_KEPT else make)(rows, columns, *values, **options)

    return table


def _bits(frames: Tensor, rngs: Rngs) -> Tensor:
    """The random bits of `noise.random_bits` for all frames, int32[T, H, W, 3] on the frames' device."""
    height, width, channels = frames.shape[1:]
    bits = torch.empty((len(frames), height, width, channels), dtype=torch.int16, pin_memory=frames.is_cuda)
    for row, rng in zip(bits.numpy(), rngs, strict=True):
        row[...] = noise.random_bits(rng, row).view(np.int16)
    return bits.to(frames.device, non_blocking=True).int() & 65535


def _turned(frames: Tensor, degrees: Sequence[float]) -> Tensor:
    """Frames rotated, each by its own angle about the middle; black corners."""
    count, height, width, channels = frames.shape
    by_angle = {angle: _turning_map(height, width, angle) for angle in dict.fromkeys(degrees)}
    maps = np.stack([by_angle[angle] for angle in degrees])
    places = torch.from_numpy(maps).to(frames.device).view(count, -1, 1).long()
    pixels = frames.view(count, -1, channels).gather(1, places.clamp(min=0).expand(-1, -1, channels))
    return torch.where(places >= 0, pixels, torch.zeros_like(pixels)).view(frames.shape)


@_kept_if_small
def _turning_map(height: int, width: int, degrees: float) -> npt.NDArray[np.int32]:
    """The pixel that a rotated picture shows at each place, -1 for none: OpenCV's choice, from a picture of numbers."""
    numbers = np.arange(height * width, dtype=np.int32).reshape(height, width)
    if degrees == 0:
        return numbers
    # A number as a picture's four colours: three end at 2**24, and a frame of 7680x4320 has more pixels.
    parts = numbers.astype("<u4").view(np.uint8).reshape(height, width, 4)
    white = np.full((height, width), 255, np.uint8)
    size, flags = (width, height), cv2.INTER_NEAREST
    matrix = camera.turning(height, width, degrees)
    inside = cv2.warpAffine(white, matrix, size, flags=flags) > 0
    places = np.ascontiguousarray(cv2.warpAffine(parts, matrix, size, flags=flags)).view("<u4")[..., 0]
    return np.where(inside, places.astype(np.int32), np.int32(-1))


def _resampled(
    planes: Tensor, down: tuple[float, float], across: tuple[float, float], *, sizes: tuple[int, int] | None = None
) -> Tensor:
    """Rows and columns at `step * i + offset` of float[T, 3, H, W], bilinear, the edge repeated."""
    tall, wide = sizes or (planes.shape[2], planes.shape[3])
    rows = _weights(planes.shape[2], tall, *down, device=planes.device)
    columns = _weights(planes.shape[3], wide, *across, device=planes.device)
    return rows @ planes @ columns.T


@_kept_if_small
def _weights(size: int, new_size: int, step: float, offset: float, *, device: torch.device) -> Tensor:
    """The matrix of a bilinear resampling of a row of `size` pixels: float32[wanted, size]."""
    at = step * np.arange(new_size) + offset
    low = np.floor(at)
    share = at - low
    matrix = np.zeros((new_size, size), np.float32)
    every = np.arange(new_size)
    np.add.at(matrix, (every, np.clip(low, 0, size - 1).astype(int)), 1 - share)
    np.add.at(matrix, (every, np.clip(low + 1, 0, size - 1).astype(int)), share)
    return torch.from_numpy(matrix).to(device)


def _mirrored(size: int, pad: int, device: torch.device) -> Tensor:
    """The pixels of a row that is mirrored at its ends, as often as `pad` needs, the end pixels once."""
    if size == 1:
        return torch.zeros(1 + 2 * pad, dtype=torch.long, device=device)
    period = 2 * (size - 1)
    at = torch.arange(-pad, size + pad, device=device).remainder(period)
    return torch.where(at < size, at, period - at)


def _shifted(padded: Tensor, axis: int, by: int) -> Tensor:
    """A picture moved by one pixel, mirrored at its ends."""
    size = padded.shape[axis]
    at = _mirrored(size, 1, padded.device)[1 + by : 1 + by + size]
    return padded.index_select(axis, at)


@cache
def _table(make: Callable[..., object], constant: float, device: torch.device) -> Tensor:
    """A table of `noise` on a device, moved there once; of several tables one a row."""
    return torch.from_numpy(np.asarray(make(constant))).to(device)
