"""Models with code of their own: nothing of it runs without the flag, and with it they are scored like any other."""

from pathlib import Path

import numpy as np
import pytest
import remote_code
import runner_set
import tiny_models
import torch

from video_contrast.cli import main
from video_contrast.runner import read_result
from video_contrast.storage import open_run
from video_contrast.video import decode, frame_indices


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setattr("transformers.dynamic_module_utils.HF_MODULES_CACHE", str(tmp_path / "modules"))
    runner_set.write(tmp_path / "set", n_clips=4)
    remote_code.write(tmp_path / "model", tmp_path / "mark")
    return [
        "score", "--model", str(tmp_path / "model"), "--dataset", str(tmp_path / "set"), "--config", "retrieval",
        "--output", str(tmp_path / "run"), "--store", str(tmp_path / "store"),
    ]  # fmt: skip


def test_without_the_flag_nothing_of_the_models_code_runs(
    call: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(call) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "runs code from its own repository; read that code, then give --trust-remote-code" in error
    assert not (tmp_path / "mark").exists()


def test_a_kind_of_the_librarys_classes_does_not_take_it(call: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*call, "--trust-remote-code", "--kind", "matching"]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and "leave --kind out, it brings its own code" in error


def test_weights_that_are_a_pickle_are_not_run_and_the_message_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, dataset = tiny_models.clip(tmp_path / "model"), runner_set.write(tmp_path / "set", n_clips=2)
    (model / "model.safetensors").unlink()

    class Writes:
        def __reduce__(self) -> tuple[object, ...]:
            return Path.touch, (tmp_path / "mark",)

    torch.save({"weight": Writes()}, model / "pytorch_model.bin")
    assert main(["score", "--model", str(model), "--dataset", str(dataset), "--output", str(tmp_path / "run")]) == 1
    error = capsys.readouterr().err
    assert "only running code from the file would read (a pickle)" in error and "unexpected" not in error
    assert not (tmp_path / "mark").exists()


def test_with_the_flag_it_is_scored_by_its_own_features(call: list[str], tmp_path: Path) -> None:
    assert main([*call, "--trust-remote-code"]) == 0
    assert (tmp_path / "mark").exists()
    record = read_result(tmp_path / "run").record
    assert record["model"]["class"] == "MeanModel" and record["model"]["kind"] == "video_dual_encoder"
    matrix = open_run(tmp_path / "run").matrix("retrieval")
    import torch
    from transformers import AutoModel, AutoProcessor

    model = AutoModel.from_pretrained(tmp_path / "model", trust_remote_code=True)
    processor = AutoProcessor.from_pretrained(tmp_path / "model", backend="pil")
    frames = decode(tmp_path / "set" / "clips" / "01.mp4", frame_indices(12, 8).tolist())
    with torch.inference_mode():
        video = model.get_video_features(processor(images=list(frames), return_tensors="pt")["pixel_values"][None])
        tokens = processor(text=["a green bar number 1 moves to the right"], return_tensors="pt")
        text = model.get_text_features(tokens["input_ids"], tokens["attention_mask"])
    expected = torch.nn.functional.cosine_similarity(video, text)
    found = matrix.values[matrix.videos.index("video1"), matrix.columns.index("clip1#0")]
    # Pixels are resized by torchvision where it is installed, by PIL here: they differ in rounding.
    np.testing.assert_allclose(found, float(expected), atol=1e-4)
