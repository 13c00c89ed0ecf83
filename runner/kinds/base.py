"""The contract between the engine and a model kind.

A kind is one file of this folder (or of another package, through the entry point group `video_contrast.models`):

    @kind("my_kind", architectures=("MyModel",), summary="...", requirements="nothing", tested=("MyModel",))
    def load(source: ModelSource, settings: LoadOptions) -> Encoder | PairScorer | TextScorer: ...

The returned object is of one of three families, and the engine asks nothing else of it:

- `Encoder`     videos and texts are encoded apart and joined: a dual encoder by the matrix product, a late-joining
                one (X-CLIP) by its own `join`. Each unique video and each unique text is encoded once.
- `PairScorer`  scores the captions of one clip together; sees each clip once.
- `TextScorer`  scores texts without pixels (baselines, precomputed matrices); no video is decoded.

A kind loads a model and scores; it knows nothing of sets, files, processes or perturbations. It is given frames as
sampled, and never samples itself. It imports torch and transformers inside its functions, so that listing the kinds
costs nothing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from video_contrast.video import Clip

Family = Literal["encoder", "pair", "text"]


@dataclass(frozen=True)
class ClipFrames:
    """The sampled frames of one clip and where they come from.

    Attributes:
        frames: uint8[T, H, W, 3], RGB, as sampled (and perturbed).
        times: seconds of each frame from the beginning of the clip, in the order of `frames`.
        source: the clip that they were sampled from; None where there is none (grey frames).
    """

    frames: np.ndarray
    times: tuple[float, ...] = ()
    source: Clip | None = None

    @property
    def video_id(self) -> str:
        """The name of the video; "" where there is none."""
        return self.source.video_id if self.source else ""


@dataclass(frozen=True)
class ScoreResult:
    """Scores of one clip's captions and what they were made of.

    Attributes:
        scores: float64[k], higher is better.
        parts: one dict of raw numbers a caption, from which another norm is recomputed without the model.
        counts: what the call cost and met (tokens, answers that were no candidate ...). They are stored with the
            scores, and the record holds their sums over the whole run, whoever computed it and when.
        frame_numbers: the frames of the file that were looked at; filled in by the engine.
    """

    scores: np.ndarray
    parts: list[dict[str, float]] | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    frame_numbers: tuple[int, ...] = ()


@dataclass(frozen=True)
class KindOption:
    """A setting of a kind: a flag of `video-contrast score` and a key of `score(..., options={...})`."""

    name: str  # with underscores; the flag has hyphens
    type: type
    default: Any
    help: str
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class ModelSource:
    """Where a model is, before anything heavy is imported.

    Attributes:
        name: what the user gave (Hub id, folder, name of a baseline or packaged checkpoint).
        path: its folder on this machine; None for a baseline, a served model or a precomputed file's absence.
        config: its config.json, {} where there is none.
        modules: its modules.json (sentence-transformers), None where there is none.
        revision: commit on the Hub, or a digest of the folder's files.
    """

    name: str
    path: Path | None = None
    config: Mapping[str, Any] = field(default_factory=dict)
    modules: list[Any] | None = None
    revision: str = ""

    @property
    def architecture(self) -> str:
        """`config.architectures[0]`, or ""."""
        return str((self.config.get("architectures") or [""])[0])

    @property
    def model_type(self) -> str:
        """`config.model_type`, or ""."""
        return str(self.config.get("model_type") or "")

    @property
    def dtype(self) -> str:
        """The dtype that the config names, at its top or for the text model; "float32" where it names another."""
        configs = [self.config, self.config.get("text_config") or {}]
        named = next((one[key] for one in configs for key in ("dtype", "torch_dtype") if one.get(key)), "float32")
        return str(named) if named in ("bfloat16", "float16") else "float32"


@dataclass(frozen=True)
class LoadOptions:
    """How to load and run a model.

    Attributes:
        device: "cpu", "cuda", "cuda:1", "mps" ...; never "auto" here.
        dtype: "float32", "bfloat16" or "float16": of the weights. Scores are float32 or better all the same.
        device_map: given to `from_pretrained` for a model that does not fit one device; None otherwise.
        trust_remote_code: whether code of the model's repository may run.
        batch_size: how many clips or texts at a time the engine will pass.
        options: the kind's own options, with defaults filled in.
    """

    device: str = "cpu"
    dtype: str = "float32"
    device_map: str | None = None
    trust_remote_code: bool = False
    batch_size: int = 32
    options: Mapping[str, Any] = field(default_factory=dict)


class Model(ABC):  # noqa: B024  its families have the abstract methods
    """What all families have.

    Attributes:
        frames: the exact number of frames a clip must have; None where any number will do.
        tokens: how texts are read (`loading.Tokens`); its `longer(texts)` counts those that are cut.
        facts: JSON-able facts for the run's record (the class, the rendered prompt and its hash, counters ...);
            read when the run is written, so it may be filled while scoring.
    """

    frames: int | None = None
    tokens: Any = None

    @property
    def facts(self) -> dict[str, Any]:
        """Facts for the run's record."""
        return {}

    def truncated_texts(self, texts: Sequence[str]) -> int | None:
        """How many of the texts are longer than the model reads; None where it does not cut, or does not say."""
        return None if self.tokens is None else int(self.tokens.longer(texts))


