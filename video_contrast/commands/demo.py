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
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        from video_contrast import demo as it

        rows = it.run(output, say=(lambda _: None) if quiet else print, progress=not quiet)
        table = Table(box=None, pad_edge=False, header_style="bold", title_justify="left")
        table.add_column("shapes world")
        table.add_column("chance", justify="right")
        for model in it.MODELS:
            table.add_column(model, justify="right", no_wrap=True)
        for row in rows:
            chance = "" if row.chance is None else f"{row.chance:.2f}"
            table.add_row(*(Text(cell) for cell in (row.name, chance, *row.cells)))
        console = Console()
        if console.width < 118:  # a narrow terminal, or none: the table must not break
            console = Console(width=118)
        console.print()
        console.print(table)
        console.print(
            "\naccuracy with 95 % intervals (bootstrap over clips); gamma: R@1 kept under perturbation, mean ± sd\n"
            f"report: {output / 'report.html'}   scores: {output / 'runs'}   table: {output / 'table.md'}",
            highlight=False,
            soft_wrap=True,
        )
