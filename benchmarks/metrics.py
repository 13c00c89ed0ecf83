"""Speed and memory of the metrics: `python benchmarks/metrics.py` (about a minute).

Times are CPU seconds, the best of several runs that alternate with what they are compared with, in one process.
"""

import subprocess
import sys
from collections.abc import Callable
from functools import partial

import numpy as np
from parts.measuring import in_turn, parser_of

from video_contrast import metrics


def seconds(*functions: Callable[[], object], runs: int = 5) -> list[float]:
    """The best CPU time of each function, interleaved."""
    calls = {str(number): function for number, function in enumerate(functions)}
    return [min(spent) for spent in in_turn(calls, runs).values()]


def line(what: str, ours: float, other: float, ratio: float, target: str) -> None:
    print(f"{what:<66} {ours * 1e3:9.1f} ms {other * 1e3:10.1f} ms {ratio:8.1f}  {target}")


def retrieval_against_a_sum() -> None:
    rng = np.random.default_rng(0)
    similarity = rng.standard_normal((10_000, 10_000), dtype=np.float32)
    ours, total = seconds(lambda: metrics.retrieval(similarity), lambda: np.sum(similarity))
    line("retrieval both ways, 10,000 x 10,000 (against np.sum)", ours, total, ours / total, "at most 5")


def retrieval_against_torchmetrics() -> None:
    import torch
    from torchmetrics.retrieval import RetrievalRecall

    rng = np.random.default_rng(0)
    similarity = rng.standard_normal((1000, 1000), dtype=np.float32)
    shifted = torch.from_numpy(similarity - similarity.min() + 1).flatten()
    indexes = torch.arange(1000).repeat_interleave(1000)
    target = torch.eye(1000, dtype=torch.bool).flatten()

    def reference() -> object:
        return RetrievalRecall(top_k=10)(shifted, target, indexes=indexes)

    ours, theirs = seconds(lambda: metrics.retrieval(similarity), reference, runs=3)
    line("the same, 1,000 x 1,000 (against torchmetrics, one way, one K)", ours, theirs, theirs / ours, "at least 50")


def bootstrap() -> None:
    """Draws of the bootstrap against a loop, once without and once with the draws kept of the statistic before."""
    rng = np.random.default_rng(0)
    even = rng.integers(0, 1000, 3000)
    hits, clean = ((rng.random(3000) < share).astype(float) for share in (0.7, 0.8))
    ranks = np.minimum(rng.geometric(0.1, 3000), 60).astype(float)
    pair = np.stack([clean, clean * hits], axis=1)

    def ratio_of(rows: np.ndarray) -> float:
        return float(pair[rows, 1].mean() / pair[rows, 0].mean())

    mean = metrics.OfMeans(lambda means: means[:, 0])
    ratio = metrics.OfMeans(lambda means: means[:, 1] / means[:, 0])
    cases: list[tuple[str, np.ndarray, np.ndarray | None, metrics.OfMeans, Callable[[np.ndarray], object]]] = [
        ("mean rank", ranks, None, mean, lambda rows: ranks[rows].mean()),
        ("mean rank, 1,000 videos", ranks, even, mean, lambda rows: ranks[rows].mean()),
        ("gamma (ratio of means), 1,000 videos", pair, even, ratio, ratio_of),
    ]
    for name, values, videos, statistic, function in cases:
        clusters = np.arange(3000) if videos is None else videos
        members = [np.flatnonzero(clusters == v) for v in np.unique(clusters)]

        def loop(members: list[np.ndarray] = members, function: Callable[[np.ndarray], object] = function) -> None:
            """A loop of 40 draws."""
            generator = np.random.default_rng(0)
            for _ in range(40):
                function(np.concatenate([members[i] for i in generator.integers(0, len(members), len(members))]))

        def again(values: object = values, videos: object = videos, statistic: metrics.OfMeans = statistic) -> None:
            metrics.cluster_bootstrap(values, videos, statistic=statistic)

        def first(again: Callable[[], None] = again) -> None:
            sys.modules["video_contrast.metrics.bootstrap"]._block.cache_clear()
            again()

        cold, warm, slow = seconds(first, again, loop, runs=3)
        slow *= 100
        line(f"4,000 draws: {name} (against a loop)", cold, slow, slow / cold, "")
        line("    the next statistic over the same videos", warm, slow, slow / warm, "")


def a_run() -> None:
    """All intervals of a run: every condition of the robustness paper on a multiple-choice and a retrieval set."""
    rng = np.random.default_rng(0)
    videos = [f"video{n}" for n in rng.integers(0, 1500, 3000)]
    scores, kinds = rng.standard_normal((3000, 5)), [["true", "verb_mlm", "random", "random", "random"]] * 3000
    similarity = rng.standard_normal((3000, 3000), dtype=np.float32)
    labels = np.zeros(3000, int)

    def choice(interval: bool) -> object:
        return metrics.multiple_choice(scores, labels, kinds=kinds, clusters=videos, ks=(1, 2, 3), interval=interval)

    def both_ways(interval: bool) -> object:
        return metrics.retrieval(similarity, clusters=videos, interval=interval)

    for name, measure in (("multiple choice", choice), ("retrieval", both_ways)):
        with_intervals, without = seconds(partial(measure, True), partial(measure, False))
        spent = 192 * (with_intervals - without)
        line(f"all intervals of 192 conditions of 3,000 items, {name}", spent, 20, spent / 20, "at most 1")


def import_time() -> None:
    code = "import time; a = time.process_time(); import video_contrast.metrics; print(time.process_time() - a)"
    ours = min(float(subprocess.check_output([sys.executable, "-c", code])) for _ in range(3))
    line("import video_contrast.metrics", ours, 0.3, ours / 0.3, "at most 1 (of 0.3 s)")


def main() -> None:
    parser_of(__doc__).parse_args()
    print(f"{'':<66} {'ours':>12} {'other':>13} {'ratio':>8}  target")
    retrieval_against_a_sum()
    retrieval_against_torchmetrics()
    bootstrap()
    a_run()
    import_time()


if __name__ == "__main__":
    main()
