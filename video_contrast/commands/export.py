"""`video-contrast export DATASET --format FORMAT --output OUT`: a built set in another tool's format."""

import json
from pathlib import Path
from typing import Annotated, Literal

from video_contrast.commands.command import Command
from video_contrast.console import AsJson
from video_contrast.options import Flag, VideoRoot


def commands() -> list[Command]:
    """The command `export`."""
    return [Command("export", export, "video-contrast export sets/shapes --format lmms-eval --output tasks/shapes")]


def export(
    folder: Annotated[Path, "folder of the set", Flag("DATASET")],
    *,
    output: Annotated[Path, "folder to write into"],
    format_: Annotated[Literal["lmms-eval", "vlmevalkit"], "whose format", Flag("--format")],
    repo: Annotated[
        str | None, "lmms-eval: the set's name on the Hub, to share the task", Flag(former=("dataset",))
    ] = None,
    video_root: VideoRoot = None,
    as_json: AsJson = False,
) -> None:
    """Write a built set as an lmms-eval task folder, or as VLMEvalKit's TSV files and their class."""
    from video_contrast.reports import exports

    if format_ == "lmms-eval":
        written = sorted(exports.lmms_eval(folder, output, dataset=repo, video_root=video_root).iterdir())
    else:
        written = exports.vlmevalkit(folder, output, video_root=video_root)
    files = [str(path) for path in written]
    print(json.dumps(files) if as_json else "\n".join(files))
