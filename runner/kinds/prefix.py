"""Scoring many endings of one prompt: the video and the prompt go through the model once, all endings share the cache.

A prompt of P tokens with C endings of S tokens costs P + C*S instead of C*(P + S). The endings are padded on the
right and no attention mask is given: in a causal model a token never sees what stands after it, so padding changes
nothing. Models with positions in time and space (M-RoPE) are told all positions, computed from the whole prompt:
where the temporal extent of a video exceeds the spatial one, what they infer depends on where the prompt is cut.

Layers with a recurrent state (linear attention, Mamba, short convolutions) update it in place, so every ending starts
from a copy of the state after the prompt; the copies that padding spoils are thrown away with their batch.
"""

import copy
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from video_contrast.pretrained import is_out_of_memory
from video_contrast.runner.kinds.loading import Tensors
from video_contrast.untyped import Cache, Tensor, TorchModel

if TYPE_CHECKING:
    import torch

T = TypeVar("T")
# What is kept of an ending's logits: called with its number and float32[n, V], while the batch is in memory.
Read = Callable[[int, "torch.Tensor"], T]
# Inputs with one entry a token; everything else in the processor's output describes pixels.
PER_TOKEN = ("input_ids", "attention_mask", "token_type_ids", "mm_token_type_ids", "position_ids")
ENDINGS_AT_ONCE = 32
LOGITS_AT_ONCE = 1 << 28  # numbers: 1 GB
STATES_AT_ONCE = 1 << 28  # numbers, of the copied states of recurrent layers
# Layers of the library's caches that are continued by appending (or by states of their own), so they can be forked.
FORKED = (
    "DynamicLayer", "DynamicSlidingWindowLayer", "LinearAttentionLayer", "LinearAttentionAndFullAttentionLayer",
    "LinearAttentionAndSlidingWindowAttentionLayer", "DummyLayer",
)  # fmt: skip


class CannotShare(Exception):
    """The model's cache cannot be repeated for several endings; the message is the reason."""


