"""Clips decoded ahead in threads, their views handed over in order; a clip that breaks is recorded, not raised."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TypeVar

import numpy as np

from video_contrast.addresses import FULL
from video_contrast.errors import VideoContrastError
from video_contrast.runner.conditions import Visual
from video_contrast.runner.frame_store import FrameStore
from video_contrast.runner.keys import frames_digest
from video_contrast.runner.kinds.base import ClipFrames
from video_contrast.runner.read_ahead import feed
from video_contrast.runner.run_counts import RunCounts
from video_contrast.runner.views import Sampling, View, held_bytes, views_of
from video_contrast.video import Clip, Counter, UnseenEdit

T = TypeVar("T")
FRAMES_HELD = 4 << 30  # bytes; 91 views of a clip at 1920x1080 hold up to 1.9 GB
# What a broken clip may raise from decoding, perturbing or preparing. If every clip does, the run fails with it.
_BROKEN = (VideoContrastError, ValueError, OSError)


@dataclass(frozen=True)
class ClipReader:
    """Reads the views of clips."""

    root: Path  # the folder that the clips' video paths are relative to
    sampling: Sampling  # how many frames, where, and whether of damaged files too
    workers: int  # decoding threads at most
    counts: RunCounts  # is told of decoded frames and of broken clips
    frames: FrameStore | None = None  # decoded frames, for the other models of the same call
    perturb_on: str | None = None  # the torch device of perturbations that have a kernel there; None: numpy

    def read(
        self,
        clips: Iterable[Clip],
        visuals_of: Callable[[Clip], Sequence[Visual]],
        prepare: Callable[[ClipFrames], T],
        *,
        ahead: int,
        depth: int,
    ) -> Iterator[tuple[Clip, Iterator[tuple[View, T]]]]:
        """Yields each clip with an iterator over its views and what `prepare` made of their frames.

        `clips`: in the order in which they are handed over, asked for as their turn to be decoded comes. `visuals_of`
        (the treatments to show of a clip) and `prepare` (once for views that show the same frames) are called in
        decoding threads. `ahead`: clips begun and not yet handed over, besides one a thread.
        """

        def work(clip: Clip) -> Iterator[tuple[View, T]]:
            visuals = visuals_of(clip)
            if not visuals:
                return
            counter, digest = Counter(), ""
            previous: np.ndarray | None = None
            try:
                shown = views_of(
                    self.root, clip, visuals, self.sampling, counter=counter,
                    store=self.frames, perturb_on=self.perturb_on,
                )  # fmt: skip
                for view in shown:
                    if view.frames is not previous:
                        ready = prepare(ClipFrames(view.frames, view.times, clip, view.seconds))
                    previous = view.frames
                    if view.visual.name is None:
                        digest = frames_digest(view.frames)
                    yield view, ready
            finally:
                self.counts.read(clip, counter, len(visuals), digest)

        rest = iter(clips)
        first = next(rest, None)
        if first is None:
            return
        workers = self.affordable_workers(first, visuals_of(first))
        for clip, results in feed(chain([first], rest), work, workers=workers, ahead=workers + ahead, depth=depth):
            yield clip, self._until_broken(results, clip)

    def _until_broken(self, results: Iterator[T], clip: Clip) -> Iterator[T]:
        """The views of a clip; where they break off, the counts hold the reason.

        What the consumer raises (the model, a full disk) is no fault of the clip, and passes.
        """
        try:
            yield from results
        except _BROKEN as error:
            if isinstance(error, OSError) and error.errno in FULL:
                raise
            self.counts.broken[clip] = str(error)
            if isinstance(error, UnseenEdit):
                self.counts.unseen.add(clip)

    def affordable_workers(self, clip: Clip, visuals: Sequence[Visual]) -> int:
        """How many threads hold no more than `FRAMES_HELD` bytes of frames, if all clips are like this one."""
        if not visuals:
            return self.workers
        try:
            held = held_bytes(self.root, clip, visuals, self.sampling)
        except VideoContrastError:  # it is recorded when its turn comes
            return self.workers
        return min(self.workers, max(1, FRAMES_HELD // max(1, held)))
