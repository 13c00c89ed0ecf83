"""What the tests of LLM-teacher share."""

import pytest


@pytest.fixture(autouse=True)
def _curves_are_drawn_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A third of what a small run costs is its figure: test_teacher.py looks at one, of a run that a fixture made."""
    monkeypatch.setattr("video_contrast.teacher.run.plot_curves", lambda output: None)