class Prefix:
    """The model's state after a prompt, from which any number of endings is scored.

    `model`: generative, in evaluation mode. `inputs`: the processor's output for one whole prompt (batch of 1), on the
    model's device; `length` of its tokens belong to the prefix, all pixel placeholders among them. Raises CannotShare:
    the model's cache cannot be continued by several endings.
    """

    def __init__(self, model: TorchModel, inputs: Tensors, length: int) -> None:
        import torch

        self.model = model
        arguments = {name: value[:, :length] if name in PER_TOKEN else value for name, value in inputs.items()}
        with torch.inference_mode():
            positions = _positions(model, inputs)
            self._next: Tensor = None
            if positions is not None:
                arguments["position_ids"] = positions[..., :length]
                self._next = (
                    positions[..., length:][..., :1] if length < positions.shape[-1] else positions[..., -1:] + 1
                )
            output = forward(model, 1, **arguments, use_cache=True)
        self.cache = getattr(output, "past_key_values", None)
        self.vocabulary = int(output.logits.shape[-1])
        if not hasattr(self.cache, "batch_repeat_interleave"):
            raise CannotShare(f"{type(self.cache).__name__} cannot be repeated for several endings")

    def score(
        self, endings: Sequence[Sequence[int]], read: Read[T], *, only_last: bool, at_once: int = ENDINGS_AT_ONCE
    ) -> list[T]:
        """What `read` keeps of the logits over each ending; they go through the model in batches sorted by length.

        `endings`: token ids, none of them empty; at most `at_once` in one forward pass, since each needs its own copy
        of the prompt's keys. `read` is given float32[len(ending), V], row j after token j; with `only_last` the last
        row alone.
        """
        import torch

        device = self.model.device
        results: dict[int, T] = {}
        order = sorted(range(len(endings)), key=lambda i: len(endings[i]))
        longest = len(endings[order[-1]])
        logits_of_one = self.vocabulary * (1 if only_last else longest)
        size = max(1, min(at_once, LOGITS_AT_ONCE // logits_of_one, STATES_AT_ONCE // max(1, _state_size(self.cache))))
        for begin in range(0, len(order), size):
            rows = order[begin : begin + size]
            lengths = [len(endings[i]) for i in rows]
            ids = torch.tensor([[*endings[i], *[0] * (lengths[-1] - len(endings[i]))] for i in rows], device=device)
            places = sorted({length - 1 for length in lengths}) if only_last else list(range(lengths[-1]))
            arguments: Tensors = {}
            if self._next is not None:
                steps = torch.arange(lengths[-1], device=device)
                arguments["position_ids"] = (self._next + steps).expand(-1, len(rows), -1)
            with torch.inference_mode():
                cache = _repeated(self.cache, len(rows))
                logits = forward(
                    self.model, places, input_ids=ids, past_key_values=cache, use_cache=True, **arguments
                ).logits
            for row, i in enumerate(rows):
                at = places.index(lengths[row] - 1)
                results[i] = read(i, logits[row, at if only_last else 0 : at + 1].float())
        return [results[i] for i in range(len(endings))]


def forward(model: TorchModel, positions: int | list[int], **arguments: object) -> Any:  # a class of the model's own
    """A model's output with the logits of some tokens alone, also of classes that would return them of all.

    `positions`: how many tokens at the end, or the places of the tokens. (No tensor: of a model over several GPUs it
    would be on the first, and the states that it picks from on the last.)
    """
    if _traits(model).keeps_logits:
        return model(**arguments, logits_to_keep=positions)
    rows = slice(-positions, None) if isinstance(positions, int) else positions
    head = model.get_output_embeddings()
    if head is None:
        output = model(**arguments)
        output.logits = output.logits[:, rows]
        return output
    # Qwen-Omni, MiniCPM-V, VideoLLaMA 3: only what is kept goes through the output layer.
    hook = head.register_forward_pre_hook(lambda _, inputs: (inputs[0][:, rows], *inputs[1:]))
    try:
        return model(**arguments)
    finally:
        hook.remove()


def _positions(model: TorchModel, inputs: Tensors) -> Tensor:
    """Positions of a whole prompt, int64[3 or 4, 1, P], of a model that computes its own; None for all others."""
    traits = _traits(model)
    for name in traits.remembering:
        model.get_submodule(name).rope_deltas = None
    if traits.positioning is None:
        return None
    position = model.get_submodule(traits.positioning).compute_3d_position_ids
    return position(**{name: inputs.get(name) for name in traits.position_inputs})


@dataclass(frozen=True)
class _Traits:
    """What is looked up once a model, not for every prompt."""

    keeps_logits: bool  # whether its forward pass can be asked for the logits of some tokens alone
    positioning: str | None  # the module that computes positions in time and space; None where the model has none
    position_inputs: tuple[str, ...]  # what that takes
    remembering: tuple[str, ...]  # the modules that keep the offset of the last video, also for a prompt without one


_TRAITS: WeakKeyDictionary[TorchModel, _Traits] = WeakKeyDictionary()


def _traits(model: TorchModel) -> _Traits:
    if model not in _TRAITS:
        modules = dict(model.named_modules())
        owner = next((name for name, module in modules.items() if hasattr(module, "compute_3d_position_ids")), None)
        position = None if owner is None else modules[owner].compute_3d_position_ids
        _TRAITS[model] = _Traits(
            keeps_logits="logits_to_keep" in inspect.signature(model.forward).parameters,
            positioning=owner,
            position_inputs=() if position is None else tuple(inspect.signature(position).parameters),
            remembering=tuple(name for name, module in modules.items() if hasattr(module, "rope_deltas")),
        )
    return _TRAITS[model]


def _repeated(cache: Cache, rows: int) -> Cache:
    """The cache for `rows` endings, without changing this one.

    Keys and values are expanded, not copied: a layer makes new tensors when it appends, so the one copy that appending
    needs is the only one. Recurrent states are copied, as their layers overwrite them. Caches of another make repeat
    themselves.
    """
    layers = getattr(cache, "layers", None)
    if layers and all(type(layer).__name__ in FORKED for layer in layers):
        copied = copy.copy(cache)
        copied.layers = [_forked(layer, rows) for layer in layers]
        return copied
    copied = copy.deepcopy(cache)
    try:
        copied.batch_repeat_interleave(rows)
    except (AttributeError, NotImplementedError, RuntimeError, ValueError) as error:
        if is_out_of_memory(error):
            raise  # a smaller batch may do
        raise CannotShare(f"{type(cache).__name__} cannot be repeated: {error}") from error
    return copied


def _forked(layer: Any, rows: int) -> Any:  # of transformers: a layer of `Cache`, in as many classes
    """One layer for `rows` endings: what it appends to is expanded, the states that it overwrites are copied."""
    import torch

    copied = copy.copy(layer)
    for name, value in vars(layer).items():
        if isinstance(value, torch.Tensor) and value.ndim and len(value) == 1:
            setattr(copied, name, value.expand(rows, *value.shape[1:]))
        elif isinstance(value, dict):
            states = {
                key: state.repeat_interleave(rows, 0) if isinstance(state, torch.Tensor) else state
                for key, state in value.items()
            }
            setattr(copied, name, states)
    return copied


def _state_size(cache: Cache) -> int:
    """How many numbers the recurrent states of a cache hold, for one ending."""
    dicts = [
        value for layer in getattr(cache, "layers", ()) for value in vars(layer).values() if isinstance(value, dict)
    ]
    return sum(state.numel() for states in dicts for state in states.values() if hasattr(state, "numel"))


def score_unshared(
    model: TorchModel, inputs: Tensors, endings: Sequence[Sequence[int]], length: int, *, read: Read[T], only_last: bool
) -> list[T]:
    """The same as `Prefix(model, inputs, length).score(...)`, each ending with its whole prompt and video."""
    import torch

    results = []
    for number, ending in enumerate(endings):
        tail = torch.as_tensor([list(ending)], device=inputs["input_ids"].device)
        arguments = {}
        for name, value in inputs.items():
            if name == "input_ids":
                value = torch.cat([value[:, :length], tail], 1)
            elif name in PER_TOKEN:
                fill = torch.full_like(tail, 1 if name == "attention_mask" else 0).to(value.dtype)
                value = torch.cat([value[:, :length], fill], 1)
            arguments[name] = value
        with torch.inference_mode():
            output = forward(model, 1 if only_last else len(ending), **arguments, use_cache=False)
        results.append(read(number, output.logits[0].float()))
    return results


def common_length(sequences: Sequence[Sequence[int]], at_least: int) -> int:
    """How many leading tokens all sequences share, leaving every one at least one token of its own.

    Returns the number; `at_least` (the end of the pixel placeholders) where they share fewer.
    """
    shortest = min(len(sequence) for sequence in sequences)
    stacked = np.array([list(sequence[:shortest]) for sequence in sequences])
    differs = (stacked != stacked[0]).any(axis=0)
    shared = int(differs.argmax()) if differs.any() else shortest
    return max(min(shared, shortest - 1), at_least)
