"""Pairs of runs that differ in one stage: `why-differ` names it, and its shares add up to the difference."""

import csv
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import runner_set
import tiny_models
import tiny_vlm

import video_contrast
from video_contrast.builders.registry import BuiltSet
from video_contrast.builders.writing import write_set
from video_contrast.cli import main
from video_contrast.reports import write_report
from video_contrast.reports.why_differ import compare, first_different, pairs_of, shares
from video_contrast.reports.why_differ.comparison import compared
from video_contrast.storage import RunFolder, SetFolder

CONFIG = "verb_mc"
ORDER = [1, 2, 0]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("why")
    runner_set.write(root / "set", n_clips=9)
    tiny_models.clip(root / "clip")
    tiny_vlm.MAKERS["gemma3"](root / "gemma3")
    return root


@pytest.fixture(autouse=True)
def _pictures_need_no_torchvision(monkeypatch: pytest.MonkeyPatch) -> None:
    """Gemma 3 takes the frames as pictures."""
    monkeypatch.setattr("video_contrast.runner.kinds.generative.check_torchvision", lambda: None)


def run(place: Path, name: str, model: str = "clip", dataset: str = "set", **options: Any) -> Path:
    """A run of the folder; the same name is the same run."""
    if not RunFolder(place / name).is_finished:
        given = {"frames": 4, "progress": False, "store": place / "store", **options}
        found = place / model
        video_contrast.score(found if found.exists() else model, place / dataset, CONFIG, output=place / name, **given)
    return place / name


def saved(place: Path, name: str, file: str, change: Callable[[Any], Any], model: str = "clip") -> str:
    """A copy of a checkpoint with another JSON file."""
    shutil.copytree(place / model, place / name, dirs_exist_ok=True)
    path = place / name / file
    path.write_text(json.dumps(change(json.loads(path.read_text()))))
    return name


def other_set(place: Path, name: str, change: Callable[[dict[str, Any]], None], which: slice = slice(0, 3)) -> str:
    """A copy of the set with other rows."""
    rows: Any = SetFolder(place / "set").choice_rows(CONFIG, "test")
    for row in rows[which]:
        change(row)
    shutil.copytree(place / "set" / "clips", place / name / "clips", dirs_exist_ok=True)
    write_set(BuiltSet("captions", {CONFIG: {"test": rows}}, {"summary": "changed for a test"}), place / name)
    return name


def key_moved(row: dict[str, Any]) -> None:
    label = (row["label"] + 1) % 3
    kinds = row["kinds"]
    kinds[label], kinds[row["label"]] = "true", kinds[label]
    row["label"] = label


def turned(row: dict[str, Any]) -> None:
    for column in ("candidates", "kinds"):
        row[column] = [row[column][n] for n in ORDER]
    row["label"] = ORDER.index(row["label"])


def reworded(row: dict[str, Any]) -> None:
    row["candidates"] = [f"{'not ' * n}{caption} slowly" for n, caption in enumerate(row["candidates"])]


def processor(**changed: Any) -> Callable[[Any], Any]:
    def change(config: Any) -> Any:
        part = config.get("image_processor", config)
        assert set(changed) <= set(part)
        part.update(changed)
        return config

    return change


def template(place: Path) -> str:
    shutil.copytree(place / "gemma3", place / "gemma3-asked", dirs_exist_ok=True)
    path = place / "gemma3-asked" / "chat_template.jinja"
    path.write_text(path.read_text() + "Think of the verb.")
    return "gemma3-asked"


def without_clip(place: Path) -> str:
    shutil.copytree(place / "set", place / "set-missing", dirs_exist_ok=True)
    (place / "set-missing" / "clips" / "03.mp4").unlink()
    return "set-missing"


def clip_of(place: Path, name: str, **options: Any) -> str:
    tiny_models.clip(place / name, **options)
    return name


