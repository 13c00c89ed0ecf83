"""`video-contrast leaderboard RUN... --output SITE`: a static page of models by kind of contrast."""

import json
from pathlib import Path
from typing import Annotated

from video_contrast.commands.command import command
from video_contrast.console import AsJson, counted, say
from video_contrast.errors import UsageError


@command("leaderboard", "video-contrast leaderboard runs --check --output site")
def leaderboard(
    runs: Annotated[list[Path], "run directories, or folders of them"],
    *,
    output: Annotated[Path | None, "folder of the site, which works as a static Space"] = None,
    check: Annotated[bool, "compute every figure from the stored scores again; refuse runs that do not match"] = False,
    dataset: Annotated[Path | None, "the set's folder, if it was moved"] = None,
    link: Annotated[str, "web address below which the runs lie; default: those below --output are linked"] = "",
    title: Annotated[str, "the heading"] = "Contrast sets: leaderboard",
    as_json: AsJson = False,
) -> None:
    """A static page of models by kind of contrast, with ranks; checks the runs of others."""
    from video_contrast.reports import leaderboard as page

    if output is None and not check:
        raise UsageError("give --output SITE, --check, or both")
    n_runs = page.check_runs(runs, dataset=dataset) if check else 0
    path = output and page.leaderboard(runs, output, link=link, dataset=dataset, checked=check, title=title)
    if as_json:
        print(json.dumps({"checked": n_runs, "page": None if path is None else str(path)}))
        return
    if check:
        say(f"{counted(n_runs, 'run')}: every figure comes out of the scores again, and labels are the set's")
    if path is not None:
        say(str(path))
