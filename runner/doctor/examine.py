"""All checks of a model, in order."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from video_contrast.errors import VideoContrastError
from video_contrast.runner.doctor.captions import check_captions
from video_contrast.runner.doctor.cost import check_cost
from video_contrast.runner.doctor.probe import ClipSource, Probe, make_probe
from video_contrast.runner.doctor.reacting import check_reactions
from video_contrast.runner.doctor.result import Outcome, SelfTest
from video_contrast.runner.doctor.seeing import check_frames
from video_contrast.runner.doctor.steady import check_finite, check_steadiness
from video_contrast.runner.doctor.truth import check_channels, check_truth
from video_contrast.runner.kinds.base import Encoder, PairScorer, TextScorer
from video_contrast.runner.plan import Plan
from video_contrast.runner.views import Sampling

NEVER_SEES = "never sees a video"
NOTHING_READ = "no clip of the set could be read"


def examine(
    model: Encoder | PairScorer | TextScorer,
    plan: Plan,
    source: ClipSource,
    *,
    half: bool = False,
    batch_size: int = 32,
    processes: int = 1,
) -> tuple[SelfTest, Probe | None]:
    """Tests a model on a few items of a plan.

    Args:
        model: loaded. One that never sees a video is exempt.
        plan: of the run that is to come.
        source: of the frames.
        half: whether it computes in half precision, where rounding shows.
        batch_size: of the run.
        processes: that share the run.

    Returns:
        The verdicts, and the items; None where nothing was tested.

    Raises:
        VideoContrastError: the model cannot score at all, or takes none of the clips.
    """
    began, sampling = time.perf_counter(), source.sampling
    if isinstance(model, TextScorer):
        return SelfTest(exempt=NEVER_SEES), None
    refused: ValueError | None = None
    for scored in (False, True):
        probe = make_probe(model, plan, source, half=half, batch_size=batch_size, scored=scored)
        if refused and not probe.clips:
            few = "; it may need --frames 2 or more" if sampling.frames == 1 else ""
            raise VideoContrastError(f"the model takes none of the clips that were tried: {refused}{few}") from refused
        if not probe.clips:
            return SelfTest(exempt=NOTHING_READ), None
        try:
            verdicts = tuple(_verdicts(probe, plan, sampling, processes))
            break
        except ValueError as error:  # of a clip that the model does not take: once more, without such clips
            if scored:
                raise
            refused = error
    return SelfTest(verdicts, len(probe.clips), time.perf_counter() - began, probe.rendered), probe


def first_scores(probe: Probe) -> np.ndarray:
    """What every process computes, so that they can be compared: the first clip's scores."""
    return probe.scores(probe.clips[:1], probe.captions_of(0))


def _verdicts(probe: Probe, plan: Plan, sampling: Sampling, processes: int) -> Iterator[Outcome]:
    scores = check_finite(probe)
    yield scores
    if scores.state == "fail":  # nothing else can be said of such a model
        return
    yield from check_steadiness(probe)
    yield from check_reactions(probe)
    # by a rate every clip has a number of its own
    yield check_frames(probe, sampling.frames if sampling.fps is None else len(probe.clips[0].frames))
    yield from check_captions(probe, plan.texts)
    yield check_truth(probe)
    yield check_channels(probe)
    yield check_cost(probe, plan, processes)
