"""How many items a figure is over, and how many clips a run misses, stand in every table."""

import json
from pathlib import Path

import pytest
import runner_set

import video_contrast
from video_contrast.cli import main


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("runs")
    runner_set.write(place / "set", n_clips=7)
    for model in ("random", "constant"):
        video_contrast.score(model, place / "set", ["verb_mc", "retrieval"], output=place / model, progress=False)
    for n in range(4):
        (place / f"set/clips/{n:02d}.mp4").unlink()
    video_contrast.score("random", place / "set", "verb_mc", output=place / "few", progress=False)
    return place


@pytest.mark.parametrize("form", ["text", "markdown", "latex"])
def test_n_stands_in_a_column_or_in_the_cells_where_it_differs(
    runs: Path, form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["table", str(runs / "random"), str(runs / "constant"), "--format", form]) == 0
    lines = capsys.readouterr().out.splitlines()
    head = next(line for line in lines if "chance" in line)
    assert head.replace("&", " ").replace("|", " ").split()[:2] == ["chance", "n"]
    cells = next(line for line in lines if "verb" in line).replace("&", " ").replace("|", " ").split()
    assert "7" in cells
    assert main(["table", str(runs / "few"), str(runs / "random"), "--format", form]) == 0
    out = capsys.readouterr().out
    assert "n = 3" in out and "n = 7" in out
    missing = next(line for line in out.splitlines() if "clips missing" in line)
    assert "4 of 7" in missing and "0 of 8" in missing


def test_programs_are_told_the_same(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["table", str(runs / "few"), str(runs / "random"), "--json"]) == 0
    entries = [configs["verb_mc"] for configs in json.loads(capsys.readouterr().out).values()]
    assert [(own["n_missing"], own["n_clips"], own["conditions"]["clean"]["n"]) for own in entries] == [
        (4, 7, 3),
        (0, 8, 7),
    ]
