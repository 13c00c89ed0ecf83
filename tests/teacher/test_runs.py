"""LLM-teacher as a run: accumulation, precision, several processes, kills, early stops, and every generator."""

import csv
import os
import signal
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
import teacher_set
import tiny_models
import torch
from contrast_models import TRAIN, Endpoint, answer_of, bert_folder, encoder_folder, online, t5_folder  # noqa: F401  fixtures
from processes import launch
from safetensors.torch import load_file
from teacher_set import SETTINGS

import video_contrast
from video_contrast.cli import main
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.perturbations.contrast.generators.t5_tuning import Tuning, tune_t5
from video_contrast.teacher import saved_checkpoints, teach
from video_contrast.teacher.negatives import cosines, latent_semantics, load_encoder


@pytest.fixture(scope="module")
def first(place: Path) -> Path:
    """A run of three steps."""
    run(place, "first")
    return place / "first"


def run(place: Path, name: str, **changed: Any) -> dict[str, Any]:
    torch.set_num_threads(1)  # one thread gives the same sums everywhere
    settings = SETTINGS | {"store": place / "store"} | changed
    return teach(settings.pop("model", place / "clip"), place / "set", output=place / name, **settings)


def curves(place: Path, name: str) -> list[dict[str, float]]:
    with open(place / name / "curves.csv", encoding="utf-8") as handle:
        return [{key: float(value) for key, value in row.items()} for row in csv.DictReader(handle)]


def weights(place: Path, name: str) -> dict[str, torch.Tensor]:
    return load_file(place / name / "model" / "model.safetensors")


def near(place: Path, one: str, other: str, tolerance: float) -> None:
    """Both runs have the same curves and weights, up to rounding."""
    for a, b in zip(curves(place, one), curves(place, other), strict=True):
        assert a == pytest.approx(b, abs=tolerance)
    for name, value in weights(place, one).items():
        torch.testing.assert_close(weights(place, other)[name], value, atol=tolerance, rtol=0)


# Batches, precision


@pytest.mark.parametrize("objective", ["lbl", "lgt"])
def test_two_batches_in_a_step_are_one_of_twice_the_size(place: Path, objective: str) -> None:
    given = {"contrast": 0.0, "objective": objective}
    halves = run(place, f"halves-{objective}", batch_size=6, accumulate=2, **given)
    whole = run(place, f"whole-{objective}", batch_size=12, **given)
    assert halves["step"] == whole["step"] == 2
    near(place, f"halves-{objective}", f"whole-{objective}", 2e-4)
    before = load_file(place / "clip" / "model.safetensors")
    moved = max(
        float((value - before[name]).abs().max()) for name, value in weights(place, f"whole-{objective}").items()
    )
    assert moved > 1e-3  # so the tolerance says something


def test_bfloat16_runs_on_a_cpu_and_is_near_float32(place: Path, first: Path) -> None:
    run(place, "bf16", dtype="bfloat16")
    for a, b in zip(curves(place, "bf16"), curves(place, first.name), strict=True):
        assert a["validation_loss"] == pytest.approx(b["validation_loss"], rel=0.05)
        assert a["validation_loss"] != b["validation_loss"]
    assert all(value.dtype == torch.float32 for value in weights(place, "bf16").values())


@pytest.mark.skipif(torch.cuda.is_available(), reason="needs a machine without a GPU")
def test_fp16_without_an_accelerator_is_refused(place: Path) -> None:
    with pytest.raises(UsageError, match="--dtype float16 needs a GPU"):
        run(place, "fp16", dtype="float16")


def test_a_run_without_progress_stops_early_and_stays_stopped(place: Path) -> None:
    result = run(place, "early", learning_rate=3.0, patience=1, epochs=8)
    assert result["stopped_early"] and result["step"] < result["total"] == 24
    before = (place / "early" / "model" / "model.safetensors").read_bytes()
    again = run(place, "early", learning_rate=3.0, patience=1, epochs=8)
    assert again["step"] == result["step"] and again["stopped_early"]
    assert (place / "early" / "model" / "model.safetensors").read_bytes() == before


# Processes


def in_processes(place: Path, name: str, changed: dict[str, Any]) -> None:
    from accelerate import PartialState

    PartialState._reset_state()  # a forked process inherits the parent's, which is of one process
    run(place, name, **changed)


needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
IN_TWO: dict[str, dict[str, Any]] = {
    # the last batch of 18 captions in fives is 3: the shares are unequal
    "contrast": {"contrast": 1.0, "batch_size": 5, "objective": "lgt"},
    # one of the two has no clip; without the in-batch term nothing but the gradients' mean joins them
    "tiny-batch": {"contrast": 0.0, "batch_size": 1, "evaluate_every": 18},
    "frozen": {"contrast": 1.0, "freeze": "vision"},
    "prompted": {"contrast": 1.0, "model": "xclip"},
}


