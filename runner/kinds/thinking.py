"""A model that may think first: it generates within a budget, its block is closed, and the answer is read after it."""

from __future__ import annotations

from dataclasses import dataclass

from video_contrast.runner.kinds.chat_prompts import THINK, Prompt, continuations
from video_contrast.untyped import Tokenizer, TorchModel

END_OF_THINKING = "</think>"
AFTER = "\n\n"  # what templates put between the block and the answer


@dataclass(frozen=True)
class Thought:
    """What a model thought before its answer."""

    ids: list[int]  # token ids that follow the prompt, the closed block included; [] where it did not think
    tokens: int  # how many it generated
    cut: bool  # whether the budget ended it
    text: str = ""  # of `ids`


def think(model: TorchModel, tokenizer: Tokenizer, prompt: Prompt, budget: int) -> Thought:
    """Lets a model think about one prompt, greedily.

    Returns the thought. A model that begins with its answer has none: the answer is read where the prompt ends.
    `model`: a generative transformers model in evaluation mode.
    """
    import torch

    with torch.inference_mode():
        output = model.generate(
            **prompt.inputs,
            max_new_tokens=budget,
            do_sample=False,
            stop_strings=[END_OF_THINKING],
            tokenizer=tokenizer,
        )
    ids = [int(token) for token in output[0, len(prompt.ids) :]]
    text = tokenizer.decode(ids)
    opened = prompt.text.rstrip().endswith(THINK) or THINK in text
    if not opened:
        return Thought([], len(ids), cut=False)
    cut = END_OF_THINKING not in text
    inside = text.partition(END_OF_THINKING)[0] + (END_OF_THINKING if not cut else f"\n{END_OF_THINKING}")
    [after_prompt] = continuations(tokenizer, prompt.text, [inside + AFTER])
    return Thought(after_prompt, len(ids), cut, inside + AFTER)
