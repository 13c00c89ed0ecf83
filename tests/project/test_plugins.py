"""Another package adds a model kind through an entry point, without touching ours."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import runner_set

KIND = '''
"""A kind that likes short captions, as a package of its own."""
import numpy as np
from video_contrast.runner.kinds.base import PairScorer, ScoreResult, kind


class Shortest(PairScorer):
    def score(self, clip, captions, *, position=0):
        return ScoreResult(np.array([-len(caption) for caption in captions], dtype=np.float64))


@kind("shortest", family="pair", summary="prefers short captions", names=("shortest",))
def load(source, settings):
    return Shortest()
'''


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """What `pip install example-kind` would leave behind: a module and its metadata."""
    site = tmp_path / "site"
    info = site / "example_kind-0.1.dist-info"
    info.mkdir(parents=True)
    (site / "example_kind.py").write_text(KIND)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: example-kind\nVersion: 0.1\n")
    (info / "entry_points.txt").write_text("[video_contrast.models]\nshortest = example_kind\n")
    return site


def run(package: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    code = "import sys; from video_contrast.cli import main; sys.exit(main(sys.argv[1:]))"
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env={**os.environ, "PYTHONPATH": str(package)},
        capture_output=True,
        text=True,
    )


def test_the_kind_is_listed_beside_ours(package: Path) -> None:
    done = run(package, "list", "models", "--json")
    assert done.returncode == 0, done.stderr
    names = [row["name"] for row in json.loads(done.stdout)]
    assert "dual_encoder" in names and names[-1] == "shortest"


def test_the_kind_scores_like_ours(package: Path, tmp_path: Path) -> None:
    runner_set.write(tmp_path / "set", n_clips=4)
    done = run(
        package, "score", "--model", "shortest", "--dataset", str(tmp_path / "set"), "--config", "verb_mc",
        "--output", str(tmp_path / "run"), "--accept", "all",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    record = json.loads((tmp_path / "run" / "run.json").read_text())
    assert record["model"]["kind"] == "shortest"


def test_a_package_that_cannot_be_imported_is_named(package: Path) -> None:
    (package / "example_kind.py").write_text("import no_such_module\n")
    done = run(package, "list", "models")
    assert done.returncode == 1
    assert "the package that provides the model kind 'shortest' (example_kind) cannot be imported" in done.stderr
