"""A model looked at without scoring a set: its self-test, and what it is given for one item."""

from __future__ import annotations

from pathlib import Path

from video_contrast.errors import VideoContrastError
from video_contrast.files import JsonObject
from video_contrast.runner.device import device_of, load_model
from video_contrast.runner.doctor.probe import ClipSource, make_probe
from video_contrast.runner.doctor.result import SelfTest
from video_contrast.runner.job import Job, model_facts
from video_contrast.runner.kinds.base import TextScorer
from video_contrast.runner.plan import make_plan
from video_contrast.runner.processes import Processes
from video_contrast.runner.run import Run
from video_contrast.runner.self_test import examine_run
from video_contrast.runner.video_files import root_of
from video_contrast.storage.run_records import ModelRecord


def diagnose(job: Job) -> tuple[SelfTest, ModelRecord]:
    """Tests the model of a job on items of its set; writes nothing.

    Returns:
        The verdicts, and the facts of the model that a run's record would hold.

    Raises:
        VideoContrastError: the model cannot be loaded, or cannot score at all.
    """
    run = _run(job)
    return examine_run(run)[0], model_facts(job, run.model)


def shown_input(job: Job) -> JsonObject:
    """What the model of a job is given for the first item that can be read.

    Raises:
        VideoContrastError: no clip can be read.
    """
    run = _run(job)
    if isinstance(run.model, TextScorer):
        return {"model": job.source.name, "kind": job.kind.name, "input": {"texts": list(run.plan.texts[:1])}}
    source = ClipSource(run.video_root, job.sampling)
    probe = make_probe(run.model, run.plan, source, batch_size=job.options.batch_size)
    if not probe.clips:
        raise VideoContrastError(f"no clip of {job.loaded.name} could be read, so there is no input to show")
    clip, captions = probe.clips[0], probe.captions_of(0)
    item = {"video_id": clip.video_id, "captions": captions}
    shown = run.model.rendered_input(clip, captions)
    return {"model": job.source.name, "kind": job.kind.name, "item": item, "input": shown}


def _run(job: Job) -> Run:
    processes = Processes(job.options.device)
    device, dtype = device_of(job, processes)
    root = root_of(job) if job.kind.family != "text" else Path()
    plan = make_plan(job.loaded, job.conditions, None)
    return Run(job, processes, load_model(job, device, dtype), plan, dtype=dtype, video_root=root)
