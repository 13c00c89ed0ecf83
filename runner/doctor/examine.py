"""All checks of a model, in order; those of what its family's recipe says holds, and of what a run costs."""

import sys
import time
from collections.abc import Callable, Iterator

import numpy as np

from video_contrast.errors import VideoContrastError
from video_contrast.runner.doctor.captions import check_captions
from video_contrast.runner.doctor.pictures import check_pictures
from video_contrast.runner.doctor.probe import Probe, make_probe
from video_contrast.runner.doctor.reacting import check_frames, check_reactions
from video_contrast.runner.doctor.result import Outcome, SelfTest
from video_contrast.runner.doctor.steady import check_finite, check_steadiness
from video_contrast.runner.doctor.truth import check_channels, check_truth
from video_contrast.runner.evidence import traces
from video_contrast.runner.kinds.base import Encoder, ModelSource, TextScorer, product
from video_contrast.runner.kinds.recipes import recipe_of
from video_contrast.runner.plan import Plan
from video_contrast.runner.process_share import Run

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
    refused: ValueError | None = None
    for scored in (False, True):
        probe = make_probe(run, scored=scored)
        if refused and not probe.clips:
            few = "; it may need --frames 2 or more" if run.job.sampling.frames == 1 else ""
            raise VideoContrastError(f"the model takes none of the clips that were tried: {refused}{few}") from refused
        if not probe.clips:
            return SelfTest(exempt=NOTHING_READ), None
        try:
            verdicts = tuple(_verdicts(probe, run))
            break
        except ValueError as error:  # of a clip that the model does not take: once more, without such clips
            if scored:
                raise
            refused = error
    traced = traces(probe)
    seconds = time.perf_counter() - began
    return SelfTest(verdicts, len(probe.clips), seconds, probe.rendered, traces=traced), probe


def _verdicts(probe: Probe, run: Run) -> Iterator[Outcome]:
    source, kind, sampling = run.job.source, run.job.kind.name, run.job.sampling
    known = check_recipe(source, kind), check_lengths(probe, source, kind)
    yield from (outcome for outcome in known if outcome)
    scores = check_finite(probe)
    yield scores
    if scores.state == "fail":  # nothing else can be said of such a model
        return
    yield from check_steadiness(probe)
    yield from check_reactions(probe)
    # by a rate every clip has a number of its own
    yield check_frames(probe, sampling.frames if sampling.fps is None else len(probe.clips[0].frames))
    yield from check_captions(probe, run.plan.texts)
    yield check_truth(probe)
    yield check_channels(probe)
    yield check_pictures(probe, source)
    yield check_cost(probe, run.plan, run.processes.count)


def check_recipe(source: ModelSource, kind: str) -> Outcome | None:
    """The verdict "recipe"; None for models that are no checkpoints."""
    if not source.config:
        return None
    recipe = recipe_of(source, kind)
    if recipe is None:
        what = source.architecture or source.model_type
        return Outcome("recipe", "doubt", f"no recipe is written down for {what}: it is asked as its library does")
    wrong = recipe.contradictions(source.config)
    if wrong:
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
