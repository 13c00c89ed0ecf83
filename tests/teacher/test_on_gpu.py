"""Training where there is a GPU: on a stand-in for one, which refuses what CUDA refuses."""

import shutil
from pathlib import Path
from typing import Any

import pytest
import teacher_set
import tiny_models
from stand_in_gpu import stand_in_gpu

from video_contrast.errors import VideoContrastError
from video_contrast.teacher import teach
from video_contrast.teacher.run import TeachResult


@pytest.fixture(scope="module")
def place(common: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("gpu")
    shutil.copytree(common / "set", root / "set")
    tiny_models.xclip(root / "xclip", frames=2, layers=1)
    return root


def taught(place: Path, output: Path, **changed: Any) -> TeachResult:
    settings = teacher_set.SETTINGS | {"batch_size": 12, "frames": 2, "store": output.parent / "store"} | changed
    return teach(str(place / "xclip"), place / "set", output=output, **settings)


def test_a_training_on_a_gpu_ends_as_on_a_cpu_also_where_it_was_broken_off(place: Path, tmp_path: Path) -> None:
    expected = taught(place, tmp_path / "cpu")
    with stand_in_gpu() as gpus:
        assert not taught(place, tmp_path / "gpu", stop_after=1)["finished"]
        found = taught(place, tmp_path / "gpu")
    assert gpus.used == {"cuda:0"}
    assert (found["step"], found["best_accuracy"]) == (expected["step"], expected["best_accuracy"])
    assert found["best_loss"] == pytest.approx(expected["best_loss"], rel=1e-5)


def test_half_precision_with_a_frozen_tower_and_adapters(place: Path, tmp_path: Path) -> None:
    with stand_in_gpu():
        found = taught(place, tmp_path / "run", dtype="float16", freeze="vision", lora_rank=2, contrast=0.5)
    assert found["finished"] and found["best_loss"] is not None


def test_no_memory_ends_in_a_sentence(place: Path, tmp_path: Path) -> None:
    with stand_in_gpu() as gpus, pytest.raises(VideoContrastError, match="out of memory: give a smaller --batch-size"):
        gpus.most = 10_000  # less than the model's largest weight
        taught(place, tmp_path / "run")
