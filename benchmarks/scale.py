"""Time and memory of steps at N, 2N and 4N units with their exponents, and how busy 64 processes are kept.

    python benchmarks/scale.py [STEP ...] [--size 1]

Each measurement is a process of its own: CPU seconds of it and its children, and the memory that it held at most.
"""

import heapq
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


def choice(n: int, folder: Path) -> Iterator[None]:
    """A set of n items of multiple choice, scored by a baseline: read, checked, scored, measured and written."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from video_contrast.builders.registry import BuiltSet
    from video_contrast.builders.writing import write_set
    from video_contrast.rows import Row, multiple_choice_row
    from video_contrast.runner import score

    rows: list[Row] = [
        multiple_choice_row(
            id=f"item{k}", video_id=f"v{k}", video_path=f"{k}.mp4", label=k % 5,
            candidates=[f"a person does thing {j} of video {k}" for j in range(5)],
            kinds=["true" if j == k % 5 else "random" for j in range(5)],
        )
        for k in range(1000)
    ]  # fmt: skip
    write_set(BuiltSet("captions", {"random_mc": {"test": rows}}, {"summary": "benchmark"}), folder / "set")
    (file,) = (folder / "set").rglob("*.parquet")
    part = pq.read_table(file)
    numbers = {"id": "item", "video_id": "v", "cluster": "v"}
    with pq.ParquetWriter(file, part.schema) as writer:
        for first in range(0, n, 1000):
            for name, prefix in numbers.items():
                values = pa.array([f"{prefix}{first + k}" for k in range(1000)], part.schema.field(name).type)
                part = part.set_column(part.schema.get_field_index(name), part.schema.field(name), values)
            writer.write_table(part)
    yield
    score("constant", folder / "set", "random_mc", output=folder / "run", progress=False)


def write_captions(n: int, path: Path) -> str:
    """A table of n clips with a caption each, recombined: who of one caption, what of another (tests/data)."""
    lines = (Path(__file__).parent.parent / "tests/data/captions.txt").read_text("utf-8").splitlines()
    parts = [text.partition(" is ") for line in lines for text in line.split("|")]
    who, what = ([part[k] for part in parts if part[1]] for k in (0, 2))
    rng = np.random.default_rng(0)
    chosen = zip(rng.integers(len(who), size=n), rng.integers(len(what), size=n), strict=True)
    rows = (f"{k}.mp4,{who[a]} is {what[b]}" for k, (a, b) in enumerate(chosen))
    path.write_text("\n".join(["video,caption", *rows]))
    return str(path)


def cut(n: int, folder: Path) -> Iterator[None]:
    """n captions, read and cut into blocks on disk: the first serial stage of a corpus."""
    from video_contrast.builders.sources.clip_blocks import cut as cut_table
    from video_contrast.builders.sources.clip_table import CaptionTable

    table = CaptionTable(captions=write_captions(n, folder / "captions.csv"))
    yield
    cut_table(table, folder / "work")


def corpus(n: int, folder: Path) -> Iterator[None]:
    """Verb contrasts of n captions in blocks: cut, proposed, judged, chosen, written, a sample audited."""
    import video_contrast

    small = write_captions(50, folder / "a.csv")
    video_contrast.build("captions", "verb_mc", output=folder / "a", captions=small, executor="local")
    table = write_captions(n, folder / "captions.csv")
    yield
    video_contrast.build("captions", "verb_mc", output=folder / "set", captions=table, executor="local")


def perturbed(n: int, folder: Path) -> Iterator[None]:
    """n captions perturbed by one text perturbation, in blocks."""
    import video_contrast

    table = write_captions(n, folder / "captions.csv")
    clean = video_contrast.build("captions", ["retrieval"], output=folder / "clean", captions=table, executor="local")
    yield
    video_contrast.build("perturbed", ["keyboard"], output=folder / "set", dataset=clean, executor="local")


def simulated(processes: int = 64, chunks: int = 31_250) -> None:
    """Prints how busy processes are where chunks of 32 clips are dealt from a queue, and in fixed shares.

    Clips take times of a heavy tail, a long film after another as in the order of files; one process is four times
    slower than the others, or none.
    """
    rng = np.random.default_rng(0)
    films = rng.pareto(1.5, chunks // 20 + 1).repeat(20)[:chunks]
    seconds = (1 + rng.lognormal(0, 1.5, (chunks, 32))).sum(1) * (1 + films)
    print(f"| {processes} processes, {32 * chunks:,} clips | busy, of a queue | of fixed shares |\n|---|---|---|")
    for name, slowest in (("equally fast", 1.0), ("one four times slower", 4.0)):
        slow = np.ones(processes)
        slow[-1] = slowest
        free = [(0.0, process) for process in range(processes)]
        for chunk in seconds:
            when, process = heapq.heappop(free)
            heapq.heappush(free, (when + chunk * slow[process], process))
        dealt = np.array([when for when, _ in free])
        shares = np.array([part.sum() for part in np.array_split(seconds, processes)]) * slow
        print(f"| {name} | {dealt.mean() / dealt.max():.1%} | {shares.mean() / shares.max():.1%} |")


# name -> the step, and N
STEPS: dict[str, tuple[Step, int]] = {
    "retrieval": (retrieval, 10_000), "choice": (choice, 50_000),
    "cut": (cut, 20_000), "corpus": (corpus, 5000), "perturbed": (perturbed, 5000),
}  # fmt: skip


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
    simulated()


if __name__ == "__main__":
    main()
