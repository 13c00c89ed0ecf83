"""The runner: models scored on sets, every frame decoded and every text encoded once.

    score("openai/clip-vit-base-patch32", "sets/msrvtt", "gender_mc", output="runs/clip")

score_call.py, job.py, plan.py    the call, what it asks for, and the clips, views and texts that it needs
encode.py, score_pairs.py    the work: rows of encoders into a store, results of pair scorers into the run's directory
several_runs.py, watch.py    several runs, each clip decoded once for all of them
execute.py, process_share.py, processes.py    the processes share the work
table_scores.py, table_metrics.py    the first one joins rows to scores, and measures
run_directory.py    whose a run's directory is, and whether it is finished
conditions.py, views.py    perturbations asked for, and the frames of a clip under each
options.py, price.py    the options of `score` with their defaults; what an endpoint costs
kinds/    one file a kind of model
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from video_contrast.runner.job import RunResult, read_result
    from video_contrast.runner.score_call import score

__all__ = ["RunResult", "read_result", "score"]


def __getattr__(name: str) -> Any:  # a function or class, loaded when it is first used
    if name in __all__:
        from importlib import import_module

        return getattr(import_module(f"video_contrast.runner.{'score_call' if name == 'score' else 'job'}"), name)
    raise AttributeError(f"module 'video_contrast.runner' has no attribute {name!r}")
