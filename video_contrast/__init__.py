"""video-contrast: does a video-text model understand who did what, or does it match objects to words?

    video_contrast.load_dataset("shapes", "verb_mc")     a contrast set, built into the cache on first use
    video_contrast.build("msrvtt", ["gender_mc"], ...)   a contrast set from your own copy of the data
    video_contrast.score(model, dataset, config, ...)    a model's scores on it
    video_contrast.score_many([{...}, {...}], output=...)  several runs; each clip is decoded once for all models
    video_contrast.open_run("runs/temporal").scores()    the scores of a run on disk, as a table
    video_contrast.open_set("sets/msrvtt").rows(...)     the rows of a set on disk
    video_contrast.register()                            `evaluate.load("video_contrast_mc")` by bare name

Everything heavy (torch, transformers, datasets, evaluate) is imported where it is used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from video_contrast.errors import UsageError, VideoContrastError, libraries_named
from video_contrast.version import __version__

if TYPE_CHECKING:
    from video_contrast.api import build, load_dataset, score, score_many
    from video_contrast.checkpoints import checkpoint_path
    from video_contrast.metrics.evaluate_modules import metric_path, register
    from video_contrast.perturbations import TextPerturbation, VideoPerturbation
    from video_contrast.storage import open_run, open_set

# Modules, each imported at first use, with the public names that they hold.
_MODULES = {
    "video_contrast.api": ("build", "doctor", "load_dataset", "score", "score_many"),
    "video_contrast.checkpoints": ("checkpoint_path",),
    "video_contrast.metrics.evaluate_modules": ("metric_path", "register"),
    "video_contrast.perturbations": ("TextPerturbation", "VideoPerturbation"),
    "video_contrast.storage": ("open_run", "open_set"),
}
_LAZY = {name: module for module, names in _MODULES.items() for name in names}
__all__ = [
    "TextPerturbation", "UsageError", "VideoContrastError", "VideoPerturbation", "__version__", "build",
    "checkpoint_path", "doctor", "load_dataset", "metric_path", "open_run", "open_set", "register", "score",
    "score_many",
]  # fmt: skip


def __getattr__(name: str) -> Any:  # the types are those of the imports above
    if name in _LAZY:
        with libraries_named():
            if _LAZY[name] in ("video_contrast.api", "video_contrast.storage"):
                import_module("pyarrow")  # of the extra that has all they need: said here, not deep inside of a call
            return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'video_contrast' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
