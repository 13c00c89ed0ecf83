"""`video-contrast report RUN... --output report.html`: the page of some runs."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from video_contrast.commands.command import Command
from video_contrast.console import AsJson, Quiet, bar
from video_contrast.options import Flag, GivenOptions, Option, options_of


def commands() -> list[Command]:
    """The command `report`."""
    return [Command("report", report, "video-contrast report runs/temporal --output report.html", more=_page_options)]


def _page_options() -> list[Option]:
    from video_contrast.reports.write import write_report

    return [option for option in options_of(write_report).values() if option.help]


def report(
    runs: Annotated[list[Path], "run directories, or folders of them"],
    *,
    output: Annotated[Path, "the page; without a suffix a folder, with the frames of every failure as files"] = Path(
        "report.html"
    ),
    quiet: Quiet = False,
    as_json: AsJson = False,
    options: Annotated[GivenOptions | None, Flag(python_only=True)] = None,
) -> None:
    """Write a report page: tables, plots and a failure gallery in one HTML file that opens from disk."""
    from video_contrast.reports import write_report

    page = write_report(runs, output, progress=None if quiet or as_json else _progress, **(options or {}))
    size = page.stat().st_size
    if as_json:
        print(json.dumps({"page": str(page), "bytes": size}))
    elif not quiet:
        print(f"{page} ({size / 1e6:.1f} MB)")
    if size > 15e6 and output.suffix:
        print(f"{page}: over 15 MB, slow to open; report fewer runs in one file", file=sys.stderr)


def _progress(items: Sequence[Any], label: str) -> Any:
    return bar(items, desc=label, unit="clip")
