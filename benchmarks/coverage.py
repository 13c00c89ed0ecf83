"""How often 95 % intervals hold the truth, and how often true nulls are rejected.

    python benchmarks/coverage.py

Simulated videos have a probability of their own (beta distributed around p, with the intra-cluster correlation given)
and several items each. Prints the tables of docs/metrics.md (two minutes).
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from parts.command_line import parser_of

from video_contrast import metrics

TRIALS = 1000
SIZES = [(5, 1), (8, 1), (10, 1), (20, 1), (50, 1), (100, 1), (200, 1), (5, 4), (5, 20), (10, 4), (10, 20),
         (20, 10), (20, 20), (50, 4), (50, 20), (100, 2), (100, 20)]  # fmt: skip
SHARES = (0.5, 0.7, 0.9, 0.95, 0.98)
UNEQUAL = {  # items of each video
    "5 videos of 1 to 30": (1, 2, 3, 8, 30),
    "6 of 1 to 40": (1, 1, 2, 4, 10, 40),
    "8 of 2 to 10": (2, 3, 4, 4, 5, 6, 8, 10),
    "8 of 1 to 60": (1, 1, 2, 3, 5, 10, 20, 60),
    "12 of 1 to 40": (*[1] * 8, 5, 10, 20, 40),
    "30 of 1 to 40": (*[1] * 20, 2, 3, 5, 8, 12, 18, 25, 30, 35, 40),
    "7 of 1": (1,) * 7,
}


def videos(rng: np.random.Generator, n_clusters: int, p: float, correlation: float) -> np.ndarray:
    """The probability of each video."""
    if correlation == 0:
        return np.full(n_clusters, p)
    if correlation == 1:
        return (rng.random(n_clusters) < p).astype(float)
    odds = (1 - correlation) / correlation
    return rng.beta(p * odds, (1 - p) * odds, n_clusters)


def hits(rng: np.random.Generator, of_video: np.ndarray, items: int | np.ndarray) -> np.ndarray:
    """Right and wrong answers to the items of each video; `items` is their number, or one number a video."""
    of_video = of_video.repeat(items)
    return (rng.random(len(of_video)) < of_video).astype(float)


def coverage(intervals: Iterator[metrics.Interval], truth: float) -> tuple[float, float]:
    """The share of intervals that hold the truth, and the share of trials that have one."""
    tried = list(intervals)
    defined = [interval for interval in tried if np.isfinite(interval.low)]
    return float(np.mean([each.low <= truth <= each.high for each in defined])), len(defined) / len(tried)


def table(first: str, sizes: Mapping[str, Sequence[int]]) -> list[float]:
    """Prints the coverage of shares by the items of each video, and returns it, a figure a cell."""
    print(f"| {first} | correlation | " + " | ".join(f"p = {p:g}" for p in SHARES) + " |")
    print("|---|---|" + "---|" * len(SHARES))
    cells = []
    for name, of_videos in sizes.items():
        items = np.array(of_videos)
        clusters = np.arange(len(items)).repeat(items)
        for correlation in (0.0,) if max(of_videos) == 1 else (0.0, 0.2, 0.6):
            rng, row = np.random.default_rng(0), []
            for p in SHARES:
                trials = (hits(rng, videos(rng, len(items), p, correlation), items) for _ in range(TRIALS))
                row.append(coverage((metrics.share_interval(trial, clusters) for trial in trials), p)[0])
            cells += row
            print(f"| {name} | {correlation:g} | " + " | ".join(f"{100 * c:.1f}" for c in row) + " |")
    print()
    return cells


def shares() -> None:
    every = np.array(table("videos x items", {f"{n} x {items}": [items] * n for n, items in SIZES}))
    print(f"mean {100 * every.mean():.1f} %, lowest {100 * every.min():.1f} %, {100 * np.mean(every < 0.92):.0f} % "
          f"of the cells below 92 %, {100 * np.mean(every > 0.98):.0f} % above 98 %\n")  # fmt: skip


def ranks_of(rng: np.random.Generator, skill: np.ndarray, items: int | np.ndarray) -> np.ndarray:
    """Ranks from 1 to 21 of the items of each video."""
    return np.asarray(1 + np.minimum(rng.geometric(0.35 * (0.5 + skill).repeat(items)) - 1, 20), float)


def many_ranks() -> np.ndarray:
    """Of 400,000 videos, which show the true mean and median."""
    rng = np.random.default_rng(2)
    return ranks_of(rng, videos(rng, 400_000, 0.8, 0.2), 1)


def mean_ranks(trials: int = 400) -> None:
    """Of the sets where a few videos have most of the items."""
    truth, held = float(many_ranks().mean()), []
    for of_videos in UNEQUAL.values():
        rng, items = np.random.default_rng(1), np.array(of_videos)
        clusters = np.arange(len(items)).repeat(items)
        ranks = [ranks_of(rng, videos(rng, len(items), 0.8, 0.2), items) for _ in range(trials)]
        held.append(coverage((metrics.cluster_bootstrap(rank, clusters) for rank in ranks), truth)[0])
    shown = ", ".join(f"{name} {100 * share:.1f}" for name, share in zip(UNEQUAL, held, strict=True))
    print(f"mean rank, {trials} trials each, correlation 0.2: {shown}\n")


def others(trials: int = 1000) -> None:
    """A paired difference of hits, a relative gamma, a median and a mean rank; 4 items a video."""
    print("| figure | 5 videos | 10 | 20 | 50 | 100 |")
    print("|---|---|---|---|---|---|")
    rows: dict[str, list[str]] = {}
    for n_clusters in (5, 10, 20, 50, 100):
        clusters = np.arange(n_clusters).repeat(4)
        sampled = []
        rng = np.random.default_rng(1)
        for _ in range(trials):
            skill = videos(rng, n_clusters, 0.8, 0.2)
            clean, perturbed = hits(rng, skill, 4), hits(rng, 0.75 * skill, 4)
            ranks = ranks_of(rng, skill, 4)
            sampled.append((clean, perturbed, ranks))
        ranks = many_ranks()
        figures = {
            "difference of hits": (
                [metrics.difference_interval(after - before, clusters) for before, after, _ in sampled],
                -0.2,
            ),
            "relative gamma": (
                [metrics.gamma_interval(before, after, clusters) for before, after, _ in sampled],
                0.75,
            ),
            "mean rank": ([metrics.cluster_bootstrap(rank, clusters) for _, _, rank in sampled], float(ranks.mean())),
            "median rank": (
                [metrics.median_interval(rank, clusters) for _, _, rank in sampled],
                float(np.median(ranks)),
            ),
        }
        for name, (intervals, truth) in figures.items():
            held, defined = coverage(iter(intervals), truth)
            rows.setdefault(name, []).append(
                f"{100 * held:.1f}" + ("" if defined == 1 else f" ({100 * defined:.1f} given)")
            )
    for name, cells in rows.items():
        print(f"| {name} | " + " | ".join(cells) + " |")
    print()


def true_nulls(trials: int = 2000) -> None:
    """Two models of the same skill on the same videos: how often is p at most .05?"""
    print("| rejected at 5 % | 5 videos | 6 | 8 | 10 | 20 | 40 |")
    print("|---|---|---|---|---|---|---|")
    for name, items, skill in (
        ("1 item a video", 1, 0.6),
        ("10 items a video", 10, 0.6),
        ("10 items a video, p = .9", 10, 0.9),
    ):
        cells = []
        for n_clusters in (5, 6, 8, 10, 20, 40):
            rng, clusters = np.random.default_rng(3), np.arange(n_clusters).repeat(items)
            rejected = 0
            for _ in range(trials):
                models = [hits(rng, videos(rng, n_clusters, skill, 0.3), items) for _ in range(2)]
                rejected += metrics.sign_flip(models[1] - models[0], clusters) <= 0.05
            cells.append(f"{100 * rejected / trials:.1f}")
        print(f"| {name} | " + " | ".join(cells) + " |")


def main() -> None:
    parser_of(__doc__).parse_args()
    shares()
    table("items of the videos", UNEQUAL)  # where a few videos have most of the items
    mean_ranks()
    others()
    true_nulls()


if __name__ == "__main__":
    main()
