"""Work done ahead in threads, handed over in order, with bounded memory.

Every job has a short queue of its own, filled by one worker and emptied by the consumer in the order of the jobs. The
earliest unfinished job always has a worker, so nothing can block; how far workers run ahead is bounded by `ahead`
jobs and `depth` results a job, whatever a job's length.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

J = TypeVar("J")
T = TypeVar("T")
_END = object()


class _Stopped(Exception):
    """The consumer went away."""


def feed(
    jobs: Sequence[J], work: Callable[[J], Iterator[T]], *, workers: int, ahead: int, depth: int
) -> Iterator[tuple[J, Iterator[T]]]:
    """Yields each job with an iterator over `work(job)`, which raises what the work raised.

    Args:
        jobs: in the order in which they are wanted.
        work: called in a worker thread, or where the iterator is consumed if `workers` is 0.
        workers: threads.
        ahead: jobs begun and not yet handed over.
        depth: results of one job waiting.
    """
    if workers <= 0 or len(jobs) == 0:
        for job in jobs:
            yield job, iter(work(job))
        return
    stop = threading.Event()
    room = threading.Semaphore(max(ahead, workers))
    lines: list[queue.Queue[Any]] = [queue.Queue(maxsize=max(1, depth)) for _ in jobs]
    numbers = iter(range(len(jobs)))
    lock = threading.Lock()
    threads = [
        threading.Thread(target=_run, args=(jobs, work, lines, numbers, lock, room, stop), daemon=True)
        for _ in range(min(workers, len(jobs)))
    ]
    for thread in threads:
        thread.start()
    try:
        for number, job in enumerate(jobs):
            drained = _drain(lines[number])
            yield job, drained
            for _ in drained:  # what the consumer left, so that the worker can finish
                pass
            room.release()
    finally:
        stop.set()
        for thread in threads:
            thread.join(timeout=5)


def _run(
    jobs: Sequence[J],
    work: Callable[[J], Iterator[T]],
    lines: list[queue.Queue[Any]],
    numbers: Iterator[int],
    lock: threading.Lock,
    room: threading.Semaphore,
    stop: threading.Event,
) -> None:
    while not stop.is_set():
        if not room.acquire(timeout=0.2):
            continue
        with lock:  # numbers are taken in order, so the earliest waiting job is always in work
            number = next(numbers, None)
        if number is None:
            return
        try:
            try:
                for result in work(jobs[number]):
                    _put(lines[number], result, stop)
                _put(lines[number], _END, stop)
            except _Stopped:
                raise
            except BaseException as error:  # handed to the consumer, who raises it
                _put(lines[number], _Failure(error), stop)
        except _Stopped:
            return


class _Failure:
    def __init__(self, error: BaseException) -> None:
        self.error = error


def _put(line: queue.Queue[Any], value: Any, stop: threading.Event) -> None:
    while True:
        try:
            line.put(value, timeout=0.2)
            return
        except queue.Full:
            if stop.is_set():
                raise _Stopped from None


def _drain(line: queue.Queue[Any]) -> Iterator[Any]:
    while True:
        value = line.get()
        if value is _END:
            return
        if isinstance(value, _Failure):
            raise value.error
        yield value
