"""Video-text encoders: X-CLIP, VideoPrism, PE-Video, PE-AV, and models with code of their own.

X-CLIP's captions are prompted by the video, so text and video meet in a few joining layers: the text tower runs once a
caption and the vision tower once a clip; `join` runs the prompt generator alone. Where `prompt_alpha` is 0 the prompt
adds nothing and the similarity is the plain product.

Each class is asked in the way that gives its embeddings: VideoPrism's logits are a softmax over the batch, and
PE-Video's `get_*_features` are out of reach in transformers 5, so neither is used. Code of repositories has the same
methods, or names of its own:

| methods | models | clips go in as | captions go in as |
|---|---|---|---|
| `get_video_embeddings`, `get_text_embeddings` | Cosmos-Embed1 | its processor's arrays | tokens |
| `get_vid_features`, `get_text_features` | ViCLIP | float[B, T, 3, 224, 224] | a string, with its tokenizer |
| `get_vid_feat`, `get_txt_feat` | InternVideo2 | float[B, T, 3, 224, 224] | a string |
| `get_image_features` of a clip | LanguageBind video | float[B, 3, T, 224, 224] | 77 tokens |
"""

import inspect
import string
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import JsonObject
from video_contrast.runner.kinds import loading
from video_contrast.runner.kinds.base import ClipFrames, LoadOptions, ModelSource, kind, product
from video_contrast.untyped import Processor, Tensor, TorchModel

PAIRS_AT_A_TIME = 4096


class XCLIPEncoder(loading.TorchEncoder):
    """A transformers `XCLIPModel`; a video's row is its embedding, and its mean patches where captions are prompted."""

    def __init__(self, model: TorchModel, processor: Processor) -> None:
        self.model = model
        self.images = getattr(processor, "image_processor", None) or processor.video_processor
        self.tokens = loading.Tokens(processor.tokenizer, model.config)
        self.frames = int(model.config.vision_config.num_frames)
        self.plain = not bool(model.prompts_generator.alpha.any())

    @property
    def facts(self) -> JsonObject:
        """The classes that ran, and whether the joining layers did."""
        return {
            "class": type(self.model).__name__,
            "image_processor": type(self.images).__name__,
            "join": "product (prompt_alpha is 0)" if self.plain else "prompt generator",
        }

    def prepare(self, clip: ClipFrames) -> loading.Arrays:
        """The processor's pixels, float32[T, 3, H, W]."""
        arrays = loading.pixels_of(self.images, clip.frames)
        return {name: value[0] if value.ndim == 5 else value for name, value in arrays.items()}

    def video_rows(self, prepared: Sequence[loading.Arrays]) -> Tensor:
        """float32[N, D], or float32[N, D + patches*D] where the captions are prompted."""
        import torch

        model = self.model
        batch_pixels = {"pixel_values": np.stack([arrays["pixel_values"] for arrays in prepared])}
        pixels = loading.on_device(batch_pixels, model)["pixel_values"]
        batch, frames = pixels.shape[:2]
        vision = model.vision_model(pixel_values=pixels.flatten(0, 1))
        embeds = model.visual_projection(vision[1]).view(batch, frames, -1)
        embeds = loading.unit(model.mit(embeds)[1])
        if self.plain:
            return embeds
        patches = model.prompts_visual_layernorm(vision[0][:, 1:, :]) @ model.prompts_visual_projection
        patches = patches.view(batch, frames, -1, embeds.shape[-1]).mean(dim=1).float()
        return torch.cat([embeds, patches.flatten(1)], dim=1)

    def text_rows(self, texts: Sequence[str]) -> Tensor:
        """float32[M, D]: of length 1 where the join is the product, as projected otherwise."""
        rows = self.model.text_projection(self.model.text_model(**self.tokens(texts, self.model.device))[1])
        return loading.unit(rows) if self.plain else rows.float()

    def join(self, videos: np.ndarray, texts: np.ndarray) -> np.ndarray:
        """float32[N, M] cosines of videos and captions, the captions prompted by each video."""
        if self.plain:
            return product(videos, texts)
        import torch

        model = self.model
        dim = texts.shape[1]
        out = np.empty((len(videos), len(texts)), np.float32)
        rows = torch.from_numpy(np.ascontiguousarray(texts)).to(model.device)
        step = max(1, min(len(texts), PAIRS_AT_A_TIME))
        with torch.inference_mode():
            for n, video in enumerate(videos):
                embed = torch.from_numpy(video[:dim].copy()).to(model.device)
                patches = torch.from_numpy(video[dim:].copy()).to(model.device, model.dtype).view(1, -1, dim)
                for begin in range(0, len(texts), step):
                    text = rows[begin : begin + step].unsqueeze(0)
                    text_rows = text + model.prompts_generator(text.to(model.dtype), patches).float()
                    out[n, begin : begin + step] = loading.to_numpy(loading.unit(text_rows[0]) @ embed)
        return out


