"""Several runs in one call: clips are decoded once, one failure loses nothing else, and wrong lists are refused."""

import gc
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import runner_set
import tiny_models

import video_contrast
from video_contrast.cli import main
from video_contrast.errors import UsageError
from video_contrast.runner.device import LOADED
from video_contrast.runner.kinds.base import MODEL_KINDS, ClipFrames, PairScorer, ScoreResult, kind


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("many")
    runner_set.write(root / "set", n_clips=5)
    for seed in (0, 1):
        tiny_models.clip(root / f"clip{seed}", seed=seed)
    return root


class Crashing(PairScorer):
    """Ends as no model should."""

    def score(self, clip: ClipFrames | None, captions: Any, *, position: int = 0) -> ScoreResult:
        raise RuntimeError("a kernel failed")


@pytest.fixture
def crashing() -> Iterator[str]:
    kind("crashing", family="pair", summary="for this test", names=("crashing",))(lambda source, settings: Crashing())
    yield "crashing"
    MODEL_KINDS.pop("crashing")


def entry(place: Path, model: str, **more: Any) -> dict[str, Any]:
    name = str(place / model) if (place / model).exists() else model
    return {"model": name, "dataset": str(place / "set"), "config": "verb_mc", "store": place / "store", **more}


def test_clips_are_decoded_once_for_all_models_of_one_sampling(place: Path, tmp_path: Path) -> None:
    alone = video_contrast.score(
        place / "clip1", place / "set", "verb_mc", store=tmp_path / "own", output=tmp_path / "alone", accept="all",
        progress=False,
    )  # fmt: skip
    runs = [
        entry(place, "clip0", accept="truth"),
        entry(place, "clip1", accept="truth"),
        entry(place, "clip1", frames=4, name="four"),
        entry(place, "random"),
    ]
    outcomes = video_contrast.score_many(runs, output=tmp_path / "runs", progress=False)
    assert [outcome.name for outcome in outcomes] == ["clip0", "clip1", "four", "random"]
    results = [outcome.result for outcome in outcomes]
    assert all(result is not None for result in results), [outcome.error for outcome in outcomes]
    decoded = [result.record["counters"]["frames_decoded"] for result in results if result is not None]
    # the self-test has decoded the clips of the first model; the second finds all of them
    assert decoded[1] == 0 and decoded[2] > 0 and alone.record["counters"]["frames_decoded"] > 0
    assert results[1] is not None
    for mine, other in zip(results[1].scores, alone.scores, strict=True):
        np.testing.assert_array_equal(mine["scores"], other["scores"])
    assert not (tmp_path / "runs" / ".frames").exists()
    again = video_contrast.score_many(runs, output=tmp_path / "runs", progress=False)
    assert [outcome.result.metrics for outcome in again if outcome.result] == [
        outcome.result.metrics for outcome in outcomes if outcome.result
    ]


