"""Generative video models (Qwen-VL, LLaVA, InternVL, SmolVLM, Gemma ...), scored without generating.

Three ways to score a caption, all from one forward pass over the video (`Prefix`):

- `yesno`   the probability of Yes against No for "does this video show ...?" (VQAScore); the default
- `loglik`  the log-probability of the caption as the answer to "describe this video", summed, per token, per
            character, or less what the model gives it without the video (pmi)
- `letter`  the log-probability of the option's letter among all options; `rotate` asks once a rotation,
            `latin` asks once, with rotations balanced over the items
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.runner.kinds import prompts
from video_contrast.runner.kinds.base import ClipFrames, PairScorer, ScoreResult
from video_contrast.runner.kinds.prefix import CannotShare, Prefix, common_length, unshared_logits

Scoring = Literal["yesno", "loglik", "letter"]
Norm = Literal["sum", "token", "char", "pmi"]
Rotations = Literal["none", "rotate", "latin"]
Parts = list[dict[str, float]]


@dataclass
class Options:
    """How captions are scored; written into the run's record."""

    scoring: Scoring = "yesno"
    norm: Norm = "token"  # of loglik
    alpha: float = 1.0  # of pmi: log p(c|v) - alpha * log p(c)
    rotations: Rotations = "none"  # of letter
    seed: int = 0  # of latin
    share_prefix: bool = True

    def __post_init__(self) -> None:
        for name, value, known in (
            ("scoring", self.scoring, ("yesno", "loglik", "letter")),
            ("norm", self.norm, ("sum", "token", "char", "pmi")),
            ("rotations", self.rotations, ("none", "rotate", "latin")),
        ):
            if value not in known:
                raise UsageError(f"--{name} {value!r} is not one of {', '.join(known)}")


@dataclass
class Counters:
    """What the scoring cost: tokens through the model, and passes of the vision tower."""

    prefix_tokens: int = 0
    ending_tokens: int = 0
    vision_passes: int = 0
    items: int = 0
    altered_captions: int = 0


@dataclass
class Asked:
    """One prompt: the processor's inputs, and the rendered text it came from."""

    inputs: dict[str, Any]
    text: str
    question: str
    ids: list[int]


