"""The processes of a run: which of them this is, and what they tell each other.

They meet within minutes or not at all. Afterwards one may wait long for the others (the first one joins and measures
alone), and notices at once when another is gone, since its connection breaks.
"""

from __future__ import annotations

import datetime
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from video_contrast.errors import VideoContrastError
from video_contrast.launcher import ENDED, THEN, on_cpu

T = TypeVar("T")
MEETING = datetime.timedelta(minutes=10)
WAITING = datetime.timedelta(days=1)


class Processes:
    """The processes that share a run, started by `torchrun` or `accelerate launch`; one where there was no launcher.

    Args:
        device: what `--device` says; "cpu" keeps accelerate from taking a GPU.
        step: how long one may wait for the others in what is not ours (a training's sums of gradients).

    Attributes:
        rank: the number of this process, from 0.
        count: how many there are.
        device: the device that accelerate gives this process.

    Raises:
        VideoContrastError: the others did not come within `MEETING`.
    """

    def __init__(self, device: str, step: datetime.timedelta = MEETING) -> None:
        import torch
        from accelerate import PartialState

        self._group: Any = None  # a group of torch.distributed
        if int(os.environ.get("WORLD_SIZE", 1)) <= 1:
            self._state = PartialState()
        else:
            cpu = device == "cpu" or on_cpu()
            with _one_sentence(f"the {os.environ['WORLD_SIZE']} processes of the run did not meet within {MEETING}"):
                self._state = PartialState(cpu=cpu, timeout=MEETING)
                # Python objects go over the CPU, where a broken connection is noticed at once.
                self._group = torch.distributed.new_group(backend="gloo", timeout=WAITING)
            if step != MEETING:  # torch has no public way to meet within one time and then to work with another
                torch.distributed.distributed_c10d._set_pg_timeout(step)
        self.rank = int(self._state.process_index)
        self.count = int(self._state.num_processes)
        self.device = str(self._state.device)

    @property
    def first(self) -> bool:
        """Whether this is the process that plans, joins and writes."""
        return self.rank == 0

    def share(self, work: Sequence[T]) -> list[T]:
        """This process's part of `work`."""
        with self._state.split_between_processes(list(work)) as mine:
            return list(mine)

    def from_first(self, make: Callable[[], T]) -> T:
        """`make()` of the first process, for all; its error is everyone's, so that none waits for ever."""
        box: list[Any] = [None, None]  # the value, and the error
        if self.first:
            try:
                box[0] = make()
            except VideoContrastError as error:
                box[1] = error
        if self.count > 1:
            import torch.distributed

            with _one_sentence(ENDED):
                torch.distributed.broadcast_object_list(box, src=0, group=self._group)
        if box[1] is not None:
            raise box[1]
        return box[0]  # type: ignore[no-any-return]

    def after_first(self, make: Callable[[], T]) -> T:
        """`make()` of the first process, then of the others, who find stored what it made.

        An error of the first is everyone's; one that another process meets ends that one, and the others at their next
        meeting.
        """
        made: list[T] = []
        self.from_first(lambda: made.append(make()))
        return made[0] if made else make()

    def gather(self, value: T) -> list[T]:
        """The values of all processes, in their order."""
        if self.count == 1:
            return [value]
        import torch.distributed

        values: list[Any] = [None] * self.count  # which torch.distributed, untyped, fills
        with _one_sentence(ENDED):
            torch.distributed.all_gather_object(values, value, group=self._group)
        return values

    def wait(self) -> None:
        """Returns when all processes have come here."""
        self.gather(None)


@contextmanager
def _one_sentence(what: str) -> Iterator[None]:
    """Words the errors of torch.distributed, which name sockets and keys."""
    try:
        yield
    except (RuntimeError, ValueError) as error:
        raise VideoContrastError(f"{what}: {THEN}") from error
