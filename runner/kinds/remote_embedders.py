"""Video-text embedders whose code lies in their own repository, and which name their methods in ways of their own.

| methods | models | clips go in as | captions go in as |
|---|---|---|---|
| `get_video_embeddings`, `get_text_embeddings` | Cosmos-Embed1 | its processor's arrays | tokens |
| `get_vid_features`, `get_text_features` | ViCLIP | float[B, T, 3, 224, 224] | a string, with its tokenizer |
| `get_vid_feat`, `get_txt_feat` | InternVideo2 | float[B, T, 3, 224, 224] | a string |
| `get_image_features` of a clip | LanguageBind video | float[B, 3, T, 224, 224] | 77 tokens |
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from video_contrast.errors import VideoContrastError
from video_contrast.files import JsonObject
from video_contrast.runner.kinds.base import ClipFrames, DualEncoder
from video_contrast.runner.kinds.loading import Arrays, count_longer, on_device, pooled, to_numpy, tokenizer_of, unit
from video_contrast.untyped import Processor, Tensor, TorchModel

IMAGENET = ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))
OPENAI = ((0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711))
SIDE = 224  # pixels, where the config names no size
LANGUAGEBIND_TOKENS = 77


@dataclass(frozen=True)
class Interface:
    """How a family of remote code is asked."""

    family: str
    methods: tuple[str, str]  # of the model, for clips and for captions
    prepare: Callable[[np.ndarray, int], np.ndarray] | None  # of frames and side; None: the processor does
    processor: bool  # whether the checkpoint's own processor or tokenizer is needed


def _resized(frames: np.ndarray, height: int, width: int) -> Tensor:
    """Bilinear without smoothing, in whole grey levels, as the releases' OpenCV: float32[T, 3, height, width]."""
    import torch

    pixels = torch.from_numpy(np.ascontiguousarray(frames)).permute(0, 3, 1, 2).float()
    return torch.nn.functional.interpolate(pixels, (height, width), mode="bilinear", align_corners=False)


def _normal(pixels: Tensor, statistics: tuple[tuple[float, ...], tuple[float, ...]]) -> np.ndarray:
    mean, deviation = (np.array(numbers, np.float32).reshape(1, 3, 1, 1) for numbers in statistics)
    return np.asarray((pixels.numpy() / 255.0 - mean) / deviation, np.float32)


def squashed(frames: np.ndarray, side: int) -> np.ndarray:
    """Frames squeezed to squares, as `frames2tensor` of InternVideo's demo: float32[T, 3, side, side]."""
    return _normal(_resized(frames, side, side).round(), IMAGENET)


def cropped(frames: np.ndarray, side: int) -> np.ndarray:
    """The middle square of each frame, the short side `side` pixels, as LanguageBind's processor without its chance.

    Its release crops at random places and mirrors every second clip, also when it is only asked for embeddings. Returns
    float32[3, T, side, side].
    """
    height, width = frames.shape[1:3]
    scale = side / min(height, width)
    pixels = _resized(frames, max(side, int(height * scale)), max(side, int(width * scale)))
    top, left = (pixels.shape[2] - side) // 2, (pixels.shape[3] - side) // 2
    return _normal(pixels[:, :, top : top + side, left : left + side], OPENAI).transpose(1, 0, 2, 3)


INTERFACES = (
    Interface("Cosmos-Embed1", ("get_video_embeddings", "get_text_embeddings"), None, processor=True),
    Interface("ViCLIP", ("get_vid_features", "get_text_features"), squashed, processor=False),
    Interface("InternVideo2", ("get_vid_feat", "get_txt_feat"), squashed, processor=False),
    Interface("LanguageBind", ("get_image_features", "get_text_features"), cropped, processor=True),
)


def interface_of(model: TorchModel) -> Interface | None:
    """The interface that a model of remote code has; None where it has the library's own, or none that is known."""
    if hasattr(model, "get_video_features"):
        return None
    for interface in INTERFACES:
        named = interface.family != "LanguageBind" or "languagebind" in type(model).__name__.lower()
        if named and all(hasattr(model, method) for method in interface.methods):
            return interface
    return None


