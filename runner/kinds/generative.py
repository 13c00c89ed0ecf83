"""Generative video models (Qwen-VL, LLaVA, InternVL, SmolVLM, Gemma ...), scored without generating.

Three ways to score a caption, all from one forward pass over the video (`Prefix`):

- `yesno`   the probability of Yes against No for "does this video show ...?" (VQAScore); the default
- `loglik`  the log-probability of the caption as the answer to "describe this video", summed, per token, per
            character, or less what the model gives it without the video (pmi)
- `letter`  the log-probability of the candidate's letter among all letters; `rotate` asks once a rotation,
            `latin` asks once, with rotations balanced over the items

The endings are padded on the right and no attention mask is given: in a causal model a token never sees what stands
after it. Models with positions in time and space (M-RoPE) are told all positions, computed from the whole prompt: where
the temporal extent of a video exceeds the spatial one, what they infer depends on where the prompt is cut. Recurrent
layers update their state in place, so every ending starts from a copy of the state after the prompt.
"""

import copy
import inspect
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Annotated, Any, Literal, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from video_contrast.errors import UsageError, VideoContrastError, how_to_install
from video_contrast.files import JsonObject
from video_contrast.pretrained import is_out_of_memory
from video_contrast.question_text import WHICH_SENTENCE, Question
from video_contrast.runner.kinds import prompts
from video_contrast.runner.kinds.base import AskedScorer, ClipFrames, LoadOptions, ModelSource, ScoreResult, kind
from video_contrast.runner.kinds.chat_prompts import ChatPrompts, Prompt, continuations
from video_contrast.runner.kinds.loading import Tensors, load_model, load_processor, times_in_prompt
from video_contrast.runner.kinds.model_recipes import OwnerFrames, recipe_of, types_in
from video_contrast.untyped import Cache, Processor, Tensor, TorchModel

