"""Video language models whose code lies in their own repository, asked by their method `chat`; their answers are read.

| `chat` takes | models | clips go in as |
|---|---|---|
| `pixel_values`, `question` | InternVL 2 to 3.5, InternVideo2.5 | squares, "FrameN: <image>" a frame |
| `msgs` | MiniCPM-V 2.6, MiniCPM-o | images in the message, before the question |

No log-probabilities come back: a letter, or yes or no, is read from the generated words. Models whose `chat` opens the
file itself (VideoChat-Flash) are not taken, since the frames would be others than those that were sampled. Repositories
with a processor and a chat template (Keye, LLaVA-OneVision 2) are of the kind `generative`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np

from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import JsonObject
from video_contrast.question_text import Question
from video_contrast.runner.kinds import prompts
from video_contrast.runner.kinds.base import ClipFrames, LoadOptions, ModelSource, PairScorer, ScoreResult, kind
from video_contrast.runner.kinds.loading import explained, load_model
from video_contrast.runner.kinds.registry import kind_options
from video_contrast.runner.kinds.served_reading import read_words
from video_contrast.untyped import Tensor, Tokenizer, TorchModel

MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
SIDE = 448  # pixels, where the config names no size


@dataclass(frozen=True)
class ChatOptions(prompts.AskOptions):
    """How captions are asked about."""

    scoring: Annotated[Literal["letter", "yesno"], "How a caption is scored."] = "letter"
    max_new_tokens: Annotated[int, "Tokens of an answer."] = 16


def squares(frames: np.ndarray, side: int) -> np.ndarray:
    """Frames squeezed to squares, bicubic, ImageNet's mean and deviation, as `load_video` of InternVL's cards.

    Returns float32[T, 3, side, side]. `frames`: uint8[T, H, W, 3].
    """
    from PIL import Image

    sized = [Image.fromarray(frame).resize((side, side), Image.Resampling.BICUBIC) for frame in frames]
    pixels = np.stack([np.asarray(image) for image in sized])
    normal = (pixels.astype(np.float32) / 255.0 - np.array(MEAN, np.float32)) / np.array(DEVIATION, np.float32)
    return np.ascontiguousarray(normal.transpose(0, 3, 1, 2))


class RemoteChat(PairScorer):
    """Scores captions of one clip by what a model with a `chat` of its own answers.

    Raises VideoContrastError: the model has no `chat`, or one that is not known here.
    """

    def __init__(self, model: TorchModel, tokenizer: Tokenizer, options: ChatOptions | None = None) -> None:
        self.model, self.tokenizer = model, tokenizer
        self.options = options or ChatOptions()
        self.together = self.options.scoring == "letter"
        self.ask = self._interface()
        self.question = ""

    def _interface(self) -> Callable[[ClipFrames | None, str], str]:
        chat = getattr(self.model, "chat", None)
        takes = set(inspect.signature(chat).parameters) if chat is not None else set()
        if {"pixel_values", "question"} <= takes:
            return self._with_pixels
        if "msgs" in takes:
            return self._with_messages
        why = f"takes {', '.join(sorted(takes))}" if takes else "does not exist"
        raise VideoContrastError(
            f"the method chat of {type(self.model).__name__} {why}: known are those that take pixel_values and "
            "question, or msgs; a repository with a processor and a chat template is scored by --kind generative"
        )

    def score(
        self, clip: ClipFrames | None, captions: Sequence[str], *, position: int = 0, question: Question | None = None
    ) -> ScoreResult:
        """Scores of captions by the answers in words; NaN where an answer names none of what was asked for.

        Args:
            clip: the frames as sampled; None asks without a video.
            captions: k texts.
            position: the number of the item in its set (for `latin`).
            question: what the captions answer.
        """

        def read(questions: list[str], names: Sequence[str]) -> Sequence[np.ndarray | None]:
            self.question = self.question or questions[0]
            return read_words([self.ask(clip, text) for text in questions], names)

        return prompts.scores_by_answers(captions, self.options, read, position=position, question=question)

    def _with_pixels(self, clip: ClipFrames | None, question: str) -> str:
        import torch

        pixels: Tensor | None = None
        lines = ""
        if clip is not None:
            config = self.model.config
            vision = getattr(config, "vision_config", None)
            sides = (getattr(config, "force_image_size", None), getattr(vision, "image_size", None))
            side = next((int(each) for each in sides if each), SIDE)
            pixels = torch.from_numpy(squares(clip.frames, side)).to(self.model.device, self.model.dtype)
            lines = "".join(f"Frame{n}: <image>\n" for n in range(1, len(clip.frames) + 1))
        generation = {"max_new_tokens": self.options.max_new_tokens, "do_sample": False}
        patches = {"num_patches_list": [1] * len(clip.frames)} if clip is not None else {}
        with torch.inference_mode():
            return str(self.model.chat(self.tokenizer, pixels, lines + question, generation, **patches))

    def _with_messages(self, clip: ClipFrames | None, question: str) -> str:
        import torch
        from PIL import Image

        images = [Image.fromarray(frame) for frame in clip.frames] if clip is not None else []
        known = inspect.signature(self.model.chat).parameters
        settings: dict[str, Any] = {
            "image": None, "tokenizer": self.tokenizer, "sampling": False, "use_image_id": False, "max_slice_nums": 1,
            "max_new_tokens": self.options.max_new_tokens,
        }  # fmt: skip
        takes_all = any(parameter.kind is parameter.VAR_KEYWORD for parameter in known.values())
        given = {name: value for name, value in settings.items() if name in known or (takes_all and name != "image")}
        with torch.inference_mode():
            return str(self.model.chat(msgs=[{"role": "user", "content": [*images, question]}], **given))

    @property
    def facts(self) -> JsonObject:
        """The class that ran, how it was asked, and the first question."""
        return {
            "class": type(self.model).__name__,
            "scoring": self.options.scoring,
            "rotations": self.options.rotations,
            "answers": "generated words",
            "prompt": self.question,
        }


@kind(
    "remote_chat",
    family="pair",
    summary="video language models with a `chat` of their own: letters, or yes and no, by generation",
    requirements="--trust-remote-code, and what the repository's code needs",
    asks=True,
    options=kind_options(ChatOptions),
)
def load(source: ModelSource, settings: LoadOptions) -> RemoteChat:
    """Loads the model and its tokenizer with the code of its repository.

    Raises UsageError: without `--trust-remote-code`.
    """
    import transformers

    if not settings.trust_remote_code:
        raise UsageError(
            f"{source.name} runs code from its own repository; read that code, then give --trust-remote-code"
        )
    model = load_model(source, settings)
    with explained(source):
        tokenizer = transformers.AutoTokenizer.from_pretrained(
            source.path, trust_remote_code=True, local_files_only=True
        )
    return RemoteChat(model, tokenizer, ChatOptions(**settings.options))
