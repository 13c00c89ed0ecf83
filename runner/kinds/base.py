"""The contract between the engine and a model kind.

A kind is one file of this folder (or of another package, through the entry point group `video_contrast.models`):

    @kind("my_kind", architectures=("MyModel",), summary="...", requirements="nothing", tested=("MyModel",))
    def load(source: ModelSource, settings: LoadOptions) -> Encoder | PairScorer | TextScorer: ...

The returned object is of one of three families, and the engine asks nothing else of it. A kind loads a model and
scores; it knows nothing of sets, files, processes or perturbations. It is given frames as sampled, and never samples
itself. It imports torch and transformers inside its functions, so that listing the kinds costs nothing.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from video_contrast.files import Json, JsonObject
from video_contrast.options import Option, options_of
from video_contrast.question_text import Question
from video_contrast.video import Clip

Prepared = Any  # a clip as `encode_prepared` of the class that prepared it takes it
KindOptions = Mapping[str, Any]  # option name -> value, of the type of its default
Family = Literal["encoder", "pair", "text"]
Loader = Callable[["ModelSource", "LoadOptions"], Any]  # the family of its kind says what it returns


@dataclass(frozen=True)
class ClipFrames:
    """The sampled frames of one clip and where they come from."""

    frames: np.ndarray  # uint8[T, H, W, 3], RGB, as sampled (and perturbed)
    times: tuple[float, ...] = ()  # seconds of each frame from the beginning of the clip, in the order of `frames`
    source: Clip | None = None  # that they were sampled from; None where there is none (grey frames)
    seconds: float = 0.0  # how long the clip lasts, its last frame included; 0 where that is not known

    @property
    def video_id(self) -> str:
        """The name of the video; "" where there is none."""
        return self.source.video_id if self.source else ""


@dataclass(frozen=True)
class ScoreResult:
    """Scores of one clip's captions and what they were made of."""

    scores: np.ndarray  # float64[k], higher is better
    parts: list[dict[str, float]] | None = None  # raw numbers of each caption, of which another norm can be made
    counts: Mapping[str, int] = field(default_factory=dict)  # costs and events of the call; the record holds the sums
    frame_numbers: tuple[int, ...] = ()  # frames of the file that were looked at; filled in by the engine


class Model(ABC):  # noqa: B024  its families have the abstract methods
    """The members that all families have."""

    frames: int | None = None  # the exact number that a clip must have; None where any number will do
    tokens: Any = None  # how texts are read: `loading.Tokens`, or another class with its methods
    reads_times: bool | None = None  # trained with the times of frames, so that scores must react; None: unknown
    in_steps: bool = False  # scores are plain answers without probabilities, which most changes leave as they are

    @property
    def facts(self) -> JsonObject:
        """JSON-able facts for the run's record (the class, the rendered prompt ...), read when the run is written."""
        return {}

    def truncated_texts(self, texts: Sequence[str]) -> int | None:
        """The number of texts that are longer than the model reads; None where it does not cut, or does not say."""
        return None if self.tokens is None else int(self.tokens.longer(texts))

    def rendered_input(self, clip: ClipFrames, captions: Sequence[str]) -> JsonObject:
        """The input of the model itself for a clip and its captions: prompt, token counts, times, pixel shapes."""
        entry: JsonObject = {"frames": list(clip.frames.shape), "times": [round(time, 3) for time in clip.times]}
        return entry if self.tokens is None else entry | self.tokens.rendered_input(captions)


class Encoder(Model):
    """Encodes each video and each text once. The rows must not depend on what else is in the batch, beyond rounding."""

    # numbers of a vector, where a row holds several, and zeros where others hold more; None where it is one vector
    vector_length: int | None = None

    def prepare(self, clip: ClipFrames) -> Prepared:
        """Pixels made ready for the model. Called in decoding threads, several at once; no device work here."""
        return clip.frames

    @abstractmethod
    def encode_prepared(self, prepared: Sequence[Prepared]) -> np.ndarray:
        """Rows for a batch of what `prepare` returned: float32[N, D], D the same for every clip."""

    @abstractmethod
    def encode_texts(self, texts: Sequence[str]) -> np.ndarray:
        """Rows for a batch of texts: float32[M, E]."""

    def pool_frames(self, rows: np.ndarray) -> np.ndarray | None:
        """The row of a clip from those of its frames, each encoded as a clip of one frame: float32[T, D] to float32[E].

        None, the default, where the model looks at a clip as a whole. Edited clips share the rows of frames.
        """
        return None

    def rendered_input(self, clip: ClipFrames, captions: Sequence[str]) -> JsonObject:
        """The input of the model itself: the first caption's tokens, and the shapes of the clip's pixels."""
        prepared = self.prepare(clip)
        arrays = prepared if isinstance(prepared, Mapping) else {"pixels": prepared}
        shapes = {name: list(value.shape) for name, value in arrays.items() if hasattr(value, "shape")}
        return super().rendered_input(clip, captions) | {"pixels": shapes}

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


