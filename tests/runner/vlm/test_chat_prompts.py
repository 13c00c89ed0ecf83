"""Prompts of generative models: true times, answers where the template puts them, no thinking."""

import math
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numpy as np
import pytest
from tiny_parts import CHAT

from video_contrast.errors import UsageError
from video_contrast.question_text import Question
from video_contrast.runner.kinds.base import ClipFrames
from video_contrast.runner.kinds.chat_prompts import ChatPrompts
from video_contrast.runner.kinds.generative import GenerativeScorer, ScoringOptions
from video_contrast.runner.kinds.model_recipes import all_recipes

TIMES = (2.5, 7.0, 12.5, 17.0)
CLIP = ClipFrames(np.random.default_rng(0).integers(0, 255, (4, 60, 80, 3), dtype=np.uint8), TIMES)
SMOLVLM = (
    "{% for message in messages %}{{ message['role'] | capitalize }}"
    "{% if message['content'][0]['type'] == 'video' %}:{% else %}: {% endif %}"
    "{% for part in message['content'] %}{% if part['type'] == 'video' %}<video>{% else %}{{ part['text'] }}{% endif %}"
    "{% endfor %}<end_of_utterance>\n{% endfor %}{% if add_generation_prompt %}Assistant:{% endif %}"
)
THINKING = CHAT.replace("VIDEO", "<|vision_start|><|video_pad|><|vision_end|>").removesuffix("{% endif %}")
SWITCHED = THINKING + (
    "{% if enable_thinking is defined and enable_thinking is false %}<think>\n\n</think>\n\n"
    "{% else %}<think>\n{% endif %}{% endif %}"
)
ALWAYS = THINKING + "<think>\n{% endif %}"


@pytest.fixture
def copied(loaded: Callable[[str], tuple[Any, Any]]) -> Callable[..., tuple[Any, Any]]:
    """A model and its processor, which the test may change, with a chat template of its own."""

    def get(name: str, template: str = "") -> tuple[Any, Any]:
        model, processor = deepcopy(loaded(name))
        processor.chat_template = template or processor.chat_template
        return model, processor

    return get


def test_the_prompt_names_the_true_times_of_the_frames(copied: Callable[..., tuple[Any, Any]]) -> None:
    model, processor = copied("qwen3_vl")
    shown = processor.decode(ChatPrompts(model, processor).prompt(CLIP, "what?").ids)
    # frames go in by twos, named by the middle of the pair
    assert "<4.8 seconds>" in shown and "<14.8 seconds>" in shown
    model, processor = copied("smolvlm")
    shown = processor.decode(ChatPrompts(model, processor).prompt(CLIP, "what?").ids)
    assert all(time in shown for time in ("00:02", "00:07", "00:12", "00:17"))


def test_a_caption_stands_where_the_template_puts_an_answer(copied: Callable[..., tuple[Any, Any]]) -> None:
    import torch

    model, processor = copied("smolvlm", SMOLVLM)
    scorer = GenerativeScorer(model, processor, ScoringOptions(scoring="loglik", norm="sum"))
    (score,) = scorer.score(CLIP, ["a dog"]).scores
    prompt = scorer.chat.prompt(CLIP, "Describe what happens in this video in one sentence.")
    assert prompt.text.endswith("Assistant:")
    answer = processor.tokenizer.encode(" a dog", add_special_tokens=False)
    inputs = {name: value for name, value in prompt.inputs.items()}
    tail = torch.tensor([answer])
    inputs["input_ids"] = torch.cat([inputs["input_ids"], tail], 1)
    inputs["attention_mask"] = torch.ones_like(inputs["input_ids"])
    with torch.inference_mode():
        log = model(**inputs).logits[0, -len(answer) - 1 : -1].log_softmax(-1)
    assert score == pytest.approx(float(log[range(len(answer)), answer].sum()), abs=1e-3)


