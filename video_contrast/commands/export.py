"""`video-contrast export DIR --format FORMAT --output OUT`: a built set in another tool's format."""

import json
from pathlib import Path
from typing import Annotated, Literal

import typer


def add(app: typer.Typer) -> None:
    """Adds the command `export`."""

    @app.command("export", epilog="Example: video-contrast export sets/shapes --format lmms-eval --output tasks/shapes")
    def export(
        folder: Annotated[Path, typer.Argument(metavar="DIR", help="A built set.")],
        output: Annotated[Path, typer.Option(help="Folder to write into.")],
        format_: Annotated[Literal["lmms-eval", "vlmevalkit"], typer.Option("--format", help="Whose format.")],
        dataset: Annotated[str | None, typer.Option(help="lmms-eval: the set on the Hub, to share the task.")] = None,
        video_root: Annotated[Path | None, typer.Option(help="Where the clips lie, if not in DIR.")] = None,
        as_json: Annotated[bool, typer.Option("--json", help="Print the files as a JSON list.")] = False,
    ) -> None:
        """Write a built set as an lmms-eval task folder, or as VLMEvalKit's TSV files and their class."""
        from video_contrast.reports import exports

        if format_ == "lmms-eval":
            made = sorted(exports.lmms_eval(folder, output, dataset=dataset, video_root=video_root).iterdir())
        else:
            made = exports.vlmevalkit(folder, output, video_root=video_root)
        files = [str(path) for path in made]
        print(json.dumps(files) if as_json else "\n".join(files))
