"""Pretrained models of transformers: how they are loaded, where they run, and what is said if they are not there.

Texts under a causal language model, too: the token that begins texts stands before each, so the first word counts, and
a text of a single token has a likelihood.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from video_contrast.errors import VideoContrastError
from video_contrast.untyped import Tokenizer, TorchModel

# Packages that a checkpoint's tokenizer asks for.
PACKAGES = {"facebook/wmt19": "sacremoses", "prithivida/": "sentencepiece"}


def download_command(*checkpoints: str) -> str:
    """The command that puts checkpoints into the Hub cache, and the packages that their tokenizers ask for.

    >>> download_command("google-bert/bert-base-uncased")
    'hf download google-bert/bert-base-uncased'
    >>> download_command("facebook/wmt19-en-de")
    'pip install sacremoses && hf download facebook/wmt19-en-de'
    """
    packages = [package for start, package in PACKAGES.items() if any(name.startswith(start) for name in checkpoints)]
    install = [f"pip install {' '.join(packages)}"] if packages else []
    return " && ".join([*install, *(f"hf download {name}" for name in checkpoints)])


class MissingCheckpoint(VideoContrastError):
    """A checkpoint is neither a folder nor in the cache, and could not be downloaded."""


def device_of(device: str = "auto") -> str:
    """The device that `device` stands for on this machine: "auto" is the GPU where there is one, else the CPU."""
    if device != "auto":
        return device
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


# Messages of torch, cuBLAS and cuDNN.
_NO_MEMORY = ("out of memory", "can't allocate memory", "not enough memory", "alloc_cpu", "alloc_failed")


def is_out_of_memory(error: Exception) -> bool:
    """Whether an error says that the memory of a device did not suffice."""
    return isinstance(error, MemoryError) or any(words in str(error).lower() for words in _NO_MEMORY)


def placed(model: Any, device: str, option: str) -> Any:  # transformers has no types here
    """A loaded model on its device, in evaluation mode.

    `option`: the option or perturbation that asks for it, for messages. Raises VideoContrastError: it does not fit
    there.
    """
    try:
        return model.to(device).eval()
    except RuntimeError as error:
        if not is_out_of_memory(error):
            raise
        raise VideoContrastError(
            f"{option}: {type(model).__name__} does not fit the memory of {device}: end what else runs there, or set "
            "CUDA_VISIBLE_DEVICES='' to run on the CPU"
        ) from error


def load(model: str, automatic: Any, option: str, **arguments: object) -> Any:  # transformers has no types here
    """A model or tokenizer from a folder, the cache or the Hub.

    `option`: the option or perturbation that asks for the model, for messages. `arguments`: of `from_pretrained`.
    Raises MissingCheckpoint: it cannot be had; the message names the model and what asks for it; VideoContrastError: it
    is there, but is not whole or of another kind, or a package is not there.
    """
    from video_contrast.hub import asked_once

    try:
        with asked_once(model):
            return automatic.from_pretrained(model, **arguments)
    except (OSError, ValueError, KeyError, ImportError) as error:
        reason = next(iter(str(error).strip().splitlines()), type(error).__name__)
        if isinstance(error, OSError) and not Path(model).is_dir():
            raise MissingCheckpoint(
                f"{option}: the model {model!r} cannot be loaded ({reason}). Download it on a machine with a network "
                f"({download_command(model)}) or give the folder of another one"
            ) from error
        wrong = f"{model} does not load as {automatic.__name__}: {reason}"
        if isinstance(error, ImportError):
            wrong = f"{model} asks for a package that is not here ({reason}): run {download_command(model)}"
        elif isinstance(error, OSError):
            wrong = f"the folder {model} is no whole checkpoint: {reason}"
        raise VideoContrastError(f"{option}: {wrong}") from error


def token_rows(tokenizer: Tokenizer, texts: Sequence[str], limit: int | None = None) -> list[list[int]]:
    """Token ids of each text behind the token that begins texts (else the one that ends or pads them, else 0).

    `limit`: tokens that the model reads at most; None: all.
    """
    marks = (tokenizer.bos_token_id, tokenizer.eos_token_id, tokenizer.pad_token_id, 0)
    start = next(mark for mark in marks if mark is not None)
    return [[start, *tokenizer.encode(text, add_special_tokens=False)][:limit] for text in texts]


def log_probabilities(model: TorchModel, rows: Sequence[Sequence[int]]) -> list[NDArray[np.float64]]:
    """The log-probability of every token but the first, one array a row, of a causal model in evaluation mode."""
    import torch

    width = max(map(len, rows))
    # Padded on the right: in a causal model no token sees what stands behind it.
    ids = torch.tensor([[*row, *[row[0]] * (width - len(row))] for row in rows], device=model.device)
    if width < 2:
        return [np.zeros(0) for _ in rows]
    with torch.inference_mode():
        log = model(input_ids=ids).logits[:, :-1].float().log_softmax(-1)
        likely = log.gather(2, ids[:, 1:, None])[:, :, 0].double().cpu().numpy()
    return [of_row[: len(row) - 1] for of_row, row in zip(likely, rows, strict=True)]


def perplexity_of(logs: NDArray[np.float64]) -> float:
    """exp of the mean negative log-probability; 1 for no token.

    >>> perplexity_of(np.log([0.5, 0.5]))
    2.0
    """
    return float(np.exp(-logs.mean())) if len(logs) else 1.0
