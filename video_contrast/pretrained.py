"""Pretrained models of transformers: how they are loaded, where they run, and what is said if they are not there."""

from pathlib import Path
from typing import Any

from video_contrast.errors import VideoContrastError

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
