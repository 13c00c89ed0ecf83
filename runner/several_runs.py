"""Several runs in one call: each clip is decoded once for all models of one sampling, and none takes others down.

They are a list of mappings: from Python, from `--model A --model B`, or from a YAML file.
"""

import logging
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from video_contrast.addresses import address_of
from video_contrast.errors import UsageError, VideoContrastError, unknown_name
from video_contrast.files import Json, cache_dir
from video_contrast.options import GivenOptions, bind, names_in, options_of
from video_contrast.runner.device import LOADED
from video_contrast.runner.job import Job, RunResult
from video_contrast.runner.kinds import all_kinds
from video_contrast.runner.options import ScoreOptions
from video_contrast.runner.score_call import make_job, score_job
from video_contrast.runner.views import FrameStore, Sampling
from video_contrast.seeds import digest

NOT_OF_ONE_RUN = ("dry_run", "show_input", "progress")  # they are said once, for all runs
OWN = ("model", "dataset", "config", "name")


@dataclass(frozen=True)
class RunRequest:
    """One run of several: the arguments of `score`."""

    name: str  # of its folder and its column in the table; unique among the runs
    model: str
    dataset: str
    configs: list[str] | None
    options: ScoreOptions  # with `output`


def read_run_list(path: Path) -> list[GivenOptions]:
    """The runs of a YAML file, a list of mappings. Raises UsageError: it cannot be read, or holds something else."""
    import yaml

    try:
        text = path.read_text(encoding="utf-8")
        content = yaml.safe_load(text)
    except OSError as error:
        raise UsageError(f"--runs {path}: {error.strerror or error}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise UsageError(f"--runs {path} is no YAML file: {' '.join(str(error).split())}") from error
    if not isinstance(content, list) or not content or not all(isinstance(entry, dict) for entry in content):
        raise UsageError(f"--runs {path} must be a list of runs, each with model, dataset and its options")
    document = yaml.compose(text, Loader=yaml.SafeLoader)
    for number, entry in enumerate(document.value if document else (), 1):
        keys = [key.value for key, _ in entry.value]
        if twice := [key for key in keys if keys.count(key) > 1]:  # of which YAML would lose one value
            raise UsageError(f"run {number} of --runs {path}: the key {twice[0]!r} stands twice")
    return content


def run_requests(
    runs: Sequence[GivenOptions], output: Path, *, options: ScoreOptions, where: str = "the runs"
) -> list[RunRequest]:
    """The runs with their options filled in and checked.

    `runs`: a mapping a run: `model`, `dataset`, `config` (one or several), `name`, and options of `score` or of the
    model's kind by name. `output`: the folder of the runs' folders, but for those with an `output` of their own.
    `options`: what holds for every run that does not say otherwise. `where`: what holds the runs, for messages. Raises
    UsageError: an entry lacks its model or data set, or has an unknown option, or two write to one folder.
    """
    if not isinstance(runs, Sequence) or not all(isinstance(entry, Mapping) for entry in runs):
        raise UsageError(f"{where} must be a list of mappings, each with model and dataset, not {runs!r}")
    names = _names([str(entry.get("name") or entry.get("model") or "") for entry in runs])
    requests: list[RunRequest] = []
    for number, (entry, name) in enumerate(zip(runs, names, strict=True), 1):
        place = f"run {number} of {where}"
        values = {str(key).replace("-", "_"): value for key, value in entry.items()}
        own = _own_options({key: value for key, value in values.items() if key not in OWN}, options, place)
        if missing := [key for key in ("model", "dataset") if not values.get(key)]:
            raise UsageError(f"{place} has no {missing[0]}")
        place_of_run = own.output if "output" in values else output / name
        options_of_run = replace(own, output=place_of_run, progress=options.progress)
        configs = _configs(values.get("config"), place)
        requests.append(RunRequest(name, str(values["model"]), str(values["dataset"]), configs, options_of_run))
    folders = [request.options.output for request in requests]
    twice = next((folder for n, folder in enumerate(folders) if folder in folders[:n]), None)
    if twice is not None:
        raise UsageError(f"two of {where} write to {twice}; give them other names or outputs")
    return requests


def _own_options(values: GivenOptions, usual: ScoreOptions, place: str) -> ScoreOptions:
    """The options of one run: those of `score` by name, all others are options of kinds."""
    fields = options_of(ScoreOptions)
    of_kinds = {option.name for kind in all_kinds().values() for option in kind.options}
    for key in values:
        if key in NOT_OF_ONE_RUN or (key not in fields and key not in of_kinds):
            names = [*OWN, *(name for name in fields if name not in NOT_OF_ONE_RUN), *sorted(of_kinds)]
            raise unknown_name(f"option of {place}", key, names)
    own = replace(usual, **bind(ScoreOptions, {key: value for key, value in values.items() if key in fields}, place))
    more = {key: value for key, value in values.items() if key not in fields}
    return replace(own, options={**usual.options, **more}) if more else own


def _configs(config: Json, place: str) -> list[str] | None:
    words = [] if config is None else [config] if isinstance(config, str) else config
    if not isinstance(words, list | tuple) or not all(isinstance(word, str) for word in words):
        raise UsageError(f"{place}: config {config!r} is neither a name nor a list of names")
    return names_in(words)


def _names(models: Sequence[str]) -> list[str]:
    """Names of folders: the last part of a path, a Hub id with `--` for `/`; equal ones are numbered.

    >>> _names(["openai/clip", "runs/a/checkpoint-10", "runs/b/checkpoint-10", "temporal"])
    ['openai--clip', 'checkpoint-10', 'checkpoint-10-2', 'temporal']
    """
    names: list[str] = []
    for model in models:
        path = model.rstrip("/")
        short = path if path.count("/") == 1 and not path.startswith((".", "/", "~")) else path.rpartition("/")[2]
        name = re.sub(r"[^\w.-]+", "-", short.replace("/", "--")).lstrip(".") or "run"
        count = sum(other == name or re.fullmatch(rf"{re.escape(name)}-\d+", other) is not None for other in names)
        names.append(name if name not in names else f"{name}-{count + 1}")
    return names


FRAMES = ".frames"  # in the folder of the runs: decoded frames, as long as they are needed
FindSet = Callable[[str, Sequence[str] | None], Path | None]


@dataclass(frozen=True)
class RunOutcome:
    """The outcome of one of several runs."""

    name: str  # of the run
    model: str  # as given
    output: Path  # its folder
    result: RunResult | None = None  # its numbers; None where it failed
    error: str = ""  # why it failed, in one sentence; "" where it did not


def score_each(
    requests: Sequence[RunRequest], folder: Path, *, find_set: FindSet, done: Callable[[RunOutcome], None] | None = None
) -> list[RunOutcome]:
    """Carries out runs one after the other, in their order; `done` is told of every outcome as it comes.

    A run that fails is reported and the others go on; the same call again does only what is missing. In a run of
    several processes (torchrun) the first failure ends the call: the processes could not agree on what comes next.
    `folder`: holds decoded frames while they are needed. `find_set`: the folder of a data set that is given by name, as
    `load_set` takes it. Raises VideoContrastError: of several processes, one run failed.
    """
    alone = int(os.environ.get("WORLD_SIZE", 1)) <= 1
    jobs: list[Job | str] = []
    for request in requests:
        with caught(alone) as errors:
            model, dataset, configs = request.model, request.dataset, request.configs
            jobs.append(make_job(model, dataset, configs, folder=find_set(dataset, configs), request=request.options))
        jobs += errors
    outcomes: list[RunOutcome] = []
    address = address_of(folder)
    frames = cache_dir() / "runs" / digest("frames", address).hex() if address else folder / FRAMES
    for request, job in zip(requests, _with_frames(jobs, frames), strict=True):
        output = request.options.output or folder
        outcome = RunOutcome(request.name, request.model, output, error=job if isinstance(job, str) else "")
        if isinstance(job, Job):
            with caught(alone) as errors:
                outcome = replace(outcome, result=score_job(job))
            outcome = replace(outcome, error="".join(errors))
            if job.kind.family != "text":  # those hold no weights
                free_memory()
        outcomes.append(outcome)
        if done is not None:
            done(outcome)
    return outcomes


def _with_frames(jobs: Sequence[Job | str], folder: Path) -> Iterator[Job | str]:
    """The jobs, those that look at the same frames with a store of them, which is gone after the last one."""
    keys = [frames_key(job) if isinstance(job, Job) else None for job in jobs]
    stores: dict[tuple[Path, Sampling], FrameStore] = {}
    try:
        for number, (job, key) in enumerate(zip(jobs, keys, strict=True)):
            if not isinstance(job, Job) or key is None or keys.count(key) < 2:
                yield job
                continue
            if key not in stores:
                stores[key] = FrameStore.on(folder / str(len(stores)), key[0])
            yield replace(job, frames=stores[key])
            if key not in keys[number + 1 :]:
                stores[key].remove()
    finally:
        for store in stores.values():
            store.remove()
        if stores and folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()


def frames_key(job: Job) -> tuple[Path, Sampling] | None:
    """The frames that a job looks at; None for models that see none, and videos that are yet to be fetched."""
    return None if job.kind.family == "text" or job.video_root is None else (job.video_root, job.sampling)


_LOG = logging.getLogger(__name__)


@contextmanager
def caught(enabled: bool = True) -> Iterator[list[str]]:
    """Keeps what a block raises as a sentence in the list (`--debug` logs where); an interruption passes."""
    errors: list[str] = []
    try:
        yield errors
    except Exception as error:
        if not enabled:
            raise
        plain = isinstance(error, VideoContrastError | OSError)
        errors.append(" ".join((str(error) if plain else f"unexpected {type(error).__name__}: {error}").split()))
        _LOG.debug("a run failed", exc_info=error)


def free_memory() -> None:
    """Frees what the last model held, before the next one is loaded."""
    import gc
    import sys

    if "torch" not in sys.modules:  # nothing was loaded: all runs were finished before
        return
    if LOADED:  # something refers to itself; else its memory is free already, and a search of all objects takes .3 s
        gc.collect()
    import torch

    if torch.cuda.is_available():
        torch.cuda.empty_cache()
        for number in range(torch.cuda.device_count()):
            torch.cuda.reset_peak_memory_stats(number)
