"""Frames resized by torchvision where the model runs: the processor's own numbers, near those of Pillow."""

from pathlib import Path

import numpy as np
import pytest
import tiny_models

from video_contrast.runner.kinds import all_kinds
from video_contrast.runner.kinds.base import ClipFrames, LoadOptions
from video_contrast.runner.model_files import locate


@pytest.mark.parametrize("make", [tiny_models.clip, tiny_models.siglip])
def test_frames_resized_on_the_device_agree_with_pillow(tmp_path: Path, make: object) -> None:
    make(tmp_path / "model")  # type: ignore[operator]
    rows = np.linspace(0, 200, 90)[:, None, None] + np.linspace(0, 55, 120)[None, :, None]
    clips = [np.stack([np.repeat(np.roll(rows, 9 * t, 1), 3, 2)] * 2).astype(np.uint8) for t in range(3)]
    found = {}
    for where in ("cpu", "device"):
        source = locate(str(tmp_path / "model"))
        model = all_kinds()["dual_encoder"].load(source, LoadOptions(preprocess_on=where))
        prepared = [model.prepare(ClipFrames(frames)) for frames in clips]
        found[where] = model.encode_prepared(prepared)
    assert (found["cpu"] * found["device"]).sum(1).min() > 0.999
    assert model.encode_prepared(prepared[1:])[0] == pytest.approx(found["device"][1], abs=2e-6)
