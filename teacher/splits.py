"""The rows that a training learns from and stops by."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from video_contrast.console import counted
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.hub import set_of_hub
from video_contrast.rows import RetrievalRow
from video_contrast.seeds import digest
from video_contrast.storage import SetFolder
from video_contrast.teacher.options import DataOptions


@dataclass(frozen=True)
class SplitRows:
    """The rows to learn from, and to stop by."""

    train: Sequence[RetrievalRow]
    validation: Sequence[RetrievalRow]
    root: Path  # the folder that their video paths are relative to
    groups: list[str] | None = None  # of each training row (`batches`); None where captions meet at random

    def named(self) -> tuple[tuple[str, Sequence[RetrievalRow]], ...]:
        """Both with the names that files and counts have."""
        return ("train", self.train), ("validation", self.validation)


def read_splits(dataset: str | Path, options: DataOptions) -> SplitRows:
    """Reads the rows to learn from and to stop by; without a validation split a tenth of the clips is set aside.

    Raises UsageError, VideoContrastError: there is no such set, config or split.
    """
    config, split, validation = options.config, options.split, options.validation
    root, name = Path(dataset), str(dataset)
    on_hub = not root.exists() and name.count("/") == 1 and not name.startswith((".", "~"))
    if on_hub and options.video_root is None:
        raise UsageError(f"--dataset {dataset}: a set of the Hub holds no videos; give --video-root FOLDER")
    if not on_hub and not root.is_dir():
        raise VideoContrastError(f"--dataset {dataset}: no set there; make one with `video-contrast build`")
    if on_hub:
        tables = _of_hub(name, config)
    else:  # only the splits that are asked for are read
        folder = SetFolder.open(root)
        tables = {
            name: folder.retrieval_rows(config, name) if name in (split, validation) else []
            for name in folder.splits(config)
        }
    if split not in tables:
        only = f"only {', '.join(tables)} (--split names one)"
        raise UsageError(f"--dataset {dataset}: config {config!r} has no split {split!r}, {only}")
    rows = tables[split]
    if validation in tables:
        return SplitRows(rows, tables[validation], options.video_root or SetFolder(root).video_root)
    videos = {row["video_id"] for row in rows}
    aside = _set_aside(videos)
    if not aside:
        raise UsageError(
            f"--dataset {dataset}: {counted(len(rows), 'clip')} of {counted(len(videos), 'video')}: to set a tenth "
            f"of a set aside for validation takes two videos; add a split {validation!r} to it"
        )
    held = [row for row in rows if row["video_id"] in aside]
    train = [row for row in rows if row["video_id"] not in aside]
    return SplitRows(train, held, options.video_root or SetFolder(root).video_root)


def _set_aside(videos: set[str]) -> set[str]:
    """About a tenth of the videos, drawn by their names: a video that is added moves no other; empty for one video."""
    drawn = {name: digest("teach validation", name) for name in videos}
    aside = {name for name in videos if drawn[name][0] < 26}
    if aside and aside != videos:
        return aside
    in_order = sorted(videos, key=lambda name: drawn[name])
    return set(in_order[: math.ceil(len(videos) / 10)]) if len(videos) > 1 else set()


def _of_hub(name: str, config: str) -> dict[str, list[RetrievalRow]]:
    import datasets

    with set_of_hub(name, "--dataset"):
        loaded = datasets.load_dataset(name, config)
    if any("captions" not in columns for columns in loaded.column_names.values()):
        raise UsageError(f"{name}: {config} is not a retrieval config")
    return {split: table.to_list() for split, table in loaded.items()}