T = TypeVar("T")
# Keeps a part of an ending's logits: called with its number and float32[n, V], while the batch is in memory.
Read = Callable[[int, Tensor], T]
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
                after = positions[..., length : length + 1]
                self._next = after if after.shape[-1] else positions[..., -1:] + 1
            output = forward(model, 1, **arguments, use_cache=True)
        self.cache = getattr(output, "past_key_values", None)
        self.vocabulary = int(output.logits.shape[-1])
        if not hasattr(self.cache, "batch_repeat_interleave"):
            raise CannotShare(f"{type(self.cache).__name__} cannot be repeated for several endings")

    def score(
        self, endings: Sequence[Sequence[int]], read: Read[T], *, only_last: bool, at_once: int = ENDINGS_AT_ONCE
    ) -> list[T]:
        """The results of `read` for the logits over each ending; they go through the model in batches sorted by length.

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
        parts = [part for layer in getattr(self.cache, "layers", ()) for part in vars(layer).values()]
        states = [state for part in parts if isinstance(part, dict) for state in part.values()]
        recurrent = sum(state.numel() for state in states if hasattr(state, "numel"))
        size = max(1, min(at_once, LOGITS_AT_ONCE // logits_of_one, STATES_AT_ONCE // max(1, recurrent)))
        for begin in range(0, len(order), size):
            rows = order[begin : begin + size]
            lengths = [len(endings[i]) for i in rows]
            ids = torch.tensor([[*endings[i], *[0] * (lengths[-1] - len(endings[i]))] for i in rows], device=device)
            places = sorted({length - 1 for length in lengths}) if only_last else list(range(lengths[-1]))
            arguments: Tensors = {"input_ids": ids}
            if self._next is not None:
                steps = torch.arange(lengths[-1], device=device)
                arguments["position_ids"] = (self._next + steps).expand(-1, len(rows), -1)
            with torch.inference_mode():
                cache = _repeated(self.cache, len(rows))
                logits = forward(self.model, places, past_key_values=cache, use_cache=True, **arguments).logits
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
    if (head := model.get_output_embeddings()) is None:
        output = model(**arguments)
        output.logits = output.logits[:, rows]
        return output
    # Qwen-Omni, MiniCPM-V, VideoLLaMA 3: only what is kept goes through the output layer.
    with head.register_forward_pre_hook(lambda _, inputs: (inputs[0][:, rows], *inputs[1:])):
        return model(**arguments)


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
    """The facts that are looked up once a model, not for every prompt."""

    keeps_logits: bool  # whether its forward pass can be asked for the logits of some tokens alone
    positioning: str | None  # the module that computes positions in time and space; None where the model has none
    position_inputs: tuple[str, ...]  # arguments of that module
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
        new_cache = copy.copy(cache)
        new_cache.layers = [_forked(layer, rows) for layer in layers]
        return new_cache
    new_cache = copy.deepcopy(cache)
    try:
        new_cache.batch_repeat_interleave(rows)
    except (AttributeError, NotImplementedError, RuntimeError, ValueError) as error:
        if is_out_of_memory(error):
            raise  # a smaller batch may do
        raise CannotShare(f"{type(cache).__name__} cannot be repeated: {error}") from error
    return new_cache


def _forked(layer: Any, rows: int) -> Any:  # of transformers: a layer of `Cache`, in as many classes
    """One layer for `rows` endings: what it appends to is expanded, the states that it overwrites are copied."""
    import torch

    new_layer = copy.copy(layer)
    for name, value in vars(layer).items():
        if isinstance(value, torch.Tensor) and value.ndim and len(value) == 1:
            setattr(new_layer, name, value.expand(rows, *value.shape[1:]))
        elif isinstance(value, dict):
            states = {key: state for key, state in value.items() if isinstance(state, torch.Tensor)}
            setattr(new_layer, name, value | {key: state.repeat_interleave(rows, 0) for key, state in states.items()})
    return new_layer


def score_unshared(
    model: TorchModel, inputs: Tensors, endings: Sequence[Sequence[int]], length: int, *, read: Read[T], only_last: bool
) -> list[T]:
    """The results of `Prefix(model, inputs, length).score(...)`, each ending with its whole prompt and video."""
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


SHOWN = 64  # tokens before the end of the video that are shown decoded
# How far shared and unshared logits may be apart, in standard deviations of the logits: float32, and shorter types.
TOLERANCE = (1e-3, 5e-2)


@dataclass(frozen=True)
class ScoringOptions(prompts.AskOptions):
    """The options of scoring captions; written into the run's record."""

    norm: Annotated[Literal["sum", "token", "char", "pmi"], "Norm of --scoring loglik."] = "token"
    alpha: Annotated[float, "Weight of the caption's own likelihood in --norm pmi."] = 1.0
    thinking: Annotated[int, "Tokens a thinking model may think before it answers; 0: kept from thinking."] = 0
    frame_size: Annotated[Literal["processor", "owner"], "Who bounds the size of frames."] = "processor"
    letter_prompt: Annotated[Literal["plain", "owner"], "Prompt of --scoring letter."] = "plain"
    share_prefix: Annotated[bool, "Run video and prompt once an item and share them over its captions."] = True


