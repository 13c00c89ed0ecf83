"""The one family of errors that a user is meant to read.

The command line prints such an error as one line and exits with its code; Python callers catch
`VideoContrastError`. It is a `ValueError`, so numpy-style callers need no import to catch it.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager


class VideoContrastError(ValueError):
    """Something failed and the message says what, where (file, row, option) and what to do."""

    exit_code = 1


class UsageError(VideoContrastError):
    """The call itself is wrong: an unknown name, a missing option, a value out of range."""

    exit_code = 2


# Import name -> the extra of this package that installs it, where the light installation lacks it.
_EXTRAS = {
    **dict.fromkeys(("lemminflect", "spacy"), "english"),
    **dict.fromkeys(("datasets", "evaluate", "nltk"), "evaluate"),
    **dict.fromkeys(
        (
            "accelerate", "huggingface_hub", "jinja2", "matplotlib", "openpyxl", "pandas", "pyarrow", "safetensors",
            "sentence_transformers", "sklearn", "threadpoolctl", "torch", "tqdm", "transformers", "yaml",
        ),
        "all",
    ),
    "datatrove": "cluster", "gradio": "annotate", "peft": "lora", "torchvision": "vlm", "trl": "trl",
}  # fmt: skip


def how_to_install(extra: str) -> str:
    """The commands that install an extra of this package, for a message."""
    return f'`pip install "video-contrast[{extra}]"`, or `pip install ".[{extra}]"` in a clone'


def missing_library(error: ModuleNotFoundError) -> "UsageError | None":
    """The advice what to install where an import failed; None where the library belongs to no extra.

    >>> print(missing_library(ModuleNotFoundError("No module named 'torch'", name="torch")))
    torch is not installed: `pip install "video-contrast[all]"`, or `pip install ".[all]"` in a clone
    """
    library = (error.name or "").partition(".")[0]
    if (extra := _EXTRAS.get(library)) is None:
        return None
    return UsageError(f"{library} is not installed: {how_to_install(extra)}")


@contextmanager
def libraries_named() -> Iterator[None]:
    """Around imports: what is not installed is a UsageError that names the extra of this package which has it."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise missing_library(error) or error from error


def unknown_name(kind: str, name: str, choices: "list[str] | tuple[str, ...]") -> UsageError:
    """Returns an error for a name that is not in `choices`, which suggests the nearest one.

    `kind`: what is named, for the message ("perturbation").

    >>> print(unknown_name("perturbation", "keybord", ["keyboard", "ocr"]))
    unknown perturbation 'keybord': did you mean 'keyboard'? Known: keyboard, ocr
    """
    import difflib

    near = difflib.get_close_matches(str(name), choices, n=1, cutoff=0.6)
    hint = f": did you mean {near[0]!r}?" if near else "."
    return UsageError(f"unknown {kind} {name!r}{hint} Known: {', '.join(choices) or 'none'}")


def check_names(kind: str, names: Iterable[str], choices: Iterable[str]) -> None:
    """Raises UsageError (of `unknown_name`) for the first of `names` that is not in `choices`."""
    choice_list = list(choices)
    for name in names:
        if name not in choice_list:
            raise unknown_name(kind, name, choice_list)
