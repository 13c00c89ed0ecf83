"""The runner against a straightforward loop: CPU time, counters over their minimum, overhead, a finished run.

For every condition the loop decodes each clip, perturbs all of it (with the product's own kernels), samples and
encodes it, and perturbs and encodes the captions. Both give the same scores, which is checked. CPU seconds of
processes; their ratios depend little on the machine. Perturbations of text that need a checkpoint run tiny random
ones of the real classes; those that need WordNet are left out (and said) where NLTK's data has none. Changing the
captions is timed apart and is in no ratio: what a tiny stand-in costs says nothing about the real model, and the
runner does it 35 times where the loop does it 101 times.

    python benchmarks/runner.py                             two short clips, all conditions but a few perturbations
    python benchmarks/runner.py --full --processes 2        192 conditions on 20 clips of 10 s (half an hour of CPU)
    python benchmarks/runner.py --full --clips 2 --model clip-b32     a CLIP ViT-B/32 of full size, random weights
    python benchmarks/runner.py --overhead                  a null model and a finished run: medians and spread
    python benchmarks/runner.py --throughput --model clip-b32         decoding, the model, and both together
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

import numpy as np
from parts import loop, standins, throughput
from parts.clips import drifting, retrieval_set
from parts.command_line import parser_of

from video_contrast import seeds
from video_contrast.builders.registry import BuiltSet
from video_contrast.builders.writing import write_set
from video_contrast.perturbations.pretrained import device_of
from video_contrast.rows import Row, multiple_choice_row
from video_contrast.runner import RunResult, score
from video_contrast.runner.conditions import Condition, parse
from video_contrast.runner.kinds import TextScorer
from video_contrast.runner.kinds.base import kind
from video_contrast.runner.plan import make_plan
from video_contrast.runner.sets import load_set
from video_contrast.storage import RunFolder, SetFolder, open_run
from video_contrast.video import write_video

CODECS = ("codec1", "codec2")
FULL = "clean,visual:*,text:*,pairs"
QUICK = (
    "clean,visual:*@3,visual:jumble,visual:gaussian_noise,text:ChangeChar,text:DropText,"
    "visual:jumble@3+text:no_verbs,visual:jpeg@3+text:no_verbs,visual:shot_noise@3+text:shuffle_order"
)


def make_set(folder: Path, clips: int, seconds: int, size: int) -> Path:
    """Clips at 25 frames a second, 4:3: a field of coloured squares that drifts."""
    if SetFolder(folder).is_built:
        return folder
    captions = {}
    for n in range(clips):
        colours = seeds.stream("benchmark", n).integers(0, 255, (size // 4, size // 3, 3))
        frames = drifting(colours, square=8, step=3, count=25 * seconds)[:, :size, : size * 4 // 3]
        write_video(folder / f"clips/{n}.mp4", frames, 25)
        way = "left" if n % 2 else "right"
        captions[f"clips/{n}.mp4"] = f"a coloured field number {n} slides to the {way} while a man watches it"
    return retrieval_set(folder, captions)


def run(model: str, folder: Path, names: list[str], root: Path, frames: int | None = None) -> tuple[RunResult, float]:
    """The runner's result and its CPU seconds, captions already changed: from loading the model to the record."""
    make_plan(load_set(folder, ["retrieval"], "test"), parse(names), RunFolder(root / "run"))
    began = time.process_time()
    result = score(
        model, folder, "retrieval", conditions=names, output=root / "run", store=root / "store", frames=frames,
        progress=False, workers=1,
    )  # fmt: skip
    return result, time.process_time() - began


class Null(TextScorer):
    """Costs nothing: what is left is the runner."""

    def similarity(self, video_ids: Sequence[str], text_ids: Sequence[str], texts: Sequence[str]) -> np.ndarray:
        return np.zeros((len(video_ids), len(text_ids)))


