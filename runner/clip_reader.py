"""Clips decoded ahead in threads, their views handed over in order; a clip that breaks is recorded, not raised.

Memory is bounded: every job has a short queue of its own, filled by one worker and emptied by the consumer in the order
of the jobs. Jobs are begun in order, so the earliest unfinished one always has a worker, and nothing can block; how far
workers run ahead is bounded by `ahead` jobs and `depth` results a job, whatever a job's length.
"""

import queue
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from video_contrast.addresses import FULL
from video_contrast.errors import VideoContrastError
from video_contrast.runner.conditions import Visual
from video_contrast.runner.embedding_store import frames_digest
from video_contrast.runner.kinds.base import ClipFrames
from video_contrast.runner.memory import RunCounts
from video_contrast.runner.views import FrameStore, Sampling, View, held_bytes, views_of
from video_contrast.video import Clip, Counter, UnseenEdit

T = TypeVar("T")
FRAMES_HELD = 4 << 30  # bytes; 91 views of a clip at 1920x1080 hold up to 1.9 GB
# Errors that a broken clip may raise from decoding, perturbing or preparing. If every clip does, the run fails with it.
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
                views = views_of(
                    self.root, clip, visuals, self.sampling, counter=counter,
                    store=self.frames, perturb_on=self.perturb_on,
                )  # fmt: skip
                for view in views:
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
        """The views of a clip; where they break off, the counts hold why. What the consumer raises passes."""
        try:
            yield from results
        except _BROKEN as error:
            if isinstance(error, OSError) and error.errno in FULL:
                raise
            self.counts.broken[clip] = str(error)
            if isinstance(error, UnseenEdit):
                self.counts.unseen.add(clip)

    def affordable_workers(self, clip: Clip, visuals: Sequence[Visual]) -> int:
        """The number of threads that hold at most `FRAMES_HELD` bytes of frames, if all clips are like this one."""
        n_bytes = 0
        with suppress(VideoContrastError):  # it is recorded when its turn comes
            n_bytes = held_bytes(self.root, clip, visuals, self.sampling) if visuals else 0
        return min(self.workers, max(1, FRAMES_HELD // max(1, n_bytes)))


J = TypeVar("J")
R = TypeVar("R")
_END = object()  # behind a job's results, which are of any type


def feed(
    jobs: Iterable[J], work: Callable[[J], Iterator[R]], *, workers: int, ahead: int, depth: int
) -> Iterator[tuple[J, Iterator[R]]]:
    """Yields each job with an iterator over `work(job)`, which raises what the work raised.

    `jobs`: asked for as they are begun; `ahead` of them are begun and not yet handed over. `work` is called in a worker
    thread, or where the iterator is consumed if `workers` is 0.
    """
    if workers <= 0:
        yield from ((job, iter(work(job))) for job in jobs)
        return
    has_stopped = threading.Event()
    begun: deque[tuple[J, queue.Queue[Any], Future[None]]] = deque()
    rest = iter(jobs)
    pool = ThreadPoolExecutor(workers)

    def fill(line: queue.Queue[Any], job: J) -> None:
        try:
            for result in work(job):
                _put(line, result, has_stopped)
        finally:
            _put(line, _END, has_stopped)

    def begin(count: int) -> None:
        for job in islice(rest, count):
            line: queue.Queue[Any] = queue.Queue(maxsize=max(1, depth))
            begun.append((job, line, pool.submit(fill, line, job)))

    try:
        begin(max(ahead, workers))
        while begun:
            job, line, future = begun.popleft()
            results = _drain(line, future)
            yield job, results
            for _ in results:  # clips that the consumer left, so that the worker can finish
                pass
            begin(1)
    finally:
        has_stopped.set()
        pool.shutdown(cancel_futures=True)


def _put(line: queue.Queue[Any], value: object, has_stopped: threading.Event) -> None:
    """Waits for room; once the consumer went away it raises `queue.Full`, which ends the work."""
    while True:
        try:
            line.put(value, timeout=0.2)
            return
        except queue.Full:
            if has_stopped.is_set():
                raise


def _drain(line: queue.Queue[Any], work: Future[None]) -> Iterator[Any]:
    while (value := line.get()) is not _END:
        yield value
    work.result()  # raises what the work raised