@pytest.mark.parametrize(
    ("template", "how"),
    [(SWITCHED, "off: enable_thinking=False of the template"), (ALWAYS, "off: the prompt's open block was closed")],
)
@pytest.mark.parametrize("mode", ["yesno", "loglik", "letter"])
def test_no_prompt_ends_inside_a_thinking_block(
    copied: Callable[..., tuple[Any, Any]], template: str, how: str, mode: Any
) -> None:
    scorer = GenerativeScorer(*copied("qwen2_5_vl", template), ScoringOptions(scoring=mode))
    assert np.isfinite(scorer.score(CLIP, ["a dog", "a cat runs"]).scores).all()
    assert scorer.first_prompt.endswith("<think>\n\n</think>\n\n")
    assert scorer.facts["thinking"] == how


def test_an_answer_that_is_probably_neither_yes_nor_no_is_counted(copied: Callable[..., tuple[Any, Any]]) -> None:
    import torch

    model, processor = copied("qwen2_5_vl")
    scorer = GenerativeScorer(model, processor)
    with torch.no_grad():
        rows = model.lm_head.weight
        rows *= 50.0
        rows[processor.tokenizer.convert_tokens_to_ids(["Yes", "No", "yes", "no"])] = 0.0
    result = scorer.score(CLIP, ["a dog", "a cat runs"])
    masses = [np.exp(part["yes"]) + np.exp(part["no"]) for part in result.parts or ()]
    assert result.counts["unparseable"] == sum(mass < 0.01 for mass in masses) > 0


def test_only_scored_positions_become_logits(copied: Callable[..., tuple[Any, Any]]) -> None:
    model, processor = copied("llava_onevision")
    widths: list[int] = []
    handle = model.lm_head.register_forward_hook(lambda _, __, out: widths.append(out.shape[1]))
    try:
        GenerativeScorer(model, processor).score(CLIP, ["a dog", "a man sits down on a long bench"])
    finally:
        handle.remove()
    assert max(widths) <= 2  # the ends of two questions of different lengths


