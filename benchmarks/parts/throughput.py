"""Decoding alone, the model alone, and both together as the runner has them: is the model kept fed?

All three in one process on one device, one after the other and several times in turn, in wall-clock time: what
decoder threads gain is not seen in CPU time. The target is nine tenths of the slower of the two on a GPU; where the
model runs on the CPU too, threads and model share its cores, and what can be reached is what both cost together.
"""

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from parts.measuring import in_turn
from video_contrast.runner.clip_reader import ClipReader
from video_contrast.runner.conditions import parse
from video_contrast.runner.embedding_store import Keys, Store
from video_contrast.runner.encode import Encoding
from video_contrast.runner.kinds import choose
from video_contrast.runner.kinds.base import ClipFrames, LoadOptions, Prepared
from video_contrast.runner.memory import RunCounts
from video_contrast.runner.model_files import locate
from video_contrast.runner.plan import make_plan
from video_contrast.runner.sets import load_set
from video_contrast.runner.views import Sampling
from video_contrast.untyped import TorchModel


def load(name: str, frames: int, device: str, dtype: str = "float32") -> TorchModel:
    """A checkpoint as the runner loads it, warm."""
    source = locate(name)
    kind = choose(source)
    options = {option.name: option.default for option in kind.options}
    model: TorchModel = kind.load(source, LoadOptions(device, dtype, options=options))
    model.encode_prepared([model.prepare(ClipFrames(np.zeros((frames, 64, 64, 3), np.uint8)))])
    return model


def throughput(
    model: TorchModel, folder: Path, *, frames: int, batch: int, workers: int, rounds: int
) -> dict[str, list[float]]:
    """Clips a second, one figure a round: `decode` (and preparing), `model` (on prepared clips), `together`.

    `together` is the engine's own loop, embeddings stored.

    Args:
        folder: a set with a config `retrieval`, and its videos.
        batch: clips that go through the model at once.
        rounds: how often each is measured, in turn.
    """
    plan = make_plan(load_set(folder, ["retrieval"], "test"), parse("clean"), None)
    clips = list(plan.views)
    sampling = Sampling(frames)

    def reader() -> ClipReader:
        return ClipReader(folder, sampling, workers, RunCounts())

    def prepared() -> Iterator[Prepared]:
        for _, results in reader().read(clips, plan.visuals_of, model.prepare, ahead=2 * batch, depth=2):
            yield from (prepared_clip for _, prepared_clip in results)

    def encode() -> None:
        for begin in range(0, len(ready), batch):
            model.encode_prepared(ready[begin : begin + batch])

    def together() -> None:
        keys = Keys({clip.video_path: clip.video_path for clip in clips}, sampling)
        with tempfile.TemporaryDirectory() as store:
            encoding = Encoding(
                model, plan, keys, Store(Path(store), "benchmark"), batch_size=batch, counts=RunCounts()
            )
            encoding.encode_videos(enumerate(map(list, plan.chunks(batch))), reader(), lambda n: None)

    ready = list(prepared())
    model.encode_prepared(ready[:batch])  # warm
    calls = {"decode": lambda: sum(1 for _ in prepared()), "model": encode, "together": together}
    spent = in_turn(calls, rounds, time.perf_counter)
    return {what: [len(clips) / second for second in seconds] for what, seconds in spent.items()}
