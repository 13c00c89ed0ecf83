"""Noise: each pixel and channel drawn on its own, by tables over random bits.

A normal deviate is looked up by 16 random bits, a Poisson one by an alias table (8 bits choose the column, 8 the
side). Random numbers and tables are integers, so equal streams give equal pictures on every machine. The tables make
noise 24 to 37 times faster than imagecorruptions (docs/robustness.md, 224x224).
"""

import math
from functools import cache
from typing import TypeVar

import cv2
import numpy as np
import numpy.typing as npt

from video_contrast.perturbations.registry import Frame, video_perturbation

Scalar = TypeVar("Scalar", bound=np.generic)
SIGMA = (0.08, 0.12, 0.18, 0.26, 0.38)  # robustness paper, appendix A.1; shares of full scale
AMOUNT = (0.03, 0.06, 0.09, 0.17, 0.27)  # appendix A.1
PHOTONS = (250, 100, 50, 30, 15)  # not in the paper, whose text repeats the impulse amounts
SPREAD = (0.15, 0.2, 0.25, 0.3, 0.35)  # not in the paper


@video_perturbation("shot_noise", category="Noise", acts="frame")
def shot_noise(frame: Frame, severity: int, rng: np.random.Generator) -> Frame:
    """Photon noise: Poisson counts at full scales of 250, 100, 50, 30, 15 photons."""
    threshold, below, above = alias_tables(PHOTONS[severity - 1])
    bits = random_bits(rng, frame)
    column = np.bitwise_or(np.left_shift(frame, 8, dtype=np.uint16), np.bitwise_and(bits, 255))
    side = np.right_shift(bits, 8).astype(np.uint8)
    own = np.negative((side < _lookup(column, threshold)).view(np.uint8))  # 255 where the column's own value holds
    low, high = _lookup(column, below), _lookup(column, above)
    np.bitwise_and(np.bitwise_xor(low, high, out=low), own, out=low)
    return np.bitwise_xor(high, low, out=low)


@video_perturbation("impulse_noise", category="Noise", acts="frame")
def impulse_noise(frame: Frame, severity: int, rng: np.random.Generator) -> Frame:
    """Salt and pepper: 3, 6, 9, 17, 27 % of the values become black or white (robustness paper, appendix A.1)."""
    half = round(AMOUNT[severity - 1] / 2 * 65536)
    bits = random_bits(rng, frame)
    salt = np.negative((bits < half).view(np.uint8))
    pepper = np.negative((bits < 65536 - half).view(np.uint8))
    np.bitwise_or(frame, salt, out=salt)
    return np.bitwise_and(salt, pepper, out=salt)


@video_perturbation("speckle_noise", category="Noise", acts="frame")
def speckle_noise(frame: Frame, severity: int, rng: np.random.Generator) -> Frame:
    """Noise in proportion to the value: x + x N(0, s), s = .15 .2 .25 .3 .35."""
    factor = _lookup(random_bits(rng, frame), speckle_factors(SPREAD[severity - 1]))
    return np.asarray(cv2.multiply(frame, factor, dtype=cv2.CV_8U), np.uint8)


@video_perturbation("gaussian_noise", category="Noise", acts="frame")
def gaussian_noise(frame: Frame, severity: int, rng: np.random.Generator) -> Frame:
    """Normal noise, sigma .08 .12 .18 .26 .38 of full scale, clipped (robustness paper, appendix A.1)."""
    noisy = _lookup(random_bits(rng, frame), grey_steps(SIGMA[severity - 1]))
    np.add(noisy, frame, out=noisy)
    return np.clip(noisy, 0, 255, out=noisy).astype(np.uint8)


