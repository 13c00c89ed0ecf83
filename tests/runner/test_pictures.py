"""The pixels that reach a model: ten faults of adapters in two families are caught, thirty sound models pass."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import runner_set
import tiny_late
import tiny_models
from PIL import Image
from tiny_matching import MATCHING

import video_contrast
from video_contrast.runner.doctor.checks import golden_frames
from video_contrast.runner.doctor.result import Outcome
from video_contrast.runner.kinds.base import ClipFrames, Encoder
from video_contrast.runner.kinds.dual_encoder import ImageTextEncoder
from video_contrast.runner.kinds.video_dual import XCLIPEncoder

FAMILIES: dict[str, type[Encoder]] = {"CLIPModel": ImageTextEncoder, "XCLIPModel": XCLIPEncoder}


def squashed(frames: np.ndarray) -> np.ndarray:
    """Resized to a square, instead of cropped to one."""
    return np.stack([np.asarray(Image.fromarray(frame).resize((64, 64))) for frame in frames])


# Fault -> the frames that the adapter works on, and what the verdict says of it.
FRAMES: dict[str, tuple[Callable[[np.ndarray], np.ndarray], str]] = {
    "reversed": (lambda frames: frames[::-1], "reversed order"),
    "shuffled": (lambda frames: frames[np.random.default_rng(0).permutation(len(frames))], "order of frames"),
    "mirrored": (lambda frames: frames[:, :, ::-1], "mirrored"),
    "upside down": (lambda frames: frames[:, ::-1], "upside down"),
    "transposed": (lambda frames: frames.swapaxes(1, 2), "transposed"),
    "cropped": (lambda frames: frames[:, frames.shape[1] // 10 : -frames.shape[1] // 10], "crop"),
    "grey": (lambda frames: np.repeat(frames.mean(axis=3, keepdims=True).astype(np.uint8), 3, 3), "grey"),
    "channels": (lambda frames: frames[..., ::-1], "red and blue"),
    "squashed": (squashed, "size"),
}
# What each processor states is one of these; the other one is wrong for it.
STANDARDS = ([0.5, 0.5, 0.5], [0.5, 0.5, 0.5]), ([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])
SOUND = tiny_models.MAKERS | tiny_late.MAKERS | {name: MATCHING[name] for name in MATCHING if "Blip2" not in name}
PADDED = {"AlignModel"}  # its first convolution is given pixels with a border of zeros, so there is nothing to compare


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pictures") / "set"
    runner_set.write(folder, n_clips=2)
    return folder


def verdict(model: Path | str, dataset: Path, **options: Any) -> Outcome:
    test = video_contrast.doctor(model, dataset, "verb_mc", **options)
    return next(verdict for verdict in test.verdicts if verdict.check == "pictures")


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("fault", FRAMES)
def test_other_pictures_are_caught_and_named(
    fault: str, family: str, dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    change, named = FRAMES[fault]
    prepare = FAMILIES[family].prepare

    def changed(model: Encoder, clip: ClipFrames) -> Any:
        return prepare(model, replace(clip, frames=np.ascontiguousarray(change(clip.frames))))

    monkeypatch.setattr(FAMILIES[family], "prepare", changed)
    result = verdict(tiny_models.MAKERS[family](tmp_path / "model"), dataset, frames=4)
    assert result.state == "fail" and named in result.says


@pytest.mark.parametrize("family", FAMILIES)
def test_another_mean_and_std_are_caught(
    family: str, dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare = FAMILIES[family].prepare

    def changed(model: Any, clip: ClipFrames) -> Any:
        stated = [round(value, 3) for value in model.images.image_mean]
        mean, std = STANDARDS[stated == STANDARDS[0][0]]
        model.images.image_mean, model.images.image_std = mean, std
        return prepare(model, clip)

    monkeypatch.setattr(FAMILIES[family], "prepare", changed)
    result = verdict(tiny_models.MAKERS[family](tmp_path / "model"), dataset, frames=4)
    assert result.state == "fail" and "mean or std" in result.says


@pytest.mark.parametrize("seed", (0, 2))
@pytest.mark.parametrize("name", SOUND)
def test_sound_models_pass(name: str, seed: int, dataset: Path, tmp_path: Path) -> None:
    """With the means, stds and frames that the seed draws; the last one in half precision."""
    folder = SOUND[name](tmp_path / "model")
    rng = np.random.default_rng(seed)
    for path in folder.glob("*processor_config.json"):
        config = json.loads(path.read_text())
        images = config.get("image_processor", config)
        images |= {"image_mean": rng.uniform(0.3, 0.6, 3).tolist(), "image_std": rng.uniform(0.2, 0.6, 3).tolist()}
        path.write_text(json.dumps(config))
    frames = None if name == "XCLIPModel" else int(rng.integers(2, 13))
    result = verdict(folder, dataset, frames=frames, dtype="bfloat16" if seed == 2 else "float32")
    assert result.state == ("fact" if name in PADDED else "pass"), result


@pytest.mark.parametrize("name", ["temporal", "bag-of-frames"])
def test_the_packaged_models_pass(name: str, dataset: Path) -> None:
    assert verdict(name, dataset).state == "pass"


def test_the_frames_that_are_shown_differ() -> None:
    frames = golden_frames(10)
    assert frames.shape == (10, 240, 320, 3) and (frames[8:] == frames[:2]).all()
    assert all(np.abs(frames[n].astype(float) - frames[n + 1]).mean() > 10 for n in range(9))