def unit_rows(rows: np.ndarray) -> np.ndarray:
    """The rows at length 1, float64[N, D]; rows of zeros stay."""
    wide = rows.astype(np.float64)
    return np.asarray(wide / np.maximum(np.linalg.norm(wide, axis=1, keepdims=True), 1e-12))


class DualEncoder(Encoder):
    """An encoder whose similarity is the plain product of its rows; one with joining layers overrides `join`."""


class PairScorer(Model):
    """Scores the captions of one clip together."""

    coarse: Encoder | None = None  # a cheap encoder of the same checkpoint
    prefilter: int = 0  # with `coarse`, in retrieval: so many texts of a clip, its best, are scored; 0 scores all
    together: bool = False  # scores of one call are comparable with each other only (letters): no text is scored alone
    batch_size: int = 1  # of the model's passes; the engine halves it where memory does not suffice
    parallel: int = 1  # calls of `score` at once, in threads; more for models that only wait for a server

    @abstractmethod
    def score(self, clip: ClipFrames | None, captions: Sequence[str], *, position: int = 0) -> ScoreResult:
        """Scores of `captions` for one clip, float64[k], higher is better.

        Args:
            clip: the sampled frames; None asks without a video (the blind control).
            captions: k texts.
            position: the number of the item in its set (for balanced option orders).
        """


class AskedScorer(PairScorer):
    """A pair scorer that is asked questions, its own or those of a set (`Kind.asks`)."""

    @abstractmethod
    def score(
        self, clip: ClipFrames | None, captions: Sequence[str], *, position: int = 0, question: Question | None = None
    ) -> ScoreResult:
        """As of `PairScorer`, with the raw parts that scores are made of; `question`: what the captions answer.

        `loglik` scores them as its answers; otherwise it is asked with its own prompt, by yes or no or by letter.
        """

    def rendered_input(
        self, clip: ClipFrames, captions: Sequence[str], *, position: int = 0, question: Question | None = None
    ) -> JsonObject:
        """The input of the model itself for an item (as of `score`): prompt, token counts, times, pixel shapes."""
        return super().rendered_input(clip, captions)


@dataclass(frozen=True, slots=True)
class LabelledItem:
    """A multiple-choice item as a blind model learns from it."""

    id: str  # of the item
    cluster: str  # its source video
    candidates: Sequence[str]  # under the condition, without the question
    label: int  # number of the true one
    kinds: Sequence[str]  # of the candidates
    answers: bool = False  # whether they answer a question


class TextScorer(Model):
    """Scores texts for a clip that is known by name only (baselines, precomputed matrices); no video is decoded."""

    needs_clips: bool = False  # whether clips that are missing are left out, as for a model that looks at them

    def begin(self, texts: Sequence[str], *, condition: str = "clean") -> None:
        """Told a condition and the texts of one config under it, before they are asked for."""

    def begin_items(self, items: Sequence[LabelledItem], *, config: str = "", condition: str = "clean") -> None:
        """Told the items of a multiple-choice config under a condition, before they are asked for.

        Only a baseline that stands for what a set gives away may learn from their labels.
        """

    @abstractmethod
    def similarity(self, video_ids: Sequence[str], text_ids: Sequence[str], texts: Sequence[str]) -> np.ndarray:
        """float64[N, M]: every clip with every text, by the clips' ids in the set; `text_ids` are `item#caption`."""

    def score_item(self, item_id: str, video_id: str, captions: Sequence[str]) -> np.ndarray:
        """float64[k]: the candidates of one multiple-choice item; their `text_ids` are `item#0`, `item#1` ..."""
        return np.asarray(self.similarity([video_id], [f"{item_id}#{i}" for i in range(len(captions))], captions)[0])


@dataclass(frozen=True)
class Work:
    """The work that a run asks of a model."""

    frames: int  # of a clip
    items: int  # views of clips that are asked about, each with its captions
    captions: int  # pairs of a view and a caption
    characters: int  # of all these captions
    distractors: int  # distractors that contrasts displaced, which are scored by themselves
    clips: int  # different views of clips
    texts: int  # different captions
    text_characters: int  # of the different captions