@pytest.fixture(scope="module")
def in_two(place: Path) -> Callable[[str], dict[str, Any]]:
    """Trains `one-NAME` in this process and `two-NAME` in two, once each, and returns what they were told."""
    xclip = tiny_models.xclip(place / "xclip")

    @cache
    def get(name: str) -> dict[str, Any]:
        changed = IN_TWO[name] | ({"model": xclip} if "model" in IN_TWO[name] else {})
        run(place, f"one-{name}", **changed)  # first: what is stored for both is not made in forked processes
        launch(2, in_processes, place, f"two-{name}", changed)
        return changed

    return get


@needs_fork
@pytest.mark.processes
@pytest.mark.parametrize("name", IN_TWO)
def test_two_processes_learn_what_one_learns(place: Path, name: str, in_two: Callable[[str], dict[str, Any]]) -> None:
    in_two(name)
    near(place, f"one-{name}", f"two-{name}", 5e-4)


@needs_fork
@pytest.mark.processes
def test_what_two_processes_taught_is_scored_and_one_cannot_go_on_with_it(
    place: Path, in_two: Callable[[str], dict[str, Any]]
) -> None:
    changed = in_two("contrast")
    scored = video_contrast.score(
        place / "two-contrast" / "model", place / "set", ["retrieval"], split="validation", frames=4, progress=False
    )
    assert scored.metrics["configs"]["retrieval"]
    with pytest.raises(UsageError, match=r"other settings: processes \(2 then, 1 now\)"):
        run(place, "two-contrast", **changed)


# Kills


@needs_fork
@pytest.mark.processes
def test_a_killed_training_goes_on_to_the_same_numbers(place: Path, first: Path) -> None:
    rng = np.random.default_rng(0)
    for step in (1, 2):
        child = os.fork()
        if not child:
            try:
                run(place, "killed")
            finally:
                os._exit(1)
        state = place / "killed" / "state" / f"checkpoint-{step}"
        until = time.monotonic() + 60
        while not state.exists() and time.monotonic() < until:
            time.sleep(0.001)
        time.sleep(float(rng.uniform(0, 0.03)))  # in the middle of the save, or of the next step
        os.kill(child, signal.SIGKILL)
        assert os.waitpid(child, 0)[1] == signal.SIGKILL
        assert not (place / "killed" / "model").exists()
    result = run(place, "killed")
    assert result["step"] == 3
    for name in ("model/model.safetensors", "curves.csv", "result.json"):
        assert (place / "killed" / name).read_bytes() == (first / name).read_bytes(), name


