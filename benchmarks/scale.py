"""Time, memory and disk of steps at N, 2N and 4N units with their exponents, and what large jobs add up to.

    python benchmarks/scale.py [STEP ...] [--size 1]

Each measurement is a process of its own, with its children. Large jobs lie on the line through those at 2N and 4N.
"""

import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from math import log2
from multiprocessing import get_context
from pathlib import Path
from time import process_time

import numpy as np
from parts.measuring import parser_of
from parts.standins import drifting

from video_contrast.rows import Row, multiple_choice_row, retrieval_row

Step = Callable[[int, Path], Iterator[None]]  # prepares `n` units in a folder, yields, and does what is measured
NOISE = 0.03  # GB, between equal measurements
SPANS = 100  # clips a file, of a second each


def captions(n: int) -> list[str]:
    """Captions recombined: who of one caption, what of another (tests/data), where by its number."""
    lines = (Path(__file__).parent.parent / "tests/data/captions.txt").read_text("utf-8").splitlines()
    parts = [text.partition(" is ") for line in lines for text in line.split("|")]
    who, what = ([part[k] for part in parts if part[1]] for k in (0, 2))
    rng = np.random.default_rng(0)
    chosen = zip(rng.integers(len(who), size=n), rng.integers(len(what), size=n), strict=True)
    return [f"{who[a]} is {what[b]}" for a, b in chosen]


def write_rows(folder: Path, config: str, rows: Callable[[int], Row], n: int) -> None:
    """A set with one config of the rows 0 to n, a thousand at a time, where it is not there."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from video_contrast.builders.registry import BuiltSet
    from video_contrast.builders.writing import write_set

    if (folder / "set").exists():
        return
    first = {config: {"test": [rows(0), rows(1)]}}
    write_set(BuiltSet("captions", first, {"summary": "benchmark"}), folder / "set")
    (file,) = (folder / "set").rglob("*.parquet")
    schema = pq.read_schema(file)
    with pq.ParquetWriter(file, schema) as writer:
        for begin in range(0, n, 1000):
            part = [rows(k) for k in range(begin, min(begin + 1000, n))]
            writer.write_table(pa.Table.from_pylist(part, schema))


def write_items(n: int, folder: Path, pairs: bool = False) -> None:
    """A set of n items of multiple choice, or n rows of pairs, each of a clip of a second, a hundred a file."""
    texts = [f"{text}, scene {k}" for k, text in enumerate(captions(n + 1))]

    def row(k: int) -> Row:
        first, label = k - k % 2, k % 2 if pairs else 0
        group = f"pair{first}" if pairs else None
        return multiple_choice_row(
            id=f"item{k}", video_id=f"video{k}", video_path=f"{k // SPANS}.mp4", start=k % SPANS, end=k % SPANS + 1,
            candidates=texts[first : first + 2] if pairs else [texts[(k + 7919 * j) % n] for j in range(5)],
            kinds=["true", "random"][:: 1 - 2 * label] if pairs else ["true", *["random"] * 4], label=label,
            group=group, cluster=group,
        )  # fmt: skip

    write_rows(folder, "pairs" if pairs else "random_mc", row, n)


def choice(n: int, folder: Path, model: str = "constant", pairs: bool = False) -> Iterator[None]:
    """Items of multiple choice scored by a baseline: read, checked, scored, measured and written."""
    from video_contrast.runner import score

    write_items(n, folder, pairs)
    for number in range(-(-n // SPANS)):
        (folder / "set" / f"{number}.mp4").touch()
    yield
    score(model, folder / "set", output=folder / model, store=folder / "store", accept="all", progress=False, workers=1,
          keep_matrices=0)  # fmt: skip


def table(n: int, folder: Path) -> Iterator[None]:
    """Two runs on n items beside each other, with the test between them."""
    from video_contrast.reports.table_lines import best_models, metrics_of
    from video_contrast.storage import open_run

    def scored() -> None:
        for model in ("constant", "random"):
            list(choice(n, folder, model))

    apart = get_context("fork").Process(target=scored)  # it takes more memory than the table
    apart.start()
    apart.join()
    yield
    runs = [open_run(folder / model) for model in ("constant", "random")]
    metrics_of(runs)
    best_models(runs)


def clips(n: int, folder: Path) -> Iterator[None]:
    """Clips of a second, of 48 x 48 pixels, decoded and encoded by a checkpoint of 0.4 MB, and items of them scored."""
    from video_contrast.video import write_video

    step = choice(n, folder, "bag-of-frames")
    next(step)
    for number in range(-(-n // SPANS)):
        colours = np.random.default_rng(number).integers(0, 256, (6, 6, 3))
        write_video(folder / "set" / f"{number}.mp4", drifting(colours, 8, 1, 8 * SPANS), 8)
    yield
    next(step, None)


def joined(n: int, folder: Path) -> Iterator[None]:
    """Items whose clips and captions are in the store: what the first process does alone."""
    step = choice(n, folder, "bag-of-frames")
    next(step)
    fill_store(folder)
    yield
    next(step, None)


def retrieval(n: int, folder: Path) -> Iterator[None]:
    """n clips against n captions whose embeddings, of 512 numbers, are in the store."""

    def row(k: int) -> Row:
        return retrieval_row(id=f"c{k}", video_id=f"v{k}", video_path="0.mp4", start=k, end=k + 1, captions=[texts[k]])

    texts = [f"{text}, scene {k}" for k, text in enumerate(captions(n))]
    write_rows(folder, "retrieval", row, n)
    yield from joined(n, folder)


def fill_store(folder: Path) -> None:
    """Puts random embeddings in the place of those of a set's clips and captions."""
    from video_contrast.runner import device, embedding_store, plan, process_share, processes, score_call
    from video_contrast.runner.options import ScoreOptions

    for number, path in enumerate((folder / "set").glob("*.mp4")):
        path.write_text(str(number))  # equal files would be one
    request = ScoreOptions(output=folder / "run", store=folder / "store", accept="all")
    job = score_call.make_job("bag-of-frames", folder / "set", None, folder=None, request=request)
    here, planned = processes.Processes("cpu"), plan.make_plan(job.dataset, job.conditions, None)
    kind = device.device_of(job, here)
    run = process_share.Run(job, here, device.load_model(job, *kind), planned, *kind, folder / "set")
    store, names_of = embedding_store.Store(job.store, run.space), embedding_store.Keys(run.files, job.sampling)
    views = [names_of.video(clip, visual) for clip, visuals in planned.views.items() for visual in visuals]
    rng = np.random.default_rng(0)
    for names, numbers in ((views, job.sampling.frames), ([names_of.text(text) for text in planned.texts], 0)):
        for begin in range(0, len(names), 8192):
            part = names[begin : begin + 8192]
            rows = rng.standard_normal((len(part), 512), np.float32)
            rows /= np.linalg.norm(rows, axis=1, keepdims=True)
            store.put(part, rows, np.zeros((len(part), numbers), np.int64) if numbers else None)