@dataclass(frozen=True)
class Kind:
    """A registered kind."""

    name: str  # its name, for `--kind`
    family: Family  # of the model that `load` returns
    load: Loader  # makes the model; called after the source is known to be there
    summary: str
    requirements: str = "nothing"  # packages, files or servers that it needs
    architectures: tuple[str, ...] = ()  # class names of `config.architectures[0]` that it takes
    model_types: tuple[str, ...] = ()  # names of `config.model_type` that it takes
    names: tuple[str, ...] = ()  # model names that are not checkpoints ("random"), or schemes ("https://")
    options: tuple[Option, ...] = ()  # flags of `video-contrast score`, and keys of `score(..., options={...})`
    not_numeric: tuple[str, ...] = ()  # names of those on which no number of a run depends
    tested: tuple[str, ...] = ()  # the classes it was tested with
    version: str = "1"
    asks: bool = False  # whether `score` takes a `question`; for other kinds question and candidate make one text
    # requests, tokens and price of a run, from its work and the kind's options; None for models that run here.
    estimate: Callable[[Work, KindOptions], dict[str, float]] | None = None
    # the number of frames that the model needs, from its config; None where any number will do.
    frames: Callable[[Mapping[str, Json]], int | None] | None = None
    # the number that it was trained with, where others will do too.
    usual_frames: Callable[[Mapping[str, Json]], int | None] | None = None
    by_rate: bool = False  # whether clips of a run may differ in frames (`--fps`); all pair scorers take them

    @property
    def classes(self) -> tuple[str, ...]:
        """The entries of `list models`: classes, or names, or model types."""
        return self.architectures or self.names or self.model_types


MODEL_KINDS: dict[str, Kind] = {}


def kind(name: str, *, family: Family, summary: str, **facts: Any) -> Callable[[Loader], Loader]:  # fields of `Kind`
    """Registers a loader as the kind `name`.

    Args:
        name: for `--kind`.
        family: what the loader returns.
        summary: one line for `list models`.
        facts: the other fields of `Kind`; `options` may be a dataclass that declares them, and `NOT_NUMERIC` as well.
    """

    if isinstance(option_class := facts.get("options"), type):
        facts["options"] = tuple(options_of(option_class).values())
        facts["not_numeric"] = getattr(option_class, "NOT_NUMERIC", ())

    def register(load: Loader) -> Loader:
        MODEL_KINDS[name] = Kind(name=name, family=family, load=load, summary=summary, **facts)
        return load

    return register


@dataclass(frozen=True)
class ModelSource:
    """The place of a model, before anything heavy is imported."""

    name: str  # as the user gave it (Hub id, folder, name of a baseline or packaged checkpoint)
    # its folder on this machine; None for a baseline, a served model or a precomputed file's absence.
    path: Path | None = None
    config: Mapping[str, Json] = field(default_factory=dict)  # its config.json, {} where there is none
    modules: list[Json] | None = None  # its modules.json (sentence-transformers), None where there is none
    revision: str = ""  # commit on the Hub, or a digest of the folder's files
    adapter: Path | None = None  # folder of the adapters (LoRA) that are added to it; None where there are none
    # name -> size and time of change of its files when the revision was read; {} of a model without files.
    files: Mapping[str, list[int]] = field(default_factory=dict)

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
        configs = (self.config, self.config.get("text_config") or {})
        names = [config[key] for config in configs for key in ("dtype", "torch_dtype") if config.get(key)]
        return str(names[0]) if names and names[0] in ("bfloat16", "float16") else "float32"


@dataclass(frozen=True)
class LoadOptions:
    """The settings of loading and running a model."""

    device: str = "cpu"  # "cpu", "cuda", "cuda:1", "mps" ...; never "auto" here
    # "float32", "bfloat16" or "float16": of the weights. Scores are float32 or better all the same.
    dtype: str = "float32"
    device_map: str | None = None  # given to `from_pretrained` for a model that does not fit one device; None otherwise
    trust_remote_code: bool = False  # whether code of the model's repository may run
    batch_size: int = 32  # how many clips or texts at a time the engine will pass
    preprocess_on: str = "cpu"  # "cpu" (Pillow), or "device": frames are resized by torchvision, on the model's device
    options: KindOptions = field(default_factory=dict)  # the kind's own options, with defaults filled in

    @property
    def from_here(self) -> dict[str, bool]:
        """Arguments of `from_pretrained`: nothing is downloaded, and code runs where it is trusted."""
        return {"trust_remote_code": self.trust_remote_code, "local_files_only": True}
