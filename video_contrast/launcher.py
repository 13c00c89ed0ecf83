"""The processes that `torchrun` or `accelerate launch` started: what accelerate has to be told, and how they end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from video_contrast.errors import VideoContrastError

ENDED = "another process of the run ended before its work was done"
THEN = "see the messages of the others. What is done is kept; run the same command again to go on"


def on_cpu() -> bool:
    """Whether the processes meet on the CPU. Where there is no accelerator, accelerate makes one world of each process
    unless it is told so."""
    import torch
    from accelerate.utils import parse_flag_from_env

    accelerated = torch.accelerator.is_available() if hasattr(torch, "accelerator") else torch.cuda.is_available()
    return bool(parse_flag_from_env("ACCELERATE_USE_CPU")) or not accelerated


@contextmanager
def noticing_an_end() -> Iterator[None]:
    """Says in one sentence that another process is gone, of work in which a library meets the others.

    Raises:
        VideoContrastError: in the place of what torch.distributed says, which names sockets and keys.
    """
    try:
        yield
    except RuntimeError as error:
        import torch.distributed

        # gloo's errors have no class of their own; they name its source files
        if isinstance(error, torch.distributed.DistError) or "gloo" in str(error):
            raise VideoContrastError(f"{ENDED}: {THEN}") from error
        raise