def corpus(n: int, folder: Path, config: str = "verb_mc") -> Iterator[None]:
    """Verb contrasts of n captions in blocks: cut, proposed, judged, chosen, written, a sample audited."""
    from video_contrast import build

    for name, size in (("small", 50), ("large", n)):  # the small one brings what is imported
        lines = [f"{k}.mp4,{text}" for k, text in enumerate(captions(size))]
        (folder / f"{name}.csv").write_text("\n".join(["video,caption", *lines]))
    build("captions", config, output=folder / "small", captions=folder / "small.csv", executor="local")
    time_stages(folder)
    yield
    build("captions", config, output=folder / "built", captions=folder / "large.csv", executor="local")


def perturbed(n: int, folder: Path) -> Iterator[None]:
    """n captions perturbed by one text perturbation, in blocks."""
    from video_contrast import build

    list(corpus(n, folder, "retrieval"))
    for path in folder.glob("*.parallel"):
        path.unlink()
    yield
    build("perturbed", "keyboard", output=folder / "perturbed", dataset=folder / "built", executor="local")


def time_stages(folder: Path) -> None:
    """From now on the tasks of parallel stages leave their CPU seconds in files, NAME.parallel."""
    from video_contrast.builders.blocks import block_build, executors

    def timed(stage: executors.Stage) -> executors.Stage:
        def work(rank: int) -> None:
            began = process_time()
            stage.work(rank)
            (folder / f"{stage.name}{rank}.parallel").write_text(str(process_time() - began))

        return replace(stage, work=work) if stage.of_blocks else stage

    run = executors.run_stages
    vars(block_build)["run_stages"] = lambda stages, *rest, **named: run([*map(timed, stages)], *rest, **named)


