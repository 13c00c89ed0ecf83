"""How many requests are in flight at a server: more while its answers come as fast, fewer where they do not."""

import statistics
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

MOST = 64
BEGIN = 2
HOLDS, GROWN = 1.5, 2.5  # times the best latency: up to which requests are added, and from which they are halved


class Pace:
    """Lets so many requests through at once.

    After as many answers as there may be requests, their median latency is compared with the best one so far: while it
    holds the number doubles, later grows by one; where it has grown, or the server is busy, it is halved. `fixed`: so
    many, always; 0 measures. `clock`: seconds.

    Attributes:
        limit: requests in flight at most, now.
        most: the largest limit so far.
    """

    def __init__(self, fixed: int = 0, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.fixed = fixed
        self.limit = self.most = fixed or BEGIN
        self._clock = clock
        self._running = 0
        self._room = threading.Condition()
        self._latencies: list[float] = []
        self._best = 0.0
        self._doubling = True

    @property
    def threads(self) -> int:
        """As many threads as can ever be of use."""
        return self.fixed or MOST

    @contextmanager
    def slot(self) -> Iterator[None]:
        """Waits until a request may be sent; its latency counts if the block ends well."""
        with self._room:
            self._room.wait_for(lambda: self._running < self.limit)
            self._running += 1
        began = self._clock()
        try:
            yield
            with self._room:
                self._note(self._clock() - began)
        finally:
            with self._room:
                self._running -= 1
                self._room.notify_all()

    def busy(self) -> None:
        """The server said that it is asked too much."""
        with self._room:
            self._fewer()

    def _note(self, latency: float) -> None:
        self._latencies.append(latency)
        if self.fixed or len(self._latencies) < self.limit:
            return
        median = statistics.median(self._latencies)
        self._latencies.clear()
        self._best = min(self._best or median, median)
        if median <= HOLDS * self._best:
            self.limit = min(MOST, 2 * self.limit if self._doubling else self.limit + 1)
            self.most = max(self.most, self.limit)
        elif median > GROWN * self._best:
            self._fewer()
        else:
            self._doubling = False

    def _fewer(self) -> None:
        if not self.fixed:
            self.limit, self._doubling = max(1, self.limit // 2), False
            self._latencies.clear()
