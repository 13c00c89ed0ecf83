"""Matching heads: models that read a frame and a caption together and say whether they belong to each other.

BLIP, BLIP-2, BridgeTower and ViLT. Every frame is paired with every caption; a caption's score is the mean (or the
maximum) over frames of the probability of a match. Where the vision tower stands apart (BLIP, BLIP-2) each frame
goes through it once, whatever the number of captions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np

from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import JsonObject
from video_contrast.runner.kinds.base import (
    ClipFrames,
    DualEncoder,
    Encoder,
    KindOption,
    LoadOptions,
    ModelSource,
    PairScorer,
    ScoreResult,
    kind,
)
from video_contrast.runner.kinds.loading import count_longer, load_model, load_processor, to_numpy, unit
from video_contrast.untyped import Processor, Tensor, TorchModel

Aggregate = Literal["mean", "max"]


class MatchingScorer(PairScorer):
    """Scores captions of one clip with an image-text matching head.

    Args:
        model: one of the classes of `HEADS`, in evaluation mode.
        processor: its processor.
        aggregate: how the frames' probabilities become one score.
        batch_size: pairs (frame, caption) in one forward pass.
        prefilter: in retrieval, score only this many texts a clip, chosen by the checkpoint's own contrastive
            embeddings (BLIP and BLIP-2); 0 scores all.
    """

    def __init__(
        self,
        model: TorchModel,
        processor: Processor,
        aggregate: Aggregate = "mean",
        batch_size: int = 32,
        prefilter: int = 0,
    ) -> None:
        name = type(model).__name__
        if name not in HEADS:
            raise VideoContrastError(f"{name} has no matching head; known: {', '.join(HEADS)}")
        if aggregate not in ("mean", "max"):
            raise UsageError(f"--itm-aggregate {aggregate!r} is not one of mean, max")
        self.model = model
        self.processor = processor
        self.aggregate = aggregate
        self.batch_size = batch_size
        self._match = HEADS[name]
        self.prefilter = prefilter
        if prefilter:
            if name not in COARSE:
                raise UsageError(f"--itm-prefilter needs contrastive embeddings, which {name} does not have")
            self.coarse = COARSE[name](model, processor)

    def score(self, clip: ClipFrames | None, captions: Sequence[str], *, position: int = 0) -> ScoreResult:
        """float64[k] in 0..1, and the probability of every frame as parts `frame0`, `frame1` ... of each caption."""
        if clip is None:
            raise UsageError("a matching head cannot score a caption without a frame; leave the blind control out")
        import torch

        # ViLT chooses patches by torch.multinomial: from one stream, so that a score does not depend on company.
        devices = [self.model.device] if self.model.device.type == "cuda" else []
        with torch.inference_mode(), torch.random.fork_rng(devices):
            torch.manual_seed(0)
            probabilities = self._match(self.model, self.processor, list(clip.frames), list(captions), self.batch_size)
        table = to_numpy(probabilities.double())  # [T, k]
        scores = table.mean(axis=0) if self.aggregate == "mean" else table.max(axis=0)
        return ScoreResult(scores, [{f"frame{t}": float(p) for t, p in enumerate(column)} for column in table.T])

    def truncated_texts(self, texts: Sequence[str]) -> int:
        """How many of the texts are longer than the model reads."""
        return count_longer(self.processor.tokenizer, texts, _limit(self.model))

    @property
    def facts(self) -> JsonObject:
        """The class and how frames are aggregated."""
        return {"class": type(self.model).__name__, "itm_aggregate": self.aggregate, "itm_prefilter": self.prefilter}


def _pixels(model: TorchModel, processor: Processor, frames: list[np.ndarray]) -> Tensor:
    pixels = processor.image_processor(images=frames, return_tensors="pt")["pixel_values"]
    return pixels.to(model.device, dtype=model.dtype)


def _tokens(model: TorchModel, processor: Processor, captions: list[str]) -> Tensor:
    return processor.tokenizer(
        captions, padding=True, truncation=True, max_length=_limit(model), return_tensors="pt"
    ).to(model.device)


def _limit(model: TorchModel) -> int:
    return min(getattr(model.config.get_text_config(), "max_position_embeddings", None) or 512, 512)


def _pairs(n_frames: int, n_captions: int, batch_size: int) -> list[tuple[Tensor, Tensor]]:
    """Index tensors (frame, caption) of all pairs, in batches."""
    import torch

    frame, caption = torch.meshgrid(torch.arange(n_frames), torch.arange(n_captions), indexing="ij")
    return list(zip(frame.reshape(-1).split(batch_size), caption.reshape(-1).split(batch_size), strict=True))


def _blip(
    model: TorchModel, processor: Processor, frames: list[np.ndarray], captions: list[str], batch_size: int
) -> Tensor:
    """BLIP: the text encoder attends to the frame's patches; class 1 of the head is "match"."""
    import torch

    images = model.vision_model(pixel_values=_pixels(model, processor, frames)).last_hidden_state
    text = _tokens(model, processor, captions)
    matches = []
    for frame, caption in _pairs(len(frames), len(captions), batch_size):
        patches = images[frame]
        states = model.text_encoder(
            input_ids=text["input_ids"][caption],
            attention_mask=text["attention_mask"][caption],
            encoder_hidden_states=patches,
            encoder_attention_mask=torch.ones(patches.shape[:-1], dtype=torch.long, device=patches.device),
        ).last_hidden_state
        matches.append(model.itm_head(states[:, 0]).float().softmax(-1)[:, 1])
    return torch.cat(matches).reshape(len(frames), len(captions))


