"""Scoring the checkpoints of a training run (`checkpoint-N`) as they come: each once, whole ones, by their steps."""

import json
import time
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from video_contrast.addresses import address_of
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import read_json
from video_contrast.runner.job import step_of
from video_contrast.runner.model_files import signature
from video_contrast.runner.options import WatchOptions
from video_contrast.runner.run_directory import is_of
from video_contrast.runner.score_call import make_job, request_record, score_job
from video_contrast.runner.sets import load_set
from video_contrast.runner.several_runs import FRAMES, FindSet, RunOutcome, caught, frames_key, free_memory
from video_contrast.runner.views import FrameStore
from video_contrast.storage import RunFolder


def watch(
    folder: Path,
    dataset: str,
    configs: Sequence[str] | None,
    *,
    find_set: FindSet,
    request: WatchOptions,
    wait: Callable[[float], None] = time.sleep,
) -> Iterator[tuple[int, RunOutcome | None]]:
    """Scores every whole checkpoint that has no finished run yet, and goes on looking for new ones.

    Each has its own folder in `output`, so a watch that was stopped goes on where it was, and the runs of checkpoints
    that the training removes stay. Clips are decoded once for all checkpoints. Yields the step of each checkpoint with
    the outcome of its run, and once with None where it is not saved whole when it is first seen; until all were looked
    at, where `once` is set, else without an end. `folder`: of the training run. `dataset, configs, find_set`: as in
    `score_each`. Raises UsageError: there is no such folder or data set.
    """
    if not folder.is_dir():
        raise UsageError(f"{folder}: no such folder; give the one that holds the checkpoint-N folders")
    if request.output is None or address_of(request.output):
        raise UsageError("give --output DIR, a folder of this machine: every checkpoint gets a folder in it")
    load_set(dataset, configs, request.split, limit=request.limit, folder=find_set(dataset, configs))
    states: dict[Path, tuple[dict[str, list[int]], bool]] = {}
    incomplete: set[Path] = set()
    frames: FrameStore | None = None
    try:
        while True:
            for step, checkpoint in checkpoints_in(folder):
                files, place = {}, request.output / checkpoint.name
                with suppress(OSError):  # the training removes old checkpoints
                    files = signature(checkpoint)
                if states.get(checkpoint) == (files, place.exists()):
                    continue
                if not is_whole(checkpoint):
                    if checkpoint not in incomplete:
                        incomplete.add(checkpoint)
                        yield step, None
                    continue
                options = replace(request, output=place, progress=False)
                outcome = RunOutcome(checkpoint.name, str(checkpoint), place)
                is_done = False  # told without reading its weights
                with suppress(OSError, ValueError, VideoContrastError):
                    is_done = is_of(RunFolder(place), request_record(checkpoint, dataset, configs, options), files)
                if not is_done:
                    with caught() as errors:
                        folder_of_set = find_set(dataset, configs)
                        job = make_job(checkpoint, dataset, configs, folder=folder_of_set, request=options)
                        if frames is None and (key := frames_key(job)):
                            frames = FrameStore.on(request.output / FRAMES, key[0])
                        outcome = replace(outcome, result=score_job(replace(job, frames=frames)))
                    outcome = replace(outcome, error="".join(errors))
                    free_memory()
                # A run whose folder is removed, because the checkpoint was written anew, is made again.
                states[checkpoint] = files, place.exists()
                yield step, outcome
            if request.once:
                return
            wait(request.interval)
    finally:
        if frames is not None:
            frames.remove()


STATE = "trainer_state.json"  # the last file that the library's trainer writes
AT_REST = 30.0  # seconds without a change, after which a checkpoint without that file counts as saved


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
        time_of_weights = max(path.stat().st_mtime for path in weights)
        is_done = time.time() - max(path.stat().st_mtime for path in files) >= AT_REST
        with suppress(OSError, ValueError):  # written to its end
            json.loads((folder / STATE).read_text(encoding="utf-8"))
            is_done = is_done or (folder / STATE).stat().st_mtime >= time_of_weights
        indices = [(index.parent, read_json(index)) for index in folder.rglob("*.index.json")]
        shards = [parent / name for parent, index in indices for name in index["weight_map"].values()]
        return is_done and all(map(Path.is_file, shards)) and all(map(_is_whole_file, weights))
    except (OSError, ValueError):  # it is being written, or has just been removed
        return False


def _is_whole_file(path: Path) -> bool:
    """Whether a file of weights is as long as its header says; torch writes an archive's contents last."""
    if path.suffix != ".safetensors":
        return zipfile.is_zipfile(path) or time.time() - path.stat().st_mtime >= AT_REST
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy"):
            return True
    except SafetensorError:
        return False