class GenerativeScorer(AskedScorer):
    """Scores captions of one clip with a generative model.

    Raises VideoContrastError: the processor has no chat template; UsageError: an option is "owner", and that of the
    owner is not known.
    """

    def __init__(
        self,
        model: TorchModel,
        processor: Processor,
        options: ScoringOptions | None = None,
        owner: OwnerFrames | None = None,
    ) -> None:
        self.model = model
        self.options = options or ScoringOptions()
        self.owner = owner
        for name, of_owner in (("frame_size", owner and owner.side), ("letter_prompt", owner and owner.prompt)):
            if getattr(self.options, name) == "owner" and not of_owner:
                flag = name.replace("_", "-")
                raise UsageError(f"--{flag} owner: that of the owners of {type(model).__name__} is not known here")
        if self.options.thinking and self.options.scoring == "loglik":
            raise UsageError("--thinking goes with --scoring yesno or letter: a caption is no answer to think about")
        size_of = owner if self.options.frame_size == "owner" else None
        self.chat = ChatPrompts(model, processor, thinking=self.options.thinking, size_of=size_of)
        self.tokenizer = self.chat.tokenizer
        self.sharing = "on" if self.options.share_prefix else "off: asked for"  # or why not, for some clips at least
        self.counters: Counter[str] = Counter()  # costs of this process's scoring so far
        self.together = self.options.scoring == "letter"
        self.batch_size = ENDINGS_AT_ONCE
        self.first_prompt = ""  # the first prompt
        self._shares: dict[tuple[object, ...], bool] = {}  # by the geometry of the pixels
        self._largest_gap = 0.0
        self._unconditional: dict[tuple[str, str], float] = {}

    def score(
        self, clip: ClipFrames | None, captions: Sequence[str], *, position: int = 0, question: Question | None = None
    ) -> ScoreResult:
        """Scores and their raw parts, log-probabilities in nats.

        Raises VideoContrastError: the prompt is longer than the model's context, no logits came back, or an answer
        (Yes, No, a letter) is no single token.
        """
        before = self.counters.copy()
        texts = [self.chat.safe(caption) for caption in captions]
        self.counters["altered_captions"] += sum(text != caption for text, caption in zip(texts, captions, strict=True))
        self.counters["items"] += 1
        question = self._safe(question, clip)
        if self.options.scoring == "loglik":
            result = self._loglik(clip, texts, prompts.questions_about(texts, self.options, question=question)[0])
        else:
            read = partial(self._read, clip)
            result = prompts.scores_by_answers(texts, self.options, read, position=position, question=question)
        self.counters["unparseable"] += result.counts.get("unparseable", 0)
        return replace(result, counts={name: self.counters[name] - before[name] for name in self.counters})

    @property
    def facts(self) -> JsonObject:
        """The class, the options, the first rendered prompt with its hash, and how the prefix was shared."""
        return {
            "class": type(self.model).__name__,
            **{name.removeprefix("option_"): value for name, value in asdict(self.options).items()},
            "prompt": self.first_prompt,
            "prompt_hash": prompts.prompt_hash(self.first_prompt),
            "thinking": self.chat.thinking,
            "shared_prefix": self.sharing,
            "shared_prefix_gap_sd": self._largest_gap,
        }

    def _safe(self, question: Question | None, clip: ClipFrames | None) -> Question | None:
        if self.options.letter_prompt == "owner" and self.owner and self.together:
            question = question or WHICH_SENTENCE
            if question.prompt == WHICH_SENTENCE.prompt:  # that of a published set stays
                question = replace(question, prompt=self.owner.prompt, option=self.owner.option or question.option)
        if question is None:
            return None
        return replace(question, text=self.chat.safe(question.text)).of_frames(0 if clip is None else len(clip.frames))

    def _loglik(self, clip: ClipFrames | None, texts: list[str], question: str) -> ScoreResult:
        logs = self._caption_logs(clip, texts, question)
        if self.options.norm != "pmi":
            return prompts.likelihood_scores(logs, texts, self.options.norm)
        fresh = [text for text in dict.fromkeys(texts) if (question, text) not in self._unconditional]
        if fresh:
            blind = self._caption_logs(None, fresh, question)
            self._unconditional.update({(question, text): log for text, (log, _) in zip(fresh, blind, strict=True)})
        result = prompts.likelihood_scores(logs, texts, "sum")
        without = [self._unconditional[question, text] for text in texts]
        parts = [part | {"unconditional": log} for part, log in zip(result.parts or (), without, strict=True)]
        return ScoreResult(result.scores - self.options.alpha * np.array(without), parts)

    def _caption_logs(self, clip: ClipFrames | None, texts: list[str], question: str) -> list[tuple[float, int]]:
        """Sum of log p(token) and number of tokens of each text, as what is said of the clip when asked."""
        import torch

        prompt = self._prompt(clip, question)
        gap = self.chat.answer_gap(clip, prompt)
        endings = continuations(self.tokenizer, prompt.text, [gap + text for text in texts])
        for text in texts:
            if not self.tokenizer.encode(text, add_special_tokens=False):
                raise VideoContrastError(f"the tokenizer makes no token of the caption {text!r}, so it has no score")

        def read(number: int, logits: Tensor) -> float:
            if logits.shape[0] != len(endings[number]):
                raise VideoContrastError(f"{type(self.model).__name__} returned no logits for the caption's tokens")
            tokens = torch.tensor(endings[number], device=logits.device)
            log = logits.log_softmax(-1).gather(1, tokens[:, None])
            return float(np.cumsum(log[:, 0].cpu().numpy())[-1])  # one after the other: in float32 the order shows

        # The last prompt token predicts the first caption token, so it goes in front of every ending.
        inputs = [[prompt.ids[-1], *ending[:-1]] for ending in endings]
        sums = self._score_endings(prompt, inputs, len(prompt.ids) - 1, read=read, only_last=False)
        return list(zip(sums, map(len, endings), strict=True))

    def _read(
        self, clip: ClipFrames | None, questions: list[str], names: Sequence[str], _: Sequence[Sequence[str]]
    ) -> list[np.ndarray]:
        """Log-probabilities of the answers `names` after each question, float64[len(names)] a question."""
        if self.options.thinking:
            return [self._read_after_thinking(clip, question, names) for question in questions]
        prompt = self._prompt(clip, questions[0])
        sequences = [prompt.ids, *(self.chat.ids_of(prompt, clip, question) for question in questions[1:])]
        # The leading tokens that all share, the pixels' at least; each keeps at least one of its own.
        shortest = min(map(len, sequences)) - 1
        tokens = np.array([list(sequence[:shortest]) for sequence in sequences])
        differs = (tokens != tokens[0]).any(axis=0)
        length = max(int(differs.argmax()) if differs.any() else shortest, self.chat.video_end(prompt.ids))
        endings = [ids[length:] for ids in sequences]
        return self._score_endings(prompt, endings, length, read=self._reader(prompt.text, names), only_last=True)

    def _read_after_thinking(self, clip: ClipFrames | None, question: str, names: Sequence[str]) -> np.ndarray:
        """Log-probabilities of the answers `names` after the thoughts about one question, float64[len(names)]."""
        prompt = self._prompt(clip, question)
        self._check_length(len(prompt.ids) + self.options.thinking)
        thought, tokens, cut = self.chat.thought(prompt, self.options.thinking)
        self.counters["thinking_tokens"] += tokens
        self.counters["thoughts_cut"] += cut
        self._count_passes(len(prompt.ids), 2)
        ids = continuations(self.tokenizer, prompt.text, [thought])[0] if thought else []
        ending = [prompt.ids[-1], *ids]
        read = self._reader(prompt.text + thought, names)
        length = len(prompt.ids) - 1
        [result] = score_unshared(self.model, prompt.inputs, [ending], length, read=read, only_last=True)
        return result

    def _reader(self, context: str, names: Sequence[str]) -> Read[np.ndarray]:
        """Reads the log-probabilities of answers, each summed over its forms that are one token after the context."""
        forms = [prompts.FORMS.get(name, (name, f" {name}")) for name in names]
        token_ids = [continuations(self.tokenizer, context, texts) for texts in forms]
        tokens = [sorted({ids[0] for ids in of_answer if len(ids) == 1}) for of_answer in token_ids]
        if not all(tokens):
            split = names[tokens.index([])]
            raise VideoContrastError(f"the tokenizer has no single token for the answer {split!r}: --scoring loglik")

        def read(_: int, logits: Tensor) -> np.ndarray:
            log = logits[-1].log_softmax(-1)
            return np.array([float(log[ids].logsumexp(0)) for ids in tokens])

        return read

    def rendered_input(
        self, clip: ClipFrames, captions: Sequence[str], *, position: int = 0, question: Question | None = None
    ) -> JsonObject:
        """The first prompt about the captions with its hash and token count, and the shapes of the pixels."""
        texts = [self.chat.safe(caption) for caption in captions]
        question = self._safe(question, clip)
        questions = prompts.questions_about(texts, self.options, position=position, question=question)
        prompt = self.chat.prompt(clip, questions[0])
        end = self.chat.video_end(prompt.ids)
        entry: JsonObject = {
            "prompt": prompt.text,
            "prompt_hash": prompts.prompt_hash(prompt.text),
            "tokens": len(prompt.ids),
            "decoded": self.tokenizer.decode(prompt.ids[:end][-SHOWN:]) + self.tokenizer.decode(prompt.ids[end:]),
            "thinking": self.chat.thinking,
            "pixels": prompt.shapes,
        }
        after = self.tokenizer.decode(prompt.ids[end:]).partition(questions[0])[0]  # GLM's times follow the frames
        if times := times_in_prompt(self.tokenizer.decode(prompt.ids[:end]) + after, prompt.inputs):
            entry["times_told"] = times
        return super().rendered_input(clip, captions) | entry

    def _prompt(self, clip: ClipFrames | None, question: str) -> Prompt:
        prompt = self.chat.prompt(clip, question)
        self.first_prompt = self.first_prompt or prompt.text
        return prompt

    def _score_endings(
        self, prompt: Prompt, endings: list[list[int]], length: int, *, read: Read[T], only_last: bool
    ) -> list[T]:
        self._check_length(length + max(map(len, endings)))
        self.counters["ending_tokens"] += sum(map(len, endings))
        if self.options.share_prefix and self._shares.get(prompt.geometry, True):
            try:
                prefix = Prefix(self.model, prompt.inputs, length)
                self._count_passes(length, 1)
                if prompt.geometry not in self._shares:
                    self._shares[prompt.geometry] = self._agrees(prefix, prompt, endings, length)
                if self._shares[prompt.geometry]:
                    return prefix.score(endings, read, only_last=only_last, at_once=self.batch_size)
            except CannotShare as reason:
                self._shares[prompt.geometry] = False
                self.sharing = f"off: {reason}"
        self._count_passes(length, len(endings))
        return score_unshared(self.model, prompt.inputs, endings, length, read=read, only_last=only_last)

    def _agrees(self, prefix: Prefix, prompt: Prompt, endings: list[list[int]], length: int) -> bool:
        """Whether shared and unshared logits agree: a class whose cache misbehaves must not score wrongly.

        Checked for the first and the last ending whenever the pixels have a geometry that was not seen before.
        """
        import torch

        tolerance = TOLERANCE[next(self.model.parameters()).dtype != torch.float32]
        probes = [endings[i] for i in sorted({0, len(endings) - 1})]
        rows = prefix.score(probes, lambda _, logits: logits[-1], only_last=True)
        whole = score_unshared(
            self.model, prompt.inputs, probes, length, read=lambda _, logits: logits[-1], only_last=True
        )
        for row, other in zip(rows, whole, strict=True):
            gap = float((row - other).abs().max() / other.std().clamp(min=1e-6))
            self._largest_gap = max(self._largest_gap, gap)
            if not gap < tolerance:
                self.sharing = f"off: shared and unshared logits of {type(self.model).__name__} differ by {gap:.2g} sd"
                return False
        return True

    def _count_passes(self, length: int, passes: int) -> None:
        self.counters["prefix_tokens"] += length * passes
        self.counters["vision_passes"] += passes

    def _check_length(self, length: int) -> None:
        limit = getattr(self.model.config.get_text_config(), "max_position_embeddings", None)
        if limit and length > limit:
            raise VideoContrastError(
                f"video and prompt make {length} tokens but the model's context holds {limit}; give fewer --frames"
            )


