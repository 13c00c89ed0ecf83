"""A model looked at: all checks in order, what the family's recipe says, and what a run costs.

It is tested before a run, once a folder and model, or looked at without scoring a set (`doctor`, `--show-input`). What
it is given and returns for the golden eight is its certificate, a few kB of JSON: digests and some values of frames and
pixels, token ids, embeddings or scores (`runner.traces`), with revision, weights, dtype, device and versions.
"""

import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np

from video_contrast import seeds
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import JsonObject
from video_contrast.golden import QUESTIONS
from video_contrast.runner.device import device_of, full_float32, load_model
from video_contrast.runner.doctor import checks
from video_contrast.runner.doctor.alternatives import try_alternatives
from video_contrast.runner.doctor.probe import ITEMS, Probe, make_probe
from video_contrast.runner.doctor.result import ALL, Outcome, SelfTest, accepted_checks, refuse
from video_contrast.runner.job import Job, model_facts, numeric_options
from video_contrast.runner.kinds.base import ClipFrames, Encoder, ModelSource, TextScorer, product
from video_contrast.runner.kinds.model_recipes import recipe_of
from video_contrast.runner.memory import enough_memory
from video_contrast.runner.plan import Plan, make_plan
from video_contrast.runner.process_share import Run
from video_contrast.runner.processes import Processes
from video_contrast.runner.run_directory import versions
from video_contrast.runner.sets import load_set
from video_contrast.runner.traces import network_facts, traces
from video_contrast.runner.video_files import root_of
from video_contrast.storage import RunFolder
from video_contrast.storage.certificates import VERSION as CERTIFICATE_VERSION

ONE_LENGTH = 0.01  # by how much lengths may differ: rounding in half precision
NEVER_SEES = "never sees a video"
NOTHING_READ = "no clip of the set could be read"


def examine(run: Run) -> tuple[SelfTest, Probe | None]:
    """Tests the model of a run on a few items of its plan; one that never sees a video is exempt.

    Returns the verdicts of this process, and the items; None where nothing was tested. Raises VideoContrastError: the
    model cannot score at all, or takes none of the clips.
    """
    began = time.perf_counter()
    if isinstance(run.model, TextScorer):
        return SelfTest(exempt=NEVER_SEES), None
    refusal: ValueError | None = None
    for scored in (False, True):
        probe = make_probe(run, scored=scored)
        if refusal and not probe.clips:
            few = "; it may need --frames 2 or more" if run.job.sampling.frames == 1 else ""
            raise VideoContrastError(f"the model takes none of the clips that were tried: {refusal}{few}") from refusal
        if not probe.clips:
            return SelfTest(exempt=NOTHING_READ), None
        try:
            verdicts = tuple(_verdicts(probe, run))
            break
        except ValueError as error:  # of a clip that the model does not take: once more, without such clips
            if scored:
                raise
            refusal = error
    item_traces = traces(probe)
    seconds = time.perf_counter() - began
    return SelfTest(verdicts, len(probe.clips), seconds, probe.rendered, traces=item_traces), probe


def _verdicts(probe: Probe, run: Run) -> Iterator[Outcome]:
    source, kind, sampling = run.job.source, run.job.kind.name, run.job.sampling
    outcomes = check_recipe(source, kind), check_lengths(probe, source, kind)
    yield from (outcome for outcome in outcomes if outcome)
    scores = checks.check_finite(probe)
    yield scores
    if scores.state == "fail":  # nothing else can be said of such a model
        return
    yield from checks.check_steadiness(probe)
    yield from checks.check_reactions(probe)
    # by a rate every clip has a number of its own
    yield checks.check_frames(probe, sampling.frames if sampling.fps is None else len(probe.clips[0].frames))
    yield from checks.check_captions(probe, run.plan.texts)
    yield checks.check_truth(probe)
    yield checks.check_channels(probe)
    yield checks.check_pictures(probe, source)
    yield check_cost(probe, run.plan, run.processes.count)


