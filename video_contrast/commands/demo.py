"""`video-contrast demo`: the whole product on the shapes world in about a minute, offline."""

from pathlib import Path
from typing import Annotated

import typer


def add(app: typer.Typer) -> None:
    """Adds the command `demo`."""

    @app.command("demo", epilog="Example: video-contrast demo --output demo")
    def demo(
        output: Annotated[Path, typer.Option(help="Folder for the set, scores, metrics and report.")] = Path("demo"),
        quiet: Annotated[bool, typer.Option("--quiet", help="Only the table.")] = False,
    ) -> None:
        """Score the packaged models, a random and a blind scorer on the shapes world; print one table."""
        import os

        # Set before torch is imported: several threads in one tiny model cost more than they save.
        os.environ.setdefault("OMP_NUM_THREADS", "1")
        from video_contrast import demo as it
        from video_contrast.reports import terminal

        lines = it.run(output, say=(lambda _: None) if quiet else print, progress=not quiet)
        print()
        terminal.show(lines, it.MODELS, "shapes world")
        print(
            "\naccuracy with 95 % intervals (bootstrap over clips); gamma: R@1 kept under perturbation, mean ± sd\n"
            f"report: {output / 'report.html'}   scores: {output / 'runs'}   table: {output / 'table.md'}"
        )
