"""Pairs from end to end: clips and their reversals built, scored, tabled, compared and shown."""

import json
from pathlib import Path
from typing import Any

import datasets
import pytest

import video_contrast
from video_contrast.cli import main
from video_contrast.reports.compare import compare_runs, power_lines
from video_contrast.reports.table_lines import lines_of
from video_contrast.storage.run_figures import RunNumbers

MODELS = ("temporal", "bag-of-frames", "random", "constant")
CONFIG = "reversal_pairs"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("pairs")
    video_contrast.build("shapes", [CONFIG], output=root / "set", items=40, gallery=2)
    for model in MODELS:
        video_contrast.score(model, root / "set", CONFIG, output=root / model, conditions="clean,control:reversed",
                             accept="all", progress=False)  # fmt: skip
    return root


def numbers(root: Path, model: str, condition: str = "clean") -> dict[str, Any]:
    return video_contrast.open_run(root / model).metrics["configs"][CONFIG]["conditions"][condition]


def test_who_sees_the_order_of_frames_is_right_and_wrong_on_the_reversed_clips(runs: Path) -> None:
    found = numbers(runs, "temporal")
    assert found["groups"] == 20 and found["group_score"] >= 0.8
    assert found["group_score_low"] > found["chance_group_score"] == pytest.approx(1 / 6)
    assert numbers(runs, "temporal", "control:reversed")["text_score"] <= 0.1


def test_a_bag_of_frames_is_at_chance_by_clip_and_by_video_and_no_pair_prefers_both_captions(runs: Path) -> None:
    found = numbers(runs, "bag-of-frames")
    assert found["accuracy"] == 0.5 and found["video_score"] == 0.25 and found["group_ties"] == 20
    # it prefers one caption for both clips, so that it is never right twice
    assert found["text_score"] == found["group_score"] == 0


def test_a_constant_scorer_is_exactly_at_chance_in_all_three_and_a_random_one_near_it(runs: Path) -> None:
    found = numbers(runs, "constant")
    for name, chance in (("text_score", 1 / 4), ("video_score", 1 / 4), ("group_score", 1 / 6)):
        assert found[name] == pytest.approx(chance, abs=1e-15)
        low, high = (numbers(runs, "random")[f"{name}_{side}"] for side in ("low", "high"))
        assert low <= chance <= high


def test_captions_of_a_group_are_perturbed_once_for_all_of_its_clips(runs: Path) -> None:
    video_contrast.score("blind", runs / "set", CONFIG, output=runs / "blind", conditions="text:keyboard",
                         progress=False)  # fmt: skip
    assert numbers(runs, "blind", "text:keyboard")["video_score"] == 0.25  # each caption ties over the two clips
    rows = datasets.load_dataset(str(runs / "set"), CONFIG, split="test")
    changed = rows.map(video_contrast.TextPerturbation("keyboard", columns=("candidates",)))
    of_group: dict[str, set[tuple[str, ...]]] = {}
    for row in changed:
        of_group.setdefault(row["group"], set()).add(tuple(row["candidates"]))
    assert {len(texts) for texts in of_group.values()} == {1}


def test_the_table_shows_the_three_scores(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call = ["score", "--model", "temporal", "--dataset", str(runs / "set"), "--config", CONFIG, "--output"]
    assert main([*call, str(runs / "temporal"), "--conditions", "clean,control:reversed", "--quiet"]) == 0
    main([*call, str(runs / "again")])
    shown = " ".join(capsys.readouterr().out.split())
    assert "text score 0.250 20 1.000" in shown and "group score 0.167 20 1.000" in shown


def test_the_table_of_several_runs_has_them_too(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["table", str(runs / "bag-of-frames"), str(runs / "constant")]) == 0
    lines = {line.split("  ")[0]: line.split() for line in capsys.readouterr().out.splitlines()}
    for name, chance, bag in (("text", "0.25", "0.00"), ("video", "0.25", "0.25"), ("group", "0.17", "0.00")):
        line = lines[f"{CONFIG}: {name} score"]
        assert [line[3], line[5]] == [chance, bag] and line[8] == chance  # of the constant scorer
    fewer = {"n": 38, "groups": 19, "accuracy": 0.5, "text_score": 0.0}
    numbers = {
        name: RunNumbers.of({CONFIG: {"layout": "pairs", "conditions": {"clean": of}}})
        for name, of in (("a", fewer), ("b", {**fewer, "n": 40, "groups": 20}))
    }
    assert [line.cells[0] for line in lines_of(numbers)] == ["0.50 n = 38", "0.00 n = 19"]


def test_compare_pairs_the_groups(runs: Path) -> None:
    compared = compare_runs(runs / "bag-of-frames", runs / "temporal")
    rows = {row["figure"]: row for row in compared if row["condition"] == "clean"}
    assert list(rows) == ["accuracy", "text_score", "video_score", "group_score"]
    assert rows["group_score"]["n"] == 20 and rows["accuracy"]["n"] == 40
    assert rows["group_score"]["difference"] == pytest.approx(numbers(runs, "temporal")["group_score"])
    assert rows["group_score"]["p_holm"] < 0.01
    told = " ".join(power_lines(compared))
    assert "differs alike in all" in told and "show 0.0 points" not in told  # a pilot that does not vary


def test_the_page_shows_both_clips_side_by_side(runs: Path) -> None:
    from video_contrast.reports import write_report

    page = write_report([runs / "bag-of-frames", runs / "temporal"], runs / "report.html")
    text = Path(page).read_text(encoding="utf-8")
    assert "Pairs of clips and captions" in text
    item = text[text.index('"p":[[') :][:400]
    partner = json.loads(item[4 : item.index("]]") + 2])[0]
    strip, video, label = partner
    assert text.count(strip) > 1 and video and label in (0, 1)


def test_a_trial_run_takes_whole_groups(runs: Path) -> None:
    result = video_contrast.score("random", runs / "set", CONFIG, limit=3, progress=False)
    assert result[CONFIG]["conditions"]["clean"]["groups"] == 2


def test_a_group_with_a_clip_that_is_missing_is_left_out(tmp_path: Path) -> None:
    folder = video_contrast.build("shapes", [CONFIG], output=tmp_path / "set", items=8, gallery=2)
    first = video_contrast.open_set(folder).rows(CONFIG, "test")[0]
    (Path(folder) / first["video_path"]).unlink()
    result = video_contrast.score("temporal", folder, CONFIG, accept="all", progress=False)
    found = result[CONFIG]["conditions"]["clean"]
    assert (found["n"], found["groups"]) == (7, 3)
