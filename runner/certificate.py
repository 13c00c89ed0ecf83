"""Certificates: what a model is given and returns for the golden eight, in a few kB of JSON.

A certificate holds traces (`runner.evidence`): digests and some values of frames and pixels, token ids, and embeddings
or scores, with revision, weights, dtype, device and library versions.
"""

from dataclasses import asdict, replace
from pathlib import Path

from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import JsonObject
from video_contrast.golden import CAPTIONS, QUESTIONS
from video_contrast.options import with_options
from video_contrast.runner import run_directory
from video_contrast.runner.device import full_float32
from video_contrast.runner.doctor.probe import ITEMS, make_probe
from video_contrast.runner.evidence import network_facts, traces
from video_contrast.runner.job import model_facts, numeric_options
from video_contrast.runner.kinds.base import TextScorer
from video_contrast.runner.memory import enough_memory
from video_contrast.runner.options import ScoreOptions
from video_contrast.runner.plan import make_plan
from video_contrast.runner.score_call import make_job
from video_contrast.runner.self_test import loaded_run
from video_contrast.runner.sets import load_set
from video_contrast.storage.certificates import VERSION


@with_options
def certify(model: str | Path, *, request: ScoreOptions) -> JsonObject:
    """Scores a model on the golden eight.

    Returns the certificate. `model`: Hub id, folder or packaged checkpoint. Raises UsageError: the model never sees a
    video, or the call is wrong; VideoContrastError: the model cannot be loaded, or does not take all of the clips.
    """
    job = make_job(model, CAPTIONS, None, folder=None, request=request)
    with enough_memory(), full_float32():
        run = loaded_run(job)
        if isinstance(run.model, TextScorer):
            raise UsageError(f"{model} never sees a video, so there is nothing to certify")
        probe = make_probe(run)
        if len(probe.clips) < ITEMS:
            raise VideoContrastError(f"{model} was given {len(probe.clips)} of the {ITEMS} golden clips only")
        traced = traces(probe)
        if job.kind.asks:
            questions = load_set(QUESTIONS, None, job.loaded.split, questions="asked")
            other = replace(run, job=replace(job, loaded=questions), plan=make_plan(questions, job.conditions, None))
            traced += traces(make_probe(other))
        facts: JsonObject = {**model_facts(job, run.model), **network_facts(run.model)}
    kept = ("revision", "kind", "kind_version", "class", "weights", "attention", "step")
    return {
        "certificate": VERSION,
        "model": {
            "name": job.source.name.rstrip("/").rpartition("/")[2] if job.source.path else job.source.name,
            **{name: facts[name] for name in kept if name in facts},
            "options": numeric_options(job),
            "dtype": run.dtype,
            "device": run.device,
        },
        "versions": run_directory.versions(),
        "sampling": asdict(job.sampling),
        "traces": traced,
    }