STEPS: dict[str, tuple[Step, int]] = {  # with N
    "choice": (choice, 50_000), "pairs": (partial(choice, pairs=True), 50_000), "table": (table, 50_000),
    "clips": (clips, 500), "joined": (joined, 20_000), "retrieval": (retrieval, 12_500), "corpus": (corpus, 5000),
    "perturbed": (perturbed, 5000),
}  # fmt: skip
JOBS = (  # what it is, its step, units, processes, and the exponent of its time
    ("a million items scored by a baseline", "choice", 1_000_000, 1, 1),
    ("a million rows of pairs scored by a baseline", "pairs", 1_000_000, 1, 1),
    ("two runs of a million items compared", "table", 1_000_000, 1, 1),
    ("50,000 clips against 50,000 captions", "retrieval", 50_000, 1, 2),
    ("a million clips, beside the model", "clips", 1_000_000, 64, 1),
    ("verb contrasts of ten million captions", "corpus", 10_000_000, 64, 1),
    ("ten million captions perturbed", "perturbed", 10_000_000, 64, 1),
)


def child(name: str, n: int) -> None:
    """Carries out one step of n units, and prints CPU seconds, GB of memory, GB on disk, and seconds in parallel."""
    whose = resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN  # those that ended
    with tempfile.TemporaryDirectory() as folder:

        def used() -> np.ndarray:
            sizes = (path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())
            return np.array([sum(sum(resource.getrusage(who)[:2]) for who in whose), sum(sizes) / 1e9])

        step = STEPS[name][0](n, Path(folder))
        next(step)
        before, of_children = used(), resource.getrusage(whose[1]).ru_maxrss
        next(step, None)
        seconds, disk = used() - before
        own, children = (resource.getrusage(who).ru_maxrss for who in whose)
        peak = (max(own, children) if children > of_children else own) / 2**20  # without those of the preparation
        parallel = sum(float(path.read_text()) for path in Path(folder).glob("*.parallel"))
        print("\nTOOK", seconds, peak, disk, parallel)


def measured(name: str, n: int) -> list[float]:
    """The numbers that `child` printed."""
    command = [sys.executable, __file__, name, "--units", str(n)]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return [float(number) for number in out.rpartition("TOOK")[2].split()]


def print_jobs(results: dict[str, list[list[float]]], size: float) -> None:
    """The costs of large jobs, by the measurements at 2N and 4N."""

    def line(step: str, column: int) -> float:
        _, two, four = (values[column] for values in results[step])
        growth = 0 if column == 1 and four - two < NOISE else max(four - two, 0)
        return four + growth * 2 * (units / (4 * int(STEPS[step][1] * size)) - 1)

    print("\n| calculated | processes | hours | serial | GB at most | GB written |\n|---|---|---|---|---|---|")
    for what, name, units, processes, power in JOBS:
        if name not in results or (name == "clips" and "joined" not in results):
            continue
        seconds, memory, disk, parallel = (line(name, column) for column in range(4))
        if name == "clips":  # the first process joins alone
            parallel, memory = seconds - line("joined", 0), line("joined", 1)
        seconds = seconds if power == 1 else results[name][2][0] * (units / (4 * int(STEPS[name][1] * size))) ** 2
        hours = (seconds - parallel + parallel / processes) / 3600
        print(f"| {what} | {processes} | {hours:.2g} | {1 - parallel / seconds:.0%} | {memory:.2g} | {disk:.2g} |")


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("steps", nargs="*", help=f"of {', '.join(STEPS)} [default: all]")
    parser.add_argument("--size", type=float, default=1, help="times the N of each step [default: 1]")
    parser.add_argument("--units", type=int, help="one measurement, in this process")
    arguments = parser.parse_args()
    if arguments.units:
        child(arguments.steps[0], arguments.units)
        return
    results = {}
    print("| step | N | CPU s at N, 2N, 4N | exponent | GB at N, 2N, 4N | exponent |\n|---|---|---|---|---|---|")
    for name in arguments.steps or STEPS:
        n = int(STEPS[name][1] * arguments.size)
        results[name] = [measured(name, times * n) for times in (1, 2, 4)]
        spent, held = (list(column) for column in list(zip(*results[name], strict=True))[:2])
        cells = [f"{' '.join(f'{x:.3g}' for x in of)} | {log2(of[2] / of[0]) / 2:.2f}" for of in (spent, held)]
        print(f"| {name} | {n:,} | {' | '.join(cells)} |", flush=True)
    print_jobs(results, arguments.size)


if __name__ == "__main__":
    main()