@kind(
    "xclip",
    family="encoder",
    summary="X-CLIP: the text tower once a caption, only the joining layers a pair",
    architectures=("XCLIPModel",),
    model_types=("xclip",),
    tested=("XCLIPModel",),
    frames=lambda config: int((config.get("vision_config") or {}).get("num_frames") or 8),
)
def load_xclip(source: ModelSource, settings: LoadOptions) -> XCLIPEncoder:
    """Loads an `XCLIPModel`."""
    return XCLIPEncoder(loading.load_model(source, settings, "XCLIPModel"), loading.load_processor(source, settings))


SIDE = 224  # pixels, where the config names no size
LANGUAGEBIND_TOKENS = 77


@dataclass(frozen=True)
class Interface:
    """The interface of a family of remote code."""

    family: str
    methods: tuple[str, str]  # of the model, for clips and for captions
    prepare: Callable[[np.ndarray, int], np.ndarray] | None  # of frames and side; None: the processor does
    processor: bool  # whether the checkpoint's own processor or tokenizer is needed


def _resized(frames: np.ndarray, height: int, width: int) -> np.ndarray:
    """Bilinear without smoothing, as the releases' OpenCV: float32[T, 3, height, width]."""
    import torch

    pixels = torch.from_numpy(np.ascontiguousarray(frames)).permute(0, 3, 1, 2).float()
    new_pixels = torch.nn.functional.interpolate(pixels, (height, width), mode="bilinear", align_corners=False)
    return loading.to_numpy(new_pixels)


def squashed(frames: np.ndarray, side: int) -> np.ndarray:
    """Frames squeezed to squares, as `frames2tensor` of InternVideo's demo: float32[T, 3, side, side]."""
    return loading.normalised(_resized(frames, side, side).round(), loading.IMAGENET)


def cropped(frames: np.ndarray, side: int) -> np.ndarray:
    """The middle square of each frame, the short side `side` pixels, as LanguageBind's processor without its chance.

    Its release crops at random places and mirrors every second clip, also when it is only asked for embeddings. Returns
    float32[3, T, side, side].
    """
    height, width = frames.shape[1:3]
    scale = side / min(height, width)
    pixels = _resized(frames, max(side, int(height * scale)), max(side, int(width * scale)))
    top, left = (pixels.shape[2] - side) // 2, (pixels.shape[3] - side) // 2
    middle = pixels[:, :, top : top + side, left : left + side]
    return loading.normalised(middle, loading.OPENAI).transpose(1, 0, 2, 3)


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
        may_be = interface.family != "LanguageBind" or "languagebind" in type(model).__name__.lower()
        if may_be and all(hasattr(model, method) for method in interface.methods):
            return interface
    return None


