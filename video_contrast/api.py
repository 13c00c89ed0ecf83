"""The public functions that compose rooms: sets are built, opened and scored by name.

build("msrvtt", ["gender_mc"], output="sets/msrvtt", data_dir="MSRVTT")
load_dataset("shapes", "verb_mc")             builds into the cache on first use
score("temporal", "shapes", "verb_mc")        so does this
score_many([{"model": "temporal", "dataset": "shapes"}, {...}], output="runs")
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from video_contrast.builders import build, dataset_dir, names
from video_contrast.builders.registry import get_builder
from video_contrast.errors import UsageError
from video_contrast.files import AnyPath
from video_contrast.options import GivenOptions, names_in, with_options
from video_contrast.runner.doctor.result import SelfTest
from video_contrast.runner.job import RunResult
from video_contrast.runner.options import ConfigNames, ScoreOptions
from video_contrast.runner.score_call import make_job
from video_contrast.runner.score_call import score as score_folder
from video_contrast.runner.several_runs import RunOutcome, run_requests, score_each
from video_contrast.storage import SetFolder

if TYPE_CHECKING:
    import datasets

__all__ = ["build", "dataset_dir", "doctor", "load_dataset", "score", "score_many"]


def load_dataset(name: str, config: str | None = None, split: str | None = None, **options: object) -> datasets.Dataset:
    """A config of a set as a `datasets` object, built into the cache on first use.

    The folder in the cache is named by builder, options and version, so changed options build anew.
    Clips stay files: `video_path` is relative to the folder, given by `dataset_dir(name, **options)`.

    Args:
        name: a builder of `video-contrast list builders`.
        config: one of its configs; the first where None.
        split: which split; all of them, as a `DatasetDict`, where None.
        **options: the builder's own options (`video-contrast build NAME --help`).

    Returns:
        The rows.

    Raises:
        UsageError: no such builder, config or option.
        VideoContrastError: the input is broken; the message names file and row.
    """
    import datasets

    config = get_builder(name).select(None if config is None else [config])[0]
    return datasets.load_dataset(str(built(name, [config], **options)), config, split=split)


@with_options
def score(model: AnyPath, dataset: AnyPath, config: ConfigNames = None, *, request: ScoreOptions) -> RunResult:
    """Scores a model on configs of a set under conditions.

    Under `torchrun` or `accelerate launch` the processes share the work, and the numbers are those of one process.
    Called again with the same arguments it goes on where it stopped, and returns at once when it is finished. Without
    `output` nothing is left behind (one process only).

    Args:
        model: Hub id, folder, packaged checkpoint ("temporal"), or baseline ("random", "constant", "blind").
        dataset: folder of a set, Hub id, or a builder that needs no data ("shapes").
        config: one or several configs, which share decoding and encodings; all where None.

    Returns:
        Metrics, record and scores of the run; of a dry run the plan, as its record.

    Raises:
        UsageError: the call is wrong (unknown name, wrong number of frames, a directory of another run ...).
        VideoContrastError: something failed; the message says what and what to do.
    """
    return score_folder(model, dataset, config, folder=named_set(str(dataset), names_in(config)), request=request)


@with_options
def score_many(
    runs: Sequence[GivenOptions], *, done: Callable[[RunOutcome], None] | None = None, request: ScoreOptions
) -> list[RunOutcome]:
    """Scores several models, or one in several ways; each clip is decoded once for all models of one sampling.

    The runs follow one another, so that one model is in memory at a time. A run that fails (a self-test, a missing
    checkpoint, a crash) does not stop the others; the same call again does only what is missing.

    Args:
        runs: a mapping a run: `model`, `dataset`, `config` (one or several), `name` (of its folder), and any option of
            `score` or of the model's kind. `output` of this call is the folder of the runs' folders, and its other
            options hold for every run that does not say otherwise.
        done: told of every outcome as it comes.

    Returns:
        One outcome a run, with `result` as of `score`, or with `error`.

    Raises:
        UsageError: a run lacks its model or data set, or has an unknown option, or there is no `output`.
    """
    if request.output is None:
        raise UsageError("give output, the folder of the runs' folders")
    requests = run_requests(runs, request.output, options=request)
    return score_each(requests, request.output, find_set=named_set, done=done)


@with_options
def doctor(
    model: AnyPath, dataset: AnyPath = "shapes", config: ConfigNames = "random_mc", *, alternatives: bool = False,
    request: ScoreOptions,
) -> SelfTest:  # fmt: skip
    """Tests a model on a few items of a set before anything is scored; the options are those of `score`.

    Args:
        model: Hub id, folder or packaged checkpoint.
        dataset: folder of a set, Hub id, or a builder that needs no data ("shapes").
        config: whose items; all configs where None.
        alternatives: whether other plausible settings are tried, too: verdicts "setting".

    Returns:
        One verdict a check; `of("fail")` are those that would stop a run.

    Raises:
        UsageError: the call is wrong.
        VideoContrastError: the model cannot be loaded, or cannot score at all.
    """
    from video_contrast.runner.self_test import diagnose

    job = make_job(model, dataset, config, folder=named_set(str(dataset), names_in(config)), request=request)
    return diagnose(job, alternatives=alternatives)[0]


def named_set(name: str, configs: Sequence[str] | None = None) -> Path | None:
    """The cached folder of a set that is given by the name of a builder that needs no data; None for any other name.

    `configs`: those that are needed, all where None; what of them is not in the cache is built. Raises UsageError: a
    builder of this name needs data.
    """
    if "/" in name or Path(name).expanduser().exists() or name not in names():
        return None
    return built(name, configs)


def built(name: str, configs: Sequence[str] | None, **options: object) -> Path:
    """The cached folder of a builder's set with these options; its configs that are not there yet are built."""
    folder = SetFolder(dataset_dir(name, **options))
    missing = [config for config in get_builder(name).select(configs) if not folder.has_on_card(config)]
    return build(name, missing, output=folder.path, **options) if missing else folder.path
