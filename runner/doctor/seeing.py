"""Every frame that is handed over is looked at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from video_contrast.runner.doctor.probe import Probe, difference
from video_contrast.runner.doctor.result import Outcome

PLACES = 4  # of a clip that are tried


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
