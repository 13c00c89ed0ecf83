"""Scoring many endings of one prompt: the video and the prompt go through the model once, all endings share the cache.

A prompt of P tokens with C endings of S tokens costs P + C*S instead of C*(P + S). The endings are padded on the
right and no attention mask is given: in a causal model a token never sees what stands after it, so padding changes
nothing, and models with their own position scheme (M-RoPE) continue it from the length of the cache.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import torch

# Inputs with one entry a token; everything else in the processor's output describes pixels.
PER_TOKEN = ("input_ids", "attention_mask", "token_type_ids", "mm_token_type_ids", "position_ids")


class CannotShare(Exception):
    """The model's cache cannot be repeated for several endings; the message is the reason."""


class Prefix:
    """The model's state after a prompt, from which any number of endings is scored.

    Args:
        model: a generative transformers model in evaluation mode.
        inputs: the processor's output for one prompt (batch of 1), on the model's device.
        length: how many of its tokens belong to the prefix; at least 1, and all pixel placeholders must be among them.

    Attributes:
        last: float32[V], the logits after the prefix's last token.
    """

    def __init__(self, model: Any, inputs: dict[str, Any], length: int) -> None:
        import torch

        self.model = model
        self.length = length
        given = {name: value[:, :length] if name in PER_TOKEN else value for name, value in inputs.items()}
        # M-RoPE models remember the position offset of the last video they saw, also for a prompt without one.
        for module in model.modules():
            if getattr(module, "rope_deltas", None) is not None:
                module.rope_deltas = None
        with torch.inference_mode():
            output = model(**given, use_cache=True, logits_to_keep=1)
        self.cache = output.past_key_values
        self.last = output.logits[0, -1].float()
        if not hasattr(self.cache, "batch_repeat_interleave"):
            raise CannotShare(f"{type(self.cache).__name__} cannot be repeated for several endings")
        linear = [
            type(layer).__name__ for layer in getattr(self.cache, "layers", ()) if "Linear" in type(layer).__name__
        ]
        if linear:
            raise CannotShare(f"its cache has recurrent layers ({linear[0]}), which do not skip padding")

    def logits(self, endings: Sequence[Sequence[int]], batch_size: int = 32) -> list[torch.Tensor]:
        """Logits over each ending: a float32[len(ending), V] tensor an ending, row j after its token j.

        Endings are token ids, none of them empty. They go through the model in batches sorted by length.
        """
        import torch

        device = self.last.device
        found: list[torch.Tensor | None] = [None] * len(endings)
        order = sorted(range(len(endings)), key=lambda i: len(endings[i]))
        for begin in range(0, len(order), batch_size):
            rows = order[begin : begin + batch_size]
            width = max(len(endings[i]) for i in rows)
            ids = torch.zeros((len(rows), width), dtype=torch.long, device=device)
            for row, i in enumerate(rows):
                ids[row, : len(endings[i])] = torch.as_tensor(endings[i], device=device)
            with torch.inference_mode():
                cache = _repeated(self.cache, len(rows))
                output = self.model(input_ids=ids, past_key_values=cache, use_cache=True)
            for row, i in enumerate(rows):
                found[i] = output.logits[row, : len(endings[i])].float()
        return [logits for logits in found if logits is not None]


def _repeated(cache: Any, rows: int) -> Any:
    """The cache for `rows` endings, without changing this one.

    Keys and values are expanded, not copied: a layer makes new tensors when it appends, so the one copy that appending
    needs is the only one. Caches of another make repeat themselves.
    """
    layers = getattr(cache, "layers", None)
    if layers and all(type(layer).__name__ in ("DynamicLayer", "DynamicSlidingWindowLayer") for layer in layers):
        copied = copy.copy(cache)
        copied.layers = [copy.copy(layer) for layer in layers]
        for layer in copied.layers:
            layer.keys = layer.keys.expand(rows, -1, -1, -1)
            layer.values = layer.values.expand(rows, -1, -1, -1)
        return copied
    copied = copy.deepcopy(cache)
    try:
        copied.batch_repeat_interleave(rows)
    except (AttributeError, NotImplementedError, RuntimeError, ValueError) as error:
        raise CannotShare(f"{type(cache).__name__} cannot be repeated: {error}") from error
    return copied


def unshared_logits(model: Any, inputs: dict[str, Any], endings: Sequence[Sequence[int]], length: int) -> list[Any]:
    """The same as `Prefix(...)` and `.logits(...)`, each ending with its whole prompt and video: the slow reference."""
    import torch

    found = []
    for ending in endings:
        tail = torch.as_tensor([list(ending)], device=inputs["input_ids"].device)
        given = {}
        for name, value in inputs.items():
            if name == "input_ids":
                value = torch.cat([value[:, :length], tail], 1)
            elif name in PER_TOKEN:
                fill = torch.full_like(tail, 1 if name == "attention_mask" else 0).to(value.dtype)
                value = torch.cat([value[:, :length], fill], 1)
            given[name] = value
        with torch.inference_mode():
            output = model(**given, use_cache=False)
        found.append(output.logits[0, length:].float())
    return found


def common_length(sequences: Sequence[Sequence[int]], at_least: int) -> int:
    """How many leading tokens all sequences share, leaving every one at least one token of its own.

    Raises:
        ValueError: fewer than `at_least` (the pixel placeholders) are shared.
    """
    shortest = min(len(sequence) for sequence in sequences)
    stacked = np.array([list(sequence[:shortest]) for sequence in sequences])
    differs = (stacked != stacked[0]).any(axis=0)
    shared = int(differs.argmax()) if differs.any() else shortest
    shared = min(shared, shortest - 1)
    if shared < at_least:
        raise ValueError(f"the prompts share {shared} tokens, but the video ends at token {at_least}")
    return shared