PROCESSOR = "processor_config.json"
GEMMA: dict[str, Any] = {"model": "gemma3", "frames": 2, "options": {"scoring": "loglik"}}
# name -> stage, options of the first run, options of the second
PAIRS: dict[str, tuple[str, dict[str, Any], Callable[[Path], dict[str, Any]]]] = {
    "more frames": ("frames", {}, lambda place: {"frames": 8}),
    "more pictures": ("frames", GEMMA, lambda p: {**GEMMA, "frames": 3}),
    "linspace": ("frames", {}, lambda place: {"sampling": "linspace"}),
    "resize": ("pixels", {}, lambda p: {"model": saved(p, "nearest", PROCESSOR, processor(resample=0))}),
    "normalisation": (
        "pixels", {}, lambda p: {"model": saved(p, "mean", PROCESSOR, processor(image_mean=[0.2, 0.2, 0.2]))}
    ),
    "prompt": ("prompt", GEMMA, lambda p: {**GEMMA, "model": template(p)}),
    "letters": ("prompt", GEMMA, lambda p: {**GEMMA, "options": {"scoring": "letter"}}),
    "tokens": ("prompt", {}, lambda p: {"model": clip_of(p, "short", max_length=20)}),
    "dtype": ("model", {}, lambda p: {"dtype": "bfloat16"}),
    "weights": ("model", {}, lambda p: {"model": clip_of(p, "other", seed=1)}),
    "pooling": ("joining", {}, lambda p: {"options": {"pooling": "max"}}),
    "norm": ("joining", GEMMA, lambda p: {**GEMMA, "options": {"scoring": "loglik", "norm": "sum"}}),
    "key": ("set", {}, lambda p: {"dataset": other_set(p, "set-key", key_moved)}),
    "order": ("set", {}, lambda p: {"dataset": other_set(p, "set-order", turned)}),
    "captions": ("set", {}, lambda p: {"dataset": other_set(p, "set-captions", reworded, slice(None))}),
    "missing clips": ("set", {}, lambda p: {"dataset": without_clip(p)}),
}  # fmt: skip


@pytest.mark.parametrize("name", PAIRS)
def test_the_stage_in_which_two_runs_differ_is_named(name: str, place: Path) -> None:
    stage, first, second = PAIRS[name]
    one = run(place, "first-gemma" if first else "first", **first)
    ((a, b),) = pairs_of(one, run(place, name.replace(" ", "-"), **second(place)), CONFIG)
    results = compare(a, b)
    states = {result.stage: result.state for result in results}
    assert [stage] == [key for key, state in states.items() if state == "differs"], "\n".join(map(str, results))
    changes = shares(a, b, results)
    assert np.isclose(sum(share.change for share in changes), b.numbers["accuracy"] - a.numbers["accuracy"])
    expected = {"key": "set (key)", "missing clips": "set (missing items)", "norm": "joining (norm)"}
    expected |= {"captions": "set (captions)", "order": "set (order)"}
    assert changes or name != "captions"
    for share in changes:
        assert share.stage == expected.get(name, stage)


@pytest.mark.parametrize("options", [{}, {"batch_size": 2}, {"workers": 2}, {"model": "clip-moved"}])
def test_runs_of_the_same_are_equal(options: dict[str, Any], place: Path) -> None:
    if options.get("model"):
        shutil.copytree(place / "clip", place / "clip-moved", dirs_exist_ok=True)
    name = "again-" + "-".join(map(str, options.values()))
    ((a, b),) = pairs_of(run(place, "first"), run(place, name, **options), CONFIG)
    results = compare(a, b)
    assert first_different(results) is None and not shares(a, b, results)
    assert {result.state for result in results} == {"equal"}, "\n".join(map(str, results))


