"""A small captioned set with a training and a validation split, for tests of LLM-teacher."""

from pathlib import Path
from typing import Any

import runner_set

from video_contrast.builders.registry import BuiltSet
from video_contrast.builders.writing import write_set
from video_contrast.rows import Row, retrieval_row
from video_contrast.video import write_video

SETTINGS: dict[str, Any] = {
    "epochs": 1, "batch_size": 6, "evaluate_every": 1, "patience": 0, "learning_rate": 1e-3, "progress": False,
    "negatives": "5-action", "frames": 4,
}  # fmt: skip


WHO = ("a man", "a woman", "the dog", "a young girl")
DOING = ("singing", "walking", "running", "jumping", "sitting", "standing")
WHERE = ("in the street", "on a stage", "near the door", "in a kitchen")


def caption(number: int, other: int = 0) -> str:
    """What is said of clip `number`; several may be said of one clip."""
    return f"{WHO[(number + other) % 4]} is {DOING[number % 6]} {WHERE[(number // 3) % 4]}"


def write(folder: Path, train: int = 18, validation: int = 5) -> Path:
    """A set with the config `retrieval`: two captions a clip, eight frames of 32 pixels."""
    splits: dict[str, list[Row]] = {"train": [], "validation": []}
    for number in range(train + validation):
        path = f"clips/{number:02d}.mp4"
        write_video(folder / path, runner_set.clip(number, 8, 32), 8)
        row = retrieval_row(
            id=f"clip{number}", video_id=f"video{number}", video_path=path,
            captions=[caption(number), caption(number, 1)],
        )  # fmt: skip
        splits["train" if number < train else "validation"].append(row)
    return write_set(BuiltSet("captions", {"retrieval": splits}, {"summary": "clips made for a test"}), folder)
