"""X-CLIP: its captions are prompted by the video, so text and video meet in a few joining layers.

The text tower runs once a caption and the vision tower once a clip; `join` runs the prompt generator alone. Where
`prompt_alpha` is 0 the prompt adds nothing and the similarity is the plain product.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from video_contrast.files import Json, JsonObject
from video_contrast.runner.kinds.base import ClipFrames, LateJoinEncoder, LoadOptions, ModelSource, kind, product
from video_contrast.runner.kinds.loading import Tokens, load_model, load_processor, on_device, pixels_of, to_numpy, unit
from video_contrast.untyped import Processor, TorchModel

PAIRS_AT_A_TIME = 4096


class XCLIPEncoder(LateJoinEncoder):
    """A transformers `XCLIPModel`.

    A video's row is its embedding followed by its averaged patch features (absent where the prompt adds nothing).
    """

    def __init__(self, model: TorchModel, processor: Processor) -> None:
        self.model = model
        self.images = getattr(processor, "image_processor", None) or processor.video_processor
        self.tokens = Tokens(processor.tokenizer, model.config)
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

    def prepare(self, clip: ClipFrames) -> dict[str, np.ndarray]:
        """The processor's pixels, float32[T, 3, H, W]."""
        arrays = pixels_of(self.images, clip.frames)
        return {name: value[0] if value.ndim == 5 else value for name, value in arrays.items()}

    def encode_prepared(self, prepared: Sequence[dict[str, np.ndarray]]) -> np.ndarray:
        """float32[N, D], or float32[N, D + patches*D] where the captions are prompted."""
        import torch

        model = self.model
        pixels = on_device({"pixel_values": np.stack([arrays["pixel_values"] for arrays in prepared])}, model)
        batch, frames = pixels["pixel_values"].shape[:2]
        with torch.inference_mode():
            vision = model.vision_model(pixel_values=pixels["pixel_values"].flatten(0, 1))
            embeds = model.visual_projection(vision[1]).view(batch, frames, -1)
            embeds = unit(model.mit(embeds)[1])
            if self.plain:
                return to_numpy(embeds)
            patches = model.prompts_visual_layernorm(vision[0][:, 1:, :]) @ model.prompts_visual_projection
            patches = patches.view(batch, frames, -1, embeds.shape[-1]).mean(dim=1).float()
            return to_numpy(torch.cat([embeds, patches.flatten(1)], dim=1))

    def encode_texts(self, texts: Sequence[str]) -> np.ndarray:
        """float32[M, D]: of length 1 where the join is the product, as projected otherwise."""
        import torch

        model = self.model
        with torch.inference_mode():
            output = model.text_model(**self.tokens(texts, model.device))
            rows = model.text_projection(output[1])
            return to_numpy(unit(rows) if self.plain else rows.float())

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
                    prompted = text + model.prompts_generator(text.to(model.dtype), patches).float()
                    out[n, begin : begin + step] = to_numpy(unit(prompted[0]) @ embed)
        return out


def _frames(config: Mapping[str, Json]) -> int | None:
    vision = config.get("vision_config") or {}
    return int(vision.get("num_frames") or 8)


@kind(
    "xclip",
    family="encoder",
    summary="X-CLIP: the text tower once a caption, only the joining layers a pair",
    architectures=("XCLIPModel",),
    model_types=("xclip",),
    tested=("XCLIPModel",),
    frames=_frames,
)
def load(source: ModelSource, settings: LoadOptions) -> XCLIPEncoder:
    """Loads an `XCLIPModel`."""
    return XCLIPEncoder(load_model(source, settings, "XCLIPModel"), load_processor(source, settings))