def check_recipe(source: ModelSource, kind: str) -> Outcome | None:
    """The verdict "recipe"; None for models that are no checkpoints."""
    if not source.config:
        return None
    if (recipe := recipe_of(source, kind)) is None:
        what = source.architecture or source.model_type
        return Outcome("recipe", "doubt", f"no recipe is written down for {what}: it is asked as its library does")
    if wrong := recipe.contradictions(source.config):
        return Outcome("recipe", "fail", f"{recipe.family}: {'; '.join(wrong)}")
    if not recipe.parity:
        return Outcome("recipe", "fact", f"{recipe.family}: an untested recipe")
    return Outcome("recipe", "pass", f"{recipe.family}: the recipe is tested against its card's own lines")


def check_lengths(probe: Probe, source: ModelSource, kind: str) -> Outcome | None:
    """The verdict "lengths"; None for models whose scores are no products of two vectors.

    With a plain product long embeddings win, whatever is shown; a cosine does not know them. `kind`: the name of the
    kind that runs it.
    """
    model = probe.model
    if not isinstance(model, Encoder) or model.vector_length is not None:
        return None
    videos, texts = probe.rows
    if not (np.isfinite(videos).all() and np.isfinite(texts).all()):  # another verdict says so
        return None
    if videos.shape[1] != texts.shape[1] or not np.allclose(model.join(videos, texts), product(videos, texts)):
        return None
    spreads = [float(np.std(rows) / np.mean(rows)) for rows in (np.linalg.norm(of, axis=1) for of in (videos, texts))]
    numbers = {"clips": spreads[0], "captions": spreads[1]}
    if max(spreads) <= ONE_LENGTH:
        return Outcome("lengths", "pass", "embeddings have one length", numbers)
    says = f"embeddings differ in length ({spreads[0]:.0%} of clips, {spreads[1]:.0%} of captions): no cosine"
    recipe = recipe_of(source, kind)
    line = recipe.lines.get("score") if recipe else None
    if line is None:
        return Outcome("lengths", "doubt", f"{says}, and long ones win", numbers)
    cosine = str(line.value).startswith("cosine")
    return Outcome("lengths", "fail" if cosine else "fact", f"{says}; its recipe: {line.value}", numbers)


def check_cost(probe: Probe, plan: Plan, processes: int) -> Outcome:
    """The verdict "cost": seconds of the model alone; decoding goes on beside it. `processes`: that share the run."""
    if isinstance(probe.model, Encoder):
        view = _timed(lambda: probe.videos(probe.clips)) / len(probe.clips)
        text = _timed(lambda: probe.texts(probe.captions)) / len(probe.captions)
        total = view * plan.n_views + text * len(plan.texts)
        item, what = view, "a clip"
    else:
        captions = probe.captions_of(0)
        item = _timed(lambda: probe.scores(probe.clips[:1], captions, again=True))
        single = item
        if len(captions) > 1:
            single = _timed(lambda: probe.scores(probe.clips[:1], captions[:1], again=True))
        each = max(0.0, item - single) / max(1, len(captions) - 1)
        pairs = sum(table.n_pairs for table in plan.tables)
        views = sum(len(table.group.items) for table in plan.tables)
        total = views * max(0.0, single - each) + pairs * each
        what = f"a clip with {len(captions)} captions"
    total /= processes
    memory = peak_bytes()
    numbers = {"seconds_an_item": item, "estimated_seconds": total, "peak_bytes": memory}
    each_takes = f"{item:.2g} s" if item < 10 else _duration(item)
    says = f"{each_takes} {what}; about {_duration(total)} of the model for the run; {memory / 2**30:.1f} GB"
    return Outcome("cost", "fact", says, numbers)


