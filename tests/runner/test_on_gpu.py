"""Scoring where there is a GPU: on a stand-in for one, which refuses what CUDA refuses."""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import runner_set
import tiny_models
import torch
from stand_in_gpu import Gpus, stand_in_gpu

from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.runner import score
from video_contrast.runner.device import device_of
from video_contrast.runner.job import RunResult
from video_contrast.runner.kinds.dual_encoder import ImageTextEncoder
from video_contrast.runner.kinds.generative import Prefix
from video_contrast.runner.self_test import peak_bytes

KERNELS = "clean,visual:gaussian_noise@3,visual:motion_blur@1,visual:zoom_blur@1,visual:rotate@2"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("gpu")
    runner_set.write(root / "set", n_clips=3)
    tiny_models.clip(root / "clip")
    tiny_models.xclip(root / "xclip")
    return root


@pytest.fixture
def gpus() -> Iterator[Gpus]:
    with stand_in_gpu(2) as found:
        yield found


def run(place: Path, tmp_path: Path, model: str = "clip", **changed: Any) -> RunResult:
    given: dict[str, Any] = {"conditions": "clean", "workers": 1, "accept": "all", "progress": False} | changed
    return score(
        str(place / model), place / "set", "verb_mc", output=tmp_path / "run", store=tmp_path / "store", **given
    )


def scores(run: RunResult) -> np.ndarray:
    return np.array([row["scores"] for row in run.scores])


@pytest.mark.parametrize("model", ["clip", "xclip"])
def test_the_scores_are_those_of_the_cpu(place: Path, tmp_path: Path, model: str) -> None:
    expected = run(place, tmp_path / "cpu", model, conditions=KERNELS, perturb_on="device", device="cpu")
    with stand_in_gpu() as found:
        on_gpu = run(place, tmp_path / "gpu", model, conditions=KERNELS)
    assert found.used == {"cuda:0"}
    assert (on_gpu.record["device"], on_gpu.record["perturb_on"]) == ("cuda", "device")
    np.testing.assert_allclose(scores(on_gpu), scores(expected), atol=1e-6)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_scores_in_half_precision(place: Path, tmp_path: Path, gpus: Gpus, dtype: str) -> None:
    assert np.isfinite(scores(run(place, tmp_path, dtype=dtype, device="cuda:1"))).all()
    assert gpus.used == {"cuda:1"}


def test_a_gpu_that_is_not_there_is_named(place: Path, tmp_path: Path, gpus: Gpus) -> None:
    with pytest.raises(UsageError, match=r"--device cuda:2: torch sees 2 GPUs, cuda:0 to cuda:1"):
        run(place, tmp_path, device="cuda:2")


def test_a_model_larger_than_the_gpu_ends_in_a_sentence(place: Path, tmp_path: Path, gpus: Gpus) -> None:
    gpus.most = 100
    with pytest.raises(VideoContrastError, match=r"does not fit the memory of its device; give --device-map auto"):
        run(place, tmp_path)


def test_batches_are_halved_where_the_memory_of_a_gpu_does_not_suffice(place: Path, tmp_path: Path, gpus: Gpus) -> None:
    enough = run(place, tmp_path / "enough")
    gpus.most = 50_000
    few = run(place, tmp_path / "few")
    assert any("out of memory: the batch was halved" in note for note in few.record["notes"])
    np.testing.assert_allclose(scores(few), scores(enough), atol=1e-6)


def test_no_memory_for_perturbing_frames_ends_in_a_sentence(place: Path, tmp_path: Path, gpus: Gpus) -> None:
    gpus.most = 50_000  # enough for one clip in the model, which makes the frames smaller
    with pytest.raises(VideoContrastError, match=r"out of memory; .* --perturb-on cpu"):
        run(place, tmp_path, conditions="visual:gaussian_noise@1", batch_size=1)
    run(place, tmp_path, conditions="visual:gaussian_noise@1", batch_size=1, perturb_on="cpu")


def test_float32_is_computed_as_such(place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gpus: Gpus) -> None:
    encode, allowed = ImageTextEncoder.encode_prepared, []

    def encode_prepared(self: ImageTextEncoder, prepared: Any) -> np.ndarray:
        allowed.append((torch.backends.cudnn.allow_tf32, torch.backends.cuda.matmul.allow_tf32))
        return encode(self, prepared)

    monkeypatch.setattr(ImageTextEncoder, "encode_prepared", encode_prepared)
    before = torch.backends.cudnn.allow_tf32
    run(place, tmp_path)
    assert set(allowed) == {(False, False)}
    assert torch.backends.cudnn.allow_tf32 == before


@pytest.mark.parametrize(
    ("asked", "given", "expected"),
    [("auto", "cuda:1", "cuda:1"), ("cuda", "cuda:1", "cuda:1"), ("cuda:0", "cuda:1", "cuda:0"), ("cpu", "cpu", "cpu")],
)
def test_of_several_processes_each_has_its_own_gpu(gpus: Gpus, asked: str, given: str, expected: str) -> None:
    options = SimpleNamespace(device=asked, device_map=None, dtype="auto")
    job: Any = SimpleNamespace(
        options=options, kind=SimpleNamespace(family="encoder"), source=SimpleNamespace(dtype="")
    )
    processes: Any = SimpleNamespace(device=given, count=2)
    assert device_of(job, processes)[0] == expected


def test_a_run_on_the_cpu_of_a_machine_with_a_gpu_counts_the_memory_of_the_process(
    gpus: Gpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "max_memory_allocated", lambda number: [0, 5][number])
    assert peak_bytes() == 5
    monkeypatch.setattr(torch.cuda, "max_memory_allocated", lambda number: 0)
    assert peak_bytes() > 1 << 20


def test_a_model_over_two_gpus_shares_its_prompt(gpus: Gpus) -> None:
    from accelerate import dispatch_model
    from transformers import Qwen2Config, Qwen2ForCausalLM

    torch.manual_seed(0)
    config = Qwen2Config(
        vocab_size=20, hidden_size=16, intermediate_size=16, num_hidden_layers=2, num_attention_heads=2,
        num_key_value_heads=1, tie_word_embeddings=False,
    )  # fmt: skip
    model = Qwen2ForCausalLM(config).eval()
    prompt, endings = torch.arange(6)[None], [[7, 8], [9]]

    def last(_: int, logits: torch.Tensor) -> list[float]:
        return logits[-1].tolist()

    expected = Prefix(model, {"input_ids": prompt}, 6).score(endings, last, only_last=True)
    second = {"model.layers.1": "cuda:1", "model.norm": "cuda:1", "lm_head": "cuda:1"}
    first = {name: "cuda:0" for name in ("model.embed_tokens", "model.rotary_emb", "model.layers.0")}
    dispatch_model(model, first | second, main_device="cuda:0")
    spread = Prefix(model, {"input_ids": prompt.to("cuda:0")}, 6).score(endings, last, only_last=True)
    assert gpus.used == {"cuda:0", "cuda:1"}
    np.testing.assert_allclose(spread, expected, atol=1e-6)
