"""Texts of like length go through a model together: never one at a time, with little padding, as many as fit."""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from video_contrast.pretrained import is_out_of_memory

T = TypeVar("T")


def by_length(lengths: Sequence[int], budget: int) -> Iterator[list[int]]:
    """Indices of the items in batches, longest first, none padded to more than `budget` tokens (but one item may be).

    >>> list(by_length([3, 9, 4, 2], 10))
    [[1], [2, 0], [3]]
    """
    order = sorted(range(len(lengths)), key=lambda n: (-lengths[n], n))
    batch: list[int] = []
    for n in order:
        if batch and lengths[batch[0]] * (len(batch) + 1) > budget:
            yield batch
            batch = []
        batch.append(n)
    if batch:
        yield batch


def in_batches(lengths: Sequence[int], budget: int, run: Callable[[list[int]], T]) -> Iterator[tuple[list[int], T]]:
    """Batches of `by_length`, each with what `run` makes of it; halved where the memory of the device does not suffice.

    `run`: the model's step on a batch, indices of items. Raises RuntimeError: the memory does not suffice for one item
    alone.
    """
    waiting = list(by_length(lengths, budget))[::-1]
    while waiting:
        batch = waiting.pop()
        try:
            result = run(batch)
        except RuntimeError as error:
            if len(batch) == 1 or not is_out_of_memory(error):
                raise
            middle = (len(batch) + 1) // 2
            waiting += [batch[middle:], batch[:middle]]
            continue
        yield batch, result


def of_each(
    texts: Sequence[str], lengths: Sequence[int], budget: int, run: Callable[[list[str]], list[T]]
) -> dict[str, T]:
    """The results of `run`, one a text, in batches as of `in_batches`."""
    results_of: dict[str, T] = {}
    for batch, results in in_batches(lengths, budget, lambda batch: run([texts[n] for n in batch])):
        results_of.update(zip([texts[n] for n in batch], results, strict=True))
    return results_of


def tokens_a_batch(tokens: int | None, device: str) -> int:
    """How many tokens one batch holds: `tokens`, or what suits the device.

    On a CPU a batch is fastest while its activations stay in the cache; an accelerator wants far more.
    """
    if tokens is not None:
        return tokens
    return 512 if device == "cpu" else 16_384