def peak_bytes() -> int:
    """The most memory that was in use so far: of the GPUs that something was put on, else of the process."""
    import torch

    if on_gpus := sum(torch.cuda.max_memory_allocated(n) for n in range(torch.cuda.device_count())):
        return int(on_gpus)
    try:
        import resource
    except ImportError:  # no such count on this system
        return 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def _timed(call: Callable[[], np.ndarray]) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def _duration(seconds: float) -> str:
    for unit, size in (("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.1f} s"


VERSION = "6"  # of the checks: raise it when they change, so that folders are tested anew


def self_test(run: Run) -> SelfTest | None:
    """Tests the model of a run, unless it was tested in this folder.

    Returns the verdicts; None where `--accept all` left them out. Raises VideoContrastError: a check failed that
    `--accept` does not name.
    """
    accepted_names = accepted_checks(run.job.options.accept)
    if ALL in accepted_names:
        return None
    if isinstance(run.model, TextScorer):
        return examine(run)[0]
    folder = RunFolder(run.job.output)
    sampling, marks = run.job.sampling, sorted(run.job.dataset.fingerprints.items())
    # The test holds for: the model, its libraries and options, the sampling, and the set.
    key = seeds.digest("self-test", VERSION, run.space, str(sampling), str(marks)).hex()[:32]
    former = run.processes.from_first(lambda: folder.read_self_test(key))
    test = SelfTest.from_dict(former) if former else _tested(run)
    refuse(test, run.job.source.name, accepted_names)
    if run.processes.first and test.verdicts and not former:
        folder.write_self_test(key, asdict(test))
    return test


def _tested(run: Run) -> SelfTest:
    """The verdicts of the first process, and whether all processes give its scores for the first clip."""
    processes = run.processes

    def first() -> tuple[SelfTest, tuple[list[ClipFrames], list[str], np.ndarray] | None]:
        test, probe = examine(run)
        return test, (probe.clips[:1], probe.captions_of(0), probe.clean) if probe else None

    test, inputs = processes.from_first(first)
    if processes.count > 1 and inputs is not None:
        clips, captions, clean = inputs
        assert not isinstance(run.model, TextScorer)
        mine = Probe(run.model, clips, captions, half=run.dtype != "float32", batch_size=run.job.options.batch_size)
        mine.clean = clean  # the unit of differences is that of all items
        verdict = checks.same_in_all(mine, processes.gather(mine.scores(clips, captions)))
        test = replace(test, verdicts=(*test.verdicts, verdict))
    return test


def diagnose(job: Job, *, alternatives: bool = False) -> tuple[SelfTest, JsonObject]:
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
    """The input of a model for the first item that can be read. Raises VideoContrastError: no clip can be."""
    run = loaded_run(job)
    entry: JsonObject = {"model": job.source.name, "kind": job.kind.name}
    if isinstance(run.model, TextScorer):
        return entry | {"input": {"texts": list(run.plan.texts[:1])}}
    probe = make_probe(run)
    if not probe.clips:
        raise VideoContrastError(f"no clip of {job.dataset.name} could be read, so there is no input to show")
    captions = list(probe.items[0][0] if probe.items else probe.captions_of(0))
    return entry | {"item": {"video_id": probe.clips[0].video_id, "captions": captions}, "input": probe.rendered}


def loaded_run(job: Job) -> Run:
    """A job with its model loaded, for one process; nothing is written."""
    processes = Processes(job.options.device)
    device, dtype = device_of(job, processes)
    root = root_of(job) if job.kind.family != "text" else Path()
    plan = make_plan(job.dataset, job.conditions, None)
    return Run(job, processes, load_model(job, device, dtype), plan, device=device, dtype=dtype, video_root=root)


def certify(job: Job) -> JsonObject:
    """The certificate of a job's model; `job`: of the golden eight (`golden.CAPTIONS`).

    Raises UsageError: the model never sees a video; VideoContrastError: it cannot be loaded, or does not take all of
    the clips.
    """
    with enough_memory(), full_float32():
        run = loaded_run(job)
        if isinstance(run.model, TextScorer):
            raise UsageError(f"{job.source.name} never sees a video, so there is nothing to certify")
        probe = make_probe(run)
        if len(probe.clips) < ITEMS:
            raise VideoContrastError(f"{job.source.name} was given {len(probe.clips)} of the {ITEMS} golden clips only")
        item_traces = traces(probe)
        if job.kind.asks:
            questions = load_set(QUESTIONS, None, job.dataset.split, questions="asked")
            other = replace(run, job=replace(job, dataset=questions), plan=make_plan(questions, job.conditions, None))
            item_traces += traces(make_probe(other))
        facts: JsonObject = {**model_facts(job, run.model), **network_facts(run.model)}
    kept = ("revision", "kind", "kind_version", "class", "weights", "attention", "step")
    return {
        "certificate": CERTIFICATE_VERSION,
        "model": {
            "name": job.source.name.rstrip("/").rpartition("/")[2] if job.source.path else job.source.name,
            **{name: facts[name] for name in kept if name in facts},
            "options": numeric_options(job),
            "dtype": run.dtype,
            "device": run.device,
        },
        "versions": versions(),
        "sampling": asdict(job.sampling),
        "traces": item_traces,
    }
