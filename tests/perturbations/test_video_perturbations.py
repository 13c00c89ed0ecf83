"""The 18 visual perturbations: any size and length, nothing else decides, bad input is refused."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from moving_pictures import CODECS, TEMPORAL, clip

from video_contrast.errors import UsageError
from video_contrast.perturbations.registry import VIDEO
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


def test_names_groups_and_pairs_are_those_of_the_release(shared_data: Path) -> None:
    released = json.loads((shared_data / "schiappa" / "perturbations.json").read_text())
    of_release = {name: entry["type2"] for name, entry in released["video_perturbations"].items()}
    assert {name: VIDEO[name].category for name in of_release} == of_release
    assert set(PAIRS) == {
        (entry["video_perturbation"], entry["text_perturbation"])
        for entry in released["multimodal_perturbations"].values()
    }
    assert (len(of_release), len(SEVERITIES), len(PAIRS), PAIR_SEVERITY) == (18, 5, 66, 3)


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


@pytest.mark.parametrize(("name", "largest"), [("codec1", 16_382), ("codec2", 8_190)])
def test_a_picture_that_a_codec_cannot_hold_is_refused(name: str, largest: int) -> None:
    assert perturb_clip(np.zeros((1, 16, largest, 3), np.uint8), name, 1, video_id="v").shape == (1, 16, largest, 3)
    with pytest.raises(UsageError, match=f"up to {largest} pixels a side, not {largest + 1}x16"):
        perturb_clip(np.zeros((1, 16, largest + 1, 3), np.uint8), name, 1, video_id="v")


def test_wanted_frames_are_checked() -> None:
    frames, condition = clip(4), VideoCondition("jpeg", 1)
    with pytest.raises(UsageError, match=r"must lie in 0\.\.3"):
        condition.sources([4], 4, video_id="v")
    with pytest.raises(UsageError, match="at least one"):
        condition.sources([], 4, video_id="v")
    with pytest.raises(UsageError, match="frame 3 was not decoded"):
        condition.frames(frames[:2], [0, 1], [3], 4, video_id="v")
