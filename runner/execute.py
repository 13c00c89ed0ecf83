"""Carrying out a job: the processes share the encoding, the first one joins, measures and writes."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from video_contrast.addresses import check_writable
from video_contrast.console import note
from video_contrast.errors import UsageError
from video_contrast.files import cache_dir
from video_contrast.remote import address_of
from video_contrast.runner import run_directory
from video_contrast.runner.device import device_of, full_float32, load_model, perturbing_device
from video_contrast.runner.job import Job, RunResult, estimate_of, identity, read_result
from video_contrast.runner.kinds.base import Encoder
from video_contrast.runner.measure_and_write import measure_and_write
from video_contrast.runner.memory import enough_memory
from video_contrast.runner.plan import Plan, make_plan
from video_contrast.runner.process_share import Run
from video_contrast.runner.processes import Processes
from video_contrast.runner.self_test import self_test
from video_contrast.runner.video_files import root_of
from video_contrast.seeds import digest
from video_contrast.storage import RunFolder


def execute(job: Job, *, in_memory: bool) -> RunResult:
    """Runs a job in all processes; every one of them returns the result.

    Raises UsageError: the job cannot run with these processes or on this device; VideoContrastError: something failed;
    what is done is kept.
    """
    processes = Processes(job.options.device)
    if in_memory and processes.count > 1:
        raise UsageError("several processes meet in the run's directory; give --output")
    device, dtype = device_of(job, processes)
    # Before anything is written: a call that is refused leaves no files behind.
    if address := address_of(job.store):
        processes.from_first(lambda: check_writable(address))
    video_root = root_of(job) if job.kind.family != "text" else job.video_root or Path()
    began = time.monotonic()
    folder = RunFolder(job.output)
    exact = full_float32()
    with (
        run_directory.locked(folder, processes.rank),
        run_directory.room_on(job.output, job.store, cache_dir()),
        enough_memory(),
        exact,
        processes.together(),
    ):
        if processes.first:
            run_directory.claim(folder, identity(job, dtype))
        processes.wait()
        model = load_model(job, device, dtype)
        plan = processes.from_first(lambda: make_plan(job.loaded, job.conditions, folder))
        run = Run(
            job, processes, model, plan, device=device, dtype=dtype, video_root=video_root,
            perturb_on=perturbing_device(job, device), began=began,
        )  # fmt: skip
        if processes.first and job.options.progress:
            say_estimate(job, plan)
        run.self_test = self_test(run)
        with _local_store(run):
            scorer = run.encode_or_score()
            processes.from_first(lambda: measure_and_write(run, scorer) if scorer is not None else None)
        return read_result(job.output)


@contextmanager
def _local_store(run: Run) -> Iterator[None]:
    """Of a store at an address: gives the run a copy of its model's rows; new ones are sent once it is done."""
    address, job = address_of(run.job.store), run.job
    if address is None or not isinstance(run.model, Encoder):
        yield
        return
    root = cache_dir() / "runs" / digest("store", address, str(job.output.resolve())).hex()
    run.job = replace(job, store=root)
    with run.processes.shared_copy(f"{address}/{run.space}", root / run.space):
        yield
    if run.processes.first:
        root.rmdir()


def say_estimate(job: Job, plan: Plan) -> None:
    """Says what asking a server will cost, before it is asked."""
    if estimate := estimate_of(job, plan):
        amounts = [f"{value:,g} {name.replace('_', ' ')}" for name, value in estimate.items() if name != "price"]
        price = f", price {estimate['price']:.2f}" if "price" in estimate else ""
        note(f"about {', '.join(amounts)}{price} (stored answers cost nothing)")
