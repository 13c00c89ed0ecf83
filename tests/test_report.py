"""The report: what stands in the file, whatever the runs and captions are."""

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import fabricate
import pyarrow.parquet as pq
import pytest

from video_contrast.cli import main
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.reports import write_report
from video_contrast.reports.behaviour import hit
from video_contrast.reports.runs import load_runs

CONFIGS = ["random_mc", "verb_mc", "retrieval"]
CONDITIONS = {
    "visual:jumble@1": 1.4, "visual:jumble@5": 0.4, "visual:jpeg@1": 1.5, "visual:jpeg@5": 1.2, "text:keyboard": 1.0,
    "visual:jumble@3+text:drop_first": 0.4, "visual:jpeg@3+text:drop_first": 0.8,
    "control:shuffled": 0.5, "control:blind": 0.0,
}  # fmt: skip


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("report")
    fabricate.make_set(root / "set", 40, captions=fabricate.HOSTILE, videos=6)
    fabricate.make_run(root / "runs/good", root / "set", CONFIGS, model="good", skill=1.8, conditions=CONDITIONS)
    fabricate.make_run(root / "runs/poor", root / "set", CONFIGS, model="poor", skill=0.4, conditions=CONDITIONS)
    return root


@pytest.fixture(scope="module")
def page(world: Path) -> str:
    return write_report([world / "runs"], world / "report.html").read_text(encoding="utf-8")


def embedded(page: str, name: str) -> Any:
    found = re.search(rf'<script type="application/json" id="{name}">(.*?)</script>', page, re.S)
    assert found is not None
    return json.loads(found[1])


def table(page: str, name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(embedded(page, "csv")[name])))


def test_nothing_is_loaded_from_anywhere(page: str) -> None:
    markup = re.sub(r"<script.*?</script>", "", page, flags=re.S)  # their JSON holds captions with markup in them
    for address in re.findall(r"""(?:src|href|action)=["']?([^"'\s>]+)""", markup):
        assert address.startswith(("#", "data:")), address
    assert "default-src 'none'" in page
    assert not re.search(r"@import|url\((?!#|data:)", page)


def test_the_summary_shows_what_the_runner_measured(world: Path, page: str) -> None:
    metrics = json.loads((world / "runs/good/metrics.json").read_text())["configs"]
    row = next(row for row in table(page, "accuracy") if row["model"] == "good")
    clean = metrics["verb_mc"]["conditions"]["clean"]
    for ending, key in (("", "accuracy"), (" low", "accuracy_low"), (" high", "accuracy_high")):
        assert float(row[f"verb_mc{ending}"]) == pytest.approx(100 * clean[key], rel=1e-4)
    retrieval = next(row for row in table(page, "retrieval") if row["model"] == "good")
    assert float(retrieval["text to video R@1"]) == pytest.approx(
        100 * metrics["retrieval"]["conditions"]["clean"]["t2v_R@1"], rel=1e-4
    )
    assert next(row for row in table(page, "accuracy") if row["model"] == "chance")["verb_mc"] == "20"


def test_every_section_of_a_full_run_is_there(page: str) -> None:
    assert re.findall(r'<section id="(\w+)"', page) == [
        "summary", "kinds", "robustness", "controls", "behaviour", "similarity", "audit", "gallery", "record",
    ]  # fmt: skip
    names = set(embedded(page, "csv"))
    assert {"gamma-verb_mc-accuracy", "gamma-bars-verb_mc", "severity-verb_mc", "scatter-verb_mc", "pairs-verb_mc-good",
            "controls-verb_mc", "sensitivity-verb_mc", "positions", "audit", "kinds-verb_mc"} <= names  # fmt: skip
    assert "not audited" in page


def test_gamma_in_the_heat_map_is_the_ratio_of_the_scores(world: Path, page: str) -> None:
    found = json.loads((world / "runs/good/metrics.json").read_text())["configs"]["verb_mc"]["conditions"]
    lines = list(csv.reader(io.StringIO(embedded(page, "csv")["pairs-verb_mc-good"])))
    values = {
        (line[0], visual): float(v) for line in lines[1:] for visual, v in zip(lines[0][1:], line[1:], strict=True)
    }
    expected = found["visual:jpeg@3+text:drop_first"]["accuracy"] / found["clean"]["accuracy"]
    assert values["drop_first", "jpeg@3"] == pytest.approx(expected)


def test_each_figure_also_comes_as_svg_png_and_csv(world: Path, tmp_path: Path) -> None:
    write_report([world / "runs/good"], tmp_path / "r.html", assets=tmp_path / "figures")
    names = {path.stem for path in (tmp_path / "figures").glob("*.svg")}
    assert names and names == {path.stem for path in (tmp_path / "figures").glob("*.png")}
    assert names < {path.stem for path in (tmp_path / "figures").glob("*.csv")}
    svg = (tmp_path / "figures" / "accuracy-dots.svg").read_text()
    assert "var(--" in svg and "<svg" in svg