def random_bits(rng: np.random.Generator, frame: Frame) -> npt.NDArray[np.uint16]:
    """16 random bits a value, in the shape of the frame; the same on machines of either byte order."""
    raw = rng.bit_generator.random_raw(-(-frame.size // 4)).astype("<u8", copy=False)
    return raw.view("<u2")[: frame.size].reshape(frame.shape)


def _lookup(index: npt.NDArray[np.uint16], table: npt.NDArray[Scalar]) -> npt.NDArray[Scalar]:
    """`table[index]` for a table of 65,536 entries: OpenCV's where it takes 16-bit tables, else numpy's."""
    return np.asarray(cv2.LUT(index, table), table.dtype) if _has_wide_tables() else np.take(table, index)


@cache
def _has_wide_tables() -> bool:
    """Whether this OpenCV looks 16-bit values up (version 5 on)."""
    probe = np.arange(6, dtype=np.uint16).reshape(1, 2, 3)
    try:
        return bool(np.array_equal(cv2.LUT(probe, np.arange(65536, dtype=np.uint16)), probe))
    except cv2.error:
        return False


@cache
def _normal() -> npt.NDArray[np.float64]:
    """The standard normal quantiles at (i + 1/2) / 65536."""
    from statistics import NormalDist  # good to the last digits; 30 ms, once a process, and no scipy

    quantile = NormalDist().inv_cdf
    half = np.array([quantile((i + 0.5) / 65536) for i in range(32768)])
    both = np.concatenate([half, -half[::-1]])
    return np.asarray(both / both.std(), np.float64)


@cache
def grey_steps(sigma: float) -> npt.NDArray[np.int16]:
    """The summand that each of the 65,536 random numbers adds to a value: normal, in grey levels."""
    return np.rint(_normal() * (255 * sigma)).astype(np.int16)


@cache
def speckle_factors(spread: float) -> npt.NDArray[np.float32]:
    """The factor by which each of the 65,536 random numbers multiplies a value: 1 + normal, never below 0."""
    return np.maximum(1 + _normal() * spread, 0).astype(np.float32)


@cache
def alias_tables(photons: int) -> tuple[Frame, Frame, Frame]:
    """Walker's alias tables of the 256 Poisson distributions of one severity, indexed by value * 256 + column.

    Gives the threshold of each column (of 256) and the two grey values it chooses between: the first below the
    threshold, the second from it on.
    """
    shares = np.stack([_grey_shares(value * photons / 255, photons) for value in range(256)])
    tables = np.zeros((3, 256, 256), dtype=np.uint8)
    every = np.arange(256)
    for column in range(256):
        # The scarcest grey value goes in whole and the most plentiful one fills the column up; where the scarcest
        # would not fit, the most plentiful one fills the column alone.
        small = np.where(shares > 0, shares, 1 << 20).argmin(axis=1)
        large = shares.argmax(axis=1)
        share = shares[every, small]
        alone = (share >= 256) | (small == large)
        share = np.where(alone, 0, share)
        tables[:, every, column] = share, np.where(alone, large, small), large
        shares[every, small] -= share
        shares[every, large] -= 256 - share
    flat = tables.reshape(3, -1)
    return flat[0], flat[1], flat[2]


def _grey_shares(rate: float, photons: int) -> npt.NDArray[np.int64]:
    """How many of 65,536 draws give each grey value: Poisson(rate) photons of a full scale of `photons`, clipped.

    Whole numbers that sum to 65,536, each within one of the exact figure.
    """
    counts = np.arange(photons)
    if rate == 0:
        chances = (counts == 0).astype(np.float64)
    else:
        logs = np.array([math.lgamma(k + 1) for k in counts])
        chances = np.exp(counts * math.log(rate) - rate - logs)
    grey = (510 * np.arange(photons + 1) + photons) // (2 * photons)  # nearest whole number, halves up
    chances = np.bincount(grey, weights=np.append(chances, max(0.0, 1 - chances.sum())), minlength=256)
    exact = chances / chances.sum() * 65536
    shares: npt.NDArray[np.int64] = np.floor(exact).astype(np.int64)
    shares[np.argsort(shares - exact, kind="stable")[: 65536 - int(shares.sum())]] += 1
    return shares