def overhead(root: Path) -> float:
    """Milliseconds a multiple-choice sample of a run with a null model, metrics and intervals included."""
    rows: list[Row] = [
        multiple_choice_row(
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


def overheads(model: str, options: argparse.Namespace, root: Path) -> None:
    """Measures and prints what a null model and a finished run cost: the median of repeats, the least and the most."""
    kind("benchmark_null", family="text", summary="nothing", names=("benchmark-null",))(lambda *_: Null())
    folder = make_set(root / "set", options.clips, options.seconds, options.size)
    names = ["clean", "visual:jumble@3"]
    run(model, folder, names, root, options.frames)
    _, _, torch_came = recognised(model, folder, names, root, options.frames, traced=True)
    finished = [recognised(model, folder, names, root, options.frames)[1] for _ in range(options.repeats)]
    null = [overhead(root / f"overhead{n}") for n in range(options.repeats + 1)][1:]  # the first one imports
    print(f"a finished run, as a process: {_spread(finished)} CPU-s, torch imported: {torch_came}")
    print(f"a null model: {_spread(null)} ms a sample of 3,000")


def _spread(values: list[float]) -> str:
    return f"{np.median(values):.2f} ({min(values):.2f} to {max(values):.2f} of {len(values)})"


def recognised(
    model: str, folder: Path, names: list[str], root: Path, frames: int | None, traced: bool = False
) -> tuple[float, float, bool]:
    """Wall and CPU seconds of the command on a finished run, as a whole process; traced, whether it imported torch."""
    command = [
        sys.executable, *(("-X", "importtime") if traced else ()), "-m", "video_contrast.cli", "score",
        "--model", model, "--dataset", str(folder), "--config", "retrieval", "--conditions", ",".join(names),
        "--output", str(root / "run"), *(("--frames", str(frames)) if frames else ()),
    ]  # fmt: skip
    before, began = os.times(), time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    wall, after = time.perf_counter() - began, os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    modules = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}
    return wall, cpu, "torch" in modules


def runnable(folder: Path, conditions: str, scratch: Path) -> tuple[list[Condition], dict[str, str]]:
    """The conditions that can run here, and why the others cannot."""
    plan = make_plan(load_set(folder, ["retrieval"], "test"), parse(conditions), RunFolder(scratch))
    return list(dict.fromkeys(table.condition for table in plan.tables)), plan.skipped


def table(model: str, options: argparse.Namespace, root: Path) -> None:
    """Measures and prints."""
    folder = make_set(root / "set", options.clips, options.seconds, options.size)
    standins.stand_in(root / "standins")
    conditions, skipped = runnable(folder, options.conditions, root / "planned")
    names = [condition.name for condition in conditions]
    coded = {condition.name for condition in conditions if condition.visual.name in CODECS}
    expected, spent = loop.straightforward(model, folder, names, root / "loop", options.processes, options.frames)
    slow = {name: sum(parts.values()) - parts["captions"] for name, parts in spent.items()}
    loop.warm(folder, names)
    loop.load(model)
    with tempfile.TemporaryDirectory(dir=root) as first, tempfile.TemporaryDirectory(dir=root) as second:
        result, fast = run(model, folder, names, Path(first), options.frames)
        _, fast_plain = run(model, folder, [name for name in names if name not in coded], Path(second), options.frames)
        ours = {name: open_run(Path(first) / "run").matrix("retrieval", name).values for name in names}
        wall, cpu, torch_came = recognised(model, folder, names, Path(first), options.frames, traced=True)
    counters = result.record["counters"]
    kinds = Counter(condition.group for condition in conditions)
    print(
        f"{len(names)} conditions ({', '.join(f'{n} {group}' for group, n in kinds.items())}) on {options.clips} clips"
    )
    print(f"of {options.seconds} s at {options.size * 4 // 3}x{options.size}, model {options.model}")
    for name, why in skipped.items():
        print(f"left out: {name}: {why}")
    worst = max(float(np.abs(ours[name] - expected[name]).max()) for name in names)
    ranks = sum(int((_ranks(ours[name]) != _ranks(expected[name])).sum()) for name in names)
    report = {
        "largest difference of a score": f"{worst:.1e} of a spread of {np.ptp(np.stack(list(ours.values()))):.2g}",
        "ranks that differ": f"{ranks} of {sum(matrix.size for matrix in ours.values())}",
        "CPU of the loop / of the runner": _ratio(sum(slow.values()), fast),
        "  without the codec conditions": _ratio(sum(slow[n] for n in names if n not in coded), fast_plain),
        "the loop's parts": _parts(spent),
        "frames decoded / minimum": f"{counters['frames_decoded'] / counters['frames_minimum']:.3f}",
        **{
            f"{what} encodings / minimum": f"{counters[f'{what}_encodings'] / counters[f'{what}_encodings_in_all']:.3f}"
            f" ({counters[f'{what}_encodings']}; the loop {len(names) * options.clips})"
            for what in ("visual", "text")
        },
        "a finished run, as a process": f"{wall:.2f} s, {cpu:.2f} CPU-s, torch imported: {torch_came}",
        "overhead with a null model": f"{overhead(root / 'overhead'):.3f} ms a sample",
    }
    for what, value in report.items():
        print(f"{what:34} {value}")


def feeding(model: str, options: argparse.Namespace, root: Path) -> None:
    """Measures and prints whether decoding keeps the model fed."""
    folder = make_set(root / "set", options.clips, options.seconds, options.size)
    device = device_of()
    loaded, frames = loop.load(model, options.frames, device, options.dtype)
    spent = throughput.throughput(loaded, folder, frames=frames, batch=options.batch_size, workers=options.workers)
    print(f"{options.clips} clips of {options.seconds} s at {options.size * 4 // 3}x{options.size}")
    print(f"{frames} frames of each, {options.model}")
    for line in throughput.report(spent, options.workers, device):
        print(line)


def _ranks(matrix: np.ndarray) -> np.ndarray:
    """The rank of every caption for its clip, to six digits: sums in another order differ in the eighth."""
    return np.argsort(np.argsort(-matrix.round(6), axis=1, kind="stable"), axis=1, kind="stable")


def _ratio(slow: float, fast: float) -> str:
    return f"{slow:.1f} s / {fast:.1f} s = {slow / fast:.1f}"


def _parts(spent: dict[str, Counter[str]]) -> str:
    total: Counter[str] = sum(spent.values(), Counter())
    return ", ".join(f"{part} {seconds:.1f}" for part, seconds in total.most_common())


def main() -> None:
    """Reads the options; a folder given with --kept is used again, and what the loop has measured in it."""
    parser = parser_of(__doc__)
    parser.add_argument("--full", action="store_true", help="all 192 conditions, 20 clips of 10 s at 320x240")
    parser.add_argument("--clips", type=int, help="of the set [default: 2; 20 with --full]")
    parser.add_argument("--seconds", type=int, help="of a clip [default: 3; 10 with --full]")
    parser.add_argument("--size", type=int, help="height of the clips [default: 96; 240 with --full]")
    parser.add_argument("--model", default="temporal", help="a packaged checkpoint, a folder, clip-b32 or clip-l14")
    parser.add_argument("--conditions", help="as of `score` [default: a few; all with --full]")
    parser.add_argument("--frames", type=int, help="frames a clip, for a model that takes any number of them (8)")
    parser.add_argument("--processes", type=int, default=1, help="of the loop [default: 1]")
    parser.add_argument("--kept", type=Path, help="a folder for the clips and the loop's measurements, kept")
    parser.add_argument("--throughput", action="store_true", help="decoding, the model, and both together")
    parser.add_argument("--overhead", action="store_true", help="a null model and a finished run alone")
    parser.add_argument("--repeats", type=int, default=5, help="of --overhead [default: 5]")
    parser.add_argument("--workers", type=int, default=2, help="decoder threads of --throughput [default: 2]")
    parser.add_argument("--batch-size", type=int, default=8, help="of --throughput [default: 8]")
    parser.add_argument("--dtype", default="float32", help="of --throughput: float32, bfloat16 or float16")
    options = parser.parse_args()
    usual = {"clips": 20, "seconds": 10, "size": 240, "conditions": FULL} if options.full else {
        "clips": 2, "seconds": 3, "size": 96, "conditions": QUICK
    }  # fmt: skip
    for name, value in usual.items():
        if getattr(options, name) is None:
            setattr(options, name, value)
    with ExitStack() as stack:
        root = options.kept or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        model = str(standins.clip_model(root, options.model)) if options.model.startswith("clip-") else options.model
        (overheads if options.overhead else feeding if options.throughput else table)(model, options, root)


if __name__ == "__main__":
    main()