class RemoteEncoder(DualEncoder):
    """A model with one of the interfaces of this file.

    Raises VideoContrastError: the checkpoint has a tokenizer in place of the processor that makes its pixels.
    """

    def __init__(self, model: TorchModel, interface: Interface, processor: Processor | None) -> None:
        if interface.processor and interface.prepare is None and not hasattr(processor, "tokenizer"):
            raise VideoContrastError(
                f"{type(model).__name__} comes without its processor (processor_config.json and its code), which makes "
                "its pixels; get the whole repository"
            )
        self.model = model
        self.interface = interface
        self.processor: Any = processor  # None where the interface needs none
        vision = getattr(model.config, "vision_config", None)
        sides = [getattr(owner, name, None) for owner in (vision, model.config) for name in ("image_size", "img_size")]
        self.side = next((int(side) for side in sides if side), SIDE)
        if isinstance(getattr(model.config, "device", None), str):
            model.config.device = str(model.device)  # InternVideo2 sends its captions to the one that its config names

    @property
    def facts(self) -> JsonObject:
        """The class that ran, and the methods that it was asked with."""
        return {"class": type(self.model).__name__, "family": self.interface.family, "methods": self.interface.methods}

    def truncated_texts(self, texts: Sequence[str]) -> int | None:
        """How many of the texts are longer than the model reads; None where its own code cuts them unsaid."""
        if not self.interface.processor:
            return None
        padded = self.interface.prepare is None  # to the length at which its processor cuts (128 in Cosmos-Embed1)
        limit = int(self.processor(text=[""])["input_ids"].shape[1]) if padded else LANGUAGEBIND_TOKENS
        return count_longer(tokenizer_of(self.processor), texts, limit)

    def prepare(self, clip: ClipFrames) -> Arrays:
        """The clip's pixels, by the name under which the model takes them."""
        if self.interface.prepare is not None:
            return {"pixels": self.interface.prepare(clip.frames, self.side)}
        batch = self.processor(videos=clip.frames.transpose(0, 3, 1, 2)[None])
        return {name: np.asarray(value)[0] for name, value in batch.items()}

    def encode_prepared(self, prepared: Sequence[Arrays]) -> np.ndarray:
        """float32[N, D], rows of length 1."""
        import torch

        arrays = on_device({name: np.stack([clip[name] for clip in prepared]) for name in prepared[0]}, self.model)
        encode = getattr(self.model, self.interface.methods[0])
        with torch.inference_mode():
            output = encode(arrays["pixels"]) if self.interface.prepare is not None else encode(**arrays)
            return to_numpy(unit(_projected(output)))

    def encode_texts(self, texts: Sequence[str]) -> np.ndarray:
        """float32[M, D], rows of length 1."""
        import torch

        with torch.inference_mode():
            return to_numpy(unit(_projected(self._text_output(list(texts)))))

    def _text_output(self, texts: list[str]) -> Tensor:
        import torch

        encode = getattr(self.model, self.interface.methods[1])
        if self.interface.family == "Cosmos-Embed1":
            tokens = {name: torch.as_tensor(value) for name, value in self.processor(text=texts).items()}
            return encode(**on_device(tokens, self.model))
        if self.interface.family == "LanguageBind":
            tokenizer = tokenizer_of(self.processor)
            tokens = tokenizer(
                texts, max_length=LANGUAGEBIND_TOKENS, padding="max_length", truncation=True, return_tensors="pt"
            )
            return encode(**{name: tokens[name].to(self.model.device) for name in ("input_ids", "attention_mask")})
        # One by one, with a memory of their own: the release keeps texts in a default argument for good.
        more: tuple[object, ...] = (self.model.tokenizer, {}) if self.interface.family == "ViCLIP" else ()
        return torch.cat([encode(text, *more) for text in texts])


def _projected(output: Tensor) -> Tensor:
    """The rows [n, D] of what a method returns: a tensor, or the projection in an output of Cosmos-Embed1."""
    named = next((getattr(output, name) for name in ("visual_proj", "text_proj") if hasattr(output, name)), None)
    rows = pooled(output) if named is None else named
    return rows.reshape(rows.shape[0], -1)
