"""Model steps in batches of like length: never one caption at a time, and little padding."""

from collections.abc import Iterator, Sequence
from typing import Any

from video_contrast.errors import VideoContrastError


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


def device_of(device: str) -> str:
    """The device that `device` ("auto", "cpu", "cuda" ...) stands for on this machine."""
    if device != "auto":
        return device
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


def tokens_a_batch(tokens: int | None, device: str) -> int:
    """How many tokens one batch holds: `tokens`, or what suits the device.

    On a CPU a batch is fastest while its activations stay in the cache; an accelerator wants far more.
    """
    if tokens is not None:
        return tokens
    return 512 if device == "cpu" else 16_384


def load(model: str, automatic: Any, option: str, **arguments: Any) -> Any:
    """A model or tokenizer from a folder, the cache or the Hub.

    Args:
        model: a Hub id or folder.
        automatic: an auto class of transformers.
        option: the option that chooses the model, for messages.
        arguments: of `from_pretrained`.

    Raises:
        VideoContrastError: it cannot be had; the message names the model and the option that chooses it.
    """
    try:
        return automatic.from_pretrained(model, **arguments)
    except (OSError, ValueError, ImportError) as error:
        first_line = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise VideoContrastError(
            f"{option}: the model {model!r} cannot be loaded ({first_line}). Download it on a machine with a network "
            f"(hf download {model}) or give the folder of another one"
        ) from error