def lmms_log(path: Path, scored: Path, hit_of: Callable[[Any], float], order: list[int] | None = None) -> Path:
    """A run's answers as lmms-eval logs them: rows are counted, and `input` is the prompt.

    `order`: of the candidates as they are lettered; as in the set where None.
    """
    lines, rows = [], {row["id"]: row for row in SetFolder(scored.parent / "set").choice_rows(CONFIG, "test")}
    for number, row in enumerate(RunFolder(scored).score_rows()):
        texts = rows[row["id"]]["candidates"]
        order = order or list(range(len(texts)))
        letter, target = ("ABC"[order.index(n)] for n in (int(np.argmax(row["scores"])), row["label"]))
        score = {"pred_answer": letter, "answer": target, "score": hit_of(row)}
        asked = [f"{at}. {texts[n]}" for at, n in zip("ABC", order, strict=True)]
        sample = {"doc_id": number, "target": target, "filtered_resps": letter, "mvbench_score": score}
        lines.append(sample | {"input": "\n".join(["Which is it?", *asked, "Only give the best option."])})
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def right(row: Any) -> float:
    return float(np.argmax(row["scores"]) == row["label"])


def test_a_log_that_counts_ties_otherwise(place: Path) -> None:
    scored = run(place, "constant", "constant")
    log = lmms_log(place / "peer" / "1_samples_verb_mc.jsonl", scored, right)
    ((a, b),) = pairs_of(scored, log)
    assert [result.stage for result in compare(a, b) if result.state == "differs"] == ["joining"]


def test_a_log_that_reads_letters_otherwise(place: Path) -> None:
    scored = run(place, "first")
    log = lmms_log(place / "peer" / "2_samples_verb_mc.jsonl", scored, lambda row: right(row) * (row["label"] != 2))
    ((a, b),) = pairs_of(scored, log)
    results = compare(a, b)
    assert [result.stage for result in results if result.state == "differs"] == ["reading"]
    same = lmms_log(place / "peer" / "3_samples_verb_mc.jsonl", scored, right, ORDER)
    (own, other) = pairs_of(scored, same)[0]
    assert first_different(compare(own, other)) is None
    assert {name: item.choice for name, item in own.items.items()} == {n: i.choice for n, i in other.items.items()}


def test_predictions_of_an_exported_task_of_mteb_are_compared_by_their_scores(place: Path, tmp_path: Path) -> None:
    scored, half = run(place, "first"), run(place, "dtype", dtype="bfloat16")
    own = {
        row["id"]: {f"{row['id']}#{n}": s for n, s in enumerate(row["scores"])} for row in RunFolder(half).score_rows()
    }
    path = tmp_path / "VerbMc_predictions.json"
    path.write_text(json.dumps({"mteb_model_meta": {"model_name": "m"}, "default": {"test": own}}))
    ((a, b),) = pairs_of(scored, path)
    results = compare(a, b)
    assert [result.stage for result in results if result.state == "differs"] == ["scores"]
    assert b.numbers["accuracy"] == RunFolder(half).metrics["configs"][CONFIG]["conditions"]["clean"]["accuracy"]
    assert first_different(compare(*pairs_of(half, path)[0])) is None


def test_the_prompts_of_a_log_are_compared(place: Path) -> None:
    options = {"model": "gemma3", "frames": 2, "options": {"scoring": "letter"}}
    scored = run(place, "lettered", **options)
    log = lmms_log(place / "peer" / "4_samples_verb_mc.jsonl", scored, right)
    result = {result.stage: result for result in compare(*pairs_of(scored, log)[0])}["prompt"]
    says = "'Answer with the letter of the one that fits.' and 'Which is it? / Only give the best option.'"
    assert result.state == "differs" and result.says == f"prompts differ: {says} in one side only"
    other = log.with_name("5_samples_verb_mc.jsonl")
    other.write_text(log.read_text().replace("Only give the best option.", "Best option:("))
    states = {result.stage: result for result in compare(*pairs_of(log, other)[0])}
    assert states["prompt"].says == "prompts differ: 'Only give the best option.' and 'Best option:(' in one side only"
    assert {result.state for result in compare(*pairs_of(log, log)[0])} <= {"equal", "unknown"}


def search(place: Path, suffix: str = "", **options: Any) -> None:
    """Runs `search` and `search-missing`, which lacks a clip."""
    for name, dataset in (("search", "set"), ("search-missing", without_clip(place))):
        video_contrast.score(
            place / "clip", place / dataset, "retrieval", output=place / f"{name}{suffix}", frames=4, progress=False,
            store=place / "store", **options,
        )  # fmt: skip


