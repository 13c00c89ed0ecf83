"""Matching heads: each class scores as its own forward pass does, frame by frame."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.runner.kinds.base import ClipFrames
from video_contrast.runner.kinds.matching import HEADS, MatchingScorer

CAPTIONS = ["a man sits down", "a woman runs away quickly", "dogs"]


@pytest.fixture(scope="module")
def loaded(tiny_vlm: Callable[[str], Path]) -> Callable[[str], tuple[Any, Any]]:
    import transformers

    @cache
    def get(name: str) -> tuple[Any, Any]:
        folder = tiny_vlm(name)
        processor = transformers.AutoProcessor.from_pretrained(folder, backend="pil")
        return getattr(transformers, name).from_pretrained(folder).eval(), processor

    return get


def own_forward(name: str, model: Any, processor: Any, frame: np.ndarray, caption: str) -> float:
    """The probability of a match as the model card of each class computes it."""
    import torch

    pixels = processor.image_processor(images=[frame], return_tensors="pt")
    text = processor.tokenizer([caption], return_tensors="pt")
    text.pop("token_type_ids", None)
    with torch.inference_mode():
        if name == "BlipForImageTextRetrieval":
            logits = model(**text, pixel_values=pixels["pixel_values"], use_itm_head=True).itm_score
        elif name == "Blip2ForImageTextRetrieval":
            output = model(**text, pixel_values=pixels["pixel_values"], use_image_text_matching_head=True)
            logits = output.logits_per_image
        else:
            logits = model(**text, **pixels).logits
    logits = logits.float()
    return float(logits.sigmoid()[0, 0] if logits.shape[1] == 1 else logits.softmax(-1)[0, 1])


@pytest.mark.parametrize("name", list(HEADS))
def test_scores_are_the_mean_of_the_models_own_probabilities(name: str, loaded: Any, clip: ClipFrames) -> None:
    model, processor = loaded(name)
    expected = np.array([[own_forward(name, model, processor, f, c) for c in CAPTIONS] for f in clip.frames])
    found = MatchingScorer(model, processor).score(clip, CAPTIONS)
    scores, parts = found.scores, found.parts or []
    np.testing.assert_allclose(scores, expected.mean(0), atol=1e-5)
    np.testing.assert_allclose([list(p.values()) for p in parts], expected.T, atol=1e-5)
    best = MatchingScorer(model, processor, aggregate="max").score(clip, CAPTIONS).scores
    np.testing.assert_allclose(best, expected.max(0), atol=1e-5)
    assert np.ptp(expected) > 1e-3


@pytest.mark.parametrize("name", list(HEADS))
def test_batches_subsets_and_order_change_nothing(name: str, loaded: Any, clip: ClipFrames) -> None:
    model, processor = loaded(name)
    scores = MatchingScorer(model, processor).score(clip, CAPTIONS).scores
    small = MatchingScorer(model, processor, batch_size=2).score(clip, CAPTIONS).scores
    some = MatchingScorer(model, processor).score(clip, [CAPTIONS[2], CAPTIONS[0]]).scores
    np.testing.assert_allclose(small, scores, atol=1e-5)
    np.testing.assert_allclose(some, scores[[2, 0]], atol=1e-5)


@pytest.mark.parametrize("name", list(HEADS))
def test_a_caption_is_cut_where_the_models_positions_end_and_counted(name: str, loaded: Any, clip: ClipFrames) -> None:
    scorer = MatchingScorer(*loaded(name))
    long = "a man sits on a chair and " * 20
    reads = 127 if name.startswith("BridgeTower") else 128  # letters: a token each
    whole, cut = scorer.score(clip, [long]).scores, scorer.score(clip, [long[:reads]]).scores
    np.testing.assert_allclose(whole, cut, atol=1e-6)
    assert scorer.truncated_texts([long, long[:reads], "dogs"]) == 1


@pytest.mark.parametrize("name", ["BlipForImageTextRetrieval", "Blip2ForImageTextRetrieval"])
def test_the_vision_tower_sees_each_frame_once(name: str, loaded: Any, clip: ClipFrames) -> None:
    model, processor = loaded(name)
    frames: list[int] = []
    handle = model.vision_model.register_forward_hook(lambda _m, _i, out: frames.append(len(out.last_hidden_state)))
    try:
        MatchingScorer(model, processor, batch_size=5).score(clip, CAPTIONS)
    finally:
        handle.remove()
    assert sum(frames) == len(clip.frames)


def test_a_model_without_a_matching_head_is_refused() -> None:
    with pytest.raises(VideoContrastError, match="Linear has no matching head"):
        import torch

        MatchingScorer(torch.nn.Linear(1, 1), None)


def test_the_blind_control_is_refused(loaded: Any) -> None:
    with pytest.raises(UsageError, match="without a frame"):
        MatchingScorer(*loaded("ViltForImageAndTextRetrieval")).score(None, CAPTIONS)


@pytest.mark.parametrize("name", ["BlipForImageTextRetrieval", "Blip2ForImageTextRetrieval"])
def test_the_prefilter_scores_the_best_and_ranks_the_rest_below(name: str, loaded: Any, clip: ClipFrames) -> None:
    from video_contrast.runner.score_pairs import Prefilter

    model, processor = loaded(name)
    captions = [f"a man counts to {i}" for i in range(12)]
    every = MatchingScorer(model, processor).score(clip, captions).scores
    few = MatchingScorer(model, processor, prefilter=4)
    asked: list[int] = []
    own = few.score
    few.score = lambda c, texts, *, position=0: (asked.append(len(texts)), own(c, texts, position=position))[1]  # type: ignore[method-assign]
    found = Prefilter(few).score(clip, captions, 0)
    assert asked == [4]
    best = np.argsort(-found.scores)[:4]
    np.testing.assert_allclose(found.scores[best], every[best], atol=1e-5)
    coarse = np.array([part["coarse"] for part in found.parts or []])
    rest = np.setdiff1d(np.arange(12), best)
    assert found.scores[rest].max() < found.scores[best].min()
    assert coarse[best].min() >= coarse[rest].max()
    np.testing.assert_array_equal(np.argsort(found.scores[rest]), np.argsort(coarse[rest]))


def test_contrastive_embeddings_equal_the_models_own(loaded: Any, clip: ClipFrames) -> None:
    import torch

    name = "BlipForImageTextRetrieval"
    model, processor = loaded(name)
    encoder = MatchingScorer(model, processor, prefilter=1).coarse
    assert encoder is not None
    one = ClipFrames(clip.frames[:1])
    ours = encoder.join(encoder.encode_prepared([encoder.prepare(one)]), encoder.encode_texts(CAPTIONS))
    pixels = processor.image_processor(images=[clip.frames[0]], return_tensors="pt")["pixel_values"]
    text = processor.tokenizer(CAPTIONS, padding=True, return_tensors="pt")
    with torch.inference_mode():
        own = model(
            input_ids=text["input_ids"], attention_mask=text["attention_mask"], pixel_values=pixels, use_itm_head=False
        ).itm_score
    np.testing.assert_allclose(ours, own.numpy(), atol=1e-5)


def test_a_head_without_embeddings_has_no_prefilter(loaded: Any) -> None:
    with pytest.raises(UsageError, match="needs contrastive embeddings, which ViltForImageAndTextRetrieval does not"):
        MatchingScorer(*loaded("ViltForImageAndTextRetrieval"), prefilter=4)


def test_vilt_scores_are_the_same_bits_in_any_company(loaded: Any, clip: ClipFrames) -> None:
    import torch

    one = MatchingScorer(*loaded("ViltForImageAndTextRetrieval"))
    torch.manual_seed(1)
    first = one.score(clip, CAPTIONS).scores
    torch.manual_seed(2)
    np.testing.assert_array_equal(one.score(clip, CAPTIONS).scores, first)