class RemoteEncoder(loading.TorchEncoder):
    """A model with one of these interfaces. Raises VideoContrastError: it comes without the processor of its pixels."""

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
        """The number of texts that are longer than the model reads; None where its own code cuts them unsaid."""
        if not self.interface.processor:
            return None
        pads = self.interface.prepare is None  # to the length at which its processor cuts (128 in Cosmos-Embed1)
        limit = int(self.processor(text=[""])["input_ids"].shape[1]) if pads else LANGUAGEBIND_TOKENS
        return loading.count_longer(loading.tokenizer_of(self.processor), texts, limit)

    def prepare(self, clip: ClipFrames) -> loading.Arrays:
        """The clip's pixels, by the name under which the model takes them."""
        if self.interface.prepare is not None:
            return {"pixels": self.interface.prepare(clip.frames, self.side)}
        batch = self.processor(videos=clip.frames.transpose(0, 3, 1, 2)[None])
        return {name: np.asarray(value)[0] for name, value in batch.items()}

    def video_rows(self, prepared: Sequence[loading.Arrays]) -> Tensor:
        """float32[N, D], rows of length 1."""
        arrays = loading.on_device({n: np.stack([clip[n] for clip in prepared]) for n in prepared[0]}, self.model)
        encode = getattr(self.model, self.interface.methods[0])
        output = encode(**arrays) if self.interface.prepare is None else encode(arrays["pixels"])
        return loading.unit(_projected(output))

    def text_rows(self, texts: Sequence[str]) -> Tensor:
        """float32[M, D], rows of length 1."""
        return loading.unit(_projected(self._text_output(list(texts))))

    def _text_output(self, texts: list[str]) -> Tensor:
        import torch

        encode = getattr(self.model, self.interface.methods[1])
        if self.interface.family == "Cosmos-Embed1":
            tokens = {name: torch.as_tensor(value) for name, value in self.processor(text=texts).items()}
            return encode(**loading.on_device(tokens, self.model))
        if self.interface.family == "LanguageBind":
            tokenizer = loading.tokenizer_of(self.processor)
            padded = {"max_length": LANGUAGEBIND_TOKENS, "padding": "max_length", "truncation": True}
            tokens = tokenizer(texts, return_tensors="pt", **padded)
            return encode(**{name: tokens[name].to(self.model.device) for name in ("input_ids", "attention_mask")})
        # One by one, with a memory of their own: the release keeps texts in a default argument for good.
        more: tuple[object, ...] = (self.model.tokenizer, {}) if self.interface.family == "ViCLIP" else ()
        return torch.cat([encode(text, *more) for text in texts])


def _projected(output: Tensor) -> Tensor:
    """The rows [n, D] of what a method returns: a tensor, or the projection in an output of Cosmos-Embed1."""
    projection = next((getattr(output, name) for name in ("visual_proj", "text_proj") if hasattr(output, name)), None)
    rows = loading.pooled(output) if projection is None else projection
    return rows.reshape(rows.shape[0], -1)


ARCHITECTURES = ("VideoPrismClipModel", "PeVideoModel", "PeAudioVideoModel")
PERCEPTION = ("PeVideoModel", "PeAudioVideoModel")
VIDEOPRISM = "VideoPrismClipModel"


