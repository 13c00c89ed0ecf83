"""Claims about the 18 visual perturbations: what each does, at any size and length, and that nothing else decides."""

import json
from pathlib import Path

import cv2
import numpy as np
import pytest
import scipy.ndimage
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from video_contrast.errors import UsageError
from video_contrast.perturbations.registry import VIDEO, video_spec
from video_contrast.perturbations.video import (
    NAMES,
    PAIR_SEVERITY,
    PAIRS,
    SEVERITIES,
    VideoCondition,
    index_map,
    perturb_clip,
    perturb_frames,
)
from video_contrast.perturbations.video.blur import DISK, STREAK, ZOOM
from video_contrast.perturbations.video.codecs import codec_and_quantiser
from video_contrast.perturbations.video.noise import PHOTONS
from video_contrast.perturbations.video.validity import Reference, damage, equal_severities, nominal, psnr
from video_contrast.seeds import NoiseStreams

TEMPORAL = [name for name, spec in VIDEO.items() if spec.acts == "temporal"]
PER_FRAME = [name for name, spec in VIDEO.items() if spec.acts == "frame"]
CODECS = ["codec1", "codec2"]


def photo(height: int = 96, width: int = 128, seed: int = 0) -> np.ndarray:
    """A picture with soft shapes, edges and some grain."""
    rng = np.random.default_rng(seed)
    soft = scipy.ndimage.gaussian_filter(rng.normal(size=(height, width, 3)), (6, 6, 0))
    picture = 120 + soft / soft.std() * 45
    picture[height // 4 : height // 2, width // 3 : width // 2] += 80
    return np.clip(picture + rng.normal(0, 3, picture.shape), 0, 255).astype(np.uint8)


def clip(length: int = 30, height: int = 48, width: int = 64) -> np.ndarray:
    """A camera that pans over a photo."""
    wide = photo(height, width + 2 * length)
    return np.stack([wide[:, 2 * t : 2 * t + width] for t in range(length)])


def once(name: str, frame: np.ndarray, severity: int, index: int = 0, **constants: object) -> np.ndarray:
    return VIDEO[name].function(frame, severity, NoiseStreams().at(0, name, index), **constants)


def test_names_groups_and_pairs_are_those_of_the_release(shared_data: Path) -> None:
    released = json.loads((shared_data / "schiappa" / "perturbations.json").read_text())
    assert {name: spec.category for name, spec in VIDEO.items()} == {
        name: entry["type2"] for name, entry in released["video_perturbations"].items()
    }
    assert set(PAIRS) == {
        (entry["video_perturbation"], entry["text_perturbation"])
        for entry in released["multimodal_perturbations"].values()
    }
    assert (len(NAMES), len(SEVERITIES), len(PAIRS), PAIR_SEVERITY) == (18, 5, 66, 3)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("shape", [(1, 1, 1), (1, 40, 30), (14, 21, 33), (3, 1, 50), (2, 5, 4)])
def test_every_size_and_length_is_taken(name: str, shape: tuple[int, int, int]) -> None:
    frames = np.random.default_rng(1).integers(0, 256, (*shape, 3), dtype=np.uint8)
    before = frames.copy()
    for severity in (1, 5):
        done = perturb_clip(frames, name, severity, video_id="v")
        size = (224, 224) if name == "translate" else shape[1:]
        assert done.shape == (shape[0], *size, 3) and done.dtype == np.uint8
    assert np.array_equal(frames, before), "the input was changed"


@settings(max_examples=25, deadline=None)
@given(
    name=st.sampled_from(NAMES),
    severity=st.sampled_from(SEVERITIES),
    profile=st.sampled_from(["paper", "released", "monotone"]),
    wanted=st.lists(st.integers(0, 29), min_size=1, max_size=6),
)
def test_sampled_frames_alone_give_the_bits_of_the_whole_clip(
    name: str, severity: int, profile: str, wanted: list[int]
) -> None:
    frames = clip()
    key = {"video_id": "video7", "start": 1.0, "end": 2.5}
    whole = perturb_clip(frames, name, severity, seed=3, profile=profile, **key)
    condition = VideoCondition(name, severity, profile, seed=3)
    sources = condition.sources(wanted, 30, **key)
    done = condition.frames(frames[sources], sources, wanted, 30, **key)
    assert np.array_equal(done, whole[wanted])
    assert len(sources) <= {"frame": len(wanted), "temporal": len(wanted), "codec": 30}[VIDEO[name].acts]
    if VIDEO[name].acts == "frame":
        alone = perturb_frames(frames[wanted], wanted, name, severity, seed=3, profile=profile, **key)
        assert np.array_equal(alone, whole[wanted])


def test_sample_then_perturb_is_the_sampled_clip_perturbed() -> None:
    frames, wanted = clip(), np.array([0, 4, 8, 12, 16, 20, 24, 29])
    for name in (*TEMPORAL, *CODECS):
        condition = VideoCondition(name, 1, order="sample_then_perturb")
        done = condition.frames(frames, np.arange(30), wanted, 30, video_id="v")
        assert np.array_equal(done, perturb_clip(frames[wanted], name, 1, video_id="v"))
        assert np.array_equal(condition.sources(wanted, 30, video_id="v"), wanted) or name in TEMPORAL


def test_scope_video_does_not_depend_on_the_span() -> None:
    frames, wanted = clip(), [3, 17]
    for name in ("gaussian_noise", "box_jumble"):
        video, per_clip = VideoCondition(name, 2, scope="video"), VideoCondition(name, 2)
        first = video.frames(frames, np.arange(30), wanted, 30, video_id="v", start=0, end=1)
        assert np.array_equal(first, video.frames(frames, np.arange(30), wanted, 30, video_id="v", start=1, end=2))
        assert np.array_equal(first, perturb_clip(frames, name, 2, video_id="v")[wanted])
        one = per_clip.frames(frames, np.arange(30), wanted, 30, video_id="v", start=0, end=1)
        assert not np.array_equal(one, per_clip.frames(frames, np.arange(30), wanted, 30, video_id="v", start=1, end=2))


def test_seed_video_and_frame_decide_the_noise_and_an_int_is_a_float() -> None:
    frames = np.full((2, 32, 32, 3), 128, np.uint8)
    base = perturb_clip(frames, "gaussian_noise", 3, video_id="a", start=1, end=2)
    assert np.array_equal(base, perturb_clip(frames, "gaussian_noise", 3, video_id="a", start=1.0, end=2.0))
    assert not np.array_equal(base, perturb_clip(frames, "gaussian_noise", 3, seed=1, video_id="a", start=1, end=2))
    assert not np.array_equal(base, perturb_clip(frames, "gaussian_noise", 3, video_id="b", start=1, end=2))
    assert not np.array_equal(base[0], base[1])


# ---- noise ----


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


# ---- blurs: against the exact sums ----


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


# ---- digital, camera ----


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


# ---- temporal ----


@settings(max_examples=60, deadline=None)
@given(
    name=st.sampled_from(TEMPORAL),
    length=st.integers(1, 150),
    severity=st.sampled_from(SEVERITIES),
    profile=st.sampled_from(["paper", "released", "monotone"]),
    video_id=st.text(max_size=5),
)
def test_index_maps_stay_in_the_clip(name: str, length: int, severity: int, profile: str, video_id: str) -> None:
    shown = index_map(name, length, severity, video_id=video_id, profile=profile)
    assert shown.shape == (length,) and shown.dtype == np.int64
    assert shown.min() >= 0 and shown.max() < length
    if "jumble" in name:
        assert sorted(shown) == list(range(length))
    if name == "freeze":
        assert (np.diff(shown) >= 0).all() and shown[0] == 0 and (shown <= np.arange(length)).all()
        assert all(shown[frame] == frame for frame in np.unique(shown))


def test_temporal_rules_at_known_lengths() -> None:
    key = {"video_id": "v"}
    assert index_map("sampling", 10, 2, **key).tolist() == [0, 0, 0, 0, 4, 4, 4, 4, 8, 8]
    assert index_map("reverse_sampling", 10, 2, **key).tolist() == [8, 8, 8, 8, 4, 4, 4, 4, 0, 0]
    for severity, length in enumerate((32, 16, 8, 4, 2), start=1):
        shown = index_map("jumble", 100, severity, **key)
        assert np.array_equal(shown // length, np.arange(100) // length)
    for severity, length in enumerate((4, 9, 16, 25, 36), start=1):
        shown = index_map("box_jumble", 300, severity, **key)
        breaks = 1 + np.flatnonzero(np.diff(shown) != 1)
        assert all(shown[at] % length == 0 for at in breaks)
    for severity, share in enumerate((0.4, 0.2, 0.1, 0.05, 0.025), start=1):
        assert len(np.unique(index_map("freeze", 200, severity, **key))) - int(200 * share) in (0, 1)
    assert np.array_equal(
        np.unique(index_map("jumble", 64, 5, video_id="v", profile="released") - np.arange(64) // 64 * 64),
        np.arange(64),
    )
    shown = index_map("freeze", 200, 5, video_id="v", profile="released")
    assert len(np.unique(shown)) in (20, 21)


def test_mean_displacements_are_those_measured_for_the_paper_settings() -> None:
    references = nominal(128)
    moved = [row["displacement"] for row in damage("jumble", references)]
    assert moved == pytest.approx([10.7, 5.3, 2.6, 1.3, 0.5], rel=0.05)
    assert [row["distinct"] for row in damage("freeze", references)][:4] == pytest.approx([51.6, 25.8, 12.9, 7.0], 0.03)


@pytest.mark.parametrize("name", NAMES)
def test_damage_rises_with_severity_under_monotone(name: str) -> None:
    if VIDEO[name].acts == "temporal":
        rows = damage(name, nominal(128), profile="monotone")
        key, sign = ("displacement", 1) if "jumble" in name else ("distinct", -1)
    else:
        frames = clip(4, 120, 160)
        rows = damage(name, [Reference("v", 4, frames=frames, indices=np.arange(4))], profile="monotone")
        key, sign = "psnr", -1
    values = [sign * row[key] for row in rows]
    assert values == sorted(values) and len(set(values)) == 5, rows


def test_paper_severities_of_jumble_fall_and_sampled_boxes_are_not_shuffled() -> None:
    moved = [row["displacement"] for row in damage("jumble", nominal())]
    assert moved == sorted(moved, reverse=True)
    # eight frames are one box of nine: with sample_then_perturb box_jumble does nothing from severity 2 on
    assert [row["unchanged"] for row in damage("box_jumble", nominal(8))][1:] == [1, 1, 1, 1]


# ---- bad input ----


@pytest.mark.parametrize("severity", [0, 6, -1, 2.5, True, "3", None])
def test_a_severity_outside_one_to_five_is_refused(severity: object) -> None:
    with pytest.raises(UsageError, match="severity must be a whole number from 1 to 5"):
        perturb_clip(clip(2), "jpeg", severity, video_id="v")  # type: ignore[arg-type]


def test_unknown_names_suggest_the_nearest() -> None:
    frames = clip(2)
    with pytest.raises(UsageError, match="did you mean 'gaussian_noise'"):
        perturb_clip(frames, "gausian_noise", 1, video_id="v")
    with pytest.raises(UsageError, match="did you mean 'monotone'"):
        perturb_clip(frames, "jpeg", 1, video_id="v", profile="monoton")
    with pytest.raises(UsageError, match="did you mean 'video'"):
        VideoCondition("jpeg", 1, scope="vidoe")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="changes pixels"):
        index_map("jpeg", 8, 1, video_id="v")
    with pytest.raises(UsageError, match="does not act frame by frame"):
        perturb_frames(frames, [0, 1], "jumble", 1, video_id="v")


@pytest.mark.parametrize(
    ("frames", "says"),
    [
        (np.zeros((4, 8, 8, 3), np.float32), "float32: convert to uint8"),
        (np.zeros((4, 8, 8), np.uint8), "greyscale"),
        (np.zeros((4, 8, 8, 4), np.uint8), "RGBA"),
        (np.zeros((0, 8, 8, 3), np.uint8), "empty"),
    ],
)
def test_other_frames_are_refused(frames: np.ndarray, says: str) -> None:
    for name in ("gaussian_noise", "codec1", "jumble"):
        with pytest.raises(UsageError, match=says):
            perturb_clip(frames, name, 1, video_id="v")


def test_wanted_frames_are_checked() -> None:
    frames, condition = clip(4), VideoCondition("jpeg", 1)
    with pytest.raises(UsageError, match=r"must lie in 0\.\.3"):
        condition.sources([4], 4, video_id="v")
    with pytest.raises(UsageError, match="at least one"):
        condition.sources([], 4, video_id="v")
    with pytest.raises(UsageError, match="frame 3 was not decoded"):
        condition.frames(frames[:2], [0, 1], [3], 4, video_id="v")
