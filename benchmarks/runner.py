"""The runner against a straightforward loop: CPU time, counters over their minimum, overhead, a finished run.

The loop does for every condition what papers' scripts do: decode the clip, perturb all of it (with the product's own
kernels), sample, encode; and encodes the captions again for every condition. Both give the same scores, which is
checked. CPU seconds of this process; ratios depend little on the machine.

    python benchmarks/runner.py --clips 2 --seconds 10      (20 clips are the full measurement)
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("HF_HUB_OFFLINE", "1")

import numpy as np

from video_contrast import seeds, tables
from video_contrast.builders.registry import BuiltSet
from video_contrast.builders.writing import write_set
from video_contrast.perturbations.text import perturb_captions
from video_contrast.perturbations.video import perturb_clip
from video_contrast.runner import score
from video_contrast.runner.conditions import Condition, parse
from video_contrast.runner.decode import decode, index_of
from video_contrast.runner.kinds import Clip, Settings, TextScorer, choose
from video_contrast.runner.kinds.base import kind
from video_contrast.runner.locate import locate
from video_contrast.runner.results import read_matrix
from video_contrast.runner.sampling import frame_indices
from video_contrast.video_io import write_video

CODECS = ("codec1", "codec2")


def make_set(folder: Path, clips: int, seconds: int, size: int) -> Path:
    """Clips at 25 frames a second: a textured field that drifts, with noise."""
    rows = []
    for n in range(clips):
        rng = seeds.stream("benchmark", n)
        field = rng.integers(0, 255, (size // 4, size // 3, 3)).repeat(8, 0).repeat(8, 1).astype(np.uint8)
        frames = np.stack([np.roll(field, 3 * t, 1)[:size, : size * 4 // 3] for t in range(25 * seconds)])
        write_video(folder / f"clips/{n}.mp4", frames, 25)
        caption = f"a coloured field number {n} slides to the {'left' if n % 2 else 'right'} while a man watches it"
        rows.append(tables.retrieval_row(id=f"c{n}", video_id=f"v{n}", video_path=f"clips/{n}.mp4", captions=[caption]))
    return write_set(BuiltSet("captions", {"retrieval": {"test": rows}}, {"summary": "benchmark"}), folder)


def straightforward(
    model: Any, folder: Path, clips: int, conditions: list[Condition], frames: int
) -> tuple[dict[str, np.ndarray], float, float]:
    """condition -> matrix; CPU seconds in all, and without the codec conditions."""
    import pyarrow.parquet as pq

    rows = pq.read_table(folder / "retrieval").to_pylist()
    found, total, plain = {}, 0.0, 0.0
    for condition in conditions:
        began = time.process_time()
        captions, ids = [row["captions"][0] for row in rows], [row["id"] for row in rows]
        if condition.text.name:
            captions = perturb_captions(captions, condition.text.name, ids=ids, caption_indices=[0] * clips)
        videos = []
        for row in rows:
            path = folder / row["video_path"]
            every = decode(path, range(index_of(path).n_frames))
            if condition.visual.name:
                visual = condition.visual
                every = perturb_clip(every, visual.name, visual.severity, video_id=row["video_id"])
            videos.append(every[frame_indices(len(every), frames)])
        encoded = [model.encode_videos([video]) for video in videos]
        found[condition.name] = model.join(np.concatenate(encoded), model.encode_texts(captions))
        spent = time.process_time() - began
        total += spent
        plain += spent if condition.visual.name not in CODECS else 0.0
    return found, total, plain


class Null(TextScorer):
    """Costs nothing: what is left is the runner."""

    def similarity(self, video_ids: Any, text_ids: Any, texts: Any) -> np.ndarray:
        return np.zeros((len(video_ids), len(text_ids)))


@kind("benchmark_null", family="text", summary="nothing", names=("benchmark-null",))
def load_null(source: Any, settings: Any) -> Null:
    return Null()


def run(model: str, folder: Path, names: list[str], output: Path, store: Path) -> tuple[Any, float]:
    began = time.process_time()
    result = score(model, folder, "retrieval", conditions=names, output=output, store=store, progress=False, workers=1)
    return result, time.process_time() - began


def overhead(root: Path) -> float:
    """Milliseconds a multiple-choice sample of a run with a null model, metrics and intervals included."""
    rows = [
        tables.multiple_choice_row(
            id=str(n), video_id=f"v{n}", video_path=f"{n}.mp4", label=n % 5,
            candidates=[f"text {n} {k}" for k in range(5)],
            kinds=["true" if k == n % 5 else "random" for k in range(5)],
        )
        for n in range(3000)
    ]  # fmt: skip
    folder = write_set(BuiltSet("captions", {"random_mc": {"test": rows}}, {"summary": "benchmark"}), root / "null")
    began = time.process_time()
    score("benchmark-null", folder, "random_mc", output=root / "null-run", progress=False)
    return 1000 * (time.process_time() - began) / len(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clips", type=int, default=2)
    parser.add_argument("--seconds", type=int, default=4)
    parser.add_argument("--size", type=int, default=96, help="height of the clips")
    parser.add_argument("--model", default="temporal")
    parser.add_argument("--conditions", default="clean,visual:*,text:drop_first,text:shuffle_order,text:keyboard")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch)
        folder = make_set(root / "set", given.clips, given.seconds, given.size)
        source = locate(given.model)
        model = choose(source).load(source, Settings(options={"pooling": "mean", "query_temperature": 0.1}))
        frames = model.frames or 8
        conditions = parse(given.conditions)
        conditions += parse([f"{v}+{t}" for v in ("visual:jumble@3", "visual:jpeg@3") for t in
                             ("text:drop_first", "text:shuffle_order")])  # fmt: skip
        model.encode_prepared([model.prepare(Clip(np.zeros((frames, 64, 64, 3), np.uint8)))])  # warm
        names = [condition.name for condition in conditions]
        expected, slow, slow_plain = straightforward(model, folder, given.clips, conditions, frames)
        result, fast = run(given.model, folder, names, root / "run", root / "store")
        bare = [c.name for c in conditions if c.visual.name not in CODECS]
        _, fast_plain = run(given.model, folder, bare, root / "plain", root / "other")
        worst = max(
            float(np.abs(read_matrix(root / "run", "retrieval", name)[0] - expected[name]).max()) for name in names
        )
        counters = result.record["counters"]
        print(f"{len(names)} conditions on {given.clips} clips of {given.seconds} s, {given.model}")
        print(f"largest difference of a score from the loop's      {worst:.1e}")
        print(f"CPU of the loop / of the runner, all conditions    {slow:.1f} s / {fast:.1f} s = {slow / fast:.1f}")
        print(f"  without the codec conditions                     {slow_plain:.1f} s / {fast_plain:.1f} s"
              f" = {slow_plain / fast_plain:.1f}")  # fmt: skip
        decoded = counters["frames_decoded"] / counters["frames_minimum"]
        print(f"frames decoded / minimum                           {decoded:.3f}")
        for what in ("visual", "text"):
            ratio = counters[f"{what}_encodings"] / counters[f"{what}_encodings_in_all"]
            print(f"{what + ' encodings / minimum':50} {ratio:.3f}")
        began = time.process_time()
        run(given.model, folder, names, root / "run", root / "store")
        print(f"a finished run, recognised                         {1000 * (time.process_time() - began):.0f} ms")
        print(f"overhead with a null model                         {overhead(root):.3f} ms a sample")


if __name__ == "__main__":
    main()