class VideoTextEncoder(loading.TorchEncoder):
    """A model that encodes a clip as a whole, with a video processor, or an image processor that takes frames."""

    def __init__(self, model: TorchModel, processor: Processor) -> None:
        self.model = model
        # of a Perception model, its part without sound
        self.sighted: TorchModel = model.video_model if hasattr(model, "video_model") else model
        self.name = type(model).__name__
        self.processor = processor
        self.videos = getattr(processor, "video_processor", None)
        self.images = getattr(processor, "image_processor", None) if self.videos is None else None
        if self.videos is None and self.images is None:
            raise VideoContrastError(
                f"{type(processor).__name__} has neither a video nor an image processor; is torchvision installed?"
            )
        prism = self.name == VIDEOPRISM
        self.tokens = loading.Tokens(
            processor.tokenizer, model.config, padded_to=64 if prism else None, clean=canonical if prism else None
        )
        needs_methods = self.name not in PERCEPTION
        if needs_methods and not (hasattr(model, "get_video_features") and hasattr(model, "get_text_features")):
            raise UsageError(
                f"{self.name} has neither get_video_features and get_text_features nor the methods of "
                f"{', '.join(interface.family for interface in INTERFACES)}, so it is unknown how to encode with it; "
                "add a kind for it (see CONTRIBUTING), or save its similarities and score them as precomputed"
            )
        names = inspect.signature(model.get_video_features).parameters if needs_methods else {}
        plain = "pixel_values" in names and "pixel_values_videos" not in names
        self.pixels = "pixel_values" if plain else "pixel_values_videos"

    @property
    def facts(self) -> JsonObject:
        """The classes that ran."""
        processor = type(self.videos or self.images).__name__
        return {"class": self.name, "video_processor": processor, "text_limit": self.tokens.limit}

    def prepare(self, clip: ClipFrames) -> np.ndarray:
        """The processor's pixels, float32[T, 3, H, W]; the frames are taken as they are."""
        if self.images is not None:
            return loading.pixels_of(self.images, clip.frames)["pixel_values"]
        # Through the whole processor, which has defaults of its own beside those of the video processor.
        batch = self.processor(videos=[clip.frames], do_sample_frames=False, return_tensors="pt")
        return loading.to_numpy(batch["pixel_values_videos"][0])

    def video_rows(self, prepared: Sequence[np.ndarray]) -> Tensor:
        """float32[N, D]; rows of length 1, except where the class's own logits are of plain products (PE)."""
        pixels = loading.on_device({self.pixels: np.stack(prepared)}, self.model)
        if self.name in PERCEPTION:
            return self.sighted.video_head(self.sighted.video_encoder(**pixels).pooler_output).float()
        # VideoPrism has places in time for the frames of its config; others are put between them
        usual = getattr(self.model.config.vision_config, "num_frames", None) if self.name == VIDEOPRISM else None
        options = {"interpolate_pos_encoding": True} if usual not in (None, len(prepared[0])) else {}
        return loading.unit(loading.pooled(self.model.get_video_features(**pixels, **options)))

    def text_rows(self, texts: Sequence[str]) -> Tensor:
        """float32[M, D], of length 1 where those of the clips are."""
        tokens = self.tokens(texts, self.model.device)
        if self.name in PERCEPTION:
            tokens.pop("token_type_ids", None)
            states = self.model.text_model(**tokens, output_hidden_states=True).hidden_states[-1][:, 0]
            return self.sighted.text_video_head(states).float()
        return loading.unit(loading.pooled(self.model.get_text_features(**tokens)))


def canonical(text: str) -> str:
    """A caption as VideoPrism was trained on (`canonicalize_text` of its release).

    >>> canonical("Hello,World..")
    'hello world.'
    """
    words = text.translate(str.maketrans(string.punctuation, " " * len(string.punctuation)))
    return " ".join(words.lower().split()) + "."


# Patterns of the weights that PE-AV ties: the first as the library writes it.
POSITIONS, WITHOUT_BANDS = r"rope\.pos_embed", r"rope\.(?:pos_embed|bands)"


@kind(
    "video_dual_encoder",
    family="encoder",
    summary="video-text dual encoders: the clip as a whole; remote code with --trust-remote-code",
    requirements="torchvision (pip install video-contrast[vlm]); PE also timm",
    architectures=ARCHITECTURES,
    model_types=("videoprism", "pe_video", "pe_audio_video"),
    tested=("VideoPrismClipModel", "PeVideoModel", "PeAudioVideoModel", "remote code"),
    version="4",
    # as VideoPrism, LanguageBind and Cosmos-Embed1 name it
    usual_frames=lambda config: (config.get("vision_config") or {}).get("num_frames") or config.get("num_video_frames"),
)
def load(source: ModelSource, settings: LoadOptions) -> VideoTextEncoder | RemoteEncoder:
    """Loads the class that the config names, or the repository's own."""
    name = source.architecture if source.architecture in ARCHITECTURES else None
    if name == "PeAudioVideoModel":  # ties weights by patterns that leave out position buffers, but not timm's new one
        from transformers import PeAudioVideoModel

        ties = PeAudioVideoModel._tied_weights_keys.items()
        PeAudioVideoModel._tied_weights_keys = {
            weight.replace(POSITIONS, WITHOUT_BANDS): twin.replace(POSITIONS, WITHOUT_BANDS) for weight, twin in ties
        }
    model = loading.load_model(source, settings, name)
    if (interface := interface_of(model)) is None:
        return VideoTextEncoder(model, loading.load_processor(source, settings, None))
    processor = loading.load_processor(source, settings, None) if interface.processor else None
    return RemoteEncoder(model, interface, processor)
