"""Work done ahead in threads, handed over in order, with bounded memory.

Every job has a short queue of its own, filled by one worker and emptied by the consumer in the order of the jobs. Jobs
are begun in order, so the earliest unfinished one always has a worker, and nothing can block; how far workers run ahead
is bounded by `ahead` jobs and `depth` results a job, whatever a job's length.
"""

import queue
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import Any, TypeVar

J = TypeVar("J")
T = TypeVar("T")
_END = object()  # behind a job's results, which are of any type


def feed(
    jobs: Iterable[J], work: Callable[[J], Iterator[T]], *, workers: int, ahead: int, depth: int
) -> Iterator[tuple[J, Iterator[T]]]:
    """Yields each job with an iterator over `work(job)`, which raises what the work raised.

    `jobs`: asked for as they are begun; `ahead` of them are begun and not yet handed over. `work` is called in a worker
    thread, or where the iterator is consumed if `workers` is 0.
    """
    if workers <= 0:
        yield from ((job, iter(work(job))) for job in jobs)
        return
    stopped = threading.Event()
    begun: deque[tuple[J, queue.Queue[Any], Future[None]]] = deque()
    rest = iter(jobs)
    pool = ThreadPoolExecutor(workers)

    def begin(count: int) -> None:
        for job in islice(rest, count):
            line: queue.Queue[Any] = queue.Queue(maxsize=max(1, depth))
            begun.append((job, line, pool.submit(_fill, line, work, job, stopped)))

    try:
        begin(max(ahead, workers))
        while begun:
            job, line, future = begun.popleft()
            results = _drain(line, future)
            yield job, results
            for _ in results:  # what the consumer left, so that the worker can finish
                pass
            begin(1)
    finally:
        stopped.set()
        pool.shutdown(cancel_futures=True)


def _fill(line: queue.Queue[Any], work: Callable[[J], Iterator[T]], job: J, stopped: threading.Event) -> None:
    try:
        for result in work(job):
            _put(line, result, stopped)
    finally:
        _put(line, _END, stopped)


def _put(line: queue.Queue[Any], value: object, stopped: threading.Event) -> None:
    """Waits for room; once the consumer went away it raises `queue.Full`, which ends the work."""
    while True:
        try:
            line.put(value, timeout=0.2)
            return
        except queue.Full:
            if stopped.is_set():
                raise


def _drain(line: queue.Queue[Any], work: Future[None]) -> Iterator[Any]:
    while (value := line.get()) is not _END:
        yield value
    work.result()  # raises what the work raised
