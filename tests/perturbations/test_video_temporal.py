"""Index maps of the temporal perturbations, and damage against severity."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from moving_pictures import TEMPORAL, clip

from video_contrast.perturbations.registry import VIDEO
from video_contrast.perturbations.video import (
    NAMES,
    SEVERITIES,
    index_map,
    perturb_clip,
)
from video_contrast.perturbations.video.validity import Reference, damage, nominal


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


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("size", [(120, 160), (160, 120), (256, 256)])
def test_translate_rises_with_severity_on_every_clip_under_monotone(size: tuple[int, int], seed: int) -> None:
    reference = Reference(f"v{seed}", 4, frames=clip(4, *size), indices=np.arange(4))
    values = [row["psnr"] for row in damage("translate", [reference], profile="monotone", seed=seed)]
    assert values == sorted(values, reverse=True) and len(set(values)) == 5


@pytest.mark.parametrize("size", [(256, 340), (455, 256), (256, 256)])
def test_monotone_translate_shakes_about_the_middle_of_any_picture(size: tuple[int, int]) -> None:
    down, right = np.indices(size) // 2  # a pixel says where it was, to two pixels
    frames = np.repeat(np.stack([down, right, right], axis=-1)[None].astype(np.uint8), 40, axis=0)
    for severity, reach in enumerate((3, 6, 9, 12, 16), 1):
        done = perturb_clip(frames, "translate", severity, video_id="v", profile="monotone")
        for axis in (0, 1):
            offsets = 2 * done[:, 0, 0, axis].astype(int) - (size[axis] - 224) // 2
            assert reach - 3 <= np.abs(offsets).max() <= reach + 1 and abs(offsets.mean()) <= 0.4 * reach + 1
