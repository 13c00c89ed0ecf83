"""`video-contrast reproduce PAPER`: our figures beside the published ones."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

from video_contrast.commands.command import command
from video_contrast.console import say
from video_contrast.options import Flag, GivenOptions, Option, options_of


def _more_options() -> list[Option]:
    """The options of the function that it has a text for, and some of those of `score`."""
    from video_contrast.reports.reproduce import reproduce as function
    from video_contrast.runner.options import ScoreOptions

    own = [replace(option, positional=False) for option in options_of(function).values() if option.help]
    of_score = options_of(ScoreOptions)
    return own + [replace(of_score[name], flag=Flag()) for name in ("frames", "batch_size", "device", "dtype", "limit")]


EXAMPLE = "video-contrast reproduce contrast_sets (published tables; with --model and --video-root ours beside them)"


@command("reproduce", EXAMPLE, more=_more_options)
def reproduce(
    paper: Annotated[str, "contrast_sets, robustness or rcad"],
    *,
    model: Annotated[str | None, "as for score; without it only the published tables are printed"] = None,
    output: Annotated[Path | None, "folder of the runs; default: runs/reproduce-PAPER-MODEL"] = None,
    part: Annotated[list[str] | None, "only this part (retrieval, choices, videoqa ...); repeat for several"] = None,
    options: Annotated[GivenOptions | None, Flag(python_only=True)] = None,
) -> None:
    """Score what a paper's tables need; print our figures beside the published ones."""
    from video_contrast.files import write_json
    from video_contrast.reports import reproduce as runner

    tables = runner.published(paper)  # an unknown paper is named before anything else is asked for
    if model is None:
        print("\n".join(runner.lines("", runner.unscored(tables))))
        return
    folder = output or runner.default_output(paper, model)
    text, table = runner.reproduce(paper, model, output=folder, parts=part, log=say, **(options or {}))
    print("\n".join(text))
    write_json(folder / "reproduce.json", table)
    say(f"runs and reproduce.json in {folder}")
