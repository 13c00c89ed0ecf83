"""The work of a stage, dealt out in chunks: a process takes the next one when it is through with its last.

So a slow process delays nobody, and the chunks of one that ended are taken by others. What is in a chunk depends on the
plan alone, so every row comes out the same to the last bit whoever computes it, and a chunk that two processes carried
out (one was believed to have ended) is the same twice.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from video_contrast.runner.processes import STOPPED, Processes
from video_contrast.runner.run_counts import RunCounts


@dataclass
class WorkQueue:
    """Deals the numbers of chunks, and collects what carrying them out counted.

        for numbers in queue:
            for number in numbers:  # taken from the queue one by one
                queue.done(number, counts)

    `processes`: that share the work. `name`: of the stage, once a run.
    """

    processes: Processes
    name: str
    size: int
    _counts: RunCounts = field(default_factory=RunCounts)  # of a process alone, added up
    _done: set[int] = field(default_factory=set)  # chunks of which is known that they are done
    _waiting_since: float = 0.0  # when all chunks had been dealt

    def __iter__(self) -> Iterator[Iterator[int]]:
        """Yields the chunks of this process, then those of processes that ended, until all are done."""
        if self.processes.count == 1:
            yield iter(range(self.size))
            return
        yield self._dealt()
        self._waiting_since = time.monotonic()
        pause = 0.005
        while (left := self._left_behind()) or len(self._done) < self.size:
            if left:
                yield iter(left)
            else:
                time.sleep(pause)
                pause = min(2 * pause, 0.5)

    def done(self, number: int, counts: RunCounts) -> None:
        """Says that a chunk is done, and what was counted meanwhile."""
        if self.processes.count == 1:
            self._counts.add(counts)
            self._done.add(number)
            return
        self.processes.put(f"{self.name}/counts{number}", counts)
        self.processes.add(f"{self.name}/done", 1)

    @property
    def n_done(self) -> int:
        """How many chunks are done, for a progress bar."""
        if self.processes.count == 1:
            return len(self._done)
        return min(self.size, self.processes.add(f"{self.name}/done", 0))

    def counts(self) -> Iterator[RunCounts]:
        """What was counted in all chunks, which must be done."""
        if self.processes.count == 1:
            return iter([self._counts])
        return (self.processes.get(f"{self.name}/counts{number}") for number in range(self.size))

    def _dealt(self) -> Iterator[int]:
        while (number := self.processes.add(f"{self.name}/next", 1) - 1) < self.size:
            self.processes.put(f"{self.name}/owner{number}", self.processes.rank)
            yield number

    def _left_behind(self) -> list[int]:
        """The first chunk of a process that ended, taken by this one; [] where there is none."""
        for number in range(self.size):
            if number in self._done:
                continue
            if self.processes.has(f"{self.name}/counts{number}"):
                self._done.add(number)
                continue
            owner = f"{self.name}/owner{number}"
            if not self.processes.has(owner):  # it ended between two messages, or is about to send the second one
                rank, ended = -1, time.monotonic() - self._waiting_since > STOPPED
            else:
                rank = self.processes.get(owner)
                ended = self.processes.has_ended(rank)
            if not ended:
                continue
            if self.processes.add(f"{self.name}/taken{number}/{rank}", 1) == 1:
                self.processes.put(owner, self.processes.rank)
                return [number]
        return []
