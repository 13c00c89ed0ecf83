"""Rerankers of sentence-transformers: a saved cross-encoder over a generative class scores clips."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import tiny_sentence

from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.runner.kinds import choose
from video_contrast.runner.kinds.base import ClipFrames, LoadOptions, ModelSource
from video_contrast.runner.kinds.sentence import RerankerScorer, load_reranker
from video_contrast.runner.model_files import locate

CAPTIONS = ["a man sits down", "a woman runs away quickly", "dogs"]


@pytest.fixture(scope="module")
def folder(tiny_vlm: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_sentence.reranker(tmp_path_factory.mktemp("reranker") / "model", tiny_vlm("qwen2_5_vl"))


def test_a_saved_reranker_scores_a_clip_the_same_in_any_company(folder: Path, clip: ClipFrames) -> None:
    scorer = load_reranker(ModelSource("reranker", folder), LoadOptions(batch_size=2))
    scores = scorer.score(clip, CAPTIONS).scores
    assert scores.shape == (3,) and np.ptp(scores) > 1e-4
    np.testing.assert_allclose(scorer.score(clip, CAPTIONS[::-1]).scores, scores[::-1], atol=1e-5)
    np.testing.assert_allclose(scorer.score(clip, CAPTIONS[1:2]).scores, scores[1:2], atol=1e-5)
    other = scorer.score(ClipFrames(255 - clip.frames, clip.times), CAPTIONS).scores
    assert np.abs(other - scores).max() > 1e-5


def test_the_blind_control_is_refused(folder: Path) -> None:
    with pytest.raises(UsageError, match="without a video"):
        load_reranker(ModelSource("reranker", folder), LoadOptions()).score(None, CAPTIONS)


def test_a_text_reranker_is_refused() -> None:
    class TextOnly:
        modalities = ("text",)

    with pytest.raises(VideoContrastError, match="takes text, not video"):
        RerankerScorer(TextOnly())


def test_a_saved_reranker_is_known_by_its_config_and_never_an_embedder(folder: Path) -> None:
    assert choose(locate(str(folder))).name == "reranker"


def test_a_reranker_is_told_the_true_times_and_its_instruction(folder: Path, clip: ClipFrames) -> None:
    scorer = load_reranker(ModelSource("reranker", folder), LoadOptions(batch_size=2))
    longer = ClipFrames(clip.frames, (5.0, 15.0, 25.0, 35.0))
    scores = scorer.score(clip, CAPTIONS).scores
    assert np.abs(scorer.score(longer, CAPTIONS).scores - scores).max() > 1e-6
    told = load_reranker(
        ModelSource("reranker", folder), LoadOptions(options={"prompt_text": "Find the clip of a cat."})
    )
    assert told.facts["prompt_text"] == "Find the clip of a cat."
    assert np.abs(told.score(clip, CAPTIONS).scores - scores).max() > 1e-6


def test_a_reranker_has_the_dtype_that_the_record_names(folder: Path) -> None:
    import torch

    scorer = load_reranker(ModelSource("reranker", folder), LoadOptions(dtype="bfloat16"))
    assert {parameter.dtype for parameter in scorer.encoder.parameters()} == {torch.bfloat16}


def test_what_a_reranker_is_given_is_shown(folder: Path, clip: ClipFrames) -> None:
    shown = load_reranker(ModelSource("reranker", folder), LoadOptions()).rendered_input(clip, CAPTIONS)
    assert CAPTIONS[0] in str(shown["prompt"]) and "<|video_pad|>" in str(shown["prompt"])
    assert shown["times_told"] == [0.0, 1.0] and "pixel_values_videos" in shown["pixels"]  # type: ignore[operator]
