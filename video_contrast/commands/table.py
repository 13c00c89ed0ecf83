"""`video-contrast table RUN ...`: the numbers of several runs side by side."""

import json
from pathlib import Path
from typing import Annotated

import typer


def add(app: typer.Typer) -> None:
    """Adds the command `table`."""

    @app.command("table", epilog="Example: video-contrast table runs/temporal runs/random")
    def table(
        runs: Annotated[list[Path], typer.Argument(help="Folders that `video-contrast score` wrote.")],
        as_json: Annotated[bool, typer.Option("--json", help="Print the metrics as JSON.")] = False,
    ) -> None:
        """Print the numbers of several runs in one table, with 95 % intervals and chance."""
        from video_contrast.reports import terminal

        metrics = terminal.read_metrics(runs)
        if as_json:
            print(json.dumps(metrics, indent=2, sort_keys=True))
        else:
            terminal.show(terminal.lines_of(metrics), list(metrics))
