"""The processes of a run: which of them this is, what they tell each other, and how work is dealt out to them.

They talk through the store of their launcher, in which every process has a pulse; one whose pulse has stopped, by the
clock of whoever looks, has ended. A process takes the next chunk of a stage when it is through with its last
(`WorkQueue`), and the chunks of one that ended are taken by others. What is in a chunk depends on the plan alone, so
every row comes out the same to the last bit, whoever computes it and how often.
"""

import datetime
import os
import pickle
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

from video_contrast.addresses import local_copy
from video_contrast.errors import VideoContrastError
from video_contrast.launcher import ENDED, THEN, on_cpu
from video_contrast.runner.memory import RunCounts

T = TypeVar("T")
MEETING = datetime.timedelta(minutes=10)
PULSE, STOPPED = 2.0, 30.0  # seconds between two beats, and without one
LAST_WORDS = 5.0  # seconds
PART = 4 << 20  # bytes of a value; the store takes 8 MB
_RUNS = count()  # of this process; all processes of a launcher carry out the same


class Processes:
    """The processes that share a run, started by `torchrun` or `accelerate launch`; one where there was no launcher.

    `device`: what `--device` says; "cpu" keeps accelerate from taking a GPU. `step`: how long one may wait for the
    others in what is not ours (a training's sums of gradients). Raises VideoContrastError: the others did not come
    within `MEETING`.
    """

    def __init__(self, device: str, step: datetime.timedelta = MEETING) -> None:
        # Else torch prints the stack of its own code wherever another process ends.
        os.environ.setdefault("TORCH_CPP_LOG_LEVEL", "ERROR")
        import torch
        from accelerate import PartialState

        self._store: Any = None
        if int(os.environ.get("WORLD_SIZE", 1)) <= 1:
            self._state = PartialState()
        else:
            cpu = device == "cpu" or on_cpu()
            with _one_sentence(f"the {os.environ['WORLD_SIZE']} processes of the run did not meet within {MEETING}"):
                self._state = PartialState(cpu=cpu, timeout=MEETING)
                self._store = _launcher_store(int(self._state.process_index), os.getpid())
            if step != MEETING:  # torch has no public way to meet within one time and then to work with another
                torch.distributed.distributed_c10d._set_pg_timeout(step)
        self.rank = int(self._state.process_index)  # from 0
        self.count = int(self._state.num_processes)
        self.device = str(self._state.device)  # that accelerate gives this process
        self._prefix = f"run{next(_RUNS)}" if self._store else ""
        self._exchanges = count()
        self._beats: dict[int, tuple[int, float]] = {}  # of other processes: the last one seen, and when

    @property
    def first(self) -> bool:
        """Whether this is the process that plans, joins and writes."""
        return self.rank == 0

    def from_first(self, make: Callable[[], T]) -> T:
        """`make()` of the first process, for all; its error is everyone's, so that none waits for ever."""
        if self.count == 1:
            return make()
        key = f"first{next(self._exchanges)}"
        if not self.first:
            value, error = self._awaited(key, of=0)
        else:
            value = error = None
            try:
                value = make()
            except VideoContrastError as raised:
                error = raised
            self.put(key, (value, error))
        if error is not None:
            raise error
        return value  # type: ignore[no-any-return]

    def after_first(self, make: Callable[[], T]) -> T:
        """`make()` of the first process, then of the others, who find stored what it made.

        An error of the first is everyone's; one that another process meets ends that one, and the others at their next
        meeting.
        """
        results: list[T] = []
        self.from_first(lambda: results.append(make()))
        return results[0] if results else make()

    def gather(self, value: T) -> list[T]:
        """The values of all processes, in their order. Raises VideoContrastError: one of them ended."""
        if self.count == 1:
            return [value]
        key = f"all{next(self._exchanges)}"
        self.put(f"{key}/{self.rank}", value)
        return [self._awaited(f"{key}/{rank}", of=rank) for rank in range(self.count)]

    def wait(self) -> None:
        """Returns when all processes have come here."""
        self.gather(None)

    @contextmanager
    def shared_copy(self, address: str, copy: Path) -> Iterator[Path]:
        """`addresses.local_copy`, made and sent by the first process, for all processes of this machine."""
        with ExitStack() as stack:
            self.from_first(lambda: stack.enter_context(local_copy(address, kept=copy)))
            yield copy
            self.wait()
            self.from_first(stack.close)

    def put(self, key: str, value: object) -> None:
        """Tells all processes a value."""
        whole = pickle.dumps(value)
        parts = [whole[begin : begin + PART] for begin in range(0, len(whole), PART)]
        with _one_sentence(ENDED):
            for number, part in enumerate(parts):
                self._store.set(f"{self._prefix}/{key}/{number}", part)
            self._store.set(f"{self._prefix}/{key}", str(len(parts)))

    def get(self, key: str) -> Any:
        """The value that a process has put under a key; it must be there."""
        with _one_sentence(ENDED):
            parts = range(int(self._store.get(f"{self._prefix}/{key}")))
            return pickle.loads(b"".join(self._store.get(f"{self._prefix}/{key}/{number}") for number in parts))

    def has(self, key: str) -> bool:
        """Whether a process has put a value under a key."""
        with _one_sentence(ENDED):
            return bool(self._store.check([f"{self._prefix}/{key}"]))

    def add(self, key: str, number: int) -> int:
        """Adds to a counter that all processes share, which begins at 0; returns what it is now."""
        with _one_sentence(ENDED):
            return int(self._store.add(f"{self._prefix}/{key}", number))

    @contextmanager
    def together(self) -> Iterator[None]:
        """A stretch of work that the processes do together; the first, which may hold the store, stays to its end."""
        try:
            yield
            if not self.first:
                self.put(f"parted{self.rank}", None)
            others = set(range(1, self.count)) if self.first else set()
            while others := {rank for rank in others if not self.has(f"parted{rank}") and not self.has_ended(rank)}:
                time.sleep(0.05)
        except BaseException:
            if self.count > 1:
                self._leave()
            raise

    def _leave(self) -> None:
        """Tells the others that this process ends; the first one, which may hold the store, lets them read why."""
        try:
            self.put(f"left{self.rank}", None)
            until = time.monotonic() + LAST_WORDS
            while self.first and time.monotonic() < until:
                if all(self.has(f"left{rank}") for rank in range(1, self.count)):
                    return
                time.sleep(0.05)
        except VideoContrastError:  # the store has ended before: then the others know
            return

    def has_ended(self, rank: int) -> bool:
        """Whether a process has said that it ends, or has no pulse any more."""
        if rank == self.rank:
            return False
        with _one_sentence(ENDED):
            beat, now = int(self._store.add(f"pulse{rank}", 0)), time.monotonic()
        if rank not in self._beats or self._beats[rank][0] != beat:
            self._beats[rank] = beat, now
        return now - self._beats[rank][1] > STOPPED or self.has(f"left{rank}")

    def _awaited(self, key: str, of: int) -> Any:
        """The value under a key, once its process has put it there."""
        pause = 0.002
        while not self.has(key):
            if self.has_ended(of) and not self.has(key):
                raise VideoContrastError(f"{ENDED}: {THEN}")
            time.sleep(pause)
            pause = min(2 * pause, 0.5)
        return self.get(key)


