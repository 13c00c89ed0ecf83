"""What the tests of LLM-teacher share."""

import gc
import shutil
from pathlib import Path

import pytest
import teacher_set
import tiny_models


@pytest.fixture(autouse=True)
def _curves_are_drawn_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A third of what a small run costs is its figure: test_teacher.py looks at one, of a run that a fixture made."""
    monkeypatch.setattr("video_contrast.teacher.run.plot_curves", lambda output: None)


@pytest.fixture(autouse=True)
def _the_collector_walks_new_objects_alone() -> None:
    """Each training collects garbage once: walking what was imported since the start takes as long as the training."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def common(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A set of 9 + 3 clips (18 training captions), a CLIP, and a store of frames and negatives, which fills."""
    root = tmp_path_factory.mktemp("common")
    teacher_set.write(root / "set", train=9, validation=3)
    tiny_models.clip(root / "clip")
    (root / "store").mkdir()
    return root


@pytest.fixture(scope="module")
def place(common: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A module's own folder with the common "set" and "clip", and the "store" that all modules share."""
    root = tmp_path_factory.mktemp("place")
    for name in ("set", "clip"):
        shutil.copytree(common / name, root / name)
    (root / "store").symlink_to(common / "store")
    return root
