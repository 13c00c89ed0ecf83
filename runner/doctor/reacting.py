"""Scores react to what is shown and said: to clip, grey frames, inside, order, times, caption, and every frame."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from video_contrast.runner.doctor.probe import GREY, Probe, difference, finite, grey
from video_contrast.runner.doctor.result import Outcome
from video_contrast.runner.kinds.base import ClipFrames

SLOW = 20.0  # seconds at least, since some families write whole seconds
SEVERAL = 4  # clips; fewer plain answers may all stay the same by chance
BORDER = 3  # pixels; what the text of a printed array shows of it
PLACES = 4  # of a clip, at which a frame is exchanged


def check_reactions(probe: Probe) -> Iterator[Outcome]:
    """The verdicts "clip", "grey", "pixels", "reversal", "times" and "caption"."""
    clip = probe.clips[0]
    yield _other_clip(probe)
    yield _must(probe, "grey", grey(clip), "grey frames")
    if min(clip.frames.shape[1:3]) > 4 * BORDER:
        inside = clip.frames.copy()
        inside[:, BORDER:-BORDER, BORDER:-BORDER] = GREY
        what = f"all but {BORDER} pixels at the borders turned grey"
        yield _must(probe, "pixels", replace(clip, frames=inside), what)
    if moving := [n for n, shown in enumerate(probe.clips) if not np.array_equal(shown.frames, shown.frames[::-1])]:
        yield _reversal(probe, moving[:2])
    if len(clip.frames) > 1:
        yield _times(probe)
    yield _caption(probe)


def _other_clip(probe: Probe) -> Outcome:
    """One clip tells of scores; of plain answers, which most changes leave as they are, it takes several."""
    if not probe.model.in_steps or len(probe.clips) < SEVERAL:
        return _must(probe, "clip", _exchanged(probe, 0), "another clip")
    for n in range(len(probe.clips)):
        change = probe.reaction(_exchanged(probe, n), n)
        if probe.reacts(change):
            return Outcome("clip", "pass", "another clip: answers change", probe.numbers(change))
    says = f"other clips: none of {len(probe.clips)} answers changes, so the model is not given the video"
    return Outcome("clip", "fail", says, {"items": len(probe.clips)})


def _exchanged(probe: Probe, n: int) -> ClipFrames:
    return replace(probe.other(n), source=probe.clips[n].source)


def _must(probe: Probe, check: str, changed: ClipFrames, what: str) -> Outcome:
    change = probe.reaction(changed)
    if probe.reacts(change):
        says = f"{what}: scores change by {probe.in_units(change):.2g} sd"
        return Outcome(check, "pass", says, probe.numbers(change))
    says = f"{what}: scores stay the same, so the model is not given the video"
    return Outcome(check, *probe.unmoved(says), probe.numbers(change))


def _reversal(probe: Probe, moving: Sequence[int]) -> Outcome:
    """A fact, of clips that are another backwards: a bag of frames is order-blind, and right to be."""
    turned = {n: replace(probe.clips[n], frames=probe.clips[n].frames[::-1].copy()) for n in moving}
    change = max(probe.reaction(clip, n) for n, clip in turned.items())
    says = f"sees order: reversed clips differ by {probe.in_units(change):.2g} sd"
    if probe.is_steady(change):
        says = "order-blind: reversed clips have the same scores"
    return Outcome("reversal", "fact", says, probe.numbers(change))


def _times(probe: Probe) -> Outcome:
    clip = probe.clips[0]
    if wrong := _told_wrong(probe):
        return wrong
    span = max(clip.times[-1] - clip.times[0], 0.1)
    factor = max(4.0, SLOW / span)
    slower = tuple(factor * (time - clip.times[0]) + clip.times[0] for time in clip.times)
    change = probe.reaction(replace(clip, times=slower, seconds=factor * clip.seconds))
    numbers = probe.numbers(change)
    reads = probe.model.reads_times
    if reads is None and "times_told" in probe.rendered:  # of an embedder or reranker, whatever the model inside
        reads = True
    if change > probe.noise:
        return Outcome("times", "fact" if reads is None else "pass", "reads the times of the frames", numbers)
    if reads:
        says = "the family is trained with the times of frames, and other times change nothing: a constant rate is told"
        return Outcome("times", *probe.unmoved(says, may_be_small=True), numbers)
    return Outcome("times", "fact", "does not read the times of the frames", numbers)


def _told_wrong(probe: Probe) -> Outcome | None:
    """What is wrong with the times that the model is told of the longest clip, where it is known what it is told."""
    if "times_told" not in probe.rendered:
        return None
    spans = [clip.times[-1] - clip.times[0] for clip in probe.clips]
    longest = int(np.argmax(spans))
    times = probe.clips[longest].times
    times_told = probe.model.rendered_input(probe.clips[longest], probe.captions_of(longest)).get("times_told")
    if not isinstance(times_told, list) or not 1 < len(times_told) <= len(times):
        return None
    centres = [float(part.mean()) for part in np.array_split(np.array(times), len(times_told))]
    span, expected = times_told[-1] - times_told[0], centres[-1] - centres[0]
    slack = 1.0 if all(time == int(time) for time in times_told) else 0.2  # some families write whole seconds
    if abs(span - expected) <= slack + 0.1 * expected:
        return None
    says = f"the clip's frames lie {expected:.2g} s apart, and the model is told {span:.2g} s"
    return Outcome("times", "fail", says, {"told_seconds": span, "seconds": expected})


def _caption(probe: Probe) -> Outcome:
    if len(probe.captions) < 2:
        return Outcome("caption", "fact", "not tested: the set has a single caption")
    change = max((float(np.ptp(finite(row))) for row in probe.clean if len(finite(row)) > 1), default=0.0)
    if change > 0:
        says = f"other captions: {probe.in_units(change):.2g} sd apart"
        return Outcome("caption", "pass", says, probe.numbers(change))
    return Outcome("caption", *probe.unmoved("all captions of a clip have the same score"), probe.numbers(change))


def check_frames(probe: Probe, sampled: int) -> Outcome:
    """The verdict "frames".

    A clip of one frame, repeated, gets another clip's frame at one place after the other: the scores must change. Where
    they do not, the two frames change parts, so that a maximum over frames shows it too.
    """
    count = len(probe.clips[0].frames)
    if count != sampled:
        return Outcome("frames", "fail", f"{count} frames are handed over, {sampled} were asked for")
    places = sorted({int(n) for n in np.linspace(0, count - 1, PLACES)})
    clip = probe.clips[0]
    own, foreign = clip.frames[0], _like(probe.other(0).frames[0], clip.frames[0])
    seen = {*_shown_places(probe, own, foreign, places)}
    if len(seen) < len(places):
        seen.update(_shown_places(probe, foreign, own, [place for place in places if place not in seen]))
    numbers: dict[str, float] = {"frames": count, "tried": len(places), "seen": len(seen)}
    if len(seen) == len(places):
        says = f"{count} frames asked for and handed over; all {len(places)} tried show"
        return Outcome("frames", "pass", says, numbers)
    dark = ", ".join(str(place) for place in places if place not in seen)
    says = f"{count} frames are handed over, and what frame {dark} shows changes nothing"
    return Outcome("frames", *probe.unmoved(says, may_be_small=True), numbers)


def _shown_places(probe: Probe, still: np.ndarray, other: np.ndarray, places: Sequence[int]) -> Iterator[int]:
    """The places of a clip of one frame, repeated, at which another frame changes the scores."""

    def scores(frames: np.ndarray) -> np.ndarray:
        return probe.scores([replace(probe.clips[0], frames=frames)], probe.captions_of(0))

    frames = np.repeat(still[None], len(probe.clips[0].frames), 0)
    unchanged = scores(frames)
    for place in places:
        changed = frames.copy()
        changed[place] = other
        if difference(unchanged, scores(changed)) > 0:
            yield place


def _like(frame: np.ndarray, model: np.ndarray) -> np.ndarray:
    """A frame in the size of another one, by repeating and cutting pixels."""
    height, width = model.shape[:2]
    rows = np.arange(height) * frame.shape[0] // height
    columns = np.arange(width) * frame.shape[1] // width
    return np.asarray(frame[rows][:, columns])
