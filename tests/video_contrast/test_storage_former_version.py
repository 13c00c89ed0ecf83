"""A set and a run that version 0.1.0 wrote (`tests/data/0.1.0`) are read, reported and recognised as they are."""

import hashlib
import os
import shutil
from pathlib import Path

import pytest

import video_contrast
from video_contrast.files import read_json, write_json
from video_contrast.reports.compare import compare_runs
from video_contrast.reports.write import write_report
from video_contrast.runner.locate import locate, signature
from video_contrast.runner.sets import load_set

CONDITIONS = ["clean", "text:keyboard", "visual:gaussian_noise@3", "visual:jumble@3+text:keyboard"]  # sorted


@pytest.fixture
def place(repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy, with the times of the videos and the checkpoint as the run recorded them: a checkout does not keep them.

    The run was made in the folder that holds the set, which its record calls `set`.
    """
    shutil.copytree(repository / "tests" / "data" / "0.1.0", tmp_path, dirs_exist_ok=True)
    for path, video in read_json(tmp_path / "run" / "videos.json").items():
        os.utime(tmp_path / "set" / path, ns=(video["changed"], video["changed"]))
    record = read_json(tmp_path / "run" / "run.json")
    checkpoint = locate("temporal").path
    assert checkpoint is not None
    now = signature(checkpoint)
    recorded = record["model"]["files"]
    record["model"]["files"] = {name: [size, now[name][1]] for name, (size, _) in recorded.items()}
    write_json(tmp_path / "run" / "run.json", record)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def files(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file() and path.name != "run.lock"
    }


def test_the_set_opens(place: Path) -> None:
    folder = video_contrast.open_set(place / "set")
    assert folder.configs == ["antonym_mc", "retrieval", "verb_mc"] and folder.builder == "shapes"
    assert folder.validate() == {config: {"test": 12} for config in folder.configs}
    row = folder.choice_rows("verb_mc", "test")[0]
    assert row["kinds"].count("true") == 1 and row["kinds"][row["label"]] == "true" and len(row["candidates"]) == 5
    hard = row["kinds"].index("verb_lexical")
    edit = row["edits"][hard]
    assert edit is not None and row["candidates"][hard][edit["start"] : edit["end"]] == edit["new"]
    assert len(folder.retrieval_rows("retrieval", "test")[0]["captions"]) == 2
    assert video_contrast.open_run(place / "run").record["set"]["fingerprints"] == {
        config: folder.fingerprint(config, "test") for config in folder.configs
    }
    assert len(load_set(place / "set", None, "test").groups) == 3


def test_the_run_opens(place: Path) -> None:
    run = video_contrast.open_run(place / "run")
    assert run.model == "temporal" and run.record["version"] == "0.1.0" and run.missing == {}
    assert run.configs == ["antonym_mc", "retrieval", "verb_mc"] and run.conditions("verb_mc") == CONDITIONS
    assert run.metrics["configs"]["antonym_mc"]["conditions"]["text:keyboard"]["accuracy"] == 10 / 12
    scores = run.scores()
    assert len(scores) == 2 * len(CONDITIONS) * 12 == len(run.score_rows())
    assert list(scores.columns) == ["config", "condition", "id", "video_id", "cluster", "label", "kinds", "scores",
                                    "replaced_score", "parts", "frames"]  # fmt: skip
    clean = scores[(scores.config == "antonym_mc") & (scores.condition == "clean")]
    assert (clean.scores.map(lambda row: row.argmax()) == clean.label).all()
    for condition in CONDITIONS:
        matrix = run.matrix("retrieval", condition)
        assert matrix.values.shape == (len(matrix.rows), len(matrix.columns)) == (12, 24)
        assert [matrix.columns[k].partition("#")[0] for k in range(24)] == [matrix.rows[n] for n in matrix.relevant]
    assert set(run.videos) == set(read_json(place / "run" / "videos.json")) and run.videos["clips/test-0/0000.mp4"]


def test_the_run_is_reported_and_compared(place: Path) -> None:
    report = write_report([place / "run"], place / "report.html")
    assert "temporal" in Path(report).read_text(encoding="utf-8")
    rows = compare_runs(place / "run", place / "run")
    assert {(row["config"], row["condition"]) for row in rows} == {
        (config, condition) for config in ("antonym_mc", "retrieval", "verb_mc") for condition in CONDITIONS
    }
    assert all(row["difference"] == 0 for row in rows)


def test_the_finished_run_is_returned_and_nothing_is_written(place: Path) -> None:
    before = files(place / "run")
    asked = video_contrast.open_run("run").record["request"]["conditions"]
    result = video_contrast.score("temporal", "set", conditions=asked, output="run", store="store", progress=False)
    assert files(place / "run") == before and not (place / "store").exists()
    assert result["antonym_mc"]["conditions"]["text:keyboard"]["accuracy"] == 10 / 12


def test_the_set_is_built_again_to_the_same_rows(place: Path) -> None:
    facts = video_contrast.open_set(place / "set").record["facts"]
    options = {name: value for name, value in facts["options"].items() if name != "reversals"}
    built = video_contrast.build("shapes", ["antonym_mc", "retrieval", "verb_mc"], output=place / "new", **options)
    former, now = video_contrast.open_set(place / "set"), video_contrast.open_set(built)
    for config in former.configs:
        assert now.rows(config, "test") == former.rows(config, "test")
