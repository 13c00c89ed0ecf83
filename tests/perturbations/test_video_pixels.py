"""What each visual perturbation does to the pixels: noise, blurs, jpeg, codecs, camera."""

from pathlib import Path

import cv2
import numpy as np
import pytest
import scipy.ndimage
import scipy.stats
from moving_pictures import CODECS, clip, once, photo
from PIL import Image

from video_contrast.perturbations.registry import VIDEO, video_spec
from video_contrast.perturbations.video import (
    SEVERITIES,
    perturb_clip,
)
from video_contrast.perturbations.video.blur import DISK, STREAK, ZOOM
from video_contrast.perturbations.video.codecs import codec_and_quantiser
from video_contrast.perturbations.video.noise import PHOTONS
from video_contrast.perturbations.video.validity import equal_severities, psnr
from video_contrast.seeds import NoiseStreams


def test_gaussian_noise_has_the_stated_strength_and_shape() -> None:
    grey = np.full((600, 600, 3), 128, np.uint8)
    for severity, sigma in enumerate((0.08, 0.12, 0.18), start=1):  # clipping is below 0.3 % of the deviation
        noise = once("gaussian_noise", grey, severity).astype(float) - 128
        inside = noise[np.abs(noise) < 127]
        low, high = scipy.stats.norm.cdf([-126.5, 126.5], scale=255 * sigma)
        expected = scipy.stats.truncnorm.std(-126.5 / (255 * sigma), 126.5 / (255 * sigma), scale=255 * sigma)
        assert inside.std() == pytest.approx(expected, rel=0.003)
        assert len(inside) / noise.size == pytest.approx(high - low, abs=0.001)
    counts = np.bincount(np.clip(noise + 128, 1, 254).astype(int).ravel(), minlength=256)
    edges = np.array([-np.inf, *np.arange(1.5, 254), np.inf]) - 128
    expected_counts = np.diff(scipy.stats.norm.cdf(edges, scale=255 * 0.18)) * noise.size
    assert scipy.stats.chisquare(counts[1:255], expected_counts * counts.sum() / expected_counts.sum()).pvalue > 1e-3


@pytest.mark.parametrize("severity", SEVERITIES)
def test_shot_noise_is_poisson(severity: int) -> None:
    photons = PHOTONS[severity - 1]
    for value in (0, 40, 128, 255):
        seen = once("shot_noise", np.full((300, 300, 3), value, np.uint8), severity).ravel()
        counts = np.rint(seen * (photons / 255)).astype(int)
        chances = scipy.stats.poisson.pmf(np.arange(photons + 1), value * photons / 255)
        chances[-1] += 1 - chances.sum()
        expected = chances * len(seen)
        assert np.abs(np.cumsum(np.bincount(counts, minlength=photons + 1) - expected)).max() / len(seen) < 0.005
        assert np.abs(seen - counts * (255 / photons)).max() <= 0.5 + 1e-9


def test_speckle_noise_grows_with_the_value() -> None:
    for severity, spread in enumerate((0.15, 0.2, 0.25, 0.3, 0.35), start=1):
        dark = once("speckle_noise", np.full((500, 500, 3), 60, np.uint8), severity)
        assert dark.astype(float).std() == pytest.approx(60 * spread, rel=0.01)
        assert dark.mean() == pytest.approx(60, abs=0.3)
    assert once("speckle_noise", np.zeros((8, 8, 3), np.uint8), 5).max() == 0


def test_impulse_noise_has_the_stated_amount_and_spares_the_rest() -> None:
    for severity, amount in enumerate((0.03, 0.06, 0.09, 0.17, 0.27), start=1):
        seen = once("impulse_noise", np.full((500, 500, 3), 100, np.uint8), severity)
        assert (seen == 0).mean() == pytest.approx(amount / 2, rel=0.03)
        assert (seen == 255).mean() == pytest.approx(amount / 2, rel=0.03)
        assert set(np.unique(seen)) == {0, 100, 255}


