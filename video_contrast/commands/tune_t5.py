"""`video-contrast tune-t5 CAPTIONS --output DIR`: T5 learns the verb phrases of training captions."""

import os
from pathlib import Path
from typing import Annotated

from video_contrast.builders.sources.caption_table import read_table
from video_contrast.commands.command import command
from video_contrast.console import say
from video_contrast.errors import UsageError
from video_contrast.options import Range
from video_contrast.perturbations.contrast.generators.t5_tuning import Tuning
from video_contrast.perturbations.contrast.generators.t5_tuning import tune_t5 as run


@command("tune-t5", "video-contrast tune-t5 train.csv --caption-column caption --output t5-captions")
def tune_t5(
    captions: Annotated[Path, "training captions: .txt (one a line), .csv, .tsv, .jsonl, .json or .parquet"],
    *,
    output: Annotated[Path, "folder of the model; the same call resumes it"],
    caption_column: Annotated[str, "column of the captions in a table"] = "caption",
    save_every: Annotated[int, "steps between checkpoints"] = 500,
    num_proc: Annotated[int, "processes for tagging", Range(1)] = 1,
    tuning: Tuning,
) -> None:
    """Fine-tune T5 on the verb phrases of training captions, for the verb generator `t5`.

    Uses every device that accelerate sees: start it with `torchrun` for several.
    """
    texts = read_captions(captions, caption_column)
    record = run(texts, output, tuning, save_every=save_every, num_proc=num_proc, say=say)
    if os.environ.get("RANK", "0") == "0":
        say(f"{output}: {record['steps']} steps on {record['captions_used']} captions, loss {record['loss']:.3f}")


def read_captions(path: Path, column: str) -> list[str]:
    """The captions of a text file, one a line, or of a column of a table."""
    if path.suffix.lower() != ".txt":
        return [text for row in read_table(path) for text in row.texts(column, "--caption-column")]
    if not path.is_file():
        raise UsageError(f"no such file: {path}")
    return [line.strip() for line in path.read_text(encoding="utf-8").split("\n") if line.strip()]