def test_a_model_is_gone_with_its_run(place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gc.disable()  # what refers to itself stays
    monkeypatch.setattr(gc, "collect", lambda: pytest.fail("a search of all objects"))
    try:
        outcomes = video_contrast.score_many([entry(place, "clip0")], output=tmp_path, progress=False)
        assert outcomes[0].result is not None and not LOADED
    finally:
        gc.enable()


def test_a_run_that_fails_does_not_lose_the_others(
    place: Path, tmp_path: Path, crashing: str, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    words = ["--dataset", str(place / "set"), "--config", "verb_mc", "--store", str(place / "store")]
    models = ["--model", crashing, "--model", str(place / "gone"), "--model", str(place / "clip0")]
    assert main(["score", *models, *words, "--output", str(tmp_path / "runs"), "--quiet"]) == 1
    shown = capsys.readouterr()
    assert "2 of 3 runs failed" in shown.err and "a kernel failed" in shown.err and "no such folder" in shown.err
    assert (tmp_path / "runs" / "clip0" / "run.json").exists()
    assert main(["--debug", "score", *models, *words, "--output", str(tmp_path / "runs")]) == 1
    assert "Traceback" in "\n".join(record.exc_text or "" for record in caplog.records)
    shown = capsys.readouterr()
    assert "verb_mc" in shown.out and "clip0" in shown.out


def test_a_file_of_runs_has_options_of_its_own(place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "runs.yaml").write_text(
        f"- {{model: random, dataset: {place / 'set'}, config: 'verb_mc,random_mc', limit: 3}}\n"
        f"- {{model: {place / 'clip0'}, frames: 4, name: four, pooling: mean}}\n",
        encoding="utf-8",
    )
    words = ["--runs", str(tmp_path / "runs.yaml"), "--dataset", str(place / "set"), "--config", "verb_mc", "--json"]
    assert main(["score", *words, "--store", str(place / "store"), "--output", str(tmp_path / "out")]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert set(shown) == {"random", "four"} and set(shown["random"]["configs"]) == {"verb_mc", "random_mc"}
    record = video_contrast.open_run(tmp_path / "out" / "four").record
    assert record["sampling"]["frames"] == 4 and record["request"]["limit"] is None
    assert video_contrast.open_run(tmp_path / "out" / "random").record["request"]["limit"] == 3
    assert main(["score", *words, "--dry-run"]) == 0
    assert json.loads(capsys.readouterr().out)["four"]["frames"] == 4


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("model: random", "must be a list of runs"),
        ("- [1", "is no YAML file"),
        ("- {dataset: shapes}", "run 1 of .* has no model"),
        ("- {modell: random, dataset: shapes}", "unknown option of run 1 .*'modell'.*did you mean 'model'"),
        ("- {model: random}", "run 1 of .* has no dataset"),
        (
            "- {model: random, dataset: shapes, framse: 4}",
            "run 1 of .*'framse': did you mean 'frames'",
        ),
        ("- {model: random, dataset: shapes, frames: four}", "run 1 of .*: --frames takes a whole number or 'owner'"),
        ("- {model: random, dataset: shapes, dry_run: true}", "unknown option of run 1"),
        ("- {model: random, dataset: shapes}\n- {model: a, dataset: b, frames: 0}", "run 2 of .*: --frames must be at"),
        ("- {model: a, dataset: b}\n- {model: a, frames: 4, model: b}", "run 2 of .*: the key 'model' stands twice"),
        ("- {model: random, dataset: shapes, config: 5}", "config 5 is neither a name nor a list of names"),
        ("- {model: random, dataset: shapes, revision: 1234567}", "--revision takes text .put it in quotes"),
        ("- {model: a, dataset: b, output: o}\n- {model: c, dataset: b, output: o}", "write to o"),
    ],
)
def test_wrong_lists_are_refused_in_one_sentence(
    text: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import re

    path = tmp_path / "runs.yaml"
    path.write_text(text, encoding="utf-8")
    assert main(["score", "--runs", str(path), "--output", str(tmp_path / "out")]) == 2
    shown = capsys.readouterr().err
    assert re.search(message, shown) and shown.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_names_of_runs_are_folders_in_the_output(place: Path, tmp_path: Path) -> None:
    runs = [entry(place, "random", name=name) for name in ("..", ".frames", "a/b", "a b", "a/b")]
    outcomes = video_contrast.score_many(runs, output=tmp_path / "runs", progress=False)
    assert [outcome.name for outcome in outcomes] == ["run", "frames", "a--b", "a-b", "a--b-2"]
    assert not any(outcome.error for outcome in outcomes)
    assert {outcome.output for outcome in outcomes} == set((tmp_path / "runs").iterdir())


def test_python_lists_are_checked_too() -> None:
    with pytest.raises(UsageError, match="run 1 of the runs has no dataset"):
        video_contrast.score_many([{"model": "random"}], output="runs")
    for wrong in (3, "random", {"model": "random"}, ["random"]):
        with pytest.raises(UsageError, match=r"the runs must be a list of mappings, .*, not "):
            video_contrast.score_many(wrong, output="runs")  # type: ignore[arg-type]
    for wrong in (3, None, ["shapes"]):
        with pytest.raises(UsageError, match="unknown builder"):
            video_contrast.load_dataset(wrong)  # type: ignore[arg-type]
