"""Answers that cannot be read: what they do to an item, and that they are told wherever its figure stands."""
# ruff: noqa: F811  (fixtures are imported and then named as arguments)

from pathlib import Path
from typing import Any

import pytest
import runner_set
from endpoint import Endpoint, endpoint  # noqa: F401  fixture

from video_contrast.cli import main
from video_contrast.reports import write_report
from video_contrast.storage import open_run


@pytest.fixture
def run(endpoint: Endpoint, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> tuple[Path, str]:
    """A run of a plain server that is right, but says nothing of one distractor; and what the terminal showed."""

    def reply(request: dict[str, Any]) -> tuple[str, dict[str, float]]:
        question = request["messages"][0]["content"][-1]["text"]
        if "number 0 stays" in question:
            return "I cannot tell.", {}
        return ("Yes" if "moves" in question else "No"), {}

    endpoint.reply, endpoint.logprobs = reply, False  # type: ignore[method-assign]
    dataset = runner_set.write(tmp_path / "set", n_clips=4)
    arguments = ["--model", "served:vlm", "--endpoint", endpoint.url, "--answers", str(tmp_path / "answers.jsonl")]
    arguments += ["--dataset", str(dataset), "--config", "verb_mc", "--output", str(tmp_path / "run")]
    assert main(["score", *arguments, "--store", str(tmp_path / "s"), "--frames", "2", "--accept", "all"]) == 0
    return tmp_path / "run", capsys.readouterr().out


def test_an_unparseable_distractor_does_not_lose_its_item(run: tuple[Path, str]) -> None:
    numbers = open_run(run[0]).metrics["configs"]["verb_mc"]["conditions"]["clean"]
    assert (numbers["accuracy"], numbers["unparseable"]) == (1.0, 0.25)
    [row] = [row for row in open_run(run[0]).score_rows() if row["id"] == "verb0"]
    assert sorted(row["scores"]) == pytest.approx([-1.0, 0.0, 1.0])


def test_unparseable_answers_are_told_where_the_figure_stands(
    run: tuple[Path, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, shown = run
    assert "! 25 % unparseable" in shown and "the lowest of its item" in shown
    assert "100.00 (! 25 % unparseable)" in (folder / "RESULTS.md").read_text(encoding="utf-8")
    assert main(["table", str(folder)]) == 0
    assert "! 25 % unparseable" in capsys.readouterr().out
    page = write_report([folder], tmp_path / "report.html").read_text(encoding="utf-8")
    assert "! 25 % unparseable" in page and "verb_mc: 25 % unparseable" in page
