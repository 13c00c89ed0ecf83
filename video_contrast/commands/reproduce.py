"""`video-contrast reproduce PAPER`: our figures beside the published ones."""

from pathlib import Path
from typing import Annotated

from video_contrast.commands.command import Command
from video_contrast.options import Device, Precision


def commands() -> list[Command]:
    """The command `reproduce`."""
    return [
        Command(
            "reproduce",
            reproduce,
            "video-contrast reproduce contrast_sets (the published tables alone; with --model and --video-root ours "
            "beside them)",
        )
    ]


def reproduce(
    paper: Annotated[str, "contrast_sets, robustness or rcad"],
    *,
    model: Annotated[str | None, "as for score; the published tables alone if none"] = None,
    video_root: Annotated[Path | None, "where the videos lie"] = None,
    data_dir: Annotated[Path | None, "the annotations; looked for beside the videos"] = None,
    dataset: Annotated[str | None, "a built set; sets/NAME, made if absent"] = None,
    output: Annotated[Path | None, "folder of the runs; runs/reproduce-PAPER-MODEL"] = None,
    part: Annotated[list[str] | None, "retrieval, choices, videoqa ...; repeat"] = None,
    split: Annotated[str | None, "another split than the paper's, for all configs"] = None,
    conditions: Annotated[str | None, "other conditions than the paper's"] = None,
    frames: Annotated[int | None, "frames a clip"] = None,
    batch_size: Annotated[int, "clips in a batch"] = 32,
    device: Device = "auto",
    dtype: Annotated[Precision, "of the model"] = "auto",
    limit: Annotated[int | None, "only the first clips of each config"] = None,
) -> None:
    """Score what a paper's tables need, and print ours beside theirs, with their known errors."""
    from video_contrast.files import write_json
    from video_contrast.reports import reproduce as runner

    tables = runner.published(paper)  # an unknown paper is named before anything else is asked for
    if model is None:
        print("\n".join(runner.lines(tables, "", runner.Ours())))
        return
    folder = output or runner.default_output(paper, model)
    splits = {part.name: split for part in runner.RECIPES[paper].parts} if split else None
    text, table = runner.reproduce(
        paper,
        model,
        dataset,
        output=folder,
        data_dir=data_dir,
        video_root=video_root,
        parts=part,
        splits=splits,
        conditions=conditions,
        frames=frames,
        batch_size=batch_size,
        device=device,
        dtype=dtype,
        limit=limit,
    )
    print("\n".join(text))
    write_json(folder / "reproduce.json", table)
    print(f"runs and reproduce.json in {folder}")
