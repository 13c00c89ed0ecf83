"""Numbered tasks by `datatrove`: on this machine, Slurm or Ray, by the options of builds in blocks.

What is done is marked, and not done again.
"""

from __future__ import annotations

import contextlib
import io
import logging
import multiprocessing
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from inspect import signature
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from video_contrast.addresses import filesystem, write_bytes
from video_contrast.console import bar, hush
from video_contrast.errors import UsageError, VideoContrastError, check_names, libraries_named
from video_contrast.launcher import one_thread
from video_contrast.options import Range, named_values

if TYPE_CHECKING:
    from datatrove.executor.base import PipelineExecutor

_SHOWN = 10  # faults in one message
# Where the disk is full, no process can leave a note of why it ended.
_KILLED = "its process was killed (where memory runs out, fewer --workers need less), or the disk is full"
_NO_MEMORY = "there was not enough memory (fewer --workers need less)"


@dataclass(frozen=True, kw_only=True)
class ClusterOptions:
    """The machines on which the blocks of a large corpus are built."""

    HIDDEN: ClassVar[frozenset[str]] = frozenset({"workers", "slurm"})  # of builds: `list builders` has them

    executor: Annotated[
        Literal["local", "slurm", "ray"] | None, "build in blocks; default: here above 100,000 captions"
    ] = None
    workers: Annotated[int | None, "blocks at once; default: one here, on a cluster all that it takes", Range(1)] = None
    slurm: Annotated[str | None, "partition=NAME,time=HH:MM:SS, options of datatrove's SlurmPipelineExecutor"] = None

    def __post_init__(self) -> None:
        if (self.executor == "slurm") != (self.slurm is not None):
            raise UsageError("--executor slurm and --slurm partition=NAME,time=HH:MM:SS go together")


@dataclass(frozen=True)
class StageTask:
    """A step of a datatrove pipeline: does the work of one number, and leaves a note where it fails."""

    work: Callable[[int], None]
    folder: str  # takes the notes

    def __call__(self, data: object, rank: int, world_size: int) -> None:
        """Works; what datatrove pipes from step to step is not used."""
        hush()
        one_thread()
        try:
            self.work(rank)
        except Exception as error:
            reason = _NO_MEMORY if isinstance(error, MemoryError) else str(error).strip() or type(error).__name__
            write_bytes(_fault(self.folder, rank), reason.encode("utf-8", "replace"))
            raise


@dataclass(frozen=True)
class Stage:
    """Tasks that do not need each other; the next stage needs all of them."""

    name: str
    work: Callable[[int], None]  # does the task of a number; picklable for Slurm and Ray
    count: int  # tasks are numbered from 0
    of_blocks: bool = True  # a task a block


def run_stages(stages: list[Stage], folder: str, options: ClusterOptions, *, describe: Callable[[int], str]) -> bool:
    """Does the tasks that are not done yet, one stage after the other.

    Returns whether all is done; False where jobs of Slurm were submitted. `folder`: keeps datatrove's marks and logs;
    on a cluster all machines see it. `options`: where; without an executor by this process, for which datatrove is not
    needed. `describe`: names a task in a message. Raises UsageError: the engine is not installed, or does not take the
    options; VideoContrastError: tasks of a stage failed; its others are done, and the same call does the rest.
    """
    if options.executor is None:
        for stage in stages:
            system, path = filesystem(f"{folder}/{stage.name}/completions")  # marked as datatrove does
            for rank in bar(range(stage.count), desc=stage.name, unit="block", disable=stage.count == 1):
                if not system.exists(f"{path}/{rank:05d}"):
                    stage.work(rank)
                    write_bytes(f"{folder}/{stage.name}/completions/{rank:05d}", b"")
        return True
    from datatrove.executor import LocalPipelineExecutor, SlurmPipelineExecutor
    from loguru import logger

    settings: dict[str, object] = {}
    if options.executor == "slurm":
        slurm_options = named_values(options.slurm, "--slurm")
        check_names("option of --slurm", slurm_options, signature(SlurmPipelineExecutor).parameters)
        if missing := [name for name in ("partition", "time") if name not in slurm_options]:
            raise UsageError(f"--slurm needs {' and '.join(missing)}: --slurm partition=NAME,time=HH:MM:SS")
        if shutil.which("sbatch") is None:
            where = "call it on a login node of the cluster"
            raise UsageError(f"--executor slurm: there is no sbatch on this machine; {where}")
        settings = {"job_name": "video-contrast", "workers": options.workers or -1, **slurm_options}
    logger.disable("datatrove")  # it says on standard error what stands in the log of each task
    last: SlurmPipelineExecutor | None = None
    for stage in stages:
        task, logs = [StageTask(stage.work, f"{folder}/{stage.name}")], f"{folder}/{stage.name}"
        executor: PipelineExecutor
        if options.executor == "slurm":
            executor = last = SlurmPipelineExecutor(task, tasks=stage.count, depends=last, logging_dir=logs, **settings)
            last.launch_merge_stats = lambda: None  # a job more a stage, of statistics that nobody reads
        else:
            executor = LocalPipelineExecutor(task, tasks=stage.count, workers=1, logging_dir=logs)
            if options.executor == "ray":
                _run_on_ray(executor, options.workers, stage.name)
            else:
                _run_here(executor, logs, options.workers or 1, stage.name)
        if last is None and (failed_ranks := executor.get_incomplete_ranks()):
            raise VideoContrastError(_faults(logs, failed_ranks, stage, describe))
    if last is not None and (open_ := last.get_incomplete_ranks()):
        last.run()  # submits those before it, too
        return not open_
    return True


