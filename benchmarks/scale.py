"""Time and memory of steps at N, 2N and 4N units with their exponents, and how busy 64 processes are kept.

    python benchmarks/scale.py [STEP ...] [--size 1]

Each measurement is a process of its own: CPU seconds of it and its children, and the memory that it held at most.
"""

import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from math import log2
from pathlib import Path

import numpy as np
from parts.command_line import parser_of

Step = Callable[[int, Path], Iterator[None]]  # prepares `n` units in a folder, yields, and does what is measured


def retrieval(n: int, folder: Path) -> Iterator[None]:
    """Ranks of n captions of n clips, from their embeddings."""
    from video_contrast import metrics

    rng = np.random.default_rng(0)
    videos = rng.standard_normal((n, 512), dtype=np.float32)
    captions = rng.standard_normal((n, 512), dtype=np.float32)
    yield
    metrics.retrieval_from_embeddings(videos, captions, np.arange(n), ks=[1, 10])


STEPS: dict[str, tuple[Step, int]] = {"retrieval": (retrieval, 10_000)}  # name -> the step, and N


def child(name: str, n: int) -> None:
    """Carries out one step of n units, and prints what it took: CPU seconds, wall seconds, GB at most."""
    with tempfile.TemporaryDirectory() as folder:
        step = STEPS[name][0](n, Path(folder))
        next(step)
        before, began = cpu_seconds(), time.perf_counter()
        next(step, None)
        peak = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        print("\nTOOK", cpu_seconds() - before, time.perf_counter() - began, peak / 2**20)


def cpu_seconds() -> float:
    """CPU seconds of this process and of its children that ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def measured(name: str, n: int) -> list[float]:
    """What `child` printed."""
    command = [sys.executable, __file__, name, "--units", str(n)]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return [float(number) for number in out.rpartition("TOOK")[2].split()]


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("steps", nargs="*", help=f"of {', '.join(STEPS)} [default: all]")
    parser.add_argument("--size", type=float, default=1, help="times the N of each step [default: 1]")
    parser.add_argument("--units", type=int, help="one measurement, in this process")
    arguments = parser.parse_args()
    if arguments.units:
        child(arguments.steps[0], arguments.units)
        return
    print("| step | N | CPU s at N, 2N, 4N | exponent | GB at N, 2N, 4N | exponent |\n|---|---|---|---|---|---|")
    for name in arguments.steps or STEPS:
        n = int(STEPS[name][1] * arguments.size)
        columns = list(zip(*(measured(name, times * n) for times in (1, 2, 4)), strict=True))
        spent, held = columns[0], columns[2]
        cells = [f"{' '.join(f'{x:.3g}' for x in of)} | {log2(of[2] / of[0]) / 2:.2f}" for of in (spent, held)]
        print(f"| {name} | {n:,} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
