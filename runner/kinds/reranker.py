"""Rerankers of sentence-transformers that read a video: a cross-encoder scores (caption, clip) pairs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.runner.kinds.base import ClipFrames, LoadOptions, ModelSource, PairScorer, ScoreResult, kind
from video_contrast.runner.kinds.loading import explained


class RerankerScorer(PairScorer):
    """Scores captions of one clip with a multimodal `CrossEncoder`.

    Args:
        encoder: the `sentence_transformers.CrossEncoder`.
        batch_size: pairs in one forward pass.

    Raises:
        VideoContrastError: the reranker does not take video. (On such a model a video would be read as text.)
    """

    def __init__(self, encoder: Any, batch_size: int = 8) -> None:
        modalities = list(getattr(encoder, "modalities", ["text"]))
        if "video" not in modalities:
            raise VideoContrastError(f"this reranker takes {', '.join(modalities)}, not video")
        self.encoder = encoder
        self.batch_size = batch_size

    def score(self, clip: ClipFrames | None, captions: Sequence[str], *, position: int = 0) -> ScoreResult:
        """float64[k]: the reranker's own score of each (caption, clip) pair.

        Args:
            clip: the frames as sampled.
            captions: k texts.
            position: not used by these models.
        """
        if clip is None:
            raise UsageError("a reranker cannot score a caption without a video; leave the blind control out")
        pairs = [({"text": caption}, {"video": clip.frames}) for caption in captions]
        found = self.encoder.predict(
            pairs,
            batch_size=self.batch_size,
            show_progress_bar=False,
            convert_to_numpy=True,
            processing_kwargs={"video": {"do_sample_frames": False}},  # the frames are sampled already
        )
        return ScoreResult(np.asarray(found, dtype=np.float64).reshape(len(captions)))

    @property
    def facts(self) -> dict[str, Any]:
        """The class that ran."""
        return {"class": type(self.encoder).__name__}


@kind(
    "reranker",
    family="pair",
    summary="sentence-transformers rerankers that take video (--kind reranker)",
    needs="torchvision built for your torch (`pip install video-contrast[vlm]`)",
    tested=("CrossEncoder",),
)
def load(source: ModelSource, settings: LoadOptions) -> RerankerScorer:
    """Loads a saved `CrossEncoder`."""
    from sentence_transformers import CrossEncoder

    with explained(source):
        encoder = CrossEncoder(
            str(source.path),
            device=settings.device,
            trust_remote_code=settings.trust_remote_code,
            local_files_only=True,
        )
    return RerankerScorer(encoder, settings.batch_size)
