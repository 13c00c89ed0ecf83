"""Perturbations: every text and visual change, as pure functions and as `Dataset.map` transforms."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from video_contrast.perturbations.text_transform import TextPerturbation
    from video_contrast.perturbations.video_transform import VideoPerturbation

_LAZY = {
    "TextPerturbation": "video_contrast.perturbations.text_transform",
    "VideoPerturbation": "video_contrast.perturbations.video_transform",
}
__all__ = ["TextPerturbation", "VideoPerturbation"]


def __getattr__(name: str) -> Any:  # a class, loaded when it is first used
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
