"""Checkpoints of a training run, as transformers names them: `checkpoint-N`, and whether one is saved whole."""

import json
import re
import time
import zipfile
from pathlib import Path

NAME = re.compile(r"checkpoint-(\d+)")
STATE = "trainer_state.json"  # the last file that the library's trainer writes
AT_REST = 30.0  # seconds without a change, after which a checkpoint without that file counts as saved


def step_of(name: str) -> int | None:
    """The step of a model that is a checkpoint of a training run; None for any other.

    >>> step_of("training/checkpoint-300"), step_of("openai/clip-vit-base-patch32")
    (300, None)
    """
    match = NAME.fullmatch(Path(name).name)
    return int(match[1]) if match else None


def checkpoints_in(folder: Path) -> list[tuple[int, Path]]:
    """The steps and folders of a training run's checkpoints, in order; none where its folder is gone (a new run)."""
    try:
        steps = [(step_of(path.name), path) for path in folder.iterdir() if path.is_dir()]
    except FileNotFoundError:
        return []
    return sorted((step, path) for step, path in steps if step is not None)


def is_whole(folder: Path) -> bool:
    """Whether a checkpoint is saved whole: its weights are complete, and the trainer is done with it.

    A trainer ends with `trainer_state.json`; a checkpoint without it, or with newer weights, must have been left alone
    for `AT_REST` seconds.
    """
    try:
        files = [path for path in folder.rglob("*") if path.is_file()]
        config = any((folder / name).is_file() for name in ("config.json", "adapter_config.json", "modules.json"))
        weights = [path for path in files if path.suffix in (".safetensors", ".bin")]
        if not config or not weights:
            return False
        written = max(path.stat().st_mtime for path in weights)
        ended = _changed(folder / STATE) >= written
        done = ended or time.time() - max(path.stat().st_mtime for path in files) >= AT_REST
        return done and _has_shards(folder) and all(map(_is_whole_file, weights))
    except (OSError, ValueError):  # it is being written, or has just been removed
        return False


def _changed(path: Path) -> float:
    """When a file of JSON was written to its end; 0 where it was not."""
    try:
        json.loads(path.read_text(encoding="utf-8"))
        return path.stat().st_mtime
    except (OSError, ValueError):
        return 0.0


def _has_shards(folder: Path) -> bool:
    """Whether every file is there that an index of weights names."""
    named = {
        index.parent / name
        for index in folder.rglob("*.index.json")
        for name in json.loads(index.read_text(encoding="utf-8"))["weight_map"].values()
    }
    return all(path.is_file() for path in named)


def _is_whole_file(path: Path) -> bool:
    """Whether a file of weights is as long as its header says.

    A file of torch is an archive, whose list of contents is written last; one of before 2020 must have been left alone.
    """
    if path.suffix != ".safetensors":
        return zipfile.is_zipfile(path) or time.time() - path.stat().st_mtime >= AT_REST
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy"):
            return True
    except SafetensorError:
        return False
