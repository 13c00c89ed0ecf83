"""Scores of a model with positions in time do not depend on which process scores which clips."""

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import runner_set
from processes import launch

import video_contrast
from video_contrast.runner import score

pytestmark = [pytest.mark.processes, pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")]


def run(model: Path, dataset: Path, output: Path) -> None:
    import torch
    from accelerate import PartialState

    torch.set_num_threads(1)
    PartialState._reset_state()  # a forked process inherits the parent's, which is of one process
    score(model, dataset, "verb_mc", output=output, frames=8, accept="all", progress=False, workers=1)


def scores(output: Path) -> np.ndarray:
    return np.array(list(video_contrast.open_run(output).scores().scores))


def test_clips_of_very_different_lengths_score_the_same_however_they_are_shared(
    tiny_vlm: Callable[[str], Path], tmp_path: Path
) -> None:
    """The first clips of the two processes are a short and a long one: each checks its prefix on another geometry."""
    runner_set.write(tmp_path / "set", 4, n_frames=[8, 100, 240, 60])
    model = tiny_vlm("qwen2_5_vl")
    for processes in (1, 2):
        launch(processes, run, model, tmp_path / "set", tmp_path / f"run{processes}")
    one = scores(tmp_path / "run1")
    assert np.ptp(one) > 1e-4
    np.testing.assert_allclose(scores(tmp_path / "run2"), one, atol=1e-6, rtol=0)
