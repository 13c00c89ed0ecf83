"""`video-contrast report RUN... --output report.html`: the page of some runs."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from video_contrast.commands.command import Command
from video_contrast.console import AsJson, Quiet
from video_contrast.options import Flag


def commands() -> list[Command]:
    """The command `report`."""
    return [Command("report", report, "video-contrast report runs/temporal --output report.html")]


def report(
    runs: Annotated[list[Path], "run directories, or folders of them"],
    *,
    output: Annotated[Path, "the page; without a suffix a folder, with the frames of every failure as files"] = Path(
        "report.html"
    ),
    title: Annotated[str, "the heading"] = "Contrast sets and robustness",
    max_failures: Annotated[int, "how many items show frames in a single file"] = 200,
    video_root: Annotated[Path | None, "where the clips lie, if they were moved"] = None,
    dataset: Annotated[Path | None, "the set's folder, if it was moved", Flag(former=("set",))] = None,
    assets: Annotated[Path | None, "also write every plot and table here"] = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Write a report page: tables, plots and a failure gallery in one HTML file that opens from disk."""
    from video_contrast.reports import write_report

    page = write_report(
        runs,
        output,
        title=title,
        max_failures=max_failures,
        video_root=video_root,
        dataset=dataset,
        assets=assets,
        progress=None if quiet or as_json else _progress,
    )
    size = page.stat().st_size
    if as_json:
        print(json.dumps({"page": str(page), "bytes": size}))
    elif not quiet:
        print(f"{page} ({size / 1e6:.1f} MB)")
    if size > 15e6 and output.suffix:
        print(f"{page}: over 15 MB, slow to open; report fewer runs in one file", file=sys.stderr)


def _progress(items: Sequence[Any], label: str) -> Any:
    from tqdm import tqdm

    return tqdm(items, desc=label, unit="clip", delay=1, file=sys.stderr, leave=False)
