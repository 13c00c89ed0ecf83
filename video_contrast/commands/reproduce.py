"""`video-contrast reproduce PAPER`: our figures beside the published ones."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def add(app: typer.Typer) -> None:
    """Adds the command `reproduce`."""

    @app.command(
        "reproduce",
        epilog="Example: video-contrast reproduce contrast_sets (prints the published tables alone)",
    )
    def reproduce(
        paper: Annotated[str, typer.Argument(help="contrast_sets, robustness or rcad.")],
        model: Annotated[str | None, typer.Option(help="As for score; the published tables alone if none.")] = None,
        dataset: Annotated[str | None, typer.Option(help="Folder of the built set.")] = None,
        video_root: Annotated[Path | None, typer.Option(help="Where video paths start.")] = None,
        output: Annotated[Path | None, typer.Option(help="Folder for the runs; finished ones are kept.")] = None,
        split: Annotated[str | None, typer.Option(help="Another split than the paper's, for all configs.")] = None,
        conditions: Annotated[str | None, typer.Option(help="Other conditions than the paper's.")] = None,
        frames: Annotated[int | None, typer.Option(help="Frames a clip.")] = None,
        batch_size: Annotated[int, typer.Option(help="Clips in a batch.")] = 32,
        device: Annotated[str, typer.Option(help="auto, cpu, cuda ...")] = "auto",
        dtype: Annotated[str, typer.Option(help="auto, float32, bfloat16, float16.")] = "auto",
        limit: Annotated[int | None, typer.Option(help="Only the first clips of each config.")] = None,
    ) -> None:
        """Score what a paper's tables need, and print ours beside theirs, with their known errors."""
        from video_contrast.errors import UsageError
        from video_contrast.files import write_json
        from video_contrast.runner import reproduce as runner

        if model is None:
            print("\n".join(runner.lines(runner.published(paper), "", {}, {}, {})))
            return
        runner.published(paper)  # an unknown paper is named before anything else is asked for
        recipe = runner.RECIPES[paper]
        if dataset is None or output is None:
            raise UsageError(f"give --dataset (made with `{recipe.build}`) and --output")
        splits = {part: split for part, _, _ in recipe.parts} if split else None
        text, table = runner.reproduce(
            paper, model, dataset, output=output, video_root=video_root, splits=splits, conditions=conditions,
            frames=frames, batch_size=batch_size, device=device, dtype=dtype, limit=limit,
        )  # fmt: skip
        print("\n".join(text))
        write_json(output / "reproduce.json", table)
