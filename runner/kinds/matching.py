"""Matching heads: models that read a frame and a caption together and say whether they belong to each other.

BLIP, BLIP-2, BridgeTower and ViLT. Every frame is paired with every caption; a caption's score is the mean (or the
maximum) over frames of the probability of a match. Where the vision tower stands apart (BLIP, BLIP-2) each frame
goes through it once, whatever the number of captions.
"""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Literal

import numpy as np

from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import JsonObject
from video_contrast.options import Option
from video_contrast.runner.kinds import loading
from video_contrast.runner.kinds.base import ClipFrames, LoadOptions, ModelSource, PairScorer, ScoreResult, kind
from video_contrast.untyped import Processor, Tensor, TorchModel

Aggregate = Literal["mean", "max"]


class MatchingScorer(PairScorer):
    """Scores captions of one clip with an image-text matching head, a model of one of the classes of `HEADS`.

    `aggregate`: how the frames' probabilities become one score. `batch_size`: pairs (frame, caption) in one forward
    pass. `prefilter`: in retrieval, score only this many texts a clip, chosen by the checkpoint's own contrastive
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
        self.model = model
        self.processor = processor
        self.aggregate = aggregate
        self.batch_size = batch_size
        loading.pad_after(processor.tokenizer)
        self.head = HEADS[name](model, processor)
        self.prefilter = prefilter
        if prefilter:
            if not isinstance(self.head, loading.TorchEncoder):
                raise UsageError(f"--itm-prefilter needs contrastive embeddings, which {name} does not have")
            self.coarse = self.head

    def score(self, clip: ClipFrames | None, captions: Sequence[str], *, position: int = 0) -> ScoreResult:
        """float64[k] in 0..1, and the probability of every frame as parts `frame0`, `frame1` ... of each caption."""
        if clip is None:
            raise UsageError("a matching head cannot score a caption without a frame; leave the blind control out")
        import torch

        # ViLT chooses patches by torch.multinomial: from one stream, so that a score does not depend on company.
        devices = [self.model.device] if self.model.device.type == "cuda" else []
        with torch.inference_mode(), torch.random.fork_rng(devices):
            torch.manual_seed(0)
            probabilities = self.head.probabilities(list(clip.frames), captions, self.batch_size)
        table = loading.to_numpy(probabilities.cpu().double())  # [T, k]
        scores = table.mean(axis=0) if self.aggregate == "mean" else table.max(axis=0)
        return ScoreResult(scores, [{f"frame{t}": float(p) for t, p in enumerate(column)} for column in table.T])

    def truncated_texts(self, texts: Sequence[str]) -> int:
        """The number of texts that are longer than the model reads."""
        return loading.count_longer(self.processor.tokenizer, texts, _limit(self.model))

    @property
    def facts(self) -> JsonObject:
        """The class and how frames are aggregated."""
        return {"class": type(self.model).__name__, "itm_aggregate": self.aggregate, "itm_prefilter": self.prefilter}


def _limit(model: TorchModel) -> int:
    """The number of tokens of a caption for which the model has positions, 512 at most."""
    # BLIP-2's Q-Former reads the caption, not its language model
    text = getattr(model.config, "qformer_config", None) or model.config.get_text_config()
    after = text.pad_token_id + 1 if "bridgetower" in text.model_type else 0  # RoBERTa's begin after the padding's
    return min((getattr(text, "max_position_embeddings", None) or 512) - after, 512)


class MatchingHead:
    """A model that reads a frame and a caption together: BridgeTower (two classes) and ViLT (one ranking logit)."""

    def __init__(self, model: TorchModel, processor: Processor) -> None:
        self.model = model
        self.processor = processor

    def probabilities(self, frames: Sequence[np.ndarray], captions: Sequence[str], batch_size: int) -> Tensor:
        """The probability of a match of every frame with every caption, float32[T, k]."""
        import torch

        pixels, text = self.frame_inputs(frames), self.tokens(captions)
        pairs = torch.cartesian_prod(torch.arange(len(frames)), torch.arange(len(captions)))
        matches = [
            self.match(
                {name: value[batch[:, 0]] for name, value in pixels.items()},
                {name: value[batch[:, 1]] for name, value in text.items()},
            )
            for batch in pairs.split(batch_size)
        ]
        return torch.cat(matches).reshape(len(frames), len(captions))

    def frame_inputs(self, frames: Sequence[np.ndarray]) -> loading.Tensors:
        """The input that is made of each frame once, whatever the captions."""
        pixels = self.processor.image_processor(images=list(frames), return_tensors="pt")
        return dict(pixels.to(self.model.device, dtype=self.model.dtype))

    def tokens(self, captions: Sequence[str]) -> loading.Tensors:
        """Captions as the model reads them."""
        limit = _limit(self.model)
        tokens = self.processor.tokenizer(
            list(captions), padding=True, truncation=True, max_length=limit, return_tensors="pt"
        )
        return dict(tokens.to(self.model.device))

    def match(self, pixels: loading.Tensors, text: loading.Tensors) -> Tensor:
        """The probability of a match of each frame with the caption beside it, float32[n]."""
        logits = self.model(**text, **pixels).logits.float()
        return logits.softmax(-1)[:, 1] if logits.shape[1] > 1 else logits[:, 0].sigmoid()


class _TwoTowers(MatchingHead, loading.TorchEncoder):
    """A head behind a vision tower, which each frame goes through once, and the contrastive embeddings of both."""

    @abstractmethod
    def clip_row(self, patches: Tensor) -> Tensor:
        """float[1, D] of the patches of all frames of a clip."""

    @abstractmethod
    def caption_rows(self, text: loading.Tensors) -> Tensor:
        """float[k, E] of captions, of any length."""

    def frame_inputs(self, frames: Sequence[np.ndarray]) -> loading.Tensors:
        return {"patches": self.model.vision_model(**super().frame_inputs(frames)).last_hidden_state}

    def video_rows(self, prepared: Sequence[np.ndarray]) -> Tensor:
        import torch

        return torch.cat([self.clip_row(self.frame_inputs(list(frames))["patches"]) for frames in prepared])

    def text_rows(self, texts: Sequence[str]) -> Tensor:
        return loading.unit(self.caption_rows(self.tokens(texts)))


class _Blip(_TwoTowers):
    """BLIP: the text encoder attends to the frame's patches; class 1 of the head is "match"."""

    def match(self, pixels: loading.Tensors, text: loading.Tensors) -> Tensor:
        states = self.model.text_encoder(
            input_ids=text["input_ids"],
            attention_mask=text["attention_mask"],
            encoder_hidden_states=pixels["patches"],
            encoder_attention_mask=_all_of(pixels["patches"]),
        ).last_hidden_state
        return self.model.itm_head(states[:, 0]).float().softmax(-1)[:, 1]

    def clip_row(self, patches: Tensor) -> Tensor:
        """The mean of the frames' embeddings, of length 1."""
        return loading.unit(loading.unit(self.model.vision_proj(patches[:, 0])).mean(0, keepdim=True))

    def caption_rows(self, text: loading.Tensors) -> Tensor:
        states = self.model.text_encoder(input_ids=text["input_ids"], attention_mask=text["attention_mask"])
        return self.model.text_proj(states.last_hidden_state[:, 0])


