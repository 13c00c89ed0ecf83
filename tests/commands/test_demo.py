"""The demo shows on known ground what the tool is for."""

from pathlib import Path
from typing import Any

import pytest

from video_contrast import cli
from video_contrast.commands import demo

TRAINED = ("bag-of-frames", "temporal-plain", "temporal")


@pytest.fixture(scope="module")
def output(demo_output: Path) -> Path:
    return demo_output


@pytest.fixture(scope="module")
def metrics(demo_metrics: dict[str, dict[str, Any]]) -> dict[str, Any]:
    return demo_metrics


def clean(metrics: dict[str, Any], model: str, config: str) -> dict[str, float]:
    return metrics[model][config]["conditions"]["clean"]


def test_the_bag_of_frames_cannot_tell_an_action_from_its_reversal(metrics: dict[str, Any]) -> None:
    # exactly: the set of frames of a clip and of its reversal are the same
    assert clean(metrics, "bag-of-frames", "antonym_mc")["accuracy"] == 0.5


def test_hard_negatives_teach_what_plain_contrast_does_not(metrics: dict[str, Any]) -> None:
    taught, plain = clean(metrics, "temporal", "antonym_mc"), clean(metrics, "temporal-plain", "antonym_mc")
    assert taught["accuracy"] >= 0.80
    assert taught["accuracy_low"] > plain["accuracy_high"]


@pytest.mark.parametrize("model", TRAINED)
def test_random_options_hide_the_difference(metrics: dict[str, Any], model: str) -> None:
    assert clean(metrics, model, "random_mc")["accuracy"] >= 0.95


def test_random_is_at_chance_within_its_interval(metrics: dict[str, Any]) -> None:
    configs = [c for c in metrics["random"] if c != "retrieval"]
    inside = [(m := clean(metrics, "random", c))["accuracy_low"] <= m["chance"] <= m["accuracy_high"] for c in configs]
    # a 95 % interval misses now and then, and there are nine
    assert sum(inside) >= len(inside) - 1


def test_a_model_that_sees_no_video_does_not_win(metrics: dict[str, Any]) -> None:
    blind = clean(metrics, "blind", "antonym_mc")
    assert blind["accuracy_low"] <= 0.5 <= blind["accuracy_high"]


@pytest.mark.parametrize("group", ["visual", "text", "pairs"])
def test_gammas_are_there_and_baselines_that_see_nothing_lose_nothing_to_video(
    metrics: dict[str, Any], group: str
) -> None:
    for model in TRAINED:
        assert 0 < metrics[model]["retrieval"]["robustness"]["t2v_R@1"][group]["gamma_relative"] <= 1.05


def test_the_table_has_a_row_a_measure_and_a_column_a_model(output: Path) -> None:
    lines = (output / "table.md").read_text().splitlines()
    assert lines[0] == "| | chance | " + " | ".join(demo.MODELS) + " |"
    assert len(lines) == 2 + 2 + 9 + 3
    assert (output / "report.html").stat().st_size > 10_000


def test_a_second_run_changes_nothing_and_says_nothing_if_quiet(
    output: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = (output / "table.md").read_bytes()
    reports: list[Path] = []  # the report is drawn again from these very runs: that takes as long as the first time
    monkeypatch.setattr("video_contrast.reports.write.write_report", lambda runs, report, **_: reports.append(report))
    assert cli.main(["demo", "--output", str(output), "--quiet"]) == 0
    assert capsys.readouterr().out == ""
    assert (output / "table.md").read_bytes() == before
    assert reports == [output / "report.html"]


def test_a_folder_with_other_files_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "thesis.tex").write_text("x")
    assert cli.main(["demo", "--output", str(tmp_path)]) == 1
    assert "holds other files; give a new folder" in capsys.readouterr().err
    assert [p.name for p in tmp_path.iterdir()] == ["thesis.tex"]
