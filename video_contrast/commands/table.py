"""`video-contrast table RUN ...`: the numbers of several runs side by side."""

from pathlib import Path
from typing import Annotated

from video_contrast.commands.command import Command
from video_contrast.console import AsJson, print_json


def commands() -> list[Command]:
    """The command `table`."""
    return [Command("table", table, "video-contrast table runs/temporal runs/random")]


def table(runs: Annotated[list[Path], "folders that `video-contrast score` wrote"], *, as_json: AsJson = False) -> None:
    """Print the numbers of several runs in one table, with 95 % intervals and chance."""
    from video_contrast.reports import terminal

    metrics = terminal.read_metrics(runs)
    if as_json:
        print_json(metrics)
    else:
        terminal.show(terminal.lines_of(metrics, terminal.best_models(runs)), list(metrics))