@pytest.mark.parametrize("name", ["gaussian_noise", "shot_noise", "speckle_noise", "impulse_noise"])
def test_noise_is_independent_between_pixels_channels_and_frames(name: str) -> None:
    frames = np.full((2, 256, 256, 3), 120, np.uint8)
    noise = perturb_clip(frames, name, 3, video_id="v").astype(float) - 120
    first = noise[0]
    pairs = {
        "right": (first[:, :-1], first[:, 1:]),
        "below": (first[:-1], first[1:]),
        "channel": (first[..., 0], first[..., 1]),
        "frame": (first, noise[1]),
    }
    for where, (a, b) in pairs.items():
        assert abs(np.corrcoef(a.ravel(), b.ravel())[0, 1]) < 4.5 / np.sqrt(a.size), where


def test_defocus_blur_is_the_disk_within_one_grey_level() -> None:
    frame = photo()
    for severity, (radius, softness) in enumerate(DISK, start=1):
        y, x = np.mgrid[-radius - 2 : radius + 3, -radius - 2 : radius + 3]
        disk = (x * x + y * y <= radius * radius).astype(float)
        soft = np.exp(-(np.arange(-1, 2) ** 2) / (2 * softness**2))
        disk = scipy.ndimage.convolve(disk / disk.sum(), np.outer(soft, soft) / soft.sum() ** 2, mode="constant")
        exact = np.stack(
            [scipy.ndimage.correlate(frame[..., c].astype(float), disk, mode="mirror") for c in range(3)], -1
        )
        assert np.abs(once("defocus_blur", frame, severity) - exact).max() <= 1


def test_motion_blur_is_the_streak_within_one_grey_level() -> None:
    frame = photo()
    height, width = frame.shape[:2]
    for severity, (radius, sigma) in enumerate(STREAK, start=1):
        angle = np.deg2rad(NoiseStreams().at(0, "motion_blur", 5).uniform(-45, 45))
        steps = np.arange(2 * radius + 1)
        weights = np.exp(-(steps**2) / (2 * sigma**2))
        exact = np.zeros(frame.shape)
        for step, weight in zip(steps, weights / weights.sum(), strict=True):
            rows = np.clip(np.arange(height) + int(np.ceil(step * np.sin(angle) - 0.5)), 0, height - 1)
            columns = np.clip(np.arange(width) + int(np.ceil(step * np.cos(angle) - 0.5)), 0, width - 1)
            exact += weight * frame[rows][:, columns]
        assert np.abs(once("motion_blur", frame, severity, 5) - exact).max() <= 1