class GenerativeScorer(PairScorer):
    """Scores captions of one clip with a generative model.

    Args:
        model: the transformers model, in evaluation mode.
        processor: its processor, with a chat template.
        options: how to score.

    Attributes:
        sharing: "on", or "off: ..." with the reason why the prefix could not be shared.
        counters: what the scoring cost so far.
        prompt: the first rendered prompt, for the record.

    Raises:
        VideoContrastError: the processor has no chat template.
    """

    def __init__(self, model: Any, processor: Any, options: Options | None = None) -> None:
        self.model = model
        self.processor = processor
        self.options = options or Options()
        self.tokenizer = getattr(processor, "tokenizer", processor)
        self.takes_video = getattr(processor, "video_processor", None) is not None
        if not (getattr(processor, "chat_template", None) or getattr(self.tokenizer, "chat_template", None)):
            raise VideoContrastError(
                f"{type(processor).__name__} has no chat template, so no question can be put to the model; "
                "use an instruction-tuned checkpoint, or add chat_template.jinja to its folder"
            )
        self.yes = prompts.single_tokens(self.tokenizer, prompts.YES)
        self.no = prompts.single_tokens(self.tokenizer, prompts.NO)
        if self.options.scoring == "yesno" and not (self.yes and self.no):
            raise VideoContrastError("the tokenizer has no single token for Yes and No; use --scoring loglik")
        self.sharing = "on" if self.options.share_prefix else "off: asked for"
        self.counters = Counters()
        self.together = self.options.scoring == "letter"
        self.prompt: str | None = None
        self._checked = False
        self._unconditional: dict[str, float] = {}
        self._reserved = sorted({*self.tokenizer.all_special_tokens, *self._placeholders()}, key=len, reverse=True)

    def score(self, clip: ClipFrames | None, captions: Sequence[str], *, position: int = 0) -> ScoreResult:
        """Scores of `captions` for one clip, higher is better, and the raw parts they are made of.

        Args:
            clip: the frames as sampled; their times are told to the model (some write them into the prompt). None
                asks without a video (the blind control).
            captions: k texts.
            position: the number of the item in its set (for `latin`).

        Returns:
            float64[k], and k dicts of raw parts (log-probabilities in nats).

        Raises:
            VideoContrastError: the prompt is longer than the model's context, or no logits came back.
        """
        texts = [self._safe(caption) for caption in captions]
        self.counters.items += 1
        if self.options.scoring == "yesno":
            return self._yesno(clip, texts)
        if self.options.scoring == "loglik":
            return self._loglik(clip, texts)
        return self._letter(clip, texts, position)

    @property
    def facts(self) -> dict[str, Any]:
        """The class, the options, the first rendered prompt with its hash, the cost, and how the prefix was shared."""
        return {
            "class": type(self.model).__name__,
            **asdict(self.options),
            "prompt": self.prompt,
            "prompt_hash": prompts.prompt_hash(self.prompt or ""),
            "shared_prefix": self.sharing,
            "counters": asdict(self.counters),
        }

    def _yesno(self, clip: ClipFrames | None, texts: list[str]) -> ScoreResult:
        questions = [prompts.YESNO.format(caption=text) for text in texts]
        rows = self._last_logits(clip, questions)
        parts: Parts = []
        for row in rows:
            log = row.log_softmax(-1)
            parts.append({"yes": float(log[self.yes].logsumexp(0)), "no": float(log[self.no].logsumexp(0))})
        odds = np.array([part["yes"] - part["no"] for part in parts], dtype=np.float64)
        return ScoreResult(1.0 / (1.0 + np.exp(-odds)), parts)

    def _letter(self, clip: ClipFrames | None, texts: list[str], position: int) -> ScoreResult:
        k = len(texts)
        if k > len(prompts.LETTERS):
            raise UsageError(f"--scoring letter asks about at most 26 options, not {k}; use yesno or loglik")
        if self.options.rotations == "rotate":
            rotations = list(range(k))
        elif self.options.rotations == "latin":
            rotations = [prompts.latin_rotation(position, k, self.options.seed)]
        else:
            rotations = [0]
        # Rotation r shows caption (i + r) mod k at place i.
        orders = [[(i + r) % k for i in range(k)] for r in rotations]
        questions = [prompts.letter_question([texts[i] for i in order]) for order in orders]
        rows = self._last_logits(clip, questions)
        letters = [prompts.single_tokens(self.tokenizer, (c, f" {c}")) for c in prompts.LETTERS[:k]]
        if not all(letters):
            raise VideoContrastError("the tokenizer splits the option letters; use --scoring yesno or loglik")
        parts: Parts = [{} for _ in texts]
        total = np.zeros(k)
        for rotation, order, row in zip(rotations, orders, rows, strict=True):
            log = row.log_softmax(-1)
            found = np.array([float(log[ids].logsumexp(0)) for ids in letters])
            found -= np.logaddexp.reduce(found)  # among the letters
            for place, caption in enumerate(order):
                parts[caption][f"rotation{rotation}"] = float(found[place])
                total[caption] += found[place]
        return ScoreResult(total / len(rotations), parts)

    def _loglik(self, clip: ClipFrames | None, texts: list[str]) -> ScoreResult:
        asked = self._ask(clip, prompts.DESCRIBE)
        sums, counts = self._caption_loglik(asked, texts)
        parts: Parts = [
            {"sum": s, "n_tokens": float(n), "n_chars": float(len(text))}
            for s, n, text in zip(sums, counts, texts, strict=True)
        ]
        if self.options.norm == "pmi":
            fresh = [text for text in dict.fromkeys(texts) if text not in self._unconditional]
            if fresh:
                alone, _ = self._caption_loglik(self._ask(None, prompts.DESCRIBE), fresh)
                self._unconditional.update(zip(fresh, alone, strict=True))
            for part, text in zip(parts, texts, strict=True):
                part["unconditional"] = self._unconditional[text]
        return ScoreResult(np.array([self._normalised(part) for part in parts], dtype=np.float64), parts)

    def _normalised(self, part: dict[str, float]) -> float:
        if self.options.norm == "pmi":
            return part["sum"] - self.options.alpha * part["unconditional"]
        per = {"sum": 1.0, "token": part["n_tokens"], "char": part["n_chars"]}[self.options.norm]
        return part["sum"] / per

    def _caption_loglik(self, asked: Asked, texts: list[str]) -> tuple[list[float], list[int]]:
        """Sum of log p(token) and number of tokens of each text, as the answer to `asked`."""
        endings = [self.tokenizer.encode(text, add_special_tokens=False) for text in texts]
        for text, ending in zip(texts, endings, strict=True):
            if not ending:
                raise VideoContrastError(f"the tokenizer makes no token of the caption {text!r}, so it has no score")
        length = len(asked.ids)
        # The last prompt token predicts the first caption token, so it goes in front of every ending.
        shifted = [[asked.ids[-1], *ending[:-1]] for ending in endings]
        rows = self._ending_logits(asked, shifted, length - 1)
        sums = []
        for ending, logits in zip(endings, rows, strict=True):
            if logits.shape[0] != len(ending):
                raise VideoContrastError(f"{type(self.model).__name__} returned no logits for the caption's tokens")
            log = logits.log_softmax(-1)
            sums.append(float(sum(log[j, token] for j, token in enumerate(ending))))
        return sums, [len(ending) for ending in endings]

    def _last_logits(self, clip: ClipFrames | None, questions: list[str]) -> list[Any]:
        """The logits after each prompt; the prompts differ in the question only."""
        asked = self._ask(clip, questions[0])
        sequences = [asked.ids, *(self._ids_of(asked, clip, question) for question in questions[1:])]
        if len(sequences) == 1:
            shared = len(asked.ids) - 1
        else:
            try:
                shared = common_length(sequences, self._video_end(asked.ids))
            except ValueError:
                shared = self._video_end(asked.ids)
        rows = self._ending_logits(asked, [sequence[shared:] for sequence in sequences], shared)
        return [row[-1] for row in rows]

    def _ending_logits(self, asked: Asked, endings: list[list[int]], shared: int) -> list[Any]:
        self._check_length(shared + max(map(len, endings)))
        if self.sharing == "on":
            try:
                rows = Prefix(self.model, asked.inputs, shared).logits(endings)
                self._count(shared, endings, passes=1)
                self._check_once(asked, endings, shared, rows)
                if self.sharing == "on":
                    return rows
            except CannotShare as reason:
                self.sharing = f"off: {reason}"
        self._count(shared * len(endings), endings, passes=len(endings))
        return unshared_logits(self.model, asked.inputs, endings, shared)

    def _check_once(self, asked: Asked, endings: list[list[int]], shared: int, rows: list[Any]) -> None:
        """On the first item, compares with unshared logits: a class whose cache misbehaves must not score wrongly."""
        if self._checked:
            return
        self._checked = True
        import torch

        tolerance = 1e-3 if next(self.model.parameters()).dtype == torch.float32 else 5e-2
        probe = sorted({0, len(endings) - 1})
        reference = unshared_logits(self.model, asked.inputs, [endings[i] for i in probe], shared)
        for i, expected in zip(probe, reference, strict=True):
            gap = float((rows[i][-1] - expected[-1]).abs().max() / expected[-1].std().clamp(min=1e-6))
            if not gap < tolerance:
                self.sharing = f"off: shared and unshared logits of {type(self.model).__name__} differ by {gap:.2g} sd"

    def _count(self, prefix: int, endings: list[list[int]], passes: int) -> None:
        self.counters.prefix_tokens += prefix
        self.counters.ending_tokens += sum(map(len, endings))
        self.counters.vision_passes += passes

    def _check_length(self, length: int) -> None:
        config = self.model.config.get_text_config()
        limit = getattr(config, "max_position_embeddings", None)
        if limit and length > limit:
            raise VideoContrastError(
                f"video and prompt make {length} tokens but the model's context holds {limit}; give fewer --frames"
            )

    def _ask(self, clip: ClipFrames | None, question: str) -> Asked:
        """The processor's inputs for one question about the clip."""
        frames = None if clip is None else clip.frames
        text = self._render(frames, question)
        given: dict[str, Any] = {"text": [text], "return_tensors": "pt"}
        if clip is not None and self.takes_video:
            given |= {"videos": [frames], "do_sample_frames": False, "video_metadata": [_metadata(clip)]}
        elif frames is not None:
            given["images"] = [[frame for frame in frames]]
        # The chat template already begins with the model's own first token where it has one.
        if self.tokenizer.bos_token and text.startswith(self.tokenizer.bos_token):
            given["add_special_tokens"] = False
        batch = self.processor(**given).to(self.model.device)
        inputs = {
            name: value.to(self.model.dtype)
            if hasattr(value, "is_floating_point") and value.is_floating_point()
            else value
            for name, value in batch.items()
        }
        self.prompt = self.prompt or text
        return Asked(inputs, text, question, inputs["input_ids"][0].tolist())

    def _render(self, frames: Any, question: str) -> str:
        content: list[dict[str, Any]] = []
        if frames is not None:
            content = [{"type": "video"}] if self.takes_video else [{"type": "image"} for _ in frames]
        content.append({"type": "text", "text": question})
        chat = [{"role": "user", "content": content}]
        return self.processor.apply_chat_template(chat, add_generation_prompt=True, tokenize=False)

    def _ids_of(self, asked: Asked, clip: ClipFrames | None, question: str) -> list[int]:
        """Token ids of the same prompt with another question, without handling the pixels again."""
        _, found, tail = asked.text.rpartition(asked.question)
        if found:
            old = self.tokenizer.encode(asked.question + tail, add_special_tokens=False)
            if asked.ids[-len(old) :] == old:
                new = self.tokenizer.encode(question + tail, add_special_tokens=False)
                return asked.ids[: -len(old)] + new
        return self._ask(clip, question).ids

    def _video_end(self, ids: list[int]) -> int:
        """How many tokens stand up to the last pixel placeholder."""
        placeholders = set(self.tokenizer.convert_tokens_to_ids(list(self._placeholders())))
        last = [i for i, token in enumerate(ids) if token in placeholders]
        return last[-1] + 1 if last else 1

    def _placeholders(self) -> set[str]:
        named = ("image_token", "video_token", "boi_token", "context_image_token", "fake_image_token")
        found = {getattr(owner, name, None) for owner in (self.processor, self.tokenizer) for name in named}
        for name in ("image_token_id", "video_token_id", "image_token_index", "video_token_index"):
            token = getattr(self.model.config, name, None)
            if isinstance(token, int) and token < len(self.tokenizer):
                found.add(self.tokenizer.convert_ids_to_tokens(token))
        return {token for token in found if isinstance(token, str) and token}

    def _safe(self, caption: str) -> str:
        """The caption with the model's control tokens broken up: a caption is text, never an instruction."""
        safe = caption
        for token in self._reserved:
            if len(token) > 1 and token in safe:
                safe = safe.replace(token, f"{token[0]} {token[1:]}")
        self.counters.altered_captions += safe != caption
        return safe


def _metadata(clip: ClipFrames) -> Any:
    """What a video processor is told of the frames: they are a clip of `len(frames)` frames, at their own times."""
    from transformers.video_utils import VideoMetadata

    count, height, width = clip.frames.shape[:3]
    spacing = float(np.mean(np.diff(clip.times))) if len(clip.times) == count > 1 else 1.0
    fps = 1.0 / spacing if spacing > 0 else 1.0
    return VideoMetadata(
        total_num_frames=count,
        fps=fps,
        frames_indices=list(range(count)),
        height=height,
        width=width,
        duration=count / fps,
    )
