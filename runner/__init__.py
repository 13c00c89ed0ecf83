"""The runner: models scored on sets, every frame decoded and every text encoded once.

    score("openai/clip-vit-base-patch32", "sets/msrvtt", "gender_mc", output="runs/clip")

scoring.py, job.py, plan.py    the call, what it asks for, and the clips, views and texts that it needs
encode.py, pairs.py    the work: rows of encoders into a store, results of pair scorers into the run's directory
many.py, watch.py, frame_store.py    several runs in one call, each clip decoded once for all of them
execute.py, join.py    the processes share the work; the first one joins rows to scores, measures and writes
conditions.py, views.py    perturbations asked for, and the frames of a clip under each
kinds/    one file a kind of model
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from video_contrast.runner.job import RunResult, read_result
    from video_contrast.runner.scoring import score

__all__ = ["RunResult", "read_result", "score"]


def __getattr__(name: str) -> Any:  # a function or class, loaded when it is first used
    if name in __all__:
        from importlib import import_module

        return getattr(import_module(f"video_contrast.runner.{'scoring' if name == 'score' else 'job'}"), name)
    raise AttributeError(f"module 'video_contrast.runner' has no attribute {name!r}")