class _Blip2(_TwoTowers):
    """BLIP-2: the Q-Former reads queries and caption with the frame's patches; the head's mean over queries."""

    def match(self, pixels: loading.Tensors, text: loading.Tensors) -> Tensor:
        import torch

        model, patches = self.model, pixels["patches"]
        queries = model.query_tokens.expand(len(patches), -1, -1)
        states = model.qformer(
            query_embeds=model.embeddings(input_ids=text["input_ids"], query_embeds=queries),
            query_length=queries.shape[1],
            attention_mask=torch.cat([_all_of(queries), text["attention_mask"]], 1),
            encoder_hidden_states=patches,
            encoder_attention_mask=_all_of(patches),
        ).last_hidden_state
        logits = model.itm_head(states[:, : queries.shape[1]].to(model.itm_head.weight.dtype)).mean(1)
        return logits.float().softmax(-1)[:, 1]

    def clip_row(self, patches: Tensor) -> Tensor:
        """float32[1, Q*D]: the embeddings of the queries, averaged over frames."""
        queries = self.model.query_tokens.expand(len(patches), -1, -1)
        states = self.model.qformer(query_embeds=queries, encoder_hidden_states=patches).last_hidden_state
        projection = self.model.vision_projection
        return loading.unit(projection(states.to(projection.weight.dtype))).mean(0).reshape(1, -1)

    def caption_rows(self, text: loading.Tensors) -> Tensor:
        embeddings = self.model.embeddings(input_ids=text["input_ids"])
        states = self.model.qformer(query_embeds=embeddings, query_length=0, attention_mask=text["attention_mask"])
        projection = self.model.text_projection
        return projection(states.last_hidden_state[:, 0].to(projection.weight.dtype))

    def join(self, videos: np.ndarray, texts: np.ndarray) -> np.ndarray:
        """float32[N, M]: the maximum over queries."""
        queries = videos.reshape(len(videos), -1, texts.shape[1])
        return np.stack([(clip @ texts.T).max(axis=0) for clip in queries])


def _all_of(states: Tensor) -> Tensor:
    """The attention mask of states of which none is padding."""
    import torch

    return torch.ones(states.shape[:-1], dtype=torch.long, device=states.device)


HEADS: dict[str, type[MatchingHead]] = {
    "BlipForImageTextRetrieval": _Blip,
    "Blip2ForImageTextRetrieval": _Blip2,
    "BridgeTowerForImageAndTextRetrieval": MatchingHead,
    "ViltForImageAndTextRetrieval": MatchingHead,
}


@kind(
    "matching",
    family="pair",
    summary="image-text matching heads: every frame with every caption, probabilities averaged",
    architectures=tuple(HEADS),
    options=(
        Option("itm_aggregate", Aggregate, "mean", "How the frames' probabilities become one score."),
        Option("itm_prefilter", int, 0, "Retrieval: score only the best K texts a clip by its embeddings; 0: all."),
    ),
    tested=tuple(HEADS),
    version="2",
)
def load(source: ModelSource, settings: LoadOptions) -> MatchingScorer:
    """Loads the class that the config names: `AutoModel` would load a BLIP checkpoint without its head."""
    model = loading.load_model(source, settings, source.architecture)
    processor = loading.load_processor(source, settings)
    aggregate, prefilter = settings.options.get("itm_aggregate", "mean"), settings.options.get("itm_prefilter", 0)
    return MatchingScorer(model, processor, aggregate, settings.batch_size, prefilter)
