"""`watch`: checkpoints of a training run are scored once each, whole ones only, and drawn against their steps."""

import json
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import runner_set
import tiny_models

import video_contrast
from video_contrast.cli import main
from video_contrast.reports import write_report
from video_contrast.runner import watch as watching
from video_contrast.runner.job import Job, RunResult
from video_contrast.runner.options import WatchOptions
from video_contrast.runner.views import FrameStore, decoded
from video_contrast.runner.watch import is_whole
from video_contrast.video import Clip, Counter, footage_of


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("watch")
    runner_set.write(root / "set", n_clips=5)
    for seed in (0, 1):
        tiny_models.clip(root / f"clip{seed}", seed=seed)
    return root


def saved(place: Path, training: Path, step: int) -> Path:
    """A checkpoint as the library's trainer leaves it."""
    folder = training / f"checkpoint-{step}"
    shutil.copytree(place / f"clip{step % 2}", folder)
    (folder / "trainer_state.json").write_text(json.dumps({"global_step": step}))
    return folder


def flags(place: Path, training: Path, *more: str) -> list[str]:
    scored = ["--dataset", str(place / "set"), "--config", "verb_mc", "--store", str(place / "store")]
    return ["watch", str(training), *scored, "--output", str(training / "../runs"), "--once", "--accept", "all", *more]