@pytest.mark.parametrize("template", [SWITCHED, ALWAYS])
@pytest.mark.parametrize("mode", ["yesno", "letter"])
def test_a_model_may_think_within_a_budget_and_its_answer_is_read_after_the_block(
    copied: Callable[..., tuple[Any, Any]], template: str, mode: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    model, processor = copied("qwen2_5_vl", template)
    tokenizer = processor.tokenizer
    thought = tokenizer.encode("it is blue</think> rest", add_special_tokens=False)
    asked: list[dict[str, Any]] = []

    def generate(**given: Any) -> Any:
        asked.append(given)
        return torch.cat([given["input_ids"], torch.tensor([thought])], 1)

    monkeypatch.setattr(model, "generate", generate)
    scorer = GenerativeScorer(model, processor, ScoringOptions(scoring=mode, thinking=7))
    result = scorer.score(CLIP, ["a dog", "a cat runs"])
    assert scorer.first_prompt.endswith("<think>\n") and scorer.facts["thinking"] == "on: at most 7 tokens"
    assert asked[0]["max_new_tokens"] == 7 and not asked[0]["do_sample"]
    assert result.counts["thinking_tokens"] == len(thought) * len(asked) and result.counts["thoughts_cut"] == 0
    whole = tokenizer.encode("it is blue</think>\n\n", add_special_tokens=False)
    inputs = dict(asked[0])
    for name in ("max_new_tokens", "do_sample", "stop_strings", "tokenizer"):
        inputs.pop(name)
    for name, fill in (("input_ids", torch.tensor([whole])), ("attention_mask", torch.ones(1, len(whole)).long())):
        inputs[name] = torch.cat([inputs[name], fill], 1)
    if "mm_token_type_ids" in inputs:
        inputs["mm_token_type_ids"] = torch.cat([inputs["mm_token_type_ids"], torch.zeros(1, len(whole)).int()], 1)
    with torch.inference_mode():
        log = model(**inputs).logits[0, -1].log_softmax(-1)
    if mode == "yesno":
        assert result.parts[0]["yes"] == pytest.approx(
            float(log[tokenizer.convert_tokens_to_ids(["Yes", "yes"])].logsumexp(0)), abs=1e-4
        )


def test_a_thought_that_the_budget_ends_is_closed_and_counted(copied: Callable[..., tuple[Any, Any]]) -> None:
    scorer = GenerativeScorer(*copied("qwen2_5_vl", SWITCHED), ScoringOptions(thinking=3))
    counts = scorer.score(CLIP, ["a dog"]).counts
    assert counts["thinking_tokens"] <= 3 and counts["thoughts_cut"] == 1


def test_thinking_is_refused_where_it_means_nothing(copied: Callable[..., tuple[Any, Any]]) -> None:
    with pytest.raises(UsageError, match="knows no thinking"):
        GenerativeScorer(*copied("qwen2_5_vl"), ScoringOptions(thinking=3))
    with pytest.raises(UsageError, match="goes with --scoring"):
        GenerativeScorer(*copied("qwen2_5_vl", SWITCHED), ScoringOptions(thinking=3, scoring="loglik"))


def owners_size(height: int, width: int, frames: int, side: int) -> tuple[int, int]:
    """Rows and columns of tokens as fetch_video of qwen-vl-utils has them: 128 to 768 tokens, 115,200 a clip."""
    least = 128 * side**2
    most = max(min(768 * side**2, 115_200 * side**2 / frames * 2), int(least * 1.05))
    rows, columns = (max(side, round(length / side) * side) for length in (height, width))
    if rows * columns > most:
        shrink = math.sqrt(height * width / most)
        rows, columns = (math.floor(length / shrink / side) * side for length in (height, width))
    elif rows * columns < least:
        grow = math.sqrt(least / (height * width))
        rows, columns = (math.ceil(length * grow / side) * side for length in (height, width))
    return rows // side, columns // side


@pytest.mark.parametrize(("name", "family"), [("qwen3_vl", "Qwen3-VL"), ("qwen2_5_vl", "Qwen2.5-VL")])
def test_the_owners_bounds_of_frames_are_those_of_the_owners_code(
    name: str, family: str, copied: Callable[..., tuple[Any, Any]]
) -> None:
    model, processor = copied(name)
    if name == "qwen3_vl":  # as the released checkpoints have it
        processor.video_processor.size = {"shortest_edge": 4096, "longest_edge": 25_165_824}
    owner = next(recipe.owner for recipe in all_recipes() if recipe.family == family)
    assert owner is not None
    chat = ChatPrompts(model, processor, size_of=owner)
    for height, width, frames in ((240, 320, 2), (240, 320, 8), (720, 1280, 4), (64, 48, 4), (360, 640, 320)):
        shown = ClipFrames(np.zeros((frames, height, width, 3), np.uint8), tuple(range(frames)))
        grid = chat.prompt(shown, "what?").inputs["video_grid_thw"][0].tolist()
        assert tuple(n // 2 for n in grid[1:]) == owners_size(height, width, frames, owner.side), (
            height,
            width,
            frames,
        )
    small = ClipFrames(np.zeros((8, 240, 320, 3), np.uint8), tuple(range(8)))
    tokens = [
        math.prod(ChatPrompts(model, processor, size_of=size).prompt(small, "?").inputs["video_grid_thw"][0, 1:]) // 4
        for size in (None, owner)
    ]
    assert name != "qwen3_vl" or tokens == [80, 140]


def test_the_owners_prompt_asks_for_letters(copied: Callable[..., tuple[Any, Any]]) -> None:
    model, processor = copied("qwen3_vl")
    owner = next(recipe.owner for recipe in all_recipes() if recipe.family == "Qwen3-VL")
    options = ScoringOptions(scoring="letter", letter_prompt="owner")
    scorer = GenerativeScorer(model, processor, options, owner)
    shown = scorer.rendered_input(CLIP, ["a dog", "a man", "a cat"])["prompt"]
    assert "Respond with only the letter (A, B, or C) of the correct option.\nQuestion: Which of these" in shown
    assert "\nA. a dog\nB. a man\nC. a cat\nThe best answer is:" in shown
    published = Question("Who runs?", prompt="{question} {options} Letter:")
    shown = scorer.rendered_input(CLIP, ["a dog", "a man"], question=published)["prompt"]
    assert "Who runs? A. a dog\nB. a man Letter:" in shown and "best answer" not in shown
    with pytest.raises(UsageError, match="--letter-prompt owner: that of the owners of"):
        GenerativeScorer(model, processor, options)
