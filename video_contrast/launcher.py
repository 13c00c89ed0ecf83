"""Several processes: those that `torchrun` or `accelerate launch` started, a pool of this process's own, shared work.

`spread` cuts work into chunks of one fixed size whatever the number of processes, every chunk depends on nothing but
itself, and results are put together in the order of the chunks. So the bytes that are written are the same for any
number.
"""

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, TypeVar

from video_contrast.console import bar
from video_contrast.errors import UsageError, VideoContrastError

if TYPE_CHECKING:
    from accelerate import PartialState

ENDED = "another process of the run ended before its work was done"
THEN = "see the messages of the others. What is done is kept; run the same command again to go on"
Work = TypeVar("Work")
Result = TypeVar("Result")
CHUNK = 500  # items; large enough for batches of a model, small enough to deal out evenly
_is_alone = False  # of the whole process, threads included: see `alone`


def on_cpu() -> bool:
    """Whether the processes meet on the CPU. Where there is no accelerator, accelerate makes one world of each process
    unless it is told so."""
    import torch
    from accelerate.utils import parse_flag_from_env

    has_accelerator = torch.accelerator.is_available() if hasattr(torch, "accelerator") else torch.cuda.is_available()
    return bool(parse_flag_from_env("ACCELERATE_USE_CPU")) or not has_accelerator


def worker_pool(
    num_proc: int, initializer: Callable[..., object] | None = None, *arguments: object
) -> ProcessPoolExecutor:
    """A pool of processes of one thread, forked where that can be, with what is loaded; `initializer` comes first."""
    can_fork = "fork" in multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("fork" if can_fork else None)
    return ProcessPoolExecutor(num_proc, context, initializer=_begin, initargs=(initializer, arguments))


def one_thread() -> None:
    """Keeps a forked process to one thread: GNU OpenMP would wait in it for ever for threads that its parent had."""
    os.environ["OMP_NUM_THREADS"] = "1"
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)


def _begin(initializer: Callable[..., object] | None, arguments: tuple[object, ...]) -> None:
    one_thread()
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # a worker has nothing to say
    threading.Thread(target=_end_with_parent, daemon=True).start()
    if initializer is not None:
        initializer(*arguments)


def _end_with_parent() -> None:
    """Ends this process with the one that started it, which, where it was killed, could not do so."""
    if parent := multiprocessing.parent_process():
        parent.join()
        os._exit(1)


@contextmanager
def noticing_an_end() -> Iterator[None]:
    """Says in one sentence that another process is gone, of work in which a library meets the others.

    Raises VideoContrastError: in the place of what torch.distributed says, which names sockets and keys.
    """
    try:
        yield
    except RuntimeError as error:
        import torch.distributed

        # gloo's errors have no class of their own; they name its source files
        if isinstance(error, torch.distributed.DistError) or "gloo" in str(error):
            raise VideoContrastError(f"{ENDED}: {THEN}") from error
        raise


@contextmanager
def alone() -> Iterator[None]:
    """A stretch in which this process works as the only one: no work is shared with other ranks, who may be waiting."""
    global _is_alone  # `spread` is called deep inside generators, which know nothing of their caller's ranks
    before, _is_alone = _is_alone, True
    try:
        yield
    finally:
        _is_alone = before


def world_size() -> int:
    """The number of processes that `torchrun` or `accelerate launch` started; 1 without them, and `alone`."""
    return 1 if _is_alone else int(os.environ.get("WORLD_SIZE", "1"))


def is_writer() -> bool:
    """Whether this process writes files: the only one, or rank 0."""
    return _is_alone or int(os.environ.get("RANK", "0")) == 0


def wait_for_writer() -> None:
    """Keeps all ranks until each has come here; nothing to do for a single process."""
    if world_size() > 1:
        with noticing_an_end():
            _ranks().wait_for_everyone()


def _ranks() -> "PartialState":
    """The ranks as accelerate knows them. It meets those of a machine without a GPU only if it is told so."""
    from accelerate import PartialState

    return PartialState(cpu=on_cpu())


def spread(
    function: Callable[[Sequence[Work]], Result], items: Sequence[Work], *, num_proc: int = 1, chunk: int = CHUNK
) -> list[Result]:
    """`function` of every chunk of `items`, in order; under `torchrun` every rank gets all results.

    It must be picklable where several processes are used; `num_proc` are started by each rank. Raises UsageError:
    num_proc is below 1.
    """
    if num_proc < 1:
        raise UsageError(f"num_proc must be at least 1, not {num_proc}")
    chunks = [items[first : first + chunk] for first in range(0, len(items), chunk)]
    if world_size() == 1:
        return _run(function, chunks, num_proc)
    from accelerate.utils import gather_object

    state = _ranks()
    mine = list(range(state.process_index, len(chunks), state.num_processes))
    results = list(zip(mine, _run(function, [chunks[number] for number in mine], num_proc), strict=True))
    with noticing_an_end():  # indices may differ in number between ranks: gather_object takes lists of any length
        all_results = gather_object(results)
    return [result for _, result in sorted(all_results, key=lambda pair: pair[0])]


def _run(function: Callable[[Sequence[Work]], Result], chunks: list[Sequence[Work]], num_proc: int) -> list[Result]:
    with bar(chunks, total=sum(map(len, chunks)), unit="item", disable=not is_writer()) as progress:
        several = num_proc > 1 and len(chunks) > 1
        with worker_pool(num_proc, _set_task, function) if several else nullcontext() as pool:
            outputs = map(function, chunks) if pool is None else pool.map(_run_task, chunks)
            results = []
            for chunk, result in zip(chunks, outputs, strict=True):
                results.append(result)
                progress.update(len(chunk))
            return results


Task = Callable[[Any], Any]  # `function` of `spread`: a global cannot be generic
_task: Task | None = None


def _set_task(function: Task) -> None:
    global _task  # one function a worker process
    _task = function


def _run_task(chunk: object) -> Any:  # as `Task`
    assert _task is not None  # set by the initialiser of the worker
    return _task(chunk)
