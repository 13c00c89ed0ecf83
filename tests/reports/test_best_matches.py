"""Runs that keep the best similarities of each clip alone are read as those that keep all of them."""

from pathlib import Path

import fabricate
import numpy as np
import pytest
import runner_set
import tiny_models

from video_contrast.cli import main
from video_contrast.errors import UsageError
from video_contrast.reports.compare import compare_runs
from video_contrast.reports.leaderboard import check_runs
from video_contrast.reports.runs import run_hits
from video_contrast.reports.why_differ import compare, pairs_of, shares
from video_contrast.runner import score
from video_contrast.storage import RunFolder


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("best")
    fabricate.make_set(root / "set", configs=("retrieval",))
    for name, skill in (("good", 2.0), ("poor", 0.5)):
        for whole in (True, False):
            folder = root / ("whole" if whole else "best") / name
            fabricate.make_run(folder, root / "set", ["retrieval"], model=name, skill=skill, whole=whole)
    return root


def test_figures_hits_and_comparisons_are_those_of_the_whole(place: Path) -> None:
    for name in ("good", "poor"):
        whole, best = RunFolder(place / "whole" / name), RunFolder(place / "best" / name)
        assert whole.metrics == best.metrics
        of_whole, of_best = run_hits(whole, "retrieval"), run_hits(best, "retrieval")
        assert of_whole and of_best and all(map(np.array_equal, of_whole, of_best))
        with pytest.raises(UsageError, match="score again with a larger --keep-matrices"):
            _ = best.matrix("retrieval").values
    rows = [compare_runs(place / kind / "good", place / kind / "poor", ["retrieval"]) for kind in ("whole", "best")]
    assert rows[0] == rows[1]


def test_the_table_the_report_and_the_leaderboard_take_them(
    place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check_runs([place / "best"]) == check_runs([place / "whole"]) == 2
    pages = {}
    for kind in ("whole", "best"):
        assert main(["table", str(place / kind)]) == 0
        pages[kind] = capsys.readouterr().out.replace(kind, "")
        assert main(["report", str(place / kind), "--output", str(tmp_path / f"{kind}.html"), "--quiet"]) == 0
    assert pages["whole"] == pages["best"]


def test_why_differ_explains_the_whole_difference(tmp_path: Path) -> None:
    runner_set.write(tmp_path / "set", n_clips=9)
    tiny_models.clip(tmp_path / "clip")
    for frames in (2, 8):
        score(str(tmp_path / "clip"), tmp_path / "set", "retrieval", output=tmp_path / f"run{frames}", frames=frames,
              keep_matrices=0, accept="all", progress=False, store=tmp_path / "store")  # fmt: skip
    ((a, b),) = pairs_of(tmp_path / "run2", tmp_path / "run8")
    results = compare(a, b)
    assert {result.stage: result.state for result in results}["scores"] in ("differs", "follows")
    for figure in ("t2v_R@1", "v2t_R@1"):
        changes = [share.change for share in shares(a, b, results) if share.figure == figure]
        assert sum(changes) == pytest.approx(b.numbers[figure] - a.numbers[figure])