def test_retrieval_of_which_the_best_were_kept_is_compared_where_clips_are_missing(place: Path) -> None:
    search(place, "-best", keep_matrices=0)
    (comparison,) = compared(place / "search-best", place / "search-missing-best")
    assert comparison.first == "set" and {share.stage for share in comparison.shares} <= {"set"}
    for share in comparison.shares:
        assert share.change == share.of
    assert write_report([place / "search-best", place / "search-missing-best"], place / "best.html").is_file()
    assert main(["table", str(place / "search-best"), str(place / "search-missing-best")]) == 0


def test_retrieval_is_compared_by_its_matrix(place: Path) -> None:
    search(place)
    ((a, b),) = pairs_of(place / "search", place / "search-missing")
    results = compare(a, b)
    assert [result.stage for result in results if result.state == "differs"] == ["set"]
    scores = next(result for result in results if result.stage == "scores")
    assert scores.state == "equal" and scores.numbers["scores"] == b.matrix.values.size
    for way in ("t2v", "v2t"):
        changes = [share.change for share in shares(a, b, results) if share.figure == f"{way}_R@1"]
        assert np.isclose(sum(changes), b.numbers[f"{way}_R@1"] - a.numbers[f"{way}_R@1"])


def test_screen_json_and_refusals(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["why-differ", str(run(place, "first")), str(run(place, "more-frames", frames=8))]
    assert main(words) == 0
    assert "verb_mc: frames\n  equal    set" in capsys.readouterr().out
    assert main([*words, "--json"]) == 0
    (report,) = json.loads(capsys.readouterr().out)
    assert report["first"] == "frames" and report["stages"][0]["stage"] == "set"
    page = place / "page.html"
    assert main(["report", *words[1:], "--output", str(page), "--assets", str(place / "assets")]) == 0
    assert "Why the two runs differ" in page.read_text(encoding="utf-8")
    with (place / "assets" / f"why-differ-{CONFIG}.csv").open(newline="") as file:
        shown = list(csv.DictReader(file))
    assert [(line["stage"], line["state"], line["what was compared"]) for line in shown] == [
        (stage["stage"], stage["state"], stage["says"]) for stage in report["stages"]
    ]
    assert main([*words, "--config", "gender_mc"]) == 2
    assert main(["why-differ", words[1], str(place / "nothing")]) == 2
    assert "no folder of a run" in capsys.readouterr().err
    (place / "later.json").write_text('{"certificate": 2}')
    assert main(["why-differ", words[1], str(place / "later.json")]) == 1
    assert "later.json is no certificate of version 1" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("command", "file"),
    [
        ("why-differ", "scores.parquet"), ("why-differ", "evidence.json"), ("table", "scores.parquet"),
        ("leaderboard", "scores.parquet"),
    ],
)  # fmt: skip
def test_a_damaged_file_of_a_run_is_named(
    command: str, file: str, place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = run(place, "first")
    copy = shutil.copytree(whole, tmp_path / "copy")
    (copy / file).write_text("[1, 2]")
    site = ["--output", str(tmp_path / "site")] if command == "leaderboard" else []
    capsys.readouterr()
    assert main([command, str(whole), str(copy), *site]) == 1
    error = capsys.readouterr().err
    assert f"{copy / file} is damaged" in error and "unexpected" not in error
    assert not (tmp_path / "site").exists()
    (copy / "metrics.json").unlink()
    assert main(["why-differ", str(whole), str(copy)]) == 2
    assert "no finished run (no metrics.json)" in capsys.readouterr().err


def test_what_a_run_records_is_small(place: Path) -> None:
    folder = RunFolder(run(place, "first"))
    assert (folder.path / "evidence.json").stat().st_size < 16_000
    items = folder.evidence["items"][CONFIG]
    assert len(items) == 9 and all(len(item["texts"]) == len(item["tokens"]) == 3 for item in items.values())
    assert len(folder.evidence["traces"]) == 8
