"""Rerankers of sentence-transformers that read a video: a cross-encoder scores (caption, clip) pairs."""

from collections.abc import Sequence

import numpy as np

from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import JsonObject
from video_contrast.runner.kinds.base import ClipFrames, LoadOptions, ModelSource, PairScorer, ScoreResult, kind
from video_contrast.runner.kinds.sentence import PROMPT_TEXT, load_saved, prompt_of, rendered, sampled, saved_prompt
from video_contrast.runner.kinds.video_metadata import metadata_of
from video_contrast.untyped import TorchModel


class RerankerScorer(PairScorer):
    """Scores captions of one clip with a multimodal `CrossEncoder`.

    `encoder`: the `sentence_transformers.CrossEncoder`. `prompt_text`: the instruction instead of the checkpoint's own;
    "none" leaves it out. Raises VideoContrastError: the reranker does not take video. (On such a model a video would be
    read as text.)
    """

    def __init__(self, encoder: TorchModel, batch_size: int = 8, *, prompt_text: str = "") -> None:
        modalities = list(getattr(encoder, "modalities", ["text"]))
        if "video" not in modalities:
            raise VideoContrastError(f"this reranker takes {', '.join(modalities)}, not video")
        self.encoder = encoder
        self.batch_size = batch_size
        prompt = prompt_of(prompt_text)
        self.prompt = saved_prompt(encoder, ()) if prompt is None else prompt

    def score(self, clip: ClipFrames | None, captions: Sequence[str], *, position: int = 0) -> ScoreResult:
        """float64[k]: the reranker's own score of each (caption, clip) pair."""
        if clip is None:
            raise UsageError("a reranker cannot score a caption without a video; leave the blind control out")
        scores: list[np.ndarray] = []
        for begin in range(0, len(captions), self.batch_size):
            batch = captions[begin : begin + self.batch_size]
            # Pairs have no place for the metadata of a video, so each batch is given its own.
            videos = sampled(self.encoder, clip) | {"video_metadata": [metadata_of(clip) for _ in batch]}
            of_batch = self.encoder.predict(
                [({"text": caption}, {"video": clip.frames}) for caption in batch],
                prompt=self.prompt or None,
                batch_size=len(batch),
                show_progress_bar=False,
                convert_to_numpy=True,
                processing_kwargs={"video": videos},
            )
            scores.append(np.asarray(of_batch, dtype=np.float64).reshape(len(batch)))
        return ScoreResult(np.concatenate(scores))

    def rendered_input(self, clip: ClipFrames, captions: Sequence[str]) -> JsonObject:
        """The first caption with the clip, as the model reads them."""
        videos = sampled(self.encoder, clip) | {"video_metadata": [metadata_of(clip)]}
        pair = ({"text": captions[0]}, {"video": clip.frames})
        shown = rendered(self.encoder, pair, self.prompt, processing_kwargs={"video": videos})
        return super().rendered_input(clip, captions) | shown

    @property
    def facts(self) -> JsonObject:
        """The class that ran, and its instruction."""
        return {"class": type(self.encoder).__name__, "prompt_text": self.prompt}


@kind(
    "reranker",
    family="pair",
    summary="sentence-transformers rerankers that take video",
    requirements="torchvision built for your torch (`pip install video-contrast[vlm]`)",
    model_types=("modules.json of a CrossEncoder",),
    tested=("CrossEncoder",),
    options=(PROMPT_TEXT,),
    version="4",
)
def load(source: ModelSource, settings: LoadOptions) -> RerankerScorer:
    """Loads a saved `CrossEncoder`."""
    return RerankerScorer(load_saved("CrossEncoder", source, settings), settings.batch_size, **settings.options)
