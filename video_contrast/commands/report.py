"""`video-contrast report RUN... --output report.html`: the page of some runs."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer


def add(app: typer.Typer) -> None:
    """Adds the command `report`."""

    @app.command("report", epilog="Example: video-contrast report runs/temporal --output report.html")
    def report(
        runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Run directories, or folders of them.")],
        output: Annotated[
            Path, typer.Option(help="The page; without a suffix a folder, with the frames of every failure as files.")
        ] = Path("report.html"),
        title: Annotated[str, typer.Option(help="The heading.")] = "Contrast sets and robustness",
        max_failures: Annotated[int, typer.Option(help="How many items show frames in a single file.")] = 200,
        video_root: Annotated[Path | None, typer.Option(help="Where the clips lie, if they were moved.")] = None,
        set_: Annotated[Path | None, typer.Option("--set", help="The set's folder, if it was moved.")] = None,
        assets: Annotated[Path | None, typer.Option(help="Also write every plot and table here.")] = None,
        quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing.")] = False,
        as_json: Annotated[bool, typer.Option("--json", help="Print the page's path and size as JSON.")] = False,
    ) -> None:
        """Write a report page: tables, plots and a failure gallery in one HTML file that opens from disk."""
        from video_contrast.reports import write_report

        page = write_report(
            runs,
            output,
            title=title,
            max_failures=max_failures,
            video_root=video_root,
            dataset=set_,
            assets=assets,
            progress=None if quiet or as_json else _progress,
        )
        size = page.stat().st_size / 1e6
        if as_json:
            print(json.dumps({"page": str(page), "bytes": page.stat().st_size}))
        elif not quiet:
            print(f"{page} ({size:.1f} MB)")
        if size > 15 and output.suffix:
            print(f"{page}: over 15 MB, slow to open; report fewer runs in one file", file=sys.stderr)


def _progress(items: Sequence[Any], label: str) -> Any:
    from tqdm import tqdm

    return tqdm(items, desc=label, unit="clip", delay=1, file=sys.stderr, leave=False)