class Encoder(Model):
    """Encodes videos and texts apart.

    The rows must not depend on what else is in the batch (beyond rounding).
    """

    def prepare(self, clip: ClipFrames) -> Any:
        """Pixels made ready for the model. Called in decoding threads, several at once; no device work here."""
        return clip.frames

    @abstractmethod
    def encode_prepared(self, prepared: Sequence[Any]) -> np.ndarray:
        """Rows for a batch of what `prepare` returned: float32[N, D], D the same for every clip."""

    @abstractmethod
    def encode_texts(self, texts: Sequence[str]) -> np.ndarray:
        """Rows for a batch of texts: float32[M, E]."""

    def encode_videos(self, clips: Sequence[np.ndarray]) -> np.ndarray:
        """Rows for a batch of clips, uint8[T, H, W, 3] each: float32[N, D]."""
        return self.encode_prepared([self.prepare(ClipFrames(frames)) for frames in clips])

    def join(self, videos: np.ndarray, texts: np.ndarray) -> np.ndarray:
        """Similarities of all videos with all texts: float32[N, M], higher is better."""
        return product(videos, texts)


def product(videos: np.ndarray, texts: np.ndarray) -> np.ndarray:
    """`videos @ texts.T`, float32[N, M], reduced in float64: equal rows then tie exactly, wherever they stand.

    >>> product(np.eye(2, dtype=np.float32), np.ones((3, 2), np.float32)).shape
    (2, 3)
    """
    out = np.empty((len(videos), len(texts)), np.float32)
    wide = videos.astype(np.float64)
    for begin in range(0, len(texts), 8192):
        out[:, begin : begin + 8192] = wide @ texts[begin : begin + 8192].T.astype(np.float64)
    return out


# The names under which the design speaks of the two sorts of encoders.
class DualEncoder(Encoder):
    """An encoder whose similarity is the plain product of its rows."""


class LateJoinEncoder(Encoder):
    """An encoder with joining layers: it overrides `join`."""


class PairScorer(Model):
    """Scores captions given a clip.

    Attributes:
        coarse: a cheap encoder of the same checkpoint, or None.
        prefilter: with `coarse`, in retrieval only the best `prefilter` texts of a clip (by `coarse`) are scored;
            the others rank below them, in the order of `coarse`. 0 scores all.
        together: scores of one call are comparable with each other only (option letters), so no text is scored alone.
        batch_size: how much goes through the model at once; the engine halves it where the memory does not suffice.
            1 where a scorer has no batches to halve.
    """

    coarse: Encoder | None = None
    prefilter: int = 0
    together: bool = False
    batch_size: int = 1

    @abstractmethod
    def score(self, clip: ClipFrames | None, captions: Sequence[str], *, position: int = 0) -> ScoreResult:
        """Scores of `captions` for one clip, float64[k], higher is better.

        Args:
            clip: the sampled frames; None asks without a video (the blind control).
            captions: k texts.
            position: the number of the item in its set (for balanced option orders).
        """


@dataclass(frozen=True)
class LabelledItem:
    """A multiple-choice item as a blind model learns from it.

    Attributes:
        id: of the item.
        cluster: its source video.
        candidates: under the condition.
        label: which of them is true.
        kinds: of the candidates.
    """

    id: str
    cluster: str
    candidates: Sequence[str]
    label: int
    kinds: Sequence[str]


class TextScorer(Model):
    """Scores texts for a clip that is known by name only."""

    def begin(self, texts: Sequence[str], *, condition: str = "clean") -> None:
        """Told a condition and the texts of one config under it, before they are asked for."""

    def begin_items(self, items: Sequence[LabelledItem], *, config: str = "", condition: str = "clean") -> None:
        """Told the items of a multiple-choice config under a condition, before they are asked for.

        Only a baseline that stands for what a set gives away may learn from their labels.
        """

    @abstractmethod
    def similarity(self, video_ids: Sequence[str], text_ids: Sequence[str], texts: Sequence[str]) -> np.ndarray:
        """float64[N, M]: every clip with every text. Ids are those of the set (`item` and `item#caption`)."""

    def score_item(self, item_id: str, video_id: str, captions: Sequence[str]) -> np.ndarray:
        """float64[k]: the candidates of one multiple-choice item (`text_ids` are `item#0`, `item#1` ...)."""
        return self.similarity([video_id], [f"{item_id}#{i}" for i in range(len(captions))], captions)[0]


@dataclass(frozen=True)
class Kind:
    """A registered kind.

    Attributes:
        name: its name, for `--kind`.
        family: what `load` returns.
        load: makes the model; called after the source is known to be there.
        architectures: class names of `config.architectures[0]` that it takes.
        model_types: names of `config.model_type` that it takes.
        names: model names that are not checkpoints ("random"), or schemes ("https://").
        tested: the classes it was tested with.
        requirements: what must be installed or reachable.
        frames: the number of frames that the model needs, from its config; None where any number will do.
        usual_frames: the number that it was trained with, where others will do too.
    """

    name: str
    family: Family
    load: Callable[[ModelSource, LoadOptions], Any]
    summary: str
    requirements: str = "nothing"
    architectures: tuple[str, ...] = ()
    model_types: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    options: tuple[KindOption, ...] = ()
    tested: tuple[str, ...] = ()
    version: str = "1"
    frames: Callable[[Mapping[str, Any]], int | None] | None = None
    usual_frames: Callable[[Mapping[str, Any]], int | None] | None = None

    @property
    def classes(self) -> tuple[str, ...]:
        """What `list models` shows: classes, or names, or model types."""
        return self.architectures or self.names or self.model_types


KINDS: dict[str, Kind] = {}


def kind(
    name: str, *, family: Family, summary: str, **facts: Any
) -> Callable[[Callable[[ModelSource, LoadOptions], Any]], Callable[[ModelSource, LoadOptions], Any]]:
    """Registers a loader as the kind `name`; `facts` are the other fields of `Kind`."""

    def register(load: Callable[[ModelSource, LoadOptions], Any]) -> Callable[[ModelSource, LoadOptions], Any]:
        KINDS[name] = Kind(name=name, family=family, load=load, summary=summary, **facts)
        return load

    return register
