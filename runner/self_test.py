"""A model looked at: before a run, once a folder and model, or without scoring a set (`doctor`, `--show-input`)."""

from dataclasses import asdict, replace
from pathlib import Path

import numpy as np

from video_contrast import seeds
from video_contrast.errors import VideoContrastError
from video_contrast.files import JsonObject
from video_contrast.runner.device import device_of, full_float32, load_model
from video_contrast.runner.doctor.alternatives import try_alternatives
from video_contrast.runner.doctor.examine import NOTHING_READ, examine
from video_contrast.runner.doctor.probe import Probe, make_probe
from video_contrast.runner.doctor.result import ALL, SelfTest, accepted_checks, refuse
from video_contrast.runner.doctor.steady import same_in_all
from video_contrast.runner.job import Job, model_facts
from video_contrast.runner.kinds.base import ClipFrames, TextScorer
from video_contrast.runner.memory import enough_memory
from video_contrast.runner.plan import make_plan
from video_contrast.runner.process_share import Run
from video_contrast.runner.processes import Processes
from video_contrast.runner.video_files import root_of
from video_contrast.storage import RunFolder
from video_contrast.storage.run_records import ModelRecord

VERSION = "6"  # of the checks: raise it when they change, so that folders are tested anew


def self_test(run: Run) -> SelfTest | None:
    """Tests the model of a run, unless it was tested in this folder.

    Returns the verdicts; None where `--accept all` left them out. Raises VideoContrastError: a check failed that
    `--accept` does not name.
    """
    accepted = accepted_checks(run.job.options.accept)
    if ALL in accepted:
        return None
    if isinstance(run.model, TextScorer):
        return examine(run)[0]
    folder = RunFolder(run.job.output)
    sampling, marks = run.job.sampling, sorted(run.job.loaded.fingerprints.items())
    # What it holds for: the model, its libraries and options, the sampling, and the set.
    key = seeds.digest("self-test", VERSION, run.space, str(sampling), str(marks)).hex()[:32]
    former = run.processes.from_first(lambda: folder.read_self_test(key))
    test = SelfTest.from_dict(former) if former else _tested(run)
    refuse(test, run.job.source.name, accepted)
    if run.processes.first and test.verdicts and not former:
        folder.write_self_test(key, asdict(test))
    return test


def _tested(run: Run) -> SelfTest:
    """The verdicts of the first process, and whether all processes give its scores for the first clip."""
    processes = run.processes

    def first() -> tuple[SelfTest, tuple[list[ClipFrames], list[str], np.ndarray] | None]:
        test, probe = examine(run)
        return test, (probe.clips[:1], probe.captions_of(0), probe.clean) if probe else None

    test, shared = processes.from_first(first)
    if processes.count > 1 and shared is not None:
        clips, captions, clean = shared
        assert not isinstance(run.model, TextScorer)
        mine = Probe(run.model, clips, captions, half=run.dtype != "float32", batch_size=run.job.options.batch_size)
        mine.clean = clean  # the unit of differences is that of all items
        verdict = same_in_all(mine, processes.gather(mine.scores(clips, captions)))
        test = replace(test, verdicts=(*test.verdicts, verdict))
    return test


def diagnose(job: Job, *, alternatives: bool = False) -> tuple[SelfTest, ModelRecord]:
    """Tests the model of a job on items of its set; writes nothing.

    Returns the verdicts, and the facts of the model that a run's record would hold. `alternatives`: whether other
    plausible settings are tried, too. Raises VideoContrastError: the model cannot be loaded, or cannot score at all, or
    no clip can be read.
    """
    with enough_memory(), full_float32():
        run = loaded_run(job)
        test = examine(run)[0]
        if test.exempt == NOTHING_READ:
            raise VideoContrastError(
                f"{job.source.name} was not tested: {NOTHING_READ} under {run.video_root} (--video-root)"
            )
        if alternatives and not test.exempt:
            test = replace(test, verdicts=(*test.verdicts, *try_alternatives(run)))
        return test, model_facts(job, run.model)


def shown_input(job: Job) -> JsonObject:
    """What the model of a job is given for the first item that can be read.

    Raises VideoContrastError: no clip can be read.
    """
    run = loaded_run(job)
    shown: JsonObject = {"model": job.source.name, "kind": job.kind.name}
    if isinstance(run.model, TextScorer):
        return shown | {"input": {"texts": list(run.plan.texts[:1])}}
    probe = make_probe(run)
    if not probe.clips:
        raise VideoContrastError(f"no clip of {job.loaded.name} could be read, so there is no input to show")
    captions = list(probe.items[0][0] if probe.items else probe.captions_of(0))
    return shown | {"item": {"video_id": probe.clips[0].video_id, "captions": captions}, "input": probe.rendered}


def loaded_run(job: Job) -> Run:
    """A job with its model loaded, for one process; nothing is written."""
    processes = Processes(job.options.device)
    device, dtype = device_of(job, processes)
    root = root_of(job) if job.kind.family != "text" else Path()
    plan = make_plan(job.loaded, job.conditions, None)
    return Run(job, processes, load_model(job, device, dtype), plan, device=device, dtype=dtype, video_root=root)
