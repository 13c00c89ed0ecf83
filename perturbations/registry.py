"""The registries of text and visual perturbations: a name, what it is, and the function.

A perturbation is one function with a decorator. Importing `video_contrast.perturbations.text` or `.video` fills its
registry, so both offer the look-up of theirs: `text.text_spec`, `video.video_spec`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from video_contrast.errors import check_names

Frame = NDArray[np.uint8]  # [H, W, 3], RGB
Frames = NDArray[np.uint8]  # [T, H, W, 3], RGB
Origin = Literal["natural", "machine", "synthetic"]
Acts = Literal["frame", "temporal", "codec"]
Profile = Literal["paper", "released", "monotone"]
Rule = TypeVar("Rule", bound=Callable[..., object])


@dataclass(frozen=True)
class Perturbation:
    """The fields that text and visual perturbations have in common."""

    name: str
    category: str  # of the robustness paper, e.g. "SwapText"
    function: Callable[..., Any]  # its kind says which arguments and which result
    version: str  # rises when the output changes; random streams and caches are named by it

    @property
    def summary(self) -> str:
        """The first line of the function's docstring."""
        return (self.function.__doc__ or "").strip().partition("\n")[0]


@dataclass(frozen=True)
class TextSpec(Perturbation):
    """One text perturbation.

    `function(caption, rng, **options) -> str`; a `batched` one is `function(captions, rngs, **options) -> list[str]`
    (models are never called one caption at a time). Where "parse" is among the requirements, a parsed `Sentence` takes
    the place of each caption.
    """

    origin: Origin  # "synthetic" is the paper's third type
    requirements: tuple[str, ...]  # e.g. ("parse",), ("model:gpt2",), ("named:gpt2",) if it is named
    batched: bool


@dataclass(frozen=True)
class VideoSpec(Perturbation):
    """One visual perturbation.

    acts "frame":    `function(frame uint8[H,W,3], severity, rng, **constants) -> uint8[H',W',3]`
    acts "temporal": `function(T, severity, rng, **constants) -> int64[T']`, an index map; no pixel is touched
    acts "codec":    `function(frames uint8[T,H,W,3], severity, **constants) -> uint8[T,H,W,3]`
    """

    acts: Acts
    profiles: Mapping[str, Mapping[str, Any]]  # profile -> constants for `function` that are not the paper's


TEXT: dict[str, TextSpec] = {}
VIDEO: dict[str, VideoSpec] = {}


def text_perturbation(
    name: str,
    *,
    category: str,
    origin: Origin,
    version: str = "1",
    requirements: tuple[str, ...] = (),
    batched: bool = False,
) -> Callable[[Rule], Rule]:
    """Registers a text perturbation of a new name; fields as of `TextSpec`."""

    def register(function: Rule) -> Rule:
        TEXT[name] = TextSpec(name, category, function, version, origin, requirements, batched)
        return function

    return register


def video_perturbation(
    name: str, *, category: str, acts: Acts, version: str = "1", profiles: Mapping[str, Mapping[str, Any]] | None = None
) -> Callable[[Rule], Rule]:
    """Registers a visual perturbation of a new name; fields as of `VideoSpec`."""

    def register(function: Rule) -> Rule:
        VIDEO[name] = VideoSpec(name, category, function, version, acts, profiles or {})
        return function

    return register


def text_spec(name: str) -> TextSpec:
    """The text perturbation called `name`; an unknown name is an error that suggests the nearest."""
    check_names("text perturbation", [name], TEXT)
    return TEXT[name]


def video_spec(name: str) -> VideoSpec:
    """The visual perturbation called `name`; an unknown name is an error that suggests the nearest."""
    check_names("visual perturbation", [name], VIDEO)
    return VIDEO[name]
