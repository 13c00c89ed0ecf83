"""The checkpoints that a training resumes from: which are saved completely, and of which run they are."""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from video_contrast.errors import UsageError
from video_contrast.files import read_json, write_json

WHOLE = "whole.json"  # written last, so that a checkpoint that was broken off is never gone on from


def mark_whole(folder: Path) -> None:
    """Marks a checkpoint that every process has written its part of, and names its files."""
    write_json(folder / WHOLE, {"files": sorted(path.name for path in folder.iterdir())})


def newest(output: Path) -> Path | None:
    """The last checkpoint that was saved whole."""
    return max(filter(_is_whole, (output / "state").glob("checkpoint-*")), key=saved_step, default=None)


def drop_broken(output: Path) -> None:
    """Removes checkpoints whose saving, or removal, was broken off."""
    for folder in (output / "state").glob("checkpoint-*"):
        if not _is_whole(folder):
            shutil.rmtree(folder)


def _is_whole(folder: Path) -> bool:
    mark = folder / WHOLE
    return mark.exists() and all((folder / name).exists() for name in read_json(mark)["files"])


def saved_step(folder: Path | None) -> int:
    """The step of a checkpoint; 0 of none."""
    return 0 if folder is None else int(folder.name.rpartition("-")[2])


def same_run(output: Path, identity: Mapping[str, Any]) -> None:
    """Records what a run depends on; where the folder holds a saved state, compares it with what that depended on.

    `identity`: as `settings.json` keeps it: `settings` (the options of the training), `identity` (its checkpoint,
    captions and negatives) and `processes`. Raises UsageError: the folder holds a run with other settings; the message
    names each.
    """
    path = output / "settings.json"
    if newest(output) is None:
        write_json(path, identity)
        return
    former = read_json(path)
    other = [
        f"{key} ({before.get(key)!r} then, {value!r} now)"
        for before, now in ((former["settings"], identity["settings"]), (former["identity"], identity["identity"]))
        for key, value in now.items()
        if before.get(key) != value
    ]
    if former["processes"] != identity["processes"]:
        other.append(f"processes ({former['processes']} then, {identity['processes']} now)")
    if other:
        raise UsageError(f"{output} holds a run with other settings: {'; '.join(other)}; give another --output")
