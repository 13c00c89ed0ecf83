"""Several runs in one call: each clip is decoded once for all models of one sampling, and none takes others down."""

import logging
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from video_contrast.addresses import address_of
from video_contrast.errors import VideoContrastError
from video_contrast.files import cache_dir
from video_contrast.runner.device import LOADED
from video_contrast.runner.frame_store import FrameStore
from video_contrast.runner.job import Job, RunResult
from video_contrast.runner.run_requests import RunRequest
from video_contrast.runner.score_call import make_job, score_job
from video_contrast.runner.views import Sampling
from video_contrast.seeds import digest

FRAMES = ".frames"  # in the folder of the runs: decoded frames, as long as they are needed
FindSet = Callable[[str, Sequence[str] | None], Path | None]


@dataclass(frozen=True)
class RunOutcome:
    """What became of one of several runs."""

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
    """Which frames a job looks at; None for models that see none, and videos that are yet to be fetched."""
    return None if job.kind.family == "text" or job.video_root is None else (job.video_root, job.sampling)


_LOG = logging.getLogger(__name__)


@contextmanager
def caught(enabled: bool = True) -> Iterator[list[str]]:
    """Keeps what a block raises as a sentence in the list (`--debug` logs where).

    An interruption passes, and everything where it is not `enabled`.
    """
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