def _run_here(executor: PipelineExecutor, logs: str, workers: int, name: str) -> None:
    """Runs each open task in a process of its own.

    datatrove's pool of processes would wait for ever for one that was killed, and keep the memory of former tasks.
    """
    method = "fork" if "fork" in multiprocessing.get_all_start_methods() else "spawn"
    context: Any = multiprocessing.get_context(method)
    pending = executor.get_incomplete_ranks()[::-1]
    running: dict[object, BaseProcess] = {}  # by what `wait` tells of its end
    nothing: list[object] = []
    with bar(nothing, total=len(pending), desc=name, unit="block") as progress:
        try:
            while pending or running:
                while pending and len(running) < workers:
                    process = context.Process(target=_run_rank, args=(executor, logs, pending.pop()))
                    process.start()
                    running[process.sentinel] = process
                for sentinel in wait([process.sentinel for process in running.values()]):
                    running.pop(sentinel).join()
                    progress.update()
        finally:
            for process in running.values():
                process.terminate()
                process.join()


def _run_rank(executor: PipelineExecutor, logs: str, rank: int) -> None:
    from datatrove.io import get_datafolder
    from loguru import logger

    logger.enable("datatrove")
    executor.logging_dir = get_datafolder(logs)  # file systems with threads (s3fs) refuse to work in a forked process
    with contextlib.redirect_stderr(io.StringIO()):  # messages stand in the log of the task
        try:
            executor._run_for_rank(rank, 1)  # the method that executors call: `run` would start processes of its own
        except Exception:
            os._exit(1)  # the note says why


def _run_on_ray(executor: PipelineExecutor, workers: int | None, name: str) -> None:
    """Runs each open task as one of Ray, which begins it anew where its process was killed, three times at most.

    datatrove's actors would wait for ever for such a process.
    """
    try:
        import ray
    except ImportError as error:
        raise UsageError("--executor ray: ray is not installed: `pip install ray`") from error
    if not ray.is_initialized():
        # the cluster of RAY_ADDRESS; else this machine, of which it takes as many CPUs as there are workers, no more
        machine: Any = {} if "RAY_ADDRESS" in os.environ else {"num_cpus": workers, "include_dashboard": False}
        try:
            ray.init(log_to_driver=False, logging_level=logging.ERROR, **machine)
        except Exception as error:  # of many classes: no cluster there, or a machine too busy to start one in time
            raise VideoContrastError(f"--executor ray: Ray cannot be reached, or does not start: {error}") from error
    task = ray.remote(num_cpus=1, memory=2 << 30)(lambda rank: executor._run_for_rank(rank, 1) and None)
    pending = executor.get_incomplete_ranks()[::-1]
    running: list[object] = []
    nothing: list[object] = []
    with bar(nothing, total=len(pending), desc=name, unit="block") as progress:
        while pending or running:
            while pending and len(running) < (workers or sys.maxsize):
                running.append(task.remote(pending.pop()))
            finished_tasks, running = ray.wait(running)
            progress.update(len(finished_tasks))


def require_datatrove() -> None:
    """Raises a UsageError that says what to install where datatrove is not."""
    with libraries_named():
        import datatrove.executor  # noqa: F401


def _fault(folder: str, rank: int) -> str:
    """The file in which a task of a stage says why it failed."""
    return f"{folder}/faults/{rank:05d}"


def _faults(folder: str, missing: Sequence[int], stage: Stage, describe: Callable[[int], str]) -> str:
    lines = [f"{stage.name}: {len(missing)} of {stage.count} failed; the others are done. The same command goes on:"]
    for rank in missing[:_SHOWN]:
        system, path = filesystem(_fault(folder, rank))
        reason = _KILLED
        if system.exists(path):
            reason = system.cat_file(path).decode()
            system.rm_file(path)  # the next call may fail otherwise
        subject = describe(rank) if stage.of_blocks else stage.name
        lines.append(f"{subject}: {reason} (log: {folder}/logs/task_{rank:05d}.log)")
    return "\n".join([*lines, "..."] if len(missing) > _SHOWN else lines)
