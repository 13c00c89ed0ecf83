"""Several processes: those that `torchrun` or `accelerate launch` started, and a pool of this process's own."""

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager

from video_contrast.errors import VideoContrastError

ENDED = "another process of the run ended before its work was done"
THEN = "see the messages of the others. What is done is kept; run the same command again to go on"


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
