"""`--fps`: frames by a rate, so that long clips have more of them, up to `--frames`."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
import runner_set
import tiny_late

from video_contrast import open_run
from video_contrast.errors import UsageError
from video_contrast.runner import score
from video_contrast.runner.conditions import Visual
from video_contrast.runner.kinds.base import MODEL_KINDS, ClipFrames, PairScorer, ScoreResult, kind
from video_contrast.runner.kinds.loading import metadata_of
from video_contrast.runner.views import Sampling, views_of
from video_contrast.video import Clip


class Looks(PairScorer):
    """Scores by the pixels and the letters; remembers how many frames it was shown."""

    shown: ClassVar[set[tuple[int, float]]] = set()

    def score(self, clip: ClipFrames | None, captions: Sequence[str], *, position: int = 0) -> ScoreResult:
        assert clip is not None
        Looks.shown.add((len(clip.frames), round(clip.times[-1], 2)))
        pixels = clip.frames.astype(np.float64).mean(axis=(1, 2, 3)) @ (1 + np.arange(len(clip.frames)))
        return ScoreResult(np.array([np.sin(pixels + sum(map(ord, text))) for text in captions]))


@pytest.fixture
def looks() -> Iterator[str]:
    kind("looks", family="pair", summary="for this test", names=("looks",))(lambda source, settings: Looks())
    yield "looks"
    MODEL_KINDS.pop("looks")


def test_the_number_of_frames_follows_the_length_and_is_even() -> None:
    rate = Sampling(64, fps=2.0)
    assert [rate.count(seconds, int(25 * seconds)) for seconds in (0.1, 1.5, 4.0, 10.3, 100.0)] == [2, 4, 8, 20, 64]
    assert Sampling(7).count(100.0, 2500) == 7


def test_clips_are_shown_at_the_rate_and_the_run_says_so(looks: str, tmp_path: Path) -> None:
    runner_set.write(tmp_path / "set")  # 12 frames at 8 a second; the first item is their first second
    Looks.shown = set()
    result = score(looks, tmp_path / "set", "verb_mc", fps=4.0, output=tmp_path / "run", progress=False)
    assert {count for count, _ in Looks.shown} == {4, 6}
    assert result.record["sampling"]["fps"] == 4.0 and result.record["request"]["fps"] == 4.0
    assert {len(row["frames"]) for row in result.scores} == {4, 6}
    with pytest.raises(UsageError, match="fps"):
        score(looks, tmp_path / "set", "verb_mc", fps=2.0, output=tmp_path / "run", progress=False)
    with pytest.raises(UsageError, match="--fps must be above 0, not nan"):
        score(looks, tmp_path / "set", "verb_mc", fps=float("nan"), progress=False)


def test_the_rate_that_a_model_is_told_is_frames_by_the_length_of_the_clip(tmp_path: Path) -> None:
    """As qwen-vl-utils tells it: 8 of 12 frames in 1.5 seconds are .375 seconds a pair, whichever frames they are."""
    runner_set.write(tmp_path, n_clips=1)
    clip = Clip("v", "clips/00.mp4")
    for policy in ("uniform", "linspace"):
        [view] = views_of(tmp_path, clip, (Visual(),), Sampling(8, policy))
        told = metadata_of(ClipFrames(view.frames, view.times, clip, view.seconds))
        assert 2 / told["fps"] == pytest.approx(0.375)
        np.testing.assert_allclose(np.array(told["frames_indices"]) / told["fps"], view.times)
    assert metadata_of(ClipFrames(view.frames, view.times))["fps"] == pytest.approx(7 / view.times[-1])


def test_encoders_of_any_number_of_frames_take_a_rate(tmp_path: Path) -> None:
    """The rows of a clip do not depend on how many frames the others of its batch have."""
    runner_set.write(tmp_path / "set", n_clips=4, n_frames=[12, 24])
    model = tiny_late.colpali(tmp_path / "model")
    for size in (1, 4):
        score(
            model, tmp_path / "set", "verb_mc", fps=2.0, batch_size=size, output=tmp_path / f"run{size}",
            store=tmp_path / f"store{size}", accept="all", progress=False,
        )  # fmt: skip
    alone, together = (list(open_run(tmp_path / f"run{size}").score_rows()) for size in (1, 4))
    assert {len(row["frames"]) for row in alone} == {4, 6}
    for row, other in zip(alone, together, strict=True):
        np.testing.assert_allclose(row["scores"], other["scores"], rtol=1e-5)


def test_models_of_a_fixed_number_of_frames_have_no_rate(tmp_path: Path) -> None:
    runner_set.write(tmp_path / "set")
    for name in ("temporal", "bag-of-frames", "random"):
        with pytest.raises(UsageError, match="--fps goes with"):
            score(name, tmp_path / "set", "verb_mc", fps=2.0, progress=False)
