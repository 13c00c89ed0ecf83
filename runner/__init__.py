"""The runner: models scored on sets, every frame decoded and every text encoded once.

score("openai/clip-vit-base-patch32", "sets/msrvtt", "gender_mc", output="runs/clip")
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from video_contrast.runner.job import RunResult, read_result, score

__all__ = ["RunResult", "read_result", "score"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from video_contrast.runner import job

        return getattr(job, name)
    raise AttributeError(f"module 'video_contrast.runner' has no attribute {name!r}")
