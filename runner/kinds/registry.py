"""Registered kinds: what a kind says of itself, the decorator that registers its loader, and what a loader is given."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from video_contrast.files import Json
from video_contrast.options import options_of

KindOptions = Mapping[str, Any]  # option name -> value, of the type that its `KindOption` names
Family = Literal["encoder", "pair", "text"]
Loader = Callable[["ModelSource", "LoadOptions"], Any]  # the family of its kind says what it returns


@dataclass(frozen=True)
class KindOption:
    """A setting of a kind: a flag of `video-contrast score` and a key of `score(..., options={...})`."""

    name: str  # with underscores; the flag has hyphens
    type: type
    default: Any  # of that type
    help: str
    choices: tuple[str, ...] = ()
    numeric: bool = True  # whether a run's numbers depend on it


def kind_options(declared: type) -> tuple[KindOption, ...]:
    """The options that a dataclass declares (see `video_contrast.options`); its `NOT_NUMERIC` change no number."""
    without_effect = getattr(declared, "NOT_NUMERIC", ())
    return tuple(
        KindOption(
            name,
            type(option.default),
            option.default,
            option.help,
            choices=option.choices,
            numeric=name not in without_effect,
        )
        for name, option in options_of(declared).items()
    )


@dataclass(frozen=True)
class Work:
    """How much a run asks of a model."""

    frames: int  # of a clip
    items: int  # views of clips that are asked about, each with its captions
    captions: int  # pairs of a view and a caption
    characters: int  # of all these captions
    displaced: int  # distractors that contrasts displaced, which are scored by themselves
    clips: int  # different views of clips
    texts: int  # different captions
    text_characters: int  # of the different captions


@dataclass(frozen=True)
class Kind:
    """A registered kind."""

    name: str  # its name, for `--kind`
    family: Family  # what `load` returns
    load: Loader  # makes the model; called after the source is known to be there
    summary: str
    requirements: str = "nothing"  # what must be installed or reachable
    architectures: tuple[str, ...] = ()  # class names of `config.architectures[0]` that it takes
    model_types: tuple[str, ...] = ()  # names of `config.model_type` that it takes
    names: tuple[str, ...] = ()  # model names that are not checkpoints ("random"), or schemes ("https://")
    options: tuple[KindOption, ...] = ()
    tested: tuple[str, ...] = ()  # the classes it was tested with
    version: str = "1"
    # whether its `score` takes a `question: Question`, which the model is asked; for other kinds question and
    # candidate make one text.
    asks: bool = False
    # requests, tokens and price of a run, from its work and the kind's options; None for models that run here.
    estimate: Callable[[Work, KindOptions], dict[str, float]] | None = None
    # the number of frames that the model needs, from its config; None where any number will do.
    frames: Callable[[Mapping[str, Json]], int | None] | None = None
    # the number that it was trained with, where others will do too.
    usual_frames: Callable[[Mapping[str, Json]], int | None] | None = None
    # whether clips of one run may have different numbers of frames (`--fps`); all pair scorers take them.
    by_rate: bool = False

    @property
    def classes(self) -> tuple[str, ...]:
        """What `list models` shows: classes, or names, or model types."""
        return self.architectures or self.names or self.model_types


KINDS: dict[str, Kind] = {}


def kind(name: str, *, family: Family, summary: str, **facts: Any) -> Callable[[Loader], Loader]:  # fields of `Kind`
    """Registers a loader as the kind `name`; `facts` are the other fields of `Kind`.

    Args:
        name: for `--kind`.
        family: what the loader returns.
        summary: one line for `list models`.
        facts: the other fields of `Kind`.
    """

    def register(load: Loader) -> Loader:
        KINDS[name] = Kind(name=name, family=family, load=load, summary=summary, **facts)
        return load

    return register


@dataclass(frozen=True)
class ModelSource:
    """Where a model is, before anything heavy is imported."""

    name: str  # what the user gave (Hub id, folder, name of a baseline or packaged checkpoint)
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
        configs = [self.config, self.config.get("text_config") or {}]
        named = next(
            (config[key] for config in configs for key in ("dtype", "torch_dtype") if config.get(key)), "float32"
        )
        return str(named) if named in ("bfloat16", "float16") else "float32"


@dataclass(frozen=True)
class LoadOptions:
    """How to load and run a model."""

    device: str = "cpu"  # "cpu", "cuda", "cuda:1", "mps" ...; never "auto" here
    # "float32", "bfloat16" or "float16": of the weights. Scores are float32 or better all the same.
    dtype: str = "float32"
    device_map: str | None = None  # given to `from_pretrained` for a model that does not fit one device; None otherwise
    trust_remote_code: bool = False  # whether code of the model's repository may run
    batch_size: int = 32  # how many clips or texts at a time the engine will pass
    preprocess_on: str = "cpu"  # "cpu" (Pillow), or "device": frames are resized by torchvision, on the model's device
    options: KindOptions = field(default_factory=dict)  # the kind's own options, with defaults filled in
