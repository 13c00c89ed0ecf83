"""Frame kernels in torch show what the numpy kernels show, on any torch device; here on the CPU."""

import gc

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from moving_pictures import photo

from video_contrast.perturbations.registry import VIDEO
from video_contrast.perturbations.video import SEVERITIES, VideoCondition, camera, torch_kernels
from video_contrast.perturbations.video.condition import has_kernel, is_exact_on_device, perturb_frames

KERNELS = sorted(name for name in VIDEO if has_kernel(name))


def apart(frames: np.ndarray, name: str, severity: int, profile: str = "paper") -> int:
    """Largest difference of numpy and torch in grey levels."""
    numbers = [7 * n for n in range(len(frames))]
    on = {
        device: perturb_frames(frames, numbers, name, severity, video_id="a", profile=profile, device=device)
        for device in (None, "cpu")
    }
    assert on[None].shape == on["cpu"].shape and on["cpu"].dtype == np.uint8
    return int(np.abs(on[None].astype(int) - on["cpu"]).max())


@pytest.mark.parametrize(
    ("name", "profile"), [(name, profile) for name in KERNELS for profile in ("paper", *VIDEO[name].profiles)]
)
def test_torch_kernels_agree_with_numpy(name: str, profile: str) -> None:
    random = np.random.default_rng(0).integers(0, 256, (2, 48, 61, 3), np.uint8)
    for severity in SEVERITIES:
        assert apart(random, name, severity, profile) <= (0 if is_exact_on_device(name) else 1)


@pytest.mark.parametrize("name", KERNELS)
def test_torch_kernels_agree_on_photographs(name: str) -> None:
    picture = photo(120, 90)[None]
    assert apart(picture, name, 4) <= (0 if is_exact_on_device(name) else 1)


@settings(max_examples=30, deadline=None)
@given(
    name=st.sampled_from(KERNELS),
    severity=st.sampled_from(SEVERITIES),
    height=st.integers(1, 70),
    width=st.integers(1, 70),
    seed=st.integers(0, 99),
)
def test_torch_kernels_agree_at_any_size(name: str, severity: int, height: int, width: int, seed: int) -> None:
    frames = np.random.default_rng(seed).integers(0, 256, (1, height, width, 3), np.uint8)
    assert apart(frames, name, severity) <= (0 if is_exact_on_device(name) else 1)


def test_a_frame_of_more_pixels_than_three_bytes_count_is_turned_alike() -> None:
    grey = np.repeat(np.random.default_rng(0).integers(0, 256, (1, 32_000), np.uint8), 540, axis=0)
    turned = torch_kernels.static_rotate(torch.from_numpy(grey)[None, :, :, None], 1, [])
    assert np.array_equal(turned.numpy()[0, ..., 0], camera.static_rotate(grey, 1, np.random.default_rng(0)))


@pytest.mark.parametrize("name", KERNELS)
def test_long_clips_go_through_a_kernel_in_parts(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    frames = np.random.default_rng(0).integers(0, 256, (5, 20, 30, 3), np.uint8)
    whole = perturb_frames(frames, [*range(5)], name, 2, video_id="a", device="cpu")
    monkeypatch.setattr("video_contrast.perturbations.video.condition.ON_DEVICE_AT_ONCE", 2 * frames[0].size + 1)
    parts = perturb_frames(frames, [*range(5)], name, 2, video_id="a", device="cpu")
    np.testing.assert_array_equal(parts, whole)


def test_clips_of_many_sizes_leave_little_behind() -> None:
    def held() -> int:
        return sum(thing.numel() for thing in gc.get_objects() if type(thing) is torch.Tensor)

    before = held()
    for width in range(560, 566):
        perturb_frames(np.zeros((1, 8, width, 3), np.uint8), [0], "zoom_blur", 1, video_id="a", device="cpu")
    assert held() - before < 1 << 20  # 20 million numbers, had all tables been kept


def test_what_has_no_kernel_runs_as_before() -> None:
    frames = np.random.default_rng(0).integers(0, 256, (2, 32, 32, 3), np.uint8)
    for name in ("jpeg", "jumble", "codec1"):
        condition = VideoCondition(name, 2, order="sample_then_perturb")
        decoded = [condition.frames(frames, [0, 1], [0, 1], 2, video_id="a", device=device) for device in (None, "cpu")]
        assert not has_kernel(name) and is_exact_on_device(name)
        assert np.array_equal(*decoded)
