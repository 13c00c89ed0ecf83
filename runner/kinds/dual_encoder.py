"""Image-text dual encoders (CLIP, SigLIP, SigLIP 2, MetaCLIP 2, ALIGN ...): frames are encoded one by one.

`--pooling` says how frames become one score:

- `mean`          the mean of the normalised frame embeddings, normalised again; the cosine with the caption
- `max`           the cosine of the caption with the frame that fits it best
- `query-scored`  frames weighted by the softmax of their own cosines with the caption (temperature
                  `--query-temperature`), as the CLIP-Hitchhiker's guide does
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from video_contrast.errors import VideoContrastError
from video_contrast.files import JsonObject
from video_contrast.options import POSITIVE, Option
from video_contrast.runner.kinds import loading
from video_contrast.runner.kinds.base import ClipFrames, LoadOptions, ModelSource, kind, product, unit_rows
from video_contrast.untyped import Processor, Tensor, TorchModel

ARCHITECTURES = (
    "CLIPModel", "SiglipModel", "Siglip2Model", "MetaClip2Model", "AlignModel", "AltCLIPModel", "ChineseCLIPModel",
    "GroupViTModel", "VisionTextDualEncoderModel", "Aimv2Model",
)  # fmt: skip
JOIN_BLOCK = 1 << 24  # numbers in one block of a pooled join, so that memory stays bounded


class ImageTextEncoder(loading.TorchEncoder):
    """A transformers model with `get_image_features` and `get_text_features`; torchvision processors run beside it."""

    def __init__(self, model: TorchModel, processor: Processor, settings: LoadOptions) -> None:
        self.model = model
        self.images = processor.image_processor
        self.tokens = loading.Tokens(processor.tokenizer, model.config)
        self.pooling: str = settings.options.get("pooling", "mean")
        self.temperature: float = settings.options.get("query_temperature", 0.1)
        self.batch_size = 8 * settings.batch_size
        self.resize_on_device = settings.preprocess_on == "device"
        if not hasattr(model, "get_image_features") or not hasattr(model, "get_text_features"):
            raise VideoContrastError(f"{type(model).__name__} has no get_image_features and get_text_features")

    @property
    def facts(self) -> JsonObject:
        """The classes that ran, and how many tokens the text tower reads."""
        return {
            "class": type(self.model).__name__,
            "image_processor": type(self.images).__name__,
            "pooling": self.pooling,
            "text_limit": self.tokens.limit,
        }

    def prepare(self, clip: ClipFrames) -> loading.Arrays:
        """The processor's arrays for the clip's frames; the frames as they are where they are resized on the device."""
        if self.resize_on_device:
            return {"frames": clip.frames}
        return loading.pixels_of(self.images, clip.frames)

    def video_rows(self, prepared: Sequence[loading.Arrays]) -> Tensor:
        """float32[N, D] for `mean`, float32[N, T*D] otherwise."""
        import torch

        if self.resize_on_device:
            ready = [loading.pixels_on_device(self.images, arrays["frames"], self.model.device) for arrays in prepared]
            arrays_of_clips = {name: torch.cat([arrays[name] for arrays in ready]) for name in ready[0]}
        else:
            arrays_of_clips = {name: np.concatenate([arrays[name] for arrays in prepared]) for name in prepared[0]}
        counts = [len(next(iter(arrays.values()))) for arrays in prepared]
        rows = []
        for begin in range(0, sum(counts), self.batch_size):
            part = {name: value[begin : begin + self.batch_size] for name, value in arrays_of_clips.items()}
            rows.append(
                loading.unit(loading.pooled(self.model.get_image_features(**loading.on_device(part, self.model)))).cpu()
            )
        if self.pooling != "mean" and len(set(counts)) > 1:
            raise VideoContrastError(f"--pooling {self.pooling} needs as many frames of every clip, not {set(counts)}")
        clips = np.split(loading.to_numpy(torch.cat(rows)), np.cumsum(counts)[:-1])
        return torch.from_numpy(np.stack([self.pool_frames(clip) for clip in clips]))

    def pool_frames(self, rows: np.ndarray) -> np.ndarray:
        """Their mean, of length 1; all frames side by side where the pooling depends on the caption."""
        if self.pooling != "mean":
            return rows.reshape(-1)
        # In float64, so that the order of the frames cannot show: a bag of frames is one to the last bit.
        return unit_rows(rows.mean(axis=0, dtype=np.float64)[None]).astype(np.float32).reshape(-1)

    def text_rows(self, texts: Sequence[str]) -> Tensor:
        """float32[M, D], rows of length 1."""
        return loading.unit(loading.pooled(self.model.get_text_features(**self.tokens(texts, self.model.device))))

    def join(self, videos: np.ndarray, texts: np.ndarray) -> np.ndarray:
        """float32[N, M] cosines, pooled over frames where the rows are frames."""
        if self.pooling == "mean":
            return product(videos, texts)
        count = videos.shape[1] // texts.shape[1]
        frames = videos.reshape(len(videos), count, texts.shape[1])
        out = np.empty((len(videos), len(texts)), np.float32)
        step = max(1, JOIN_BLOCK // (count * max(1, len(texts))))
        for begin in range(0, len(videos), step):
            cosines = frames[begin : begin + step] @ texts.T  # [n, T, M]
            if self.pooling == "max":
                out[begin : begin + step] = cosines.max(axis=1)
            else:
                weights = np.exp((cosines - cosines.max(axis=1, keepdims=True)) / self.temperature)
                out[begin : begin + step] = (weights * cosines).sum(axis=1) / weights.sum(axis=1)
        return out


@kind(
    "dual_encoder",
    family="encoder",
    summary="image-text dual encoders: frames one by one, pooled",
    architectures=ARCHITECTURES,
    model_types=("clip", "siglip", "siglip2", "metaclip_2", "align", "altclip", "chinese_clip", "groupvit"),
    tested=("CLIPModel", "MetaClip2Model", "SiglipModel", "Siglip2Model", "AlignModel"),
    options=(
        Option("pooling", Literal["mean", "max", "query-scored"], "mean", "How frames become one score."),
        Option("query_temperature", float, 0.1, "Temperature of --pooling query-scored.", range=POSITIVE),
    ),
    version="3",
)
def load(source: ModelSource, settings: LoadOptions) -> ImageTextEncoder:
    """Loads the class that the config names."""
    model = loading.load_model(source, settings, source.architecture if source.architecture in ARCHITECTURES else None)
    if type(model).__name__ == "Aimv2Model":
        # Its text tower is causal by its mask alone, which the other attentions leave out where no text is padded.
        model.text_model.set_attn_implementation("eager")
    backend = "torchvision" if settings.preprocess_on == "device" else "pil"
    return ImageTextEncoder(model, loading.load_processor(source, settings, backend), settings)
