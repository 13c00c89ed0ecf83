"""Video-text dual encoders: VideoPrism, PE-Video, PE-AV, and remote-code models with the same methods.

Each class is asked in the way that gives its embeddings: VideoPrism's logits are a softmax over the batch, and
PE-Video's `get_*_features` are out of reach in transformers 5, so neither is used.
"""

import inspect
import string
from collections.abc import Mapping, Sequence

import numpy as np

from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import Json, JsonObject
from video_contrast.runner.kinds.base import ClipFrames, DualEncoder, LoadOptions, ModelSource, kind
from video_contrast.runner.kinds.loading import (
    Tokens,
    load_model,
    load_processor,
    on_device,
    pixels_of,
    pooled,
    to_numpy,
    unit,
)
from video_contrast.runner.kinds.remote_embedders import INTERFACES, RemoteEncoder, interface_of
from video_contrast.untyped import Processor, TorchModel

ARCHITECTURES = ("VideoPrismClipModel", "PeVideoModel", "PeAudioVideoModel")
PERCEPTION = ("PeVideoModel", "PeAudioVideoModel")
VIDEOPRISM = "VideoPrismClipModel"


class VideoTextEncoder(DualEncoder):
    """A model that encodes a clip as a whole.

    `model`: one of the classes of this file, or any with `get_video_features` and `get_text_features`. `processor`: its
    processor, with a tokenizer and a video processor, or an image processor that takes the frames.
    """

    def __init__(self, model: TorchModel, processor: Processor) -> None:
        self.model = model
        self.name = type(model).__name__
        self.processor = processor
        self.videos = getattr(processor, "video_processor", None)
        self.images = getattr(processor, "image_processor", None) if self.videos is None else None
        if self.videos is None and self.images is None:
            raise VideoContrastError(
                f"{type(processor).__name__} has neither a video nor an image processor; is torchvision installed?"
            )
        prism = self.name == VIDEOPRISM
        self.tokens = Tokens(
            processor.tokenizer, model.config, padded_to=64 if prism else None, clean=canonical if prism else None
        )
        probed = self.name not in PERCEPTION
        if probed and not (hasattr(model, "get_video_features") and hasattr(model, "get_text_features")):
            raise UsageError(
                f"{self.name} has neither get_video_features and get_text_features nor the methods of "
                f"{', '.join(interface.family for interface in INTERFACES)}, so it is unknown how to encode with it; "
                "add a kind for it (see CONTRIBUTING), or save its similarities and score them as precomputed"
            )
        names = inspect.signature(model.get_video_features).parameters if probed else {}
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
            return pixels_of(self.images, clip.frames)["pixel_values"]
        # Through the whole processor, which has defaults of its own beside those of the video processor.
        batch = self.processor(videos=[clip.frames], do_sample_frames=False, return_tensors="pt")
        return to_numpy(batch["pixel_values_videos"][0])

    def encode_prepared(self, prepared: Sequence[np.ndarray]) -> np.ndarray:
        """float32[N, D]; rows of length 1, except where the class's own logits are of plain products (PE)."""
        import torch

        pixels = on_device({self.pixels: np.stack(prepared)}, self.model)
        with torch.inference_mode():
            if self.name in PERCEPTION:
                part = self._part()
                rows = part.video_head(part.video_encoder(**pixels).pooler_output).float()
            else:
                rows = unit(pooled(self.model.get_video_features(**pixels, **self._stretched(len(prepared[0])))))
        return to_numpy(rows)

    def encode_texts(self, texts: Sequence[str]) -> np.ndarray:
        """float32[M, D], of length 1 where those of the clips are."""
        import torch

        tokens = self.tokens(texts, self.model.device)
        with torch.inference_mode():
            if self.name in PERCEPTION:
                tokens.pop("token_type_ids", None)
                states = self.model.text_model(**tokens, output_hidden_states=True).hidden_states[-1][:, 0]
                rows = self._part().text_video_head(states).float()
            else:
                rows = unit(pooled(self.model.get_text_features(**tokens)))
        return to_numpy(rows)

    def _stretched(self, frames: int) -> dict[str, bool]:
        """VideoPrism has places in time for the frames of its config; others are put between them."""
        usual = getattr(self.model.config.vision_config, "num_frames", None) if self.name == VIDEOPRISM else None
        return {"interpolate_pos_encoding": True} if usual not in (None, frames) else {}

    def _part(self) -> TorchModel:
        """The part of a Perception model that knows clips and texts, without sound."""
        part: TorchModel = self.model.video_model if hasattr(self.model, "video_model") else self.model
        return part


def canonical(text: str) -> str:
    """A caption as VideoPrism was trained on (`canonicalize_text` of its release).

    >>> canonical("Hello,World..")
    'hello world.'
    """
    spaced = text.translate(str.maketrans(string.punctuation, " " * len(string.punctuation)))
    return " ".join(spaced.lower().split()) + "."


# Patterns of the weights that PE-AV ties: the first as the library writes it.
POSITIONS, WITHOUT_BANDS = r"rope\.pos_embed", r"rope\.(?:pos_embed|bands)"


def _leave_out_bands() -> None:
    """PE-AV ties weights by patterns that leave out position buffers, but not the one that timm has since."""
    from transformers import PeAudioVideoModel

    tied = PeAudioVideoModel._tied_weights_keys
    PeAudioVideoModel._tied_weights_keys = {
        weight.replace(POSITIONS, WITHOUT_BANDS): twin.replace(POSITIONS, WITHOUT_BANDS)
        for weight, twin in tied.items()
    }


def _usual_frames(config: Mapping[str, Json]) -> int | None:
    """As VideoPrism, LanguageBind and Cosmos-Embed1 name it."""
    return (config.get("vision_config") or {}).get("num_frames") or config.get("num_video_frames")


@kind(
    "video_dual_encoder",
    family="encoder",
    summary="video-text dual encoders: the clip as a whole; remote code with --trust-remote-code",
    requirements="torchvision (pip install video-contrast[vlm]); PE also timm",
    architectures=ARCHITECTURES,
    model_types=("videoprism", "pe_video", "pe_audio_video"),
    tested=("VideoPrismClipModel", "PeVideoModel", "PeAudioVideoModel", "remote code"),
    version="4",
    usual_frames=_usual_frames,
)
def load(source: ModelSource, settings: LoadOptions) -> VideoTextEncoder | RemoteEncoder:
    """Loads the class that the config names, or the repository's own."""
    name = source.architecture if source.architecture in ARCHITECTURES else None
    if name == "PeAudioVideoModel":
        _leave_out_bands()
    model = load_model(source, settings, name)
    interface = interface_of(model)
    if interface is not None:
        return RemoteEncoder(model, interface, load_processor(source, settings, None) if interface.processor else None)
    return VideoTextEncoder(model, load_processor(source, settings, None))