def test_the_gallery_agrees_with_the_scores(world: Path, page: str) -> None:
    data = embedded(page, "data")
    stored = [
        line
        for line in pq.read_table(world / "runs/poor/scores.parquet").to_pylist()
        if line["config"] == "verb_mc" and line["condition"] == "clean"
    ]
    number = next(
        n for n, r in enumerate(data["runs"]) if r["model"] == "poor" and "verb_mc" in data["sets"][r["set"]]["name"]
    )
    run = data["runs"][number]
    items = data["sets"][run["set"]]["items"]
    shown = {items[n]["i"]: scores for n, scores in enumerate(run["scores"])}
    for line in stored:
        assert shown[line["id"]] == pytest.approx(line["scores"], rel=1e-5)
    wrong = sum(max(line["scores"]) > line["scores"][line["label"]] for line in stored)
    assert run["share"] == f"{wrong} of {len(stored)} wrong"


def test_edits_point_at_the_new_words_by_characters(page: str) -> None:
    data = embedded(page, "data")
    items = next(s["items"] for s in data["sets"] if "verb_mc" in s["name"])
    seen = 0
    for item in items:
        for text, edit in zip(item["c"], item["e"], strict=True):
            if edit:
                assert text[edit[0] : edit[1]] == "silently"
                seen += 1
    assert seen == len(items)


def test_a_missing_video_is_said_where_its_frames_would_be(page: str) -> None:
    data = embedded(page, "data")
    assert any("no such video file" in reason and "video6" in reason for reason in data["missing"].values())
    assert data["strips"]


def test_hostile_captions_cannot_leave_the_data(page: str) -> None:
    assert "<script>window.hacked" not in page
    assert page.count("</script>") == page.count("<script")
    assert any(fabricate.HOSTILE[0] in item["c"] for s in embedded(page, "data")["sets"] for item in s["items"])


def test_equal_runs_give_equal_bytes(world: Path, page: str, tmp_path: Path) -> None:
    again = write_report([world / "runs"], tmp_path / "again.html")
    assert again.read_text(encoding="utf-8") == page


def test_sets_that_differ_under_one_name_are_not_compared(world: Path, tmp_path: Path) -> None:
    fabricate.make_set(tmp_path / "set", 30)
    fabricate.make_run(tmp_path / "other", tmp_path / "set", ["verb_mc"], model="good")
    page = write_report([world / "runs/good", tmp_path / "other"], tmp_path / "r.html").read_text(encoding="utf-8")
    assert "2 different sets called verb_mc" in page
    header = embedded(page, "csv")["accuracy"].splitlines()[0].split(",")
    assert header.count("verb_mc") == 2


def test_folder_mode_keeps_the_frames_of_every_failure_in_files(world: Path, tmp_path: Path) -> None:
    page = write_report([world / "runs"], tmp_path / "folder", max_failures=1)
    assert page == tmp_path / "folder" / "index.html"
    strips = embedded(page.read_text(encoding="utf-8"), "data")["strips"]
    assert len(strips) == 6  # all clips that are there
    assert all((tmp_path / "folder" / path).is_file() for path in strips.values())
    assert (tmp_path / "folder" / "figures" / "accuracy.csv").is_file()


def test_ten_thousand_items_stay_under_fifteen_megabytes(tmp_path: Path) -> None:
    fabricate.make_set(tmp_path / "set", 10_000)
    fabricate.make_run(tmp_path / "run", tmp_path / "set", ["verb_mc"], model="big", skill=0.5)
    page = write_report([tmp_path / "run"], tmp_path / "r.html", max_failures=3)
    assert page.stat().st_size < 15e6
    data = embedded(page.read_text(encoding="utf-8"), "data")
    assert len(data["sets"][0]["items"]) == 10_000
    assert len(data["strips"]) == 3


def test_strips_shrink_until_they_fit(world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from video_contrast.reports import gallery

    large = write_report([world / "runs/poor"], tmp_path / "large.html")
    monkeypatch.setattr(gallery, "BUDGET", 6_000)
    small = write_report([world / "runs/poor"], tmp_path / "small.html")
    sizes = [sum(map(len, embedded(p.read_text(encoding="utf-8"), "data")["strips"].values())) for p in (large, small)]
    assert sizes[1] < sizes[0]


def test_what_is_no_run_is_said_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(tmp_path), "--output", str(tmp_path / "r.html")]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and "no run.json" in error
    assert not (tmp_path / "r.html").exists()


def test_a_set_that_has_moved_is_named(world: Path, tmp_path: Path) -> None:
    fabricate.make_set(tmp_path / "set", 10)
    fabricate.make_run(tmp_path / "run", tmp_path / "set", ["verb_mc"])
    (tmp_path / "set").rename(tmp_path / "moved")
    with pytest.raises(VideoContrastError, match="--set"):
        write_report([tmp_path / "run"], tmp_path / "r.html")
    assert write_report([tmp_path / "run"], tmp_path / "r.html", dataset=tmp_path / "moved").exists()


def test_a_negative_number_of_failures_is_refused(world: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--max-failures"):
        write_report([world / "runs"], tmp_path / "r.html", max_failures=-1)


def test_a_tie_counts_its_share_as_the_runner_counts_it(world: Path) -> None:
    run = next(run for run in load_runs([world / "runs/good"]) if run.key.config == "verb_mc")
    hits = [hit(line) for line in run.choices["clean"].values()]
    assert sum(hits) / len(hits) == pytest.approx(run.metrics["clean"]["accuracy"])
