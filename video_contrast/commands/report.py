"""`video-contrast report RUN... --output report.html`: the page of some runs."""

from pathlib import Path
from typing import Annotated

from video_contrast.commands.command import command
from video_contrast.console import AsJson, is_quiet, note, tell
from video_contrast.options import Flag, GivenOptions, Option, options_of


def _page_options() -> list[Option]:
    from video_contrast.reports.write import write_report

    return [option for option in options_of(write_report).values() if option.help]


@command("report", "video-contrast report runs/temporal --output report.html", more=_page_options)
def report(
    runs: Annotated[list[Path], "run directories, or folders of them"],
    *,
    output: Annotated[Path, "page; without suffix a folder, with frames of failures as files"] = Path("report.html"),
    as_json: AsJson = False,
    options: Annotated[GivenOptions | None, Flag(python_only=True)] = None,
) -> None:
    """Write a report page: tables, plots and a failure gallery in one HTML file."""
    from video_contrast.reports import write_report

    page = write_report(runs, output, progress=not (is_quiet() or as_json), **(options or {}))
    size = page.stat().st_size
    tell({"page": str(page), "bytes": size}, [f"{page} ({size / 1e6:.1f} MB)"], as_json)
    if size > 15e6 and output.suffix:
        note(f"{page}: over 15 MB, slow to open; report fewer runs in one file")
