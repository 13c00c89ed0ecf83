"""LLM-teacher (RCAD paper, section 4): training with synthetic negative captions.

label_loss, logit_loss, contrast_loss      the losses, as pure functions
teach(model, dataset, objective=..., ...)  fine-tunes a checkpoint and writes a standard one
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from video_contrast.teacher.losses import contrast_loss, label_loss, logit_loss
    from video_contrast.teacher.run import teach

__all__ = ["contrast_loss", "label_loss", "logit_loss", "teach"]


def __getattr__(name: str) -> Any:  # a function, loaded when it is first used
    if name in __all__:
        from importlib import import_module

        return getattr(import_module(f"video_contrast.teacher.{'run' if name == 'teach' else 'losses'}"), name)
    raise AttributeError(f"module 'video_contrast.teacher' has no attribute {name!r}")
