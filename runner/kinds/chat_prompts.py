"""Prompts of local generative models: the chat template rendered, the processor run, captions kept from being control.

Templates that let a model think are told not to, by their own switch; a prompt that ends inside an open thinking
block all the same has the block closed, so that the next token belongs to the answer. With `--thinking` they think.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import JsonObject
from video_contrast.runner.kinds.base import ClipFrames
from video_contrast.runner.kinds.loading import Tensors, images_of, metadata_of, on_device, takes_rate, tokenizer_of
from video_contrast.runner.kinds.model_recipes import OwnerFrames
from video_contrast.untyped import Processor, Tokenizer, TorchModel

SWITCH = "enable_thinking"  # the name that templates give it
THINK, END_OF_THINKING = "<think>", "</think>"
AFTER_THINKING = "\n\n"  # stands between the block and the answer in templates
# Checkpoints of Qwen2-VL and Qwen2.5-VL hold the limits of images (pixels, smallest and largest) for videos, too: the
# frames of a video are kept to others by qwen-vl-utils, before the processor sees them.
QWEN_VIDEOS = "Qwen2VLVideoProcessor"
IMAGE_PIXELS = (4 * 28 * 28, 16384 * 28 * 28)
VIDEO_PIXELS = (128 * 28 * 28, 768 * 28 * 28)
# Arguments of MiniCPM-V's README for a video, whose frames would be cut into slices and numbered as images are.
MINICPM_VIDEOS = {"max_slice_nums": 1, "use_image_id": False}

# "auto" is a video where the processor takes one, images elsewhere; "timed" are images, each after its time.
FramesAs = Literal["auto", "video", "images", "timed"]
Turn = dict[str, Any]  # of a conversation, as chat templates take it: its role, and its content (a text or parts)
Parts = list[dict[str, str]]  # {"type": "text", "text": ...}, {"type": "video"} or {"type": "image"}


@dataclass(frozen=True)
class Prompt:
    """One prompt: the processor's inputs, and the rendered text it came from."""

    inputs: Tensors
    text: str
    question: str
    ids: list[int]

    @property
    def shapes(self) -> JsonObject:
        """Shapes of all arrays that the model is given."""
        return {name: list(value.shape) for name, value in self.inputs.items() if hasattr(value, "shape")}

    @property
    def geometry(self) -> tuple[object, ...]:
        """Shapes and grids of the pixels: what a model's positions depend on besides the number of tokens."""
        return tuple(
            (name, tuple(value.flatten().tolist()) if "grid" in name else tuple(value.shape))
            for name, value in sorted(self.inputs.items())
            if hasattr(value, "shape") and name.startswith(("pixel", "image", "video"))
        )


def control_tokens(tokenizer: Tokenizer, more: Iterable[str]) -> list[str]:
    """The tokens of a tokenizer that are no text, and some more, the longest first."""
    return sorted({*tokenizer.all_special_tokens, *more}, key=len, reverse=True)


def broken_up(text: str, tokens: Sequence[str]) -> str:
    """The text with each of the tokens in two, so that it is text and no instruction.

    >>> broken_up("a <image> of a man", ["<image>"])
    'a < image> of a man'
    """
    for token in tokens:
        if len(token) > 1 and token in text:
            text = text.replace(token, f"{token[0]} {token[1:]}")
    return text


def template_of(processor: Processor) -> object:
    """The chat template of a processor or of its tokenizer. Raises VideoContrastError: it has none."""
    tokenizer = tokenizer_of(processor)
    template = getattr(processor, "chat_template", None) or getattr(tokenizer, "chat_template", None)
    if not template:
        raise VideoContrastError(
            f"{type(processor).__name__} has no chat template, so no question can be put to the model; "
            "use an instruction-tuned checkpoint, or add chat_template.jinja to its folder"
        )
    return template


def continuations(tokenizer: Tokenizer, context: str, texts: Sequence[str]) -> list[list[int]]:
    """Token ids of each text where it follows a context: both are encoded together, and those of the context cut off.

    Alone, a text would get what some tokenizers put before a beginning: a space, or a piece of its own for one. Where
    the context's last token would be another one before the text, no such tokens follow the context, and the text gets
    those that it has at the beginning of a line. `context`: what stands before each text, such as a rendered prompt.
    `texts`: answers or captions.
    """
    encode = partial(tokenizer.encode, add_special_tokens=False)
    heads: dict[str, list[int]] = {context: encode(context), "\n": encode("\n")}
    rows = []
    for text in texts:
        ids_of = ((head, encode(before + text)) for before, head in heads.items())
        behind = (whole[len(head) :] for head, whole in ids_of if whole[: len(head)] == head)
        rows.append(next(behind, encode(text)))  # alone where it would share a token even with a line break
    return rows


