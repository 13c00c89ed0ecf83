"""What papers' scripts do: for every condition decode the clip, perturb all of it, sample, encode; and the captions.

The product's own kernels, decoder and model classes do the work, so that what differs is the sharing alone. The loop
may be spread over processes (each condition is measured within one), and keeps what it has measured in a folder, so
that the runner can be measured again without it.
"""

from __future__ import annotations

import json
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from parts.standins import stand_in
from video_contrast.files import write_json
from video_contrast.perturbations.text import perturb_captions
from video_contrast.perturbations.video import perturb_clip
from video_contrast.runner.conditions import Condition, parse
from video_contrast.runner.kinds import ClipFrames, LoadOptions, choose
from video_contrast.runner.locate import locate
from video_contrast.storage import open_set
from video_contrast.untyped import TorchModel
from video_contrast.video import decode, frame_indices, index_of

CLIPS_A_BATCH = 32  # as the runner's


class Clock:
    """CPU seconds of this process by part of the work."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)

    @contextmanager
    def of(self, part: str) -> Iterator[None]:
        """Adds what happens inside to a part."""
        began = time.process_time()
        yield
        self.seconds[part] += time.process_time() - began


def load(model: str, frames: int | None = None, device: str = "cpu", dtype: str = "float32") -> tuple[TorchModel, int]:
    """The model as the runner loads it, warm, and its number of frames."""
    source = locate(model)
    kind = choose(source)
    options = {option.name: option.default for option in kind.options}
    loaded = kind.load(source, LoadOptions(device, dtype, options=options))
    frames = loaded.frames or frames or 8
    loaded.encode_prepared([loaded.prepare(ClipFrames(np.zeros((frames, 64, 64, 3), np.uint8)))])
    loaded.encode_texts(["a man"])
    return loaded, frames


def run_condition(model: TorchModel, frames: int, folder: Path, condition: Condition, clock: Clock) -> np.ndarray:
    """float32[clips, captions]: the scores under one condition, from nothing."""
    rows = open_set(folder).retrieval_rows("retrieval", "test")
    captions, ids = [row["captions"][0] for row in rows], [row["id"] for row in rows]
    if condition.text.name:
        with clock.of("captions"):
            captions = perturb_captions(captions, condition.text.name, ids=ids)
    videos: list[np.ndarray] = []
    encoded: list[np.ndarray] = []
    for row in rows:
        path = folder / row["video_path"]
        with clock.of("decode"):
            clip = decode(path, range(index_of(path).n_frames))
        if condition.visual.name:
            with clock.of("perturb"):
                clip = perturb_clip(clip, condition.visual.name, condition.visual.severity, video_id=row["video_id"])
        videos.append(clip[frame_indices(len(clip), frames)])
        if len(videos) == CLIPS_A_BATCH or row is rows[-1]:
            with clock.of("encode videos"):
                encoded.append(model.encode_videos(videos))
            videos = []
    with clock.of("encode texts"):
        texts = model.encode_texts(captions)
    with clock.of("join"):
        return np.asarray(model.join(np.concatenate(encoded), texts))


def share(
    model: str, folder: Path, names: list[str], measured: Path, number: int, processes: int, frames: int | None
) -> None:
    """One process's share of the loop: every `processes`-th condition, each into a file of `measured`."""
    stand_in(folder.parent / "standins")
    loaded, shown = load(model, frames)
    warm(folder, names)
    for n in range(number, len(names), processes):
        target = measured / f"{n}.json"
        if not target.exists():
            clock = Clock()
            scores = run_condition(loaded, shown, folder, parse(names[n])[0], clock)
            write_json(target, {"name": names[n], "seconds": clock.seconds, "scores": scores.tolist()})


def warm(folder: Path, names: list[str]) -> None:
    """What a process pays once, whichever way it works: tables of noise, the parser, checkpoints of perturbations."""
    for condition in parse(names):
        if condition.visual.name:
            small = np.zeros((2, 32, 32, 3), np.uint8)
            perturb_clip(small, condition.visual.name, condition.visual.severity, video_id="warm")
        if condition.text.name:
            perturb_captions(["a man slides"], condition.text.name, ids=["warm"])


def read(measured: Path, names: list[str]) -> tuple[dict[str, np.ndarray], dict[str, Counter[str]]]:
    """The scores and the seconds by part of every condition."""
    scores, seconds = {}, {}
    for n, name in enumerate(names):
        entry = json.loads((measured / f"{n}.json").read_text(encoding="utf-8"))
        if entry["name"] != name:
            raise SystemExit(f"{measured} holds another loop; give an empty folder")
        scores[name] = np.array(entry["scores"], np.float32)
        seconds[name] = Counter(entry["seconds"])
    return scores, seconds


def straightforward(
    model: str, folder: Path, names: list[str], measured: Path, processes: int, frames: int | None = None
) -> tuple[dict[str, np.ndarray], dict[str, Counter[str]]]:
    """The loop over all conditions: scores and CPU seconds by part, a condition."""
    from multiprocessing import get_context

    measured.mkdir(parents=True, exist_ok=True)
    if processes <= 1:
        share(model, folder, names, measured, 0, 1, frames)
    elif any(not (measured / f"{n}.json").exists() for n in range(len(names))):
        workers = [
            get_context("spawn").Process(target=share, args=(model, folder, names, measured, n, processes, frames))
            for n in range(processes)
        ]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        if any(worker.exitcode for worker in workers):
            raise SystemExit("a process of the loop failed")
    return read(measured, names)
