"""Model steps in batches of like length: never one caption at a time, and little padding."""

from collections.abc import Iterator, Sequence


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


def tokens_a_batch(tokens: int | None, device: str) -> int:
    """How many tokens one batch holds: `tokens`, or what suits the device.

    On a CPU a batch is fastest while its activations stay in the cache; an accelerator wants far more.
    """
    if tokens is not None:
        return tokens
    return 512 if device == "cpu" else 16_384
