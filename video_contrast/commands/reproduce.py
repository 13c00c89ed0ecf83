"""`video-contrast reproduce PAPER`: our figures beside the published ones."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def add(app: typer.Typer) -> None:
    """Adds the command `reproduce`."""

    @app.command(
        "reproduce",
        short_help="Score what a paper's tables need; ours beside theirs.",
        epilog="Example: video-contrast reproduce contrast_sets (the published tables alone; with --model and "
        "--video-root ours beside them)",
    )
    def reproduce(
        paper: Annotated[str, typer.Argument(help="contrast_sets, robustness or rcad.")],
        model: Annotated[str | None, typer.Option(help="As for score; the published tables alone if none.")] = None,
        video_root: Annotated[Path | None, typer.Option(help="Where the videos lie.")] = None,
        data_dir: Annotated[Path | None, typer.Option(help="The annotations; looked for beside the videos.")] = None,
        dataset: Annotated[str | None, typer.Option(help="A built set; sets/NAME, made if absent.")] = None,
        output: Annotated[Path | None, typer.Option(help="Folder of the runs; runs/reproduce-PAPER-MODEL.")] = None,
        part: Annotated[list[str] | None, typer.Option(help="retrieval, choices, videoqa ...; repeat.")] = None,
        split: Annotated[str | None, typer.Option(help="Another split than the paper's, for all configs.")] = None,
        conditions: Annotated[str | None, typer.Option(help="Other conditions than the paper's.")] = None,
        frames: Annotated[int | None, typer.Option(help="Frames a clip.")] = None,
        batch_size: Annotated[int, typer.Option(help="Clips in a batch.")] = 32,
        device: Annotated[str, typer.Option(help="auto, cpu, cuda ...")] = "auto",
        dtype: Annotated[str, typer.Option(help="auto, float32, bfloat16, float16.")] = "auto",
        limit: Annotated[int | None, typer.Option(help="Only the first clips of each config.")] = None,
    ) -> None:
        """Score what a paper's tables need, and print ours beside theirs, with their known errors."""
        from video_contrast.files import write_json
        from video_contrast.reports import reproduce as runner

        tables = runner.published(paper)  # an unknown paper is named before anything else is asked for
        if model is None:
            print("\n".join(runner.lines(tables, "", {}, {}, {})))
            return
        folder = output or runner.default_output(paper, model)
        splits = {part: split for part, _, _ in runner.RECIPES[paper].parts} if split else None
        text, table = runner.reproduce(
            paper, model, dataset, output=folder, data_dir=data_dir, video_root=video_root, parts=part, splits=splits,
            conditions=conditions, frames=frames, batch_size=batch_size, device=device, dtype=dtype, limit=limit,
        )  # fmt: skip
        print("\n".join(text))
        write_json(folder / "reproduce.json", table)
        print(f"runs and reproduce.json in {folder}")