def test_checkpoints_are_scored_once_and_shown_by_step(
    place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    training = tmp_path / "training"
    saved(place, training, 100)
    saved(place, training, 21)
    (training / "checkpoint-best").mkdir()
    broken = saved(place, training, 200)
    weights = broken / "model.safetensors"
    whole = weights.read_bytes()
    weights.write_bytes(whole[:-100])
    assert main(flags(place, training)) == 0
    shown = capsys.readouterr()
    lines = shown.out.splitlines()
    assert "step     200  is not saved whole yet" in shown.err
    assert [line.split()[1] for line in lines] == ["21", "100"] and all("verb_mc" in line for line in lines)
    second = video_contrast.open_run(tmp_path / "runs" / "checkpoint-100").record
    assert second["counters"]["frames_decoded"] == 0 and second["request"]["limit"] == 100
    weights.write_bytes(whole)
    (broken / "trainer_state.json").write_text("{}")
    calls: list[object] = []
    score_job = watching.score_job
    monkeypatch.setattr(watching, "score_job", lambda job: calls.append(job) or score_job(job))
    assert main(flags(place, training)) == 0
    assert len(calls) == 1 and capsys.readouterr().out.splitlines()[-1].split()[1] == "200"
    assert main(["table", str(tmp_path / "runs")]) == 0
    table = capsys.readouterr().out.splitlines()
    assert table[0].startswith("step") and [line.split()[0] for line in table[1:4]] == ["21", "100", "200"]
    page = write_report([tmp_path / "runs"], tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Over training" in page and "verb_mc over training" in page


def test_a_checkpoint_that_fails_is_told_and_the_next_ones_are_scored(
    place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    training = tmp_path / "training"
    bare = saved(place, training, 1)
    for name in ("preprocessor_config.json", "processor_config.json", "tokenizer.json", "tokenizer_config.json"):
        (bare / name).unlink(missing_ok=True)
    saved(place, training, 2)
    assert main(flags(place, training, "--quiet")) == 1
    shown = capsys.readouterr().err
    assert "step       1  failed: " in shown and "1 of 2 checkpoints failed" in shown
    assert (tmp_path / "runs" / "checkpoint-2" / "run.json").exists()


def test_new_checkpoints_are_seen_until_interrupted(place: Path, tmp_path: Path) -> None:
    training = tmp_path / "training"
    saved(place, training, 3)
    steps: list[int] = []

    def wait(seconds: float) -> None:
        if len(steps) > 1:
            raise KeyboardInterrupt
        saved(place, training, 4)

    with pytest.raises(KeyboardInterrupt):
        for step, _ in watching.watch(
            training,
            str(place / "set"),
            ["verb_mc"],
            find_set=lambda name, configs: None,
            request=WatchOptions(output=tmp_path / "runs", store=place / "store", accept="all"),
            wait=wait,
        ):
            steps.append(step)
    assert steps == [3, 4]
    assert not (tmp_path / "runs" / ".frames").exists()


def test_a_checkpoint_without_a_trainer_must_have_been_left_alone(place: Path, tmp_path: Path) -> None:
    folder = saved(place, tmp_path, 5)
    assert is_whole(folder)
    (folder / "trainer_state.json").unlink()
    (folder / "config.json").write_bytes((folder / "config.json").read_bytes())
    assert not is_whole(folder)
    for path in folder.iterdir():
        os.utime(path, (0, 0))
    assert is_whole(folder)
    (folder / "model.safetensors.index.json").write_text('{"weight_map": {"a": "model-2-of-2.safetensors"}}')
    os.utime(folder / "model.safetensors.index.json", (0, 0))
    assert not is_whole(folder)


def watched(place: Path, training: Path, stages: list[Callable[[], object]]) -> list[list[tuple[int, str]]]:
    """What was scored by each stage of a training run: (step, error), before the first one and after each."""
    told: list[list[tuple[int, str]]] = [[]]
    left = list(stages)

    def wait(seconds: float) -> None:
        if not left:
            raise KeyboardInterrupt
        left.pop(0)()
        told.append([])

    with pytest.raises(KeyboardInterrupt):
        for step, outcome in watching.watch(
            training,
            str(place / "set"),
            ["verb_mc"],
            find_set=lambda name, configs: None,
            request=WatchOptions(output=training / "../runs", store=place / "store", accept="all"),
            wait=wait,
        ):
            if outcome is not None:
                told[-1].append((step, outcome.error))
    return told


def test_shards_that_come_one_after_the_other_are_waited_for(place: Path, tmp_path: Path) -> None:
    from transformers import CLIPModel, CLIPProcessor

    whole, folder = tmp_path / "whole", tmp_path / "training" / "checkpoint-8"
    CLIPModel.from_pretrained(place / "clip0").save_pretrained(whole, max_shard_size="60KB")
    CLIPProcessor.from_pretrained(place / "clip0").save_pretrained(whole)
    first, second, *rest = sorted(whole.glob("model-*.safetensors"))
    folder.mkdir(parents=True)
    told = watched(
        place,
        folder.parent,
        [
            lambda: shutil.copy(first, folder),
            lambda: shutil.copy(whole / "config.json", folder),
            lambda: (folder / second.name).write_bytes(second.read_bytes()[:1000]),
            lambda: [shutil.copy(path, folder) for path in (second, *rest)],
            lambda: shutil.copytree(whole, folder, dirs_exist_ok=True),
            lambda: (folder / "trainer_state.json").write_text('{"global_'),
            lambda: (folder / "trainer_state.json").write_text("{}"),
            lambda: None,
        ],
    )
    assert told == [[], [], [], [], [], [], [], [(8, "")], []]


def test_a_checkpoint_that_is_written_anew_is_waited_for_and_not_mixed_with_the_former(
    place: Path, tmp_path: Path
) -> None:
    folder = saved(place, tmp_path / "training", 10)
    weights = (place / "clip1" / "model.safetensors").read_bytes()

    def later(path: Path, seconds: float) -> None:
        os.utime(path, (time.time() + seconds, time.time() + seconds))

    def weights_anew() -> None:
        (folder / "model.safetensors").write_bytes(weights)
        later(folder / "model.safetensors", 5)

    told = watched(place, folder.parent, [weights_anew, lambda: later(folder / "trainer_state.json", 6)])
    assert told[:2] == [[(10, "")], []]
    [(step, error)] = told[2]
    assert step == 10 and "was made for revision" in error and "remove this one" in error


def test_a_checkpoint_that_changes_while_it_is_loaded_is_not_recorded_and_scored_once_it_is_whole(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first scores would be those of neither checkpoint, under the name of the former."""
    folder = saved(place, tmp_path / "training", 10)
    score_job = watching.score_job

    def anew(job: Job) -> RunResult:
        if not (tmp_path / "anew").exists():
            (tmp_path / "anew").touch()
            (folder / "model.safetensors").write_bytes((place / "clip1" / "model.safetensors").read_bytes())
            (folder / "trainer_state.json").write_text("{}")
        return score_job(job)

    monkeypatch.setattr(watching, "score_job", anew)
    told = watched(place, folder.parent, [lambda: None])
    assert "changed while it was loaded" in told[0][0][1] and told[1] == [(10, "")]
    found = video_contrast.open_run(tmp_path / "runs" / "checkpoint-10").scores().scores
    given: dict[str, Any] = {"store": tmp_path / "own", "accept": "all", "progress": False}
    other = video_contrast.score(place / "clip1", place / "set", "verb_mc", output=tmp_path / "other", **given)
    np.testing.assert_array_equal(list(found), [row["scores"] for row in other.scores])


def test_a_checkpoint_that_is_removed_while_it_is_scored_and_a_run_that_begins_anew(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    training = tmp_path / "training"
    first, _ = saved(place, training, 1), saved(place, training, 2)
    score_job = watching.score_job

    def removed(job: Job) -> RunResult:
        if job.source.path == first:
            shutil.rmtree(first)
        return score_job(job)

    monkeypatch.setattr(watching, "score_job", removed)
    stages = [lambda: shutil.rmtree(training), lambda: saved(place, training, 3)]
    told = watched(place, training, stages)
    assert told == [[(1, f"{first} was removed while it was loaded"), (2, "")], [], [(3, "")]]


def test_a_run_whose_folder_was_removed_is_made_again(place: Path, tmp_path: Path) -> None:
    folder = saved(place, tmp_path / "training", 10)
    run = tmp_path / "runs" / "checkpoint-10"
    assert watched(place, folder.parent, [lambda: shutil.rmtree(run), lambda: None]) == [[(10, "")], [(10, "")], []]
    assert (run / "run.json").exists()


def test_kept_frames_are_read_without_a_parser_that_several_threads_may_not_use(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, clip, store = place / "set", Clip("video0", "clips/00.mp4"), FrameStore.on(tmp_path / "frames", place / "set")
    first = decoded(clip, footage_of(root, clip), [0, 5], store)
    counter, footage = Counter(), footage_of(root, clip)
    with monkeypatch.context() as patch:
        patch.delattr("ast.parse")  # in Python 3.11, two threads in it at once end in a SystemError
        again = decoded(clip, footage, [0, 5], store, counter=counter)
    np.testing.assert_array_equal(again, first)
    assert counter.decoded == 0


def test_frames_that_another_watch_has_removed_are_decoded_again(place: Path, tmp_path: Path) -> None:
    root, clip = place / "set", Clip("video0", "clips/00.mp4")
    store, counters = FrameStore.on(tmp_path / "frames", root), [Counter() for _ in range(3)]
    for counter in counters:
        assert decoded(clip, footage_of(root, clip), [0, 5], store, counter=counter).shape == (2, 48, 48, 3)
        if counter is counters[1]:
            shutil.rmtree(tmp_path / "frames")
    counts = [counter.decoded for counter in counters]
    assert counts[1] == 0 and counts[0] == counts[2] > 0


def test_adapters_are_scored_on_their_base_once_they_are_whole(place: Path, tmp_path: Path) -> None:
    peft = pytest.importorskip("peft")
    from transformers import CLIPModel

    base = CLIPModel.from_pretrained(place / "clip0")
    lora = peft.get_peft_model(base, peft.LoraConfig(target_modules=["q_proj", "v_proj"], init_lora_weights=False))
    whole, folder = tmp_path / "whole", tmp_path / "training" / "checkpoint-6"
    lora.save_pretrained(whole)
    weights = whole / "adapter_model.safetensors"
    folder.mkdir(parents=True)
    told = watched(
        place,
        folder.parent,
        [
            lambda: (folder / weights.name).write_bytes(weights.read_bytes()[:-20]),
            lambda: shutil.copy(whole / "adapter_config.json", folder),
            lambda: (folder / "trainer_state.json").write_text("{}"),
            lambda: (folder / weights.name).write_bytes(weights.read_bytes()),
            lambda: (folder / "trainer_state.json").write_text('{"global_step": 6}'),
        ],
    )
    assert told == [[], [], [], [], told[4], told[5]] and [*told[4], *told[5]] == [(6, "")]
    scores = video_contrast.open_run(tmp_path / "runs" / "checkpoint-6").scores().scores
    video_contrast.score(
        place / "clip0", place / "set", "verb_mc", output=tmp_path / "base", store=place / "store", accept="all",
        progress=False,
    )  # fmt: skip
    plain = video_contrast.open_run(tmp_path / "base").scores().scores
    assert max(abs(np.array(list(scores)) - np.array(list(plain))).ravel()) > 1e-4


def test_weights_of_torch_and_of_modules_in_folders_are_looked_into(place: Path, tmp_path: Path) -> None:
    import torch

    folder = saved(place, tmp_path, 5)
    (folder / "model.safetensors").unlink()
    torch.save({"a": torch.zeros(999)}, folder / "pytorch_model.bin")
    late = time.time() + 1
    os.utime(folder / "trainer_state.json", (late, late))
    assert is_whole(folder)
    data = (folder / "pytorch_model.bin").read_bytes()
    (folder / "pytorch_model.bin").write_bytes(data[: len(data) // 2])
    assert not is_whole(folder)
    (folder / "pytorch_model.bin").unlink()
    (folder / "0_Transformer").mkdir()
    shutil.copy(place / "clip0" / "model.safetensors", folder / "0_Transformer")
    assert is_whole(folder)
    (folder / "2_Dense").mkdir()
    (folder / "2_Dense" / "model.safetensors").write_bytes(b"half")
    assert not is_whole(folder)


def test_a_folder_that_is_not_there_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main(["watch", str(tmp_path / "gone"), "--dataset", "shapes", "--output", str(tmp_path / "o"), "--once"]) == 2
    )
    assert "no such folder; give the one that holds the checkpoint-N folders" in capsys.readouterr().err