def _blip2(
    model: TorchModel, processor: Processor, frames: list[np.ndarray], captions: list[str], batch_size: int
) -> Tensor:
    """BLIP-2: the Q-Former reads queries and caption with the frame's patches; the head's mean over queries."""
    import torch

    images = model.vision_model(pixel_values=_pixels(model, processor, frames)).last_hidden_state
    text = _tokens(model, processor, captions)
    matches = []
    for frame, caption in _pairs(len(frames), len(captions), batch_size):
        patches = images[frame]
        queries = model.query_tokens.expand(len(frame), -1, -1)
        all_queries = torch.ones(queries.shape[:-1], dtype=torch.long, device=patches.device)
        embedded = model.embeddings(input_ids=text["input_ids"][caption], query_embeds=queries)
        states = model.qformer(
            query_embeds=embedded,
            query_length=queries.shape[1],
            attention_mask=torch.cat([all_queries, text["attention_mask"][caption]], 1),
            encoder_hidden_states=patches,
            encoder_attention_mask=torch.ones(patches.shape[:-1], dtype=torch.long, device=patches.device),
        ).last_hidden_state
        logits = model.itm_head(states[:, : queries.shape[1]].to(model.itm_head.weight.dtype)).mean(1)
        matches.append(logits.float().softmax(-1)[:, 1])
    return torch.cat(matches).reshape(len(frames), len(captions))


def _single_stream(two_classes: bool) -> Callable[..., Tensor]:
    """BridgeTower (two classes) and ViLT (one ranking logit): frame and caption go through together."""

    def match(
        model: TorchModel, processor: Processor, frames: list[np.ndarray], captions: list[str], batch_size: int
    ) -> Tensor:
        import torch

        batch = processor.image_processor(images=frames, return_tensors="pt").to(model.device, dtype=model.dtype)
        text = _tokens(model, processor, captions)
        matches = []
        for frame, caption in _pairs(len(frames), len(captions), batch_size):
            logits = model(
                **{name: value[caption] for name, value in text.items()},
                **{name: value[frame] for name, value in batch.items()},
            ).logits.float()
            matches.append(logits.softmax(-1)[:, 1] if two_classes else logits[:, 0].sigmoid())
        return torch.cat(matches).reshape(len(frames), len(captions))

    return match


# transformers class -> probability of a match, float32[T, k]
HEADS: dict[str, Callable[..., Tensor]] = {
    "BlipForImageTextRetrieval": _blip,
    "Blip2ForImageTextRetrieval": _blip2,
    "BridgeTowerForImageAndTextRetrieval": _single_stream(two_classes=True),
    "ViltForImageAndTextRetrieval": _single_stream(two_classes=False),
}


