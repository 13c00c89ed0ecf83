"""Every frame that is handed over is looked at."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np

from video_contrast.runner.doctor.probe import Probe, difference
from video_contrast.runner.doctor.result import Outcome

PLACES = 4  # of a clip that are tried


def check_frames(probe: Probe, sampled: int) -> Outcome:
    """The verdict "frames".

    A clip of one frame, repeated, gets another clip's frame at one place after the other: the scores must change. Where
    they do not, the two frames change parts, so that a maximum over frames shows it too.

    Args:
        probe: the items.
        sampled: frames a clip that the run asks for.
    """
    count = len(probe.clips[0].frames)
    if count != sampled:
        return Outcome("frames", "fail", f"{count} frames are handed over, {sampled} were asked for")
    places = sorted({int(n) for n in np.linspace(0, count - 1, PLACES)})
    pairs = [_Still(probe, *pair) for pair in ((0, 1), (1, 0))]
    seen = [any(still.shows(place) for still in pairs) for place in places]
    numbers: dict[str, float] = {"frames": count, "tried": len(places), "seen": sum(seen)}
    if all(seen):
        return Outcome(
            "frames", "pass", f"{count} frames asked for and handed over; all {len(places)} tried show", numbers
        )
    dark = ", ".join(str(place) for place, shows in zip(places, seen, strict=True) if not shows)
    says = f"{count} frames are handed over, and what frame {dark} shows changes nothing"
    return Outcome("frames", *probe.unmoved(says, may_be_small=True), numbers)


class _Still:
    """A clip of one frame, repeated: frame `base` of two, the first of a clip and that of another one."""

    def __init__(self, probe: Probe, base: int, odd: int) -> None:
        self.probe, self.clip = probe, probe.clips[0]
        pictures = [self.clip.frames[0], _like(probe.other(0).frames[0], self.clip.frames[0])]
        self.still, self.odd = np.repeat(pictures[base][None], len(self.clip.frames), 0), pictures[odd]

    @cached_property
    def unchanged(self) -> np.ndarray:
        return self._scores(self.still)

    def shows(self, place: int) -> bool:
        """Whether another frame at `place` changes the scores."""
        changed = self.still.copy()
        changed[place] = self.odd
        return difference(self.unchanged, self._scores(changed)) > 0

    def _scores(self, frames: np.ndarray) -> np.ndarray:
        return self.probe.scores([replace(self.clip, frames=frames)], self.probe.captions_of(0))


def _like(frame: np.ndarray, model: np.ndarray) -> np.ndarray:
    """A frame in the size of another one, by repeating and cutting pixels."""
    height, width = model.shape[:2]
    rows = np.arange(height) * frame.shape[0] // height
    columns = np.arange(width) * frame.shape[1] // width
    return np.asarray(frame[rows][:, columns])
