"""Generative video models (Qwen-VL, LLaVA, InternVL, SmolVLM, Gemma ...), scored without generating.

Three ways to score a caption, all from one forward pass over the video (`Prefix`):

- `yesno`   the probability of Yes against No for "does this video show ...?" (VQAScore); the default
- `loglik`  the log-probability of the caption as the answer to "describe this video", summed, per token, per
            character, or less what the model gives it without the video (pmi)
- `letter`  the log-probability of the candidate's letter among all letters; `rotate` asks once a rotation,
            `latin` asks once, with rotations balanced over the items
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Annotated, Literal, TypeVar

import numpy as np

from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import JsonObject
from video_contrast.question_text import WHICH_SENTENCE, Question
from video_contrast.runner.kinds import prompts
from video_contrast.runner.kinds.base import AskedScorer, ClipFrames, LoadOptions, ModelSource, ScoreResult, kind
from video_contrast.runner.kinds.chat_prompts import ChatPrompts, Prompt, continuations, think
from video_contrast.runner.kinds.loading import load_model, load_processor
from video_contrast.runner.kinds.prefix import ENDINGS_AT_ONCE, CannotShare, Prefix, Read, common_length, score_unshared
from video_contrast.runner.kinds.recipes import OwnerFrames, recipe_of, types_in
from video_contrast.runner.kinds.video_metadata import told_times
from video_contrast.untyped import Processor, Tensor, TorchModel

T = TypeVar("T")
SHOWN = 64  # tokens before the end of the video that are shown decoded
# How far shared and unshared logits may be apart, in standard deviations of the logits: float32, and shorter types.
TOLERANCE = (1e-3, 5e-2)


@dataclass(frozen=True)
class ScoringOptions(prompts.AskOptions):
    """How captions are scored; written into the run's record."""

    norm: Annotated[Literal["sum", "token", "char", "pmi"], "Norm of --scoring loglik."] = "token"
    alpha: Annotated[float, "Weight of the caption's own likelihood in --norm pmi."] = 1.0
    thinking: Annotated[int, "Tokens a thinking model may think before it answers; 0: kept from thinking."] = 0
    frame_size: Annotated[Literal["processor", "owner"], "Who bounds the size of frames."] = "processor"
    letter_prompt: Annotated[Literal["plain", "owner"], "Prompt of --scoring letter."] = "plain"
    share_prefix: Annotated[bool, "Run video and prompt once an item and share them over its captions."] = True

    def record(self) -> JsonObject:
        """What `run.json` says of them."""
        return {name.removeprefix("option_"): value for name, value in asdict(self).items()}


