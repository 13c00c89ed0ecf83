"""All checks of a model, in order."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from video_contrast.errors import VideoContrastError
from video_contrast.runner.doctor.captions import check_captions
from video_contrast.runner.doctor.cost import check_cost
from video_contrast.runner.doctor.known import check_lengths, check_recipe
from video_contrast.runner.doctor.pictures import check_pictures
from video_contrast.runner.doctor.probe import Probe, make_probe
from video_contrast.runner.doctor.reacting import check_frames, check_reactions
from video_contrast.runner.doctor.result import Outcome, SelfTest
from video_contrast.runner.doctor.steady import check_finite, check_steadiness
from video_contrast.runner.doctor.truth import check_channels, check_truth
from video_contrast.runner.evidence import traces
from video_contrast.runner.kinds.base import TextScorer

if TYPE_CHECKING:
    from video_contrast.runner.process_share import Run

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