class _BlipCoarse(DualEncoder):
    """BLIP's contrastive embeddings (ITC): frames averaged, cosine with the caption."""

    def __init__(self, model: TorchModel, processor: Processor) -> None:
        self.model = model
        self.processor = processor

    def encode_prepared(self, prepared: Sequence[np.ndarray]) -> np.ndarray:
        """float32[N, D], rows of length 1."""
        import torch

        rows = []
        with torch.inference_mode():
            for frames in prepared:
                states = self.model.vision_model(pixel_values=_pixels(self.model, self.processor, list(frames)))
                rows.append(unit(unit(self.model.vision_proj(states.last_hidden_state[:, 0])).mean(0, keepdim=True)))
        return to_numpy(torch.cat(rows))

    def encode_texts(self, texts: Sequence[str]) -> np.ndarray:
        """float32[M, D], rows of length 1."""
        import torch

        with torch.inference_mode():
            text = _tokens(self.model, self.processor, list(texts))
            states = self.model.text_encoder(input_ids=text["input_ids"], attention_mask=text["attention_mask"])
            return to_numpy(unit(self.model.text_proj(states.last_hidden_state[:, 0])))


class _Blip2Coarse(DualEncoder):
    """BLIP-2's contrastive embeddings: the cosine of the query that fits best, averaged over frames."""

    def __init__(self, model: TorchModel, processor: Processor) -> None:
        self.model = model
        self.processor = processor

    def encode_prepared(self, prepared: Sequence[np.ndarray]) -> np.ndarray:
        """float32[N, Q*D]: the queries of the clip's frames, averaged over frames."""
        import torch

        rows = []
        with torch.inference_mode():
            for frames in prepared:
                pixels = _pixels(self.model, self.processor, list(frames))
                patches = self.model.vision_model(pixel_values=pixels).last_hidden_state
                queries = self.model.query_tokens.expand(len(patches), -1, -1)
                states = self.model.qformer(query_embeds=queries, encoder_hidden_states=patches).last_hidden_state
                states = states.to(self.model.vision_projection.weight.dtype)
                rows.append(unit(self.model.vision_projection(states)).mean(0).reshape(1, -1))
        return to_numpy(torch.cat(rows))

    def encode_texts(self, texts: Sequence[str]) -> np.ndarray:
        """float32[M, D], rows of length 1."""
        import torch

        with torch.inference_mode():
            text = _tokens(self.model, self.processor, list(texts))
            embedded = self.model.embeddings(input_ids=text["input_ids"])
            states = self.model.qformer(
                query_embeds=embedded, query_length=0, attention_mask=text["attention_mask"]
            ).last_hidden_state[:, 0]
            return to_numpy(unit(self.model.text_projection(states.to(self.model.text_projection.weight.dtype))))

    def join(self, videos: np.ndarray, texts: np.ndarray) -> np.ndarray:
        """float32[N, M]: the maximum over queries."""
        queries = videos.reshape(len(videos), -1, texts.shape[1])
        return np.stack([(clip @ texts.T).max(axis=0) for clip in queries])


COARSE: dict[str, Callable[[TorchModel, Processor], Encoder]] = {
    "BlipForImageTextRetrieval": _BlipCoarse,
    "Blip2ForImageTextRetrieval": _Blip2Coarse,
}


@kind(
    "matching",
    family="pair",
    summary="image-text matching heads: every frame with every caption, probabilities averaged",
    architectures=tuple(HEADS),
    options=(
        KindOption(
            "itm_aggregate", str, "mean", "How the frames' probabilities become one score.", choices=("mean", "max")
        ),
        KindOption("itm_prefilter", int, 0, "Retrieval: score only the best K texts a clip by its embeddings; 0: all."),
    ),
    tested=tuple(HEADS),
    version="2",
)
def load(source: ModelSource, settings: LoadOptions) -> MatchingScorer:
    """Loads the class that the config names: `AutoModel` would load a BLIP checkpoint without its head."""
    return MatchingScorer(
        load_model(source, settings, source.architecture),
        load_processor(source, settings),
        aggregate=settings.options.get("itm_aggregate", "mean"),
        batch_size=settings.batch_size,
        prefilter=settings.options.get("itm_prefilter", 0),
    )
