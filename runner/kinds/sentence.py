"""Multimodal sentence-transformers models (repositories with a modules.json).

A model that takes video is given the clip; one that takes images is given its frames, whose normalised embeddings are
averaged. Always arrays: a path string given to a text-and-image model would be embedded as text, without a word.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from video_contrast.errors import UsageError
from video_contrast.runner.kinds.base import DualEncoder, LoadOptions, ModelSource, kind
from video_contrast.runner.kinds.loading import explained


class SentenceEncoder(DualEncoder):
    """A `SentenceTransformer` with text and video, or text and images."""

    def __init__(self, model: Any, name: str) -> None:
        self.model = model
        self.modalities = [str(one) for one in getattr(model, "modalities", ["text"])]
        if "video" not in self.modalities and "image" not in self.modalities:
            raise UsageError(
                f"{name} embeds {', '.join(self.modalities)} only, so it cannot be shown a video; as a language model "
                "that never sees the video there is `--model blind`"
            )

    @property
    def facts(self) -> dict[str, Any]:
        """What it takes, and in which way the clips were given."""
        return {"class": "SentenceTransformer", "modalities": self.modalities, "as_video": self.takes_video}

    @property
    def takes_video(self) -> bool:
        """Whether clips go in whole."""
        return "video" in self.modalities

    def encode_prepared(self, prepared: Sequence[np.ndarray]) -> np.ndarray:
        """float32[N, D], rows of length 1."""
        if self.takes_video:
            videos = [{"array": frames, "video_metadata": _metadata(frames)} for frames in prepared]
            rows = self._encode(videos, processing_kwargs={"video": {"do_sample_frames": False}})
            return _unit(rows.reshape(len(prepared), -1))
        from PIL import Image

        images = [Image.fromarray(frame) for frames in prepared for frame in frames]
        rows = _unit(self._encode(images).reshape(len(images), -1))
        clips = np.split(rows, np.cumsum([len(frames) for frames in prepared])[:-1])
        return _unit(np.stack([clip.mean(axis=0, dtype=np.float64) for clip in clips]))

    def encode_texts(self, texts: Sequence[str]) -> np.ndarray:
        """float32[M, D], rows of length 1."""
        return _unit(self._encode(list(texts)).reshape(len(texts), -1))

    def _encode(self, things: list[Any], **extra: Any) -> np.ndarray:
        found = self.model.encode(
            things, batch_size=len(things), convert_to_numpy=True, show_progress_bar=False, **extra
        )
        return np.asarray(found, np.float32)


def _metadata(frames: np.ndarray) -> dict[str, Any]:
    return {"total_num_frames": len(frames), "fps": 1.0, "frames_indices": list(range(len(frames)))}


def _unit(rows: np.ndarray) -> np.ndarray:
    wide = rows.astype(np.float64)
    return (wide / np.maximum(np.linalg.norm(wide, axis=1, keepdims=True), 1e-12)).astype(np.float32)


@kind(
    "sentence_transformers",
    family="encoder",
    summary="sentence-transformers models that embed text and video, or text and images",
    model_types=("modules.json",),
    tested=("SentenceTransformer of CLIPModel",),
)
def load(source: ModelSource, settings: LoadOptions) -> SentenceEncoder:
    """Loads a `SentenceTransformer`."""
    import torch
    from sentence_transformers import SentenceTransformer

    with explained(source):
        model = SentenceTransformer(
            str(source.path),
            device=settings.device,
            trust_remote_code=settings.trust_remote_code,
            local_files_only=True,
            model_kwargs={"dtype": getattr(torch, settings.dtype)},
        )
    return SentenceEncoder(model.eval(), source.name)
