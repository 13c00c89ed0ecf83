"""A score depends on its clip and its candidates alone: not on what else the process scores, nor in which order."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from video_contrast.runner.kinds.base import ClipFrames
from video_contrast.runner.kinds.generative_scorer import GenerativeScorer, ScoringOptions

CLASSES = [
    "qwen2_vl", "qwen2_5_vl", "qwen3_vl", "llava_onevision", "llava_next_video", "internvl", "smolvlm", "gemma3",
]  # fmt: skip
CAPTIONS = ["a man sits down", "a woman runs away quickly", "dogs"]


def clip_of(frames: int, height: int, width: int, seconds: float) -> ClipFrames:
    pixels = np.random.default_rng(frames + height).integers(0, 255, (frames, height, width, 3), dtype=np.uint8)
    return ClipFrames(pixels, tuple((n + 0.5) * seconds / frames for n in range(frames)))


# The second and the third last longer than they are wide: their temporal positions end beyond the spatial ones.
CLIPS = [clip_of(4, 60, 80, 2.0), clip_of(8, 40, 40, 17.0), clip_of(8, 56, 84, 31.0), clip_of(8, 40, 40, 3.0)]


@pytest.fixture(scope="module")
def loaded(tiny_vlm: Callable[[str], Path]) -> Callable[[str], tuple[Any, Any]]:
    from transformers import AutoModelForImageTextToText, AutoProcessor

    def get(name: str) -> tuple[Any, Any]:
        folder = tiny_vlm(name)
        return AutoModelForImageTextToText.from_pretrained(folder).eval(), AutoProcessor.from_pretrained(folder)

    return get


@pytest.mark.parametrize("mode", [{"scoring": "yesno"}, {"scoring": "loglik", "norm": "sum"}], ids=["yesno", "loglik"])
@pytest.mark.parametrize("name", CLASSES)
def test_a_clip_scores_the_same_alone_and_after_any_other(
    name: str, mode: dict[str, Any], loaded: Callable[[str], tuple[Any, Any]]
) -> None:
    model, processor = loaded(name)
    whole = ScoringOptions(**mode, share_prefix=False)
    alone = [GenerativeScorer(model, processor, whole).score(clip, CAPTIONS).scores for clip in CLIPS]
    for order in ([0, 1, 2, 3], [3, 2, 1, 0]):
        together = GenerativeScorer(model, processor, ScoringOptions(**mode))
        for n in order:
            np.testing.assert_allclose(together.score(CLIPS[n], CAPTIONS).scores, alone[n], atol=1e-4, rtol=0)
        assert together.sharing == "on"