@pytest.mark.parametrize("size", [(96, 128), (61, 95)])
def test_zoom_blur_is_the_mean_of_zooms_within_one_grey_level(size: tuple[int, int]) -> None:
    frame = photo(*size)
    for severity, (last, step) in enumerate(ZOOM, start=1):
        factors = [1 + hundredths / 100 for hundredths in range(0, last + 1, step)]
        total = frame.astype(float)
        for factor in factors:
            places = []
            for length in size:
                middle = int(np.ceil(length / factor))
                stretched = max(round(middle * factor), length)
                shown = np.arange(length) + (stretched - length) // 2
                places.append((length - middle) // 2 + shown * (middle - 1) / (stretched - 1))
            grid = np.meshgrid(*places, indexing="ij")
            total += np.stack(
                [scipy.ndimage.map_coordinates(frame[..., c].astype(float), grid, order=1) for c in range(3)], -1
            )
        assert np.abs(once("zoom_blur", frame, severity) - total / (len(factors) + 1)).max() <= 1


@pytest.mark.parametrize("name", ["motion_blur", "defocus_blur", "zoom_blur"])
def test_blurs_keep_an_even_picture(name: str) -> None:
    for value in (0, 77, 255):
        grey = np.full((40, 30, 3), value, np.uint8)
        for severity in SEVERITIES:
            assert np.array_equal(once(name, grey, severity), grey)


@pytest.mark.parametrize("size", [(96, 128), (33, 17), (1, 1)])
def test_jpeg_gives_the_pixels_of_pillow(tmp_path: Path, size: tuple[int, int]) -> None:
    frame = photo(*size)
    for severity, quality in enumerate((25, 18, 15, 10, 7), start=1):
        Image.fromarray(frame).save(tmp_path / "a.jpg", quality=quality)
        assert np.array_equal(once("jpeg", frame, severity), np.asarray(Image.open(tmp_path / "a.jpg")))


@pytest.mark.parametrize("name", CODECS)
def test_codec_groups_stand_alone_and_equal_severities_are_equal(name: str) -> None:
    frames = clip(26)
    whole = perturb_clip(frames, name, 3, video_id="v")
    assert np.array_equal(whole[12:24], perturb_clip(frames[12:24], name, 3, video_id="other"))
    assert np.array_equal(whole[:5], perturb_clip(frames[:5], name, 3, video_id="v"))
    assert np.array_equal(whole, perturb_clip(frames, name, 5, video_id="v"))
    assert 15 < psnr(frames, whole) < 40


def test_codecs_say_what_they_are() -> None:
    assert [codec_and_quantiser(video_spec("codec1"), s)[1] for s in SEVERITIES] == [20, 31, 31, 31, 31]
    assert [codec_and_quantiser(video_spec("codec2"), s) for s in (1, 2)] == [("mpeg4", 15), ("mpeg4", 30)]
    assert [codec_and_quantiser(video_spec("codec2"), s, "monotone")[1] for s in SEVERITIES] == [6, 12, 18, 24, 31]
    assert equal_severities("codec1") == [(2, 3, 4, 5)] and equal_severities("codec2") == [(3, 4, 5)]
    assert equal_severities("jpeg") == []


def test_a_right_angle_turns_a_square_picture_exactly_and_counter_clockwise() -> None:
    frame = photo(64, 64)
    assert np.array_equal(once("static_rotate", frame, 5), np.rot90(frame))
    turned = once("static_rotate", np.full((64, 64, 3), 200, np.uint8), 4)
    assert turned[0, 0].max() == 0 and turned[32, 32].min() == 200


def test_rotate_draws_whole_degrees_within_its_range_a_frame() -> None:
    line = np.zeros((101, 101, 3), np.uint8)
    line[49:52, :] = 255

    def angle(picture: np.ndarray) -> float:
        y, x = np.nonzero(picture[..., 0])
        return float(-np.rad2deg(np.arctan(np.polyfit(x - 50, y - 50, 1)[0])))

    for profile, extra in (("paper", 1), ("released", 0)):
        done = perturb_clip(np.stack([line] * 60), "rotate", 2, video_id="v", profile=profile)
        angles = np.array([angle(picture) for picture in done])
        assert np.abs(angles).max() <= 12 + extra + 0.6 and angles.min() < -6 and angles.max() > 6


@pytest.mark.parametrize("size", [(120, 200), (200, 120), (300, 300)])
def test_translate_crops_a_scaled_picture_at_its_offset(size: tuple[int, int]) -> None:
    frames = np.stack([photo(*size)] * 12)
    scale = 256 / min(size)
    scaled = cv2.resize(frames[0], (round(size[1] * scale), round(size[0] * scale)))
    for severity in (1, 5):
        done = perturb_clip(frames, "translate", severity, video_id="v")
        offsets = set()
        for index, picture in enumerate(done):
            rng = NoiseStreams().at(0, "translate", VIDEO["translate"].version, "v", None, None, index)
            down, right = rng.integers(0, 8 * severity, size=2)
            down, right = min(down, scaled.shape[0] - 224), min(right, scaled.shape[1] - 224)
            assert np.array_equal(picture, scaled[down : down + 224, right : right + 224])
            offsets.add((down, right))
        assert len(offsets) > 3
    steady = perturb_clip(frames, "translate", 3, video_id="v", profile="released")
    assert all(np.array_equal(picture, steady[0]) for picture in steady)
