"""The record's counts are of the whole run: of all processes and of all starts."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
import runner_set

from video_contrast.errors import VideoContrastError
from video_contrast.runner import score
from video_contrast.runner.kinds.base import MODEL_KINDS, ClipFrames, PairScorer, ScoreResult, kind


class Counting(PairScorer):
    """Counts what it scores, and stops after a number of calls."""

    left = 10**6

    def score(self, clip: ClipFrames | None, captions: Sequence[str], *, position: int = 0) -> ScoreResult:
        Counting.left -= 1
        if Counting.left < 0:
            raise VideoContrastError("stopped")
        return ScoreResult(np.arange(len(captions), dtype=float), counts={"items": 1, "unparseable": position % 2})

    def truncated_texts(self, texts: Sequence[str]) -> int:
        return sum(len(text) > 20 for text in texts)


@pytest.fixture
def counting() -> Iterator[None]:
    @kind("counting", family="pair", summary="for this test", names=("counting",))
    def load(source: object, settings: object) -> Counting:
        return Counting()

    yield
    MODEL_KINDS.pop("counting")


def test_a_run_that_was_stopped_counts_what_it_did_before(tmp_path: Path, counting: None) -> None:
    runner_set.write(tmp_path / "set")

    def run(output: str) -> dict[str, object]:
        result = score("counting", tmp_path / "set", "verb_mc", output=tmp_path / output, progress=False, accept="all")
        return dict(result.record["model"])

    Counting.left = 10**6
    whole = run("whole")
    Counting.left = 3
    with pytest.raises(VideoContrastError, match="stopped"):
        run("stopped")
    Counting.left = 10**6
    assert run("stopped")["counters"] == whole["counters"]
    assert run("stopped")["truncated_texts"] == whole["truncated_texts"]
    counters = whole["counters"]
    assert isinstance(counters, dict) and counters["items"] > counters["unparseable"] > 0
