"""Batches that are halved where the memory of a device does not suffice, and what is said where that is not enough."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

import numpy as np

from video_contrast.errors import VideoContrastError
from video_contrast.pretrained import is_out_of_memory
from video_contrast.runner.kinds.base import Prepared
from video_contrast.runner.kinds.late_interaction import stacked
from video_contrast.runner.run_counts import RunCounts

T = TypeVar("T")
NO_ROOM = (
    "out of memory with one clip or text at a time; give --dtype bfloat16, --device-map auto, fewer --frames, or "
    "another --device"
)
ELSEWHERE = (
    "out of memory; what is done is kept. Give --perturb-on cpu, fewer --workers or --frames, --dtype bfloat16 or "
    "another --device, and run the command again"
)


@contextmanager
def enough_memory(advice: str = ELSEWHERE) -> Iterator[None]:
    """Turns an error that no smaller batch mends (as where frames are perturbed on a GPU) into `advice`, a sentence."""
    try:
        yield
    except (RuntimeError, MemoryError) as error:
        if is_out_of_memory(error):
            raise VideoContrastError(advice) from error
        raise


def unless_out_of_memory(call: Callable[[], T]) -> T | None:
    """The result of `call`; None where the memory did not suffice.

    The caller frees memory after this returns, since the error's frames hold what is to be freed.
    """
    try:
        return call()
    except (RuntimeError, MemoryError) as error:
        if is_out_of_memory(error):
            return None
        raise


def halved(size: int, counts: RunCounts) -> int:
    """Half of a batch size, noted in the counts, after freeing what the failed pass held.

    Raises VideoContrastError: there is nothing to halve.
    """
    import gc

    import torch

    if size <= 1:
        raise VideoContrastError(NO_ROOM)
    counts.notes.append(f"out of memory: the batch was halved to {size // 2}")
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    return size // 2


class Batcher:
    """Passes batches to an encoder."""

    def __init__(self, size: int, counts: RunCounts) -> None:
        self.size = size
        self.counts = counts

    def __call__(self, encode: Callable[[Sequence[Prepared]], np.ndarray], inputs: Sequence[Prepared]) -> np.ndarray:
        """Rows of `inputs` in batches of at most `size`: float32[len(inputs), D]."""
        rows: list[np.ndarray] = []
        begin = 0
        while begin < len(inputs):
            batch = inputs[begin : begin + self.size]
            encoded = unless_out_of_memory(lambda batch=batch: np.asarray(encode(batch), np.float32))  # type: ignore[misc]
            if encoded is None:
                self.size = halved(len(batch), self.counts)
                continue
            self.counts.batches += 1
            rows.append(encoded)
            begin += len(batch)
        return stacked(rows)