def check_torchvision() -> None:
    """Video processors need torchvision, and one that was built for the torch at hand.

    Raises VideoContrastError: it is absent, or a build for another torch (which breaks transformers as a whole).
    """
    import torch

    try:
        import torchvision  # noqa: F401
    except ImportError as error:
        raise VideoContrastError(
            f"generative video models need torchvision, which is not installed: {how_to_install('vlm')}"
        ) from error
    except RuntimeError as error:
        raise VideoContrastError(
            f"the installed torchvision was built for another torch than {torch.__version__} ({error}); install both "
            "from one package index, in one command, or remove it: `pip uninstall torchvision`"
        ) from error


TESTED = (
    "Qwen2VLForConditionalGeneration", "Qwen2_5_VLForConditionalGeneration", "Qwen3VLForConditionalGeneration",
    "LlavaOnevisionForConditionalGeneration", "LlavaNextVideoForConditionalGeneration",
    "InternVLForConditionalGeneration", "SmolVLMForConditionalGeneration", "Gemma3ForConditionalGeneration",
    "Qwen3_5ForConditionalGeneration", "Lfm2VlForConditionalGeneration", "Qwen2_5OmniThinkerForConditionalGeneration",
)  # fmt: skip
# Whole speaking models, of which only the part that reads and writes is loaded.
THINKERS = {
    "qwen2_5_omni": "Qwen2_5OmniThinkerForConditionalGeneration",
    "qwen3_omni_moe": "Qwen3OmniMoeThinkerForConditionalGeneration",
}


@kind(
    "generative",
    family="pair",
    summary="generative video models: yes/no, log-likelihood or letter, without generating",
    requirements="torchvision built for your torch (`pip install video-contrast[vlm]`)",
    model_types=types_in("tested", "expected"),
    asks=True,
    options=ScoringOptions,
    tested=TESTED,
    version="3",
)
def load(source: ModelSource, settings: LoadOptions) -> GenerativeScorer:
    """Loads the model as `AutoModelForMultimodalLM`; of a speaking model its thinker."""
    check_torchvision()
    # Not the PIL backend of the other kinds: video processors exist for torchvision only.
    processor = load_processor(source, settings, None)
    name = THINKERS.get(source.model_type, "AutoModelForMultimodalLM")
    recipe = recipe_of(source, "generative")
    options = ScoringOptions(**settings.options)
    return GenerativeScorer(load_model(source, settings, name), processor, options, recipe.owner if recipe else None)