@cache
def _launcher_store(rank: int, pid: int) -> Any:
    """The store of the launcher (or of the first process, where there is none), in which this process has a pulse."""
    from torch.distributed import PrefixStore, TCPStore

    place = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
    attempt = "/".join(os.environ.get(f"TORCHELASTIC_{name}", "") for name in ("RUN_ID", "RESTART_COUNT"))

    def connect() -> Any:
        store = TCPStore(*place, is_master=False, wait_for_workers=False, timeout=MEETING)
        return PrefixStore(f"video-contrast/{attempt}", store)

    def beat(store: Any) -> None:
        while True:
            try:
                store.add(f"pulse{rank}", 1)
            except RuntimeError:  # the store has ended, and so will this process
                return
            time.sleep(PULSE)

    threading.Thread(target=beat, args=(connect(),), daemon=True).start()
    return connect()


@contextmanager
def _one_sentence(what: str) -> Iterator[None]:
    """Words the errors of torch.distributed, which name sockets and keys."""
    try:
        yield
    except (RuntimeError, ValueError) as error:
        raise VideoContrastError(f"{what}: {THEN}") from error


@dataclass
class WorkQueue:
    """Deals the numbers of chunks, and collects what carrying them out counted.

        for numbers in queue:
            for number in numbers:  # taken from the queue one by one
                queue.mark_done(number, counts)

    `processes`: that share the work. `name`: of the stage, once a run.
    """

    processes: Processes
    name: str
    size: int
    _counts: RunCounts = field(default_factory=RunCounts)  # of a process alone, added up
    _done: set[int] = field(default_factory=set)  # chunks that are known to be done
    _waiting_since: float = 0.0  # when all chunks had been dealt

    def __iter__(self) -> Iterator[Iterator[int]]:
        """Yields the chunks of this process, then those of processes that ended, until all are done."""
        if self.processes.count == 1:
            yield iter(range(self.size))
            return
        yield self._dealt()
        self._waiting_since = time.monotonic()
        pause = 0.005
        while (numbers := self._left_behind()) or len(self._done) < self.size:
            if numbers:
                yield iter(numbers)
            else:
                time.sleep(pause)
                pause = min(2 * pause, 0.5)

    def mark_done(self, number: int, counts: RunCounts) -> None:
        """Marks a chunk as done; `counts`: those that it added."""
        if self.processes.count == 1:
            self._counts.add(counts)
            self._done.add(number)
            return
        self.processes.put(f"{self.name}/counts{number}", counts)
        self.processes.add(f"{self.name}/done", 1)

    @property
    def n_done(self) -> int:
        """The number of chunks that are done, for a progress bar."""
        if self.processes.count == 1:
            return len(self._done)
        return min(self.size, self.processes.add(f"{self.name}/done", 0))

    def counts(self) -> Iterator[RunCounts]:
        """The counts of all chunks, which must be done."""
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
                rank, has_ended = -1, time.monotonic() - self._waiting_since > STOPPED
            else:
                rank = self.processes.get(owner)
                has_ended = self.processes.has_ended(rank)
            if not has_ended:
                continue
            if self.processes.add(f"{self.name}/taken{number}/{rank}", 1) == 1:
                self.processes.put(owner, self.processes.rank)
                return [number]
        return []