class ChatPrompts:
    """Makes prompts about clips with a model's processor.

    `thinking`: tokens that the model may think before it answers; 0 keeps it from thinking. `size_of`: the owner by
    whose bounds frames are resized; None: by the processor's.

    Raises VideoContrastError: the processor has no chat template; UsageError: the model is to think, and its template
    knows no thinking.
    """

    def __init__(
        self,
        model: TorchModel,
        processor: Processor,
        *,
        thinking: int = 0,
        size_of: OwnerFrames | None = None,
        frames_as: FramesAs = "auto",
    ) -> None:
        self.size_of = size_of
        self.model = model
        self.processor = processor
        self.tokenizer = tokenizer_of(processor)
        if frames_as == "auto":
            frames_as = "video" if getattr(processor, "video_processor", None) is not None else "images"
        self.frames_as = frames_as
        # those of repositories take one list of images, and the library's a list for each prompt
        self._is_the_librarys = type(processor).__module__.startswith("transformers.")
        self.takes_video = frames_as == "video"  # and not several images
        template = template_of(processor)
        self._thinks = bool(thinking)
        if thinking and not (SWITCH in str(template) or THINK in str(template)):
            raise UsageError("--thinking: the model's chat template knows no thinking; leave the option out")
        self._switch: Mapping[str, bool] = {SWITCH: bool(thinking)} if SWITCH in str(template) else {}
        self.thinking = f"off: {SWITCH}=False of the template" if self._switch else "none"
        if thinking:
            self.thinking = f"on: at most {thinking} tokens"
        self._in_parts = self._takes_parts()
        self._placeholders = self._pixel_tokens()
        self._reserved = control_tokens(self.tokenizer, self._placeholders)

    def prompt(self, clip: ClipFrames | None, question: str) -> Prompt:
        """The processor's inputs for one question about a clip; None asks without a video."""
        text = self._render(self._chat(clip, question), add_generation_prompt=True)
        if text.rstrip().endswith(THINK) and not self._thinks:
            self.thinking = "off: the prompt's open block was closed"
            text = text.rstrip() + f"\n\n{END_OF_THINKING}{AFTER_THINKING}"
        arguments: dict[str, object] = {"text": [text], "return_tensors": "pt"}
        if clip is not None and self.takes_video:
            arguments |= self._video(clip)
        elif clip is not None:
            arguments["images"] = [list(clip.frames)] if self._is_the_librarys else images_of(clip)
        # The chat template already begins with the model's own first token where it has one.
        if self.tokenizer.bos_token and text.startswith(self.tokenizer.bos_token):
            arguments["add_special_tokens"] = False
        inputs = on_device(self.processor(**arguments), self.model)
        return Prompt(inputs, text, question, inputs["input_ids"][0].tolist())

    def _video(self, clip: ClipFrames) -> dict[str, object]:
        """The processor's arguments for a clip: its frames as they are, their times, and the limit of their pixels."""
        from transformers.video_utils import VideoMetadata

        metadata = metadata_of(clip)
        arguments: dict[str, object] = {"videos": [clip.frames]}
        videos = getattr(self.processor, "video_processor", None)
        if videos is None:  # code of a repository, which samples nothing of what it is given as frames
            return arguments
        arguments |= {"do_sample_frames": False, "video_metadata": [VideoMetadata(**metadata)]}
        # None: the checkpoint leaves it open, and the library does not yet do what qwen-vl-utils does.
        if getattr(videos, "cap_pixels_per_frame", False) is None:
            arguments["cap_pixels_per_frame"] = True
        if self.size_of is not None:
            count = 1 if type(videos).__name__ == QWEN_VIDEOS else len(clip.frames)  # others bound the clip as a whole
            bounds = (count * pixels for pixels in self.size_of.pixels(len(clip.frames)))
            arguments["size"] = dict(zip(("shortest_edge", "longest_edge"), bounds, strict=True))
            arguments["cap_pixels_per_frame"] = False
        elif type(videos).__name__ == QWEN_VIDEOS:
            size = videos.size if isinstance(videos.size, Mapping) else vars(videos.size)
            if (size.get("shortest_edge"), size.get("longest_edge")) == IMAGE_PIXELS:
                arguments["size"] = dict(zip(("shortest_edge", "longest_edge"), VIDEO_PIXELS, strict=True))
        if type(videos).__name__.startswith("MiniCPMV"):
            arguments |= MINICPM_VIDEOS
        if takes_rate(self.processor):
            arguments["fps"] = metadata["fps"]
        return arguments

    def ids_of(self, prompt: Prompt, clip: ClipFrames | None, question: str) -> list[int]:
        """Token ids of the same prompt about a clip with another question, without handling the pixels again."""
        _, question_is_there, tail = prompt.text.rpartition(prompt.question)
        if question_is_there:
            old = self.tokenizer.encode(prompt.question + tail, add_special_tokens=False)
            if prompt.ids[-len(old) :] == old:
                new: list[int] = self.tokenizer.encode(question + tail, add_special_tokens=False)
                return prompt.ids[: -len(old)] + new
        return self.prompt(clip, question).ids

    def answer_gap(self, clip: ClipFrames | None, prompt: Prompt) -> str:
        """The space that the template puts between the prompt and an answer ("Assistant: A" of SmolVLM), or ""."""
        import jinja2

        answer: Turn = {"role": "assistant", "content": self._content([{"type": "text", "text": "ANSWER"}])}
        try:
            whole = self._render([*self._chat(clip, prompt.question), answer], add_generation_prompt=False)
        except (jinja2.TemplateError, TypeError, ValueError, KeyError):  # a template without answers: nothing between
            return ""
        head = whole.rpartition("ANSWER")[0]
        gap = head[len(prompt.text) :] if head.startswith(prompt.text) else ""
        return gap if gap.isspace() else ""

    def thought(self, prompt: Prompt, budget: int) -> tuple[str, int, bool]:
        """Lets the model think about one prompt, greedily.

        Returns what follows the prompt, its block closed ("" where the model begins with its answer), how many tokens
        were generated, and whether the budget ended the thought.
        """
        import torch

        limits = {"max_new_tokens": budget, "stop_strings": [END_OF_THINKING]}
        with torch.inference_mode():
            output = self.model.generate(**prompt.inputs, **limits, do_sample=False, tokenizer=self.tokenizer)
        ids = output[0, len(prompt.ids) :]
        text = self.tokenizer.decode(ids.tolist())
        if not prompt.text.rstrip().endswith(THINK) and THINK not in text:
            return "", len(ids), False
        inside, end, _ = text.partition(END_OF_THINKING)
        return inside + (end or f"\n{END_OF_THINKING}") + AFTER_THINKING, len(ids), not end

    def video_end(self, ids: list[int]) -> int:
        """The number of tokens up to the last pixel placeholder; at least 1."""
        placeholders = set(self.tokenizer.convert_tokens_to_ids(list(self._placeholders)))
        return max((place + 1 for place, token in enumerate(ids) if token in placeholders), default=1)

    def safe(self, caption: str) -> str:
        """The caption with the model's control tokens broken up: a caption is text, never an instruction."""
        return broken_up(caption, self._reserved)

    def _chat(self, clip: ClipFrames | None, question: str) -> list[Turn]:
        parts: Parts = []
        if clip is not None and self.takes_video:
            parts = [{"type": "video"}]
        elif clip is not None:
            for number in range(len(clip.frames)):
                if self.frames_as == "timed":
                    parts.append({"type": "text", "text": f"<{clip.times[number]:.1f} seconds>"})
                parts.append({"type": "image"})
        return [{"role": "user", "content": self._content([*parts, {"type": "text", "text": question}])}]

    def _content(self, parts: Parts) -> Parts | str:
        """The parts as the template takes them: as they are, or as one text with a token for each image or video.

        A template of texts whose processor names no image token numbers its images, as those of Phi do.
        """
        if self._in_parts:
            return parts
        texts, images = [], 0
        for part in parts:
            images += part["type"] == "image"
            token = getattr(self.processor, f"{part['type']}_token", None) or f"<|{part['type']}_{images}|>"
            texts.append(part.get("text", token))
        return "".join(texts)

    def _takes_parts(self) -> bool:
        """Whether the template takes a message in parts; others put its content, a text, where it belongs."""
        import jinja2

        parts: Parts = [{"type": "text", "text": "QUESTION"}]
        try:
            return "'type'" not in self._render([{"role": "user", "content": parts}], add_generation_prompt=True)
        except (jinja2.TemplateError, TypeError):  # a list is no text to add to one
            return False

    def _render(self, chat: Sequence[Turn], *, add_generation_prompt: bool) -> str:
        owner = self.processor if getattr(self.processor, "chat_template", None) else self.tokenizer
        return str(
            owner.apply_chat_template(chat, add_generation_prompt=add_generation_prompt, tokenize=False, **self._switch)
        )

    def _pixel_tokens(self) -> set[str]:
        names = ("image_token", "video_token", "boi_token", "context_image_token", "fake_image_token")
        tokens = {getattr(owner, name, None) for owner in (self.processor, self.tokenizer) for name in names}
        for name in ("image_token_id", "video_token_id", "image_token_index", "video_token_index"):
            token = getattr(self.model.config, name, None)
            if isinstance(token, int) and token < len(self.tokenizer):
                tokens.add(self.tokenizer.convert_ids_to_tokens(token))
        return {token for token in tokens if isinstance(token, str) and token}
