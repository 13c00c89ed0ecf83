"""What a command says: its table for people, JSON for programs, or nothing."""

from __future__ import annotations

import json
import os
import shutil
import sys
from typing import TYPE_CHECKING, Annotated, Any

from video_contrast.options import Flag

if TYPE_CHECKING:
    from rich.table import Table

Quiet = Annotated[bool, "say nothing but errors", Flag(short="-q")]
AsJson = Annotated[bool, "print the result as JSON, and nothing else", Flag(name="--json")]
WIDTH = 140  # of a table that goes to a file


def hush() -> None:
    """Turns off the progress bars of everything that is imported from now on."""
    for name in ("TQDM_DISABLE", "HF_HUB_DISABLE_PROGRESS_BARS", "HF_DATASETS_DISABLE_PROGRESS_BARS"):
        os.environ[name] = "1"


def calm() -> None:
    """Lets progress bars write a line every ten seconds where they go to a file, not ten a second."""
    if not sys.stderr.isatty():
        for name in ("TQDM_MININTERVAL", "TQDM_MAXINTERVAL"):
            os.environ.setdefault(name, "10")


def print_json(value: Any) -> None:
    """Prints JSON with sorted keys. NaN is refused, as everywhere."""
    print(json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False, default=str))


def print_table(table: Table) -> None:
    """Prints a rich table: in the terminal's width and colours, in plain text to a file."""
    from rich.console import Console

    terminal = sys.stdout.isatty()
    width = shutil.get_terminal_size((WIDTH, 24)).columns if terminal else WIDTH
    Console(width=width, highlight=False).print(table)
