"""The output of a command: its table for people, JSON for programs, or nothing.

Under `--quiet`, which every command takes, what it was asked to print is printed, and errors are; progress bars, notes
(`note`) and what is said of files that were written (`say`) are not.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from video_contrast.options import Flag

if TYPE_CHECKING:
    from tqdm import tqdm

Item = TypeVar("Item")
Say = Callable[[str], None]  # is told what happens
AsJson = Annotated[bool, "print the result as JSON, and nothing else", Flag(name="--json")]
_QUIET = "VIDEO_CONTRAST_QUIET"  # in the environment, since workers are processes of their own


def hush() -> None:
    """Turns off notes, the warnings of libraries, and the progress bars of everything that is imported from now on."""
    warnings.simplefilter("ignore")
    for name in (_QUIET, "TQDM_DISABLE", "HF_HUB_DISABLE_PROGRESS_BARS", "HF_DATASETS_DISABLE_PROGRESS_BARS"):
        os.environ[name] = "1"


def unhush() -> None:
    """Lets notes be said again: what follows a quiet call in one process is not quiet."""
    os.environ.pop(_QUIET, None)


def is_quiet() -> bool:
    """Whether the command was given `--quiet`."""
    return _QUIET in os.environ


def note(text: str) -> None:
    """Says on standard error what is no error and no result; nothing under `--quiet`."""
    if not is_quiet():
        print(text, file=sys.stderr, flush=True)


def say(text: object) -> None:
    """Prints the result of a command that writes files, in a sentence; nothing under `--quiet`."""
    if not is_quiet():
        print(text, flush=True)


def tell(value: object, lines: Iterable[object], as_json: bool, words: Callable[[str], None] = say) -> None:
    """Prints a value as JSON where that is asked for; else says the lines (`words=print`: under `--quiet`, too)."""
    if as_json:
        print_json(value)
    else:
        words("\n".join(map(str, lines)))


def calm() -> None:
    """Lets progress bars write a line every ten seconds where they go to a file, not ten a second."""
    if not sys.stderr.isatty():
        for name in ("TQDM_MININTERVAL", "TQDM_MAXINTERVAL"):
            os.environ.setdefault(name, "10")


def bar(items: Iterable[Item], **options: Any) -> tqdm[Item]:  # each of its own type
    """A progress bar (options of `tqdm`) after a second of work, which goes when it is done; none under `--quiet`."""
    from tqdm import tqdm

    # An explicit `disable` outweighs the environment, by which `hush` turns the bars of others off.
    hidden = options.pop("disable", False) or "TQDM_DISABLE" in os.environ
    return tqdm(items, disable=hidden, **{"delay": 1, "leave": False, "file": sys.stderr, **options})


def counted(count: int, noun: str) -> str:
    """A number and its noun, in the plural unless it is one.

    >>> counted(1, "clip"), counted(1200, "source video")
    ('1 clip', '1,200 source videos')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def aligned(grid: Sequence[Sequence[str]], left: int = 1) -> list[str]:
    """The rows of a table as lines: the first columns flush left, the others flush right.

    >>> aligned([["config", "n"], ["verb_mc", "40"]])
    ['config    n', 'verb_mc  40']
    """
    widths = [max(map(len, column)) for column in zip(*grid, strict=True)]
    sides = ["<" if n < left else ">" for n in range(len(widths))]
    return ["  ".join(f"{c:{s}{w}}" for c, s, w in zip(row, sides, widths, strict=True)).rstrip() for row in grid]


def print_json(value: object) -> None:
    """Prints JSON with sorted keys. NaN is refused, as everywhere."""
    print(json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False, default=str))
