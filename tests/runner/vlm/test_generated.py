"""Classes of the library that are scored by what they generate, and those whose prompt or images are of their own."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiny_generated
import torch

from video_contrast.runner.kinds import choose, options_for
from video_contrast.runner.kinds.base import ClipFrames, LoadOptions
from video_contrast.runner.model_files import locate

TEXTS = ["a man runs", "a man walks"]


def load(folder: Path, kind_name: str | None = None, **options: Any) -> Any:
    source = locate(str(folder))
    kind = choose(source, kind_name)
    return kind.load(source, LoadOptions(options=options_for(kind, options)))


@pytest.mark.parametrize("name", ["phi4_multimodal", "janus", "emu3"])
def test_templates_of_texts_and_images_of_codes_are_scored_like_all_others(
    name: str, tmp_path: Path, clip: ClipFrames
) -> None:
    model = load(tiny_generated.MAKERS[name](tmp_path / name), scoring="loglik")
    scores = model.score(clip, TEXTS).scores
    other = model.score(replace(clip, frames=255 - clip.frames), TEXTS).scores
    assert np.isfinite(scores).all() and np.abs(scores - other).max() > 1e-4
    assert model.sharing == "on" and np.isfinite(model.score(None, TEXTS).scores).all()
    shown = model.rendered_input(clip, TEXTS)
    if name == "phi4_multimodal":
        assert shown["prompt"].startswith("<|user|>" + 4 * "<|endoftext10|>" + "Describe what happens")
        assert shown["prompt"].endswith("in one sentence.<|im_end|><|assistant|>")


def test_the_log_probabilities_are_those_of_the_next_token(tmp_path: Path, clip: ClipFrames) -> None:
    model = load(tiny_generated.mllama(tmp_path / "mllama"), scoring="yesno")
    assert model.processor is not None and model.facts["interface"] == "chat template, frames as images"
    [part] = model.score(clip, TEXTS[:1]).parts
    prompt = model.facts["prompt"]
    content = [*({"type": "image"} for _ in clip.frames), {"type": "text", "text": prompt}]
    text = model.processor.apply_chat_template([{"role": "user", "content": content}], add_generation_prompt=True)
    inputs = model.processor(images=[list(clip.frames)], text=[text], return_tensors="pt")
    with torch.inference_mode():
        log = model.model(**inputs).logits[0, -1].log_softmax(-1)
    expected = log[model.tokenizer.convert_tokens_to_ids(["No", "no"])].logsumexp(0)
    assert part["no"] == pytest.approx(float(expected), abs=1e-5)
    assert not model.in_steps and part != model.score(None, TEXTS[:1]).parts[0]


def test_what_is_denoised_is_read_by_its_words_and_the_same_each_time(tmp_path: Path, clip: ClipFrames) -> None:
    model = load(tiny_generated.diffusion_gemma(tmp_path / "model"), scoring="yesno")
    first, second = (model.score(clip, TEXTS[:1]) for _ in range(2))
    np.testing.assert_array_equal(first.scores, second.scores)
    assert model.in_steps and model.facts["answers"] == "generated words"


def test_any_generative_model_can_be_asked_by_letters_that_it_generates(tiny_vlm: Any, clip: ClipFrames) -> None:
    ours = load(tiny_vlm("qwen3_vl"), "generated", scoring="yesno").score(clip, TEXTS)
    passed = load(tiny_vlm("qwen3_vl"), scoring="yesno").score(clip, TEXTS)
    assert [part["no"] for part in ours.parts] == pytest.approx([part["no"] for part in passed.parts], abs=1e-5)
