"""What is bold: only what a test calls better; and counts of items that differ between models are shown."""

from pathlib import Path

import fabricate
import pytest

from video_contrast.cli import main
from video_contrast.reports import write_report
from video_contrast.reports.runs import ItemHits, best_of
from video_contrast.storage import RunFolder


def shortened(run: Path, keep: int) -> Path:
    """The run as if the other clips could not be read."""
    folder = RunFolder(run)
    rows = folder.score_rows()
    kept = sorted({row["id"] for row in rows})[:keep]
    folder.write_scores([row for row in rows if row["id"] in kept])
    metrics = folder.metrics
    metrics["configs"]["verb_mc"]["conditions"]["clean"]["n"] = keep
    folder.write_metrics(metrics)
    return run


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    fabricate.make_set(tmp_path / "set", 60)
    for model, skill in (("good", 6.0), ("poor", 0.0), ("also-poor", 0.1)):
        fabricate.make_run(tmp_path / "runs" / model, tmp_path / "set", ["verb_mc"], model=model, skill=skill)
    return tmp_path / "runs"


def test_only_what_a_test_calls_best_is_best() -> None:
    names, clusters = [f"i{n}" for n in range(12)], [f"v{n}" for n in range(12)]
    right = ItemHits.of(reversed(names), [1.0] * 12, reversed(clusters))
    half = ItemHits.of(names, [n % 2 for n in range(12)], clusters)
    nearly = ItemHits.of(names, [0.0, *[1.0] * 11], clusters)
    assert best_of({"a": half, "b": right}) == "b"
    assert best_of({"a": nearly, "b": right}) is None  # one item more is no finding
    assert best_of({"b": right}) is None


def test_the_report_and_the_table_mark_the_best_and_counts_that_differ(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for names, best in ((("good", "poor"), 1), (("poor", "also-poor"), 0)):
        folders = [str(runs / name) for name in names]
        page = write_report(folders, tmp_path / "r.html").read_text(encoding="utf-8")
        assert page.count('class="num best"') == best and "<small>n = " not in page
        assert main(["table", *folders]) == 0
        out = capsys.readouterr().out
        assert main(["table", *folders, "--format", "latex"]) == 0
        tabular = capsys.readouterr().out
        assert tabular.count(r"\textbf{") == best and tabular.count(" & ") == 4 * tabular.count(r" \\")
        assert out.count("] *") == best and ("paired sign-flip test" in out) == bool(best) and "n = " not in out
    shortened(runs / "poor", 38)
    assert main(["table", str(runs / "good"), str(runs / "poor")]) == 0
    out = capsys.readouterr().out
    assert "n = 60" in out and "n = 38" in out
    page = write_report([runs / "good", runs / "poor"], tmp_path / "r.html").read_text(encoding="utf-8")
    assert "<small>n = 60</small>" in page and "<small>n = 38</small>" in page


def test_configs_are_not_called_sets(runs: Path, tmp_path: Path) -> None:
    page = write_report([runs], tmp_path / "r.html", max_failures=0).read_text(encoding="utf-8")
    assert "3 models on 1 config of 1 set" in page


def test_runs_of_one_model_on_one_config_stand_side_by_side(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fabricate.make_set(tmp_path / "set", 12)
    for name, config, skill in (
        ("frames-4", "verb_mc", 0.0),
        ("frames-8", "verb_mc", 6.0),
        ("other", "random_mc", 6.0),
    ):
        fabricate.make_run(tmp_path / "runs" / name, tmp_path / "set", [config], model="m", skill=skill)
    assert main(["table", str(tmp_path / "runs")]) == 0
    header = capsys.readouterr().out.splitlines()[0]
    assert header.split() == ["chance", "n", "frames-4", "frames-8", "m"]
    assert main(["table", str(tmp_path / "runs" / "frames-4"), str(tmp_path / "runs" / "other")]) == 0
    assert capsys.readouterr().out.splitlines()[0].split() == ["chance", "n", "m"]  # nothing in common: one column
    (tmp_path / "more").mkdir()
    fabricate.make_run(tmp_path / "more" / "frames-4", tmp_path / "set", ["verb_mc"], model="m", skill=0.0)
    paths = [str(tmp_path / place / "frames-4") for place in ("runs", "more")]
    assert main(["table", *paths]) == 0
    assert capsys.readouterr().out.splitlines()[0].split() == ["chance", "n", *paths]