class GenerativeScorer(AskedScorer):
    """Scores captions of one clip with a generative model.

    Attributes:
        sharing: "on", or "off: ..." with the reason why the prefix could not be shared (for some clips at least).
        counters: what this process's scoring cost so far: items, tokens, passes of the vision tower.
        rendered: the first rendered prompt, for the record.

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
        for name, known in (("frame_size", owner and owner.side), ("letter_prompt", owner and owner.prompt)):
            if getattr(self.options, name) == "owner" and not known:
                flag = name.replace("_", "-")
                raise UsageError(f"--{flag} owner: that of the owners of {type(model).__name__} is not known here")
        if self.options.thinking and self.options.scoring == "loglik":
            raise UsageError("--thinking goes with --scoring yesno or letter: a caption is no answer to think about")
        size_of = owner if self.options.frame_size == "owner" else None
        self.chat = ChatPrompts(model, processor, thinking=self.options.thinking, size_of=size_of)
        self.tokenizer = self.chat.tokenizer
        self.sharing = "on" if self.options.share_prefix else "off: asked for"
        self.counters: Counter[str] = Counter()
        self.together = self.options.scoring == "letter"
        self.batch_size = ENDINGS_AT_ONCE
        self.rendered = ""
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
            **self.options.record(),
            "prompt": self.rendered,
            "prompt_hash": prompts.prompt_hash(self.rendered),
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
        sums, counts = self._caption_loglik(clip, texts, question)
        parts = [
            {"sum": s, "n_tokens": float(n), "n_chars": float(len(text))}
            for s, n, text in zip(sums, counts, texts, strict=True)
        ]
        if self.options.norm == "pmi":
            fresh = [text for text in dict.fromkeys(texts) if (question, text) not in self._unconditional]
            if fresh:
                logs = self._caption_loglik(None, fresh, question)[0]
                self._unconditional.update({(question, text): log for text, log in zip(fresh, logs, strict=True)})
            for part, text in zip(parts, texts, strict=True):
                part["unconditional"] = self._unconditional[question, text]
        return ScoreResult(np.array([self._normalised(part) for part in parts], dtype=np.float64), parts)

    def _normalised(self, part: dict[str, float]) -> float:
        if self.options.norm == "pmi":
            return part["sum"] - self.options.alpha * part["unconditional"]
        per = {"sum": 1.0, "token": part["n_tokens"], "char": part["n_chars"]}[self.options.norm]
        return part["sum"] / per

    def _caption_loglik(
        self, clip: ClipFrames | None, texts: list[str], question: str
    ) -> tuple[list[float], list[int]]:
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
        shifted = [[prompt.ids[-1], *ending[:-1]] for ending in endings]
        sums = self._score_endings(prompt, shifted, len(prompt.ids) - 1, read=read, only_last=False)
        return sums, [len(ending) for ending in endings]

    def _read(
        self, clip: ClipFrames | None, questions: list[str], names: Sequence[str], _: Sequence[Sequence[str]]
    ) -> list[np.ndarray]:
        """Log-probabilities of the answers `names` after each question, float64[len(names)] a question."""
        if self.options.thinking:
            return [self._read_after_thinking(clip, question, names) for question in questions]
        prompt = self._prompt(clip, questions[0])
        sequences = [prompt.ids, *(self.chat.ids_of(prompt, clip, question) for question in questions[1:])]
        shared = common_length(sequences, self.chat.video_end(prompt.ids))
        read = self._reader(prompt.text, names)
        return self._score_endings(prompt, [ids[shared:] for ids in sequences], shared, read=read, only_last=True)

    def _read_after_thinking(self, clip: ClipFrames | None, question: str, names: Sequence[str]) -> np.ndarray:
        """The same after the thoughts about one question."""
        prompt = self._prompt(clip, question)
        self._check_length(len(prompt.ids) + self.options.thinking)
        thought = think(self.model, self.tokenizer, prompt, self.options.thinking)
        self.counters["thinking_tokens"] += thought.tokens
        self.counters["thoughts_cut"] += thought.cut
        self._count_passes(len(prompt.ids), 2)
        ending = [prompt.ids[-1], *thought.ids]
        read = self._reader(prompt.text + thought.text, names)
        shared = len(prompt.ids) - 1
        [result] = score_unshared(self.model, prompt.inputs, [ending], shared, read=read, only_last=True)
        return result

    def _reader(self, context: str, names: Sequence[str]) -> Read[np.ndarray]:
        """Reads the log-probabilities of answers, each summed over its forms that are one token after the context."""
        forms = [prompts.FORMS.get(name, (name, f" {name}")) for name in names]
        tokens = [
            sorted({ids[0] for ids in continuations(self.tokenizer, context, texts) if len(ids) == 1})
            for texts in forms
        ]
        if not all(tokens):
            split = names[tokens.index([])]
            raise VideoContrastError(
                f"the tokenizer has no single token for the answer {split!r}; use --scoring loglik"
            )

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
        pixels = {name: list(shape) for name, shape in prompt.shapes.items()}
        end = self.chat.video_end(prompt.ids)
        shown: JsonObject = {
            "prompt": prompt.text,
            "prompt_hash": prompts.prompt_hash(prompt.text),
            "tokens": len(prompt.ids),
            "decoded": self.tokenizer.decode(prompt.ids[:end][-SHOWN:]) + self.tokenizer.decode(prompt.ids[end:]),
            "thinking": self.chat.thinking,
            "pixels": pixels,
        }
        after = self.tokenizer.decode(prompt.ids[end:]).partition(questions[0])[0]  # GLM's times follow the frames
        if times := told_times(self.tokenizer.decode(prompt.ids[:end]) + after, prompt.inputs):
            shown["times_told"] = times
        return super().rendered_input(clip, captions) | shown

    def _prompt(self, clip: ClipFrames | None, question: str) -> Prompt:
        prompt = self.chat.prompt(clip, question)
        self.rendered = self.rendered or prompt.text
        return prompt

    def _score_endings(
        self, prompt: Prompt, endings: list[list[int]], shared: int, *, read: Read[T], only_last: bool
    ) -> list[T]:
        self._check_length(shared + max(map(len, endings)))
        self.counters["ending_tokens"] += sum(map(len, endings))
        if self.options.share_prefix and self._shares.get(prompt.geometry, True):
            try:
                prefix = Prefix(self.model, prompt.inputs, shared)
                self._count_passes(shared, 1)
                if prompt.geometry not in self._shares:
                    self._shares[prompt.geometry] = self._agrees(prefix, prompt, endings, shared)
                if self._shares[prompt.geometry]:
                    return prefix.score(endings, read, only_last=only_last, at_once=self.batch_size)
            except CannotShare as reason:
                self._shares[prompt.geometry] = False
                self.sharing = f"off: {reason}"
        self._count_passes(shared, len(endings))
        return score_unshared(self.model, prompt.inputs, endings, shared, read=read, only_last=only_last)

    def _agrees(self, prefix: Prefix, prompt: Prompt, endings: list[list[int]], shared: int) -> bool:
        """Whether shared and unshared logits agree: a class whose cache misbehaves must not score wrongly.

        Checked for the first and the last ending whenever the pixels have a geometry that was not seen before.
        """
        import torch

        tolerance = TOLERANCE[next(self.model.parameters()).dtype != torch.float32]
        probes = [endings[i] for i in sorted({0, len(endings) - 1})]
        rows = prefix.score(probes, lambda _, logits: logits[-1], only_last=True)
        whole = score_unshared(
            self.model, prompt.inputs, probes, shared, read=lambda _, logits: logits[-1], only_last=True
        )
        for row, expected in zip(rows, whole, strict=True):
            gap = float((row - expected).abs().max() / expected.std().clamp(min=1e-6))
            self._largest_gap = max(self._largest_gap, gap)
            if not gap < tolerance:
                self.sharing = f"off: shared and unshared logits of {type(self.model).__name__} differ by {gap:.2g} sd"
                return False
        return True

    def _count_passes(self, shared: int, passes: int) -> None:
        self.counters["prefix_tokens"] += shared * passes
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
            "generative video models need torchvision, which is not installed: `pip install video-contrast[vlm]`"
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