def test_a_loss_that_is_no_number_keeps_the_last_state_and_the_run_can_go_on(
    place: Path, first: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from video_contrast.teacher import losses

    usual, calls = losses.label_loss, []

    def broken(*given: Any) -> torch.Tensor:
        calls.append(torch.is_grad_enabled())
        return usual(*given) * (float("nan") if sum(calls) == 3 else 1.0)  # in the third step

    with monkeypatch.context() as patch:
        patch.setattr(losses, "label_loss", broken)
        with pytest.raises(VideoContrastError, match=r"after step 2, clips clip\d+.*state[/\\]checkpoint-2;"):
            run(place, "nan")
    assert run(place, "nan")["step"] == 3
    for name in ("model/model.safetensors", "curves.csv"):
        assert (place / "nan" / name).read_bytes() == (first / name).read_bytes(), name


def test_a_checkpoint_that_was_not_saved_whole_is_not_used(tmp_path: Path) -> None:
    for step in (9, 10, 11):
        (tmp_path / "state" / f"checkpoint-{step}").mkdir(parents=True)
    for step in (9, 10):
        saved_checkpoints.mark_whole(tmp_path / "state" / f"checkpoint-{step}")
    assert saved_checkpoints.newest(tmp_path) == tmp_path / "state" / "checkpoint-10"
    saved_checkpoints.drop_broken(tmp_path)
    assert not (tmp_path / "state" / "checkpoint-11").exists()


def test_a_checkpoint_whose_removal_was_broken_off_is_not_used(tmp_path: Path) -> None:
    for step in (9, 10):
        folder = tmp_path / "state" / f"checkpoint-{step}"
        folder.mkdir(parents=True)
        for name in ("model.safetensors", "optimizer.pt"):
            (folder / name).write_bytes(b"weights")
        saved_checkpoints.mark_whole(folder)
    (tmp_path / "state" / "checkpoint-10" / "optimizer.pt").unlink()
    assert saved_checkpoints.newest(tmp_path) == tmp_path / "state" / "checkpoint-9"
    saved_checkpoints.drop_broken(tmp_path)
    assert [folder.name for folder in (tmp_path / "state").iterdir()] == ["checkpoint-9"]


# Generators, teachers


@pytest.fixture
def tuned_t5(t5_folder: Path, tmp_path: Path) -> Path:  # noqa: F811
    tuning = Tuning(str(t5_folder), epochs=4, batch_size=16, learning_rate=1e-2)
    tune_t5(TRAIN, tmp_path / "t5", tuning)
    return tmp_path / "t5"


@pytest.fixture
def generators(request: pytest.FixtureRequest) -> Any:
    def of(name: str) -> tuple[str | None, str | None]:
        if name == "mlm":
            return str(request.getfixturevalue("bert_folder")), None
        if name == "t5":
            return str(request.getfixturevalue("tuned_t5")), "beams=8,k=8"
        request.getfixturevalue("online")
        server = request.getfixturevalue("chat_server")
        return "org/chat", f"endpoint={server.url}"

    return of


@pytest.fixture
def chat_server() -> Any:
    with Endpoint(answer_of) as server:
        yield server


@pytest.mark.parametrize("name", ["mlm", "t5", "llm"])
def test_every_generator_feeds_the_training(
    place: Path, name: str, generators: Any, request: pytest.FixtureRequest
) -> None:
    model, options = generators(name)
    given = {
        "generator": name, "generator_model": model, "generator_options": options, "quality": "0",
        "negatives": "5-action-5-object", "store": place / f"store-{name}",
    }  # fmt: skip
    if name == "mlm":
        given |= {"encoder": str(request.getfixturevalue("encoder_folder")), "objective": "lgt"}
    result = run(place, name, **given)
    counts = result["negatives"]["train"]
    assert counts["captions"] == 18 and counts["negatives"] > 0
    [file] = (place / f"store-{name}").glob("negatives-train-*.parquet")
    rows = pq.read_table(file).to_pylist()
    for row in rows:
        assert len(set(row["negatives"])) == len(row["negatives"]) <= 10
        assert all(text.split()[0] == row["caption"].split()[0] for text in row["negatives"])
    made = [text for row in rows for text, kind in zip(row["negatives"], row["kinds"], strict=True) if kind == "action"]
    assert made
    if name == "llm":
        assert any("jumping in" in text for text in made)
    # another model of the generator is another set of negatives, not the stored one
    if name == "mlm":
        [stored] = (place / "store-mlm").glob("similarities-train-*.parquet")
        cosines = np.concatenate(pq.read_table(stored)["teacher"].to_pylist())
        assert np.abs(cosines).max() <= 1.0 + 1e-6 and cosines.std() > 0
        with pytest.raises(VideoContrastError, match=r"model of the generator mlm.*no/such"):
            run(place, "other-mlm", **given | {"generator_model": "no/such"})


def test_an_encoder_that_gives_no_vectors_is_refused(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("video_contrast.teacher.run.check_encoder", lambda _: None)  # it is no folder
    monkeypatch.setattr("video_contrast.teacher.negatives.load_encoder", lambda *_: lambda texts: np.ones(len(texts)))
    with pytest.raises(VideoContrastError, match=r"encoder gave \(\d+,\) for \d+ texts"):
        run(place, "flat", encoder="flat", objective="lgt")
    with pytest.raises(VideoContrastError, match=r"--encoder \./nowhere: no such folder"):
        load_encoder("./nowhere", [["a"]])


def test_another_teacher_needs_no_new_negatives(place: Path, first: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def encode(texts: Any) -> np.ndarray:
        return np.array([[1.0, len(text)] for text in texts], np.float32)

    monkeypatch.setattr("video_contrast.teacher.run.check_encoder", lambda _: None)  # it is no folder
    monkeypatch.setattr("video_contrast.teacher.negatives.load_encoder", lambda *_: encode)
    before = {path: path.stat().st_mtime_ns for path in (place / "store").glob("negatives-*.parquet")}
    run(place, "other-teacher", encoder="other", objective="lgt", stop_after=1)
    after = {path: path.stat().st_mtime_ns for path in (place / "store").glob("negatives-*.parquet")}
    assert before and after == before


def test_the_validation_captions_have_the_teacher_of_the_training_captions(place: Path) -> None:
    run(place, "teacher", store=place / "teacher-store", objective="lgt", stop_after=1)
    [file] = (place / "teacher-store").glob("similarities-validation-*.parquet")
    negatives = pq.read_table(next((place / "teacher-store").glob("negatives-validation-*.parquet"))).to_pylist()
    documents = [[teacher_set.caption(n), teacher_set.caption(n, 1)] for n in range(9)]
    expected = cosines(latent_semantics(documents), negatives)
    found = pq.read_table(file)["teacher"].to_pylist()
    assert [len(row) for row in found] == [len(row) for row in expected]
    for one, other in zip(found, expected, strict=True):
        assert one == pytest.approx(other, abs=1e-5)


# Command


def test_the_command_says_what_was_made(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = [
        "teach", "--model", str(place / "clip"), "--dataset", str(place / "set"), "--output", str(place / "cli"),
        "--epochs", "1", "--batch-size", "12", "--frames", "4", "--freeze", "text", "--negatives", "5-action",
        "--store", str(place / "cli-store"),
    ]  # fmt: skip
    assert main(given) == 0
    said = capsys.readouterr().out
    assert "frozen towers encoded " in said and "captions with fewer negatives than asked for: " in said
    assert (place / "cli" / "model" / "config.json").is_file()
    assert main([*given, "--quiet"]) == 0 and capsys.readouterr().out == ""
    assert main([*given, "--generator", "gpt"]) == 2
    assert 'Invalid value "gpt" for --generator' in capsys.readouterr().err
    assert main([*given, "--generator-model", "nice"]) == 2
    assert "belong to the generators t5, mlm and llm" in capsys.readouterr().err
