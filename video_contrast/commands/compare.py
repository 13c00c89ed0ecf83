"""`video-contrast compare RUN RUN`: is one run better than the other, on the same items?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from video_contrast.console import AsJson, Quiet, print_json


def add(app: typer.Typer) -> None:
    """Adds the command `compare`."""

    @app.command(
        "compare",
        short_help="Is one run better than another, on the same items?",
        epilog="Example: video-contrast compare runs/plain runs/temporal --config antonym_mc",
    )
    def compare(
        first: Annotated[Path, typer.Argument(help="A run's folder.")],
        second: Annotated[Path, typer.Argument(help="Another, of the same set.")],
        config: Annotated[list[str] | None, typer.Option(help="Only these configs; all in common if none.")] = None,
        seed: Annotated[int, typer.Option(help="Of the bootstrap.")] = 0,
        output: Annotated[Path | None, typer.Option(help="Also write the table as JSON here.")] = None,
        quiet: Quiet = False,
        as_json: AsJson = False,
    ) -> None:
        """Second less first on paired items: difference with its 95 % interval, McNemar's test, Holm over all rows."""
        from video_contrast.files import write_json
        from video_contrast.reports.compare import compare_runs, lines

        rows = compare_runs(first, second, config, seed=seed)
        if as_json:
            print_json(rows)
        elif not quiet:
            print("\n".join(lines(rows)))
        if output:
            write_json(output, rows)
