"""What the runner costs beside decoding and the model: a run with a null model, and a finished run called again.

    python benchmarks/runner.py [--repeats 5]

Medians of CPU time, with the lowest and the highest.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("HF_HUB_OFFLINE", "1")

import numpy as np
from parts.clips import drifting, retrieval_set
from parts.command_line import parser_of

from video_contrast import seeds
from video_contrast.builders.registry import BuiltSet
from video_contrast.builders.writing import write_set
from video_contrast.rows import Row, multiple_choice_row
from video_contrast.runner import score
from video_contrast.runner.kinds import TextScorer
from video_contrast.runner.kinds.base import kind
from video_contrast.video import write_video


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


def finished_run(root: Path) -> list[str]:
    """Scores a packaged model on two short clips; returns the command that does it again."""
    captions = {}
    for n in range(2):
        colours = seeds.stream("benchmark", n).integers(0, 255, (24, 32, 3))
        write_video(root / f"set/clips/{n}.mp4", drifting(colours, square=8, step=3, count=75), 25)
        captions[f"clips/{n}.mp4"] = f"a coloured field number {n} slides"
    folder = retrieval_set(root / "set", captions)
    command = [
        sys.executable, "-m", "video_contrast.cli", "score", "--model", "temporal", "--dataset", str(folder),
        "--config", "retrieval", "--conditions", "clean,visual:jumble@3", "--output", str(root / "run"),
    ]  # fmt: skip
    subprocess.run(command, capture_output=True, check=True)
    return command


def cpu_seconds(command: Sequence[str]) -> float:
    """CPU seconds of a process."""
    before = os.times()
    subprocess.run(command, capture_output=True, check=True)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def imports_torch(command: Sequence[str]) -> bool:
    """Whether a Python process imports torch."""
    traced = [command[0], "-X", "importtime", *command[1:]]
    errors = subprocess.run(traced, capture_output=True, text=True, check=True).stderr
    return "torch" in {line.rpartition("|")[2].strip() for line in errors.splitlines()}


def _spread(values: list[float]) -> str:
    return f"{np.median(values):.2f} ({min(values):.2f} to {max(values):.2f} of {len(values)})"


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--repeats", type=int, default=5, help="whose median is printed [default: 5]")
    repeats = parser.parse_args().repeats
    kind("benchmark_null", family="text", summary="nothing", names=("benchmark-null",))(lambda *_: Null())
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        command = finished_run(root)
        finished = [cpu_seconds(command) for _ in range(repeats)]
        print(f"a finished run, as a process: {_spread(finished)} CPU-s, torch imported: {imports_torch(command)}")
        null = [overhead(root / f"overhead{n}") for n in range(repeats + 1)][1:]  # the first one imports
        print(f"a null model: {_spread(null)} ms a sample of 3,000")


if __name__ == "__main__":
    main()
