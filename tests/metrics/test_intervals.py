"""The intervals of every metric against a loop that draws videos with replacement and measures again."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from video_contrast import metrics

DRAWS = 500
RNG = np.random.default_rng(11)
N = 90
VIDEOS = RNG.integers(0, 45, N)
HITS = (RNG.random(45)[VIDEOS] + RNG.random(N) > 1).astype(float)
SCORES = RNG.integers(0, 6, (N, 4)).astype(float)
LABELS = RNG.integers(0, 4, N)
TRUE, CONTRAST = RNG.standard_normal((2, N))
COUNTS = RNG.integers(0, 20, (2, N))
NEAR = RNG.random(N)
VOTES = [[int(v) for v in row] for row in (RNG.random((N, 3)) < 0.3 + 0.5 * HITS[:, None])]
WORDS = ["a", "man", "rides", "the", "red", "horse", "over", "two", "hills", "while", "his", "dog", "sleeps"]
BEFORE = [" ".join(RNG.choice(WORDS, 9)) for _ in range(N)]
AFTER = [
    " ".join(word if RNG.random() > 0.2 else "[UNK]" for word in text.split()) if HITS[i] else text
    for i, text in enumerate(BEFORE)
]
PAIRS = RNG.standard_normal((N, 2, 2)) + 0.5 * np.eye(2)
ROTATED = (RNG.random((N, 3)) < 0.5 + 0.4 * HITS[:, None]).astype(float)
SECOND = SCORES + RNG.integers(0, 3, (N, 4)) * (np.arange(4) == LABELS[:, None])


def pick(values: Any, rows: np.ndarray) -> Any:
    return [values[i] for i in rows]


def robust(rows: np.ndarray, **options: Any) -> dict[str, Any]:
    """Two perturbations of the same items."""
    clean = np.tile(np.maximum(HITS[rows], ROTATED[rows, 0]), 2)
    names = ["jpeg"] * len(rows) + ["drop_first"] * len(rows)
    if "clusters" in options:
        options["clusters"] = np.tile(options["clusters"], 2)
    perturbed = np.concatenate([HITS[rows], ROTATED[rows, 1]])
    return metrics.robustness(clean, perturbed, names, chance=0.1, **options)


def compared(rows: np.ndarray, clusters: Any = None) -> dict[str, Any]:
    """With intervals where there are clusters."""
    if clusters is not None:
        return metrics.compare_choices(SCORES[rows], SECOND[rows], LABELS[rows], clusters=clusters)
    first, second = (metrics.accuracy(scores[rows], LABELS[rows]) for scores in (SCORES, SECOND))
    return {"accuracy1": first, "accuracy2": second, "difference": second - first}


# name -> (a metric of some items, the figures that have an interval)
METRICS: dict[str, tuple[Callable[..., dict[str, Any]], list[str]]] = {
    "multiple_choice": (
        lambda rows, **o: metrics.multiple_choice(SCORES[rows], LABELS[rows], ks=(1, 2), **o),
        ["accuracy", "mean_rank", "median_rank", "R@2"],
    ),
    "rcad": (
        lambda rows, **o: metrics.rcad(SCORES[rows], LABELS[rows], **o),
        ["R@1", "R@3", "mean_rank", "median_rank"],
    ),
    "rcad as released": (
        lambda rows, **o: metrics.rcad(SCORES[rows], LABELS[rows], ties="released", **o),
        ["R@1", "mean_rank", "median_rank"],
    ),
    "group_score": (
        lambda rows, **o: metrics.group_score(PAIRS[rows], **o),
        ["text_score", "video_score", "group_score"],
    ),
    "sensitivity": (
        lambda rows, **o: metrics.sensitivity(TRUE[rows], CONTRAST[rows], **o),
        ["change", "change_std", "change_median", "wrong_sign"],
    ),
    "rarity_gap": (
        lambda rows, **o: metrics.rarity_gap(HITS[rows], COUNTS[0, rows], COUNTS[1, rows], **o),
        ["overall", "rare", "gap"],
    ),
    "majority_vote": (
        lambda rows, **o: metrics.majority_vote(pick(VOTES, rows), [1] * len(rows), **o),
        ["accuracy", "individual_accuracy"],
    ),
    "agreement": (
        lambda rows, **o: metrics.agreement(pick(VOTES, rows), **o),
        ["pairwise", "fleiss_kappa", "krippendorff_alpha"],
    ),
    "position_bias": (
        lambda rows, **o: metrics.position_bias(SCORES[rows], LABELS[rows], **o),
        ["accuracy_by_position", "accuracy_std", "picked", "picked_std"],
    ),
    "right_in_all_rotations": (
        lambda rows, **o: metrics.right_in_all_rotations(ROTATED[rows], **o),
        ["right_in_all", "accuracy"],
    ),
    "caption_shift": (
        lambda rows, **o: metrics.caption_shift(pick(AFTER, rows), pick(BEFORE, rows), **o),
        ["changed", "bleu", "rouge_1", "rouge_l", "edited_words", "length_ratio"],
    ),
    "robustness": (robust, ["gamma_a", "gamma_r", "gamma_c", "clean", "perturbed"]),
    "compare_choices": (compared, ["accuracy1", "accuracy2", "difference"]),
}


@pytest.fixture(scope="module")
def resamples() -> list[np.ndarray]:
    """Rows of the items of videos drawn with replacement."""
    rng = np.random.default_rng(5)
    names = np.unique(VIDEOS)
    members = [np.flatnonzero(name == VIDEOS) for name in names]
    return [np.concatenate([members[i] for i in rng.integers(0, len(names), len(names))]) for _ in range(DRAWS)]


@pytest.mark.parametrize("name", list(METRICS))
def test_intervals_are_those_of_a_plain_bootstrap(name: str, resamples: list[np.ndarray]) -> None:
    measure, figures = METRICS[name]
    everything = np.arange(N)
    options: dict[str, Any] = {"clusters": VIDEOS}
    if name not in ("robustness", "compare_choices"):
        assert not any(key.endswith("_low") for key in measure(everything))  # on request only
        options["interval"] = True
    found = measure(everything, **options)
    slow = name == "caption_shift"  # BLEU and ROUGE of 90 pairs a draw
    drawn = [measure(rows) for rows in (resamples[: 100 if slow else 300])]
    for figure in figures:
        values = np.array([result[figure] for result in drawn], float)
        if values.std() == 0:
            assert found[f"{figure}_low"] is None  # draws say nothing
            continue
        low, high = np.quantile(values, [0.025, 0.975], axis=0)
        # Ends of intervals of 300 draws are off by about an eighth of a standard error; intervals of shares and for few
        # clusters are wider.
        step = 1.0 if "median" in figure else 0.02
        close = {"abs": 1.3 * float(values.std(axis=0).max()) + step}
        assert found[f"{figure}_low"] == pytest.approx(low.tolist(), **close), figure
        assert found[f"{figure}_high"] == pytest.approx(high.tolist(), **close), figure


@pytest.mark.parametrize("kind", ["relative", "absolute", "corrected"])
def test_intervals_of_gamma(kind: str, resamples: list[np.ndarray]) -> None:
    clean, perturbed = np.maximum(HITS, ROTATED[:, 0]), HITS
    options = {"relative": {}, "absolute": {"absolute": True}, "corrected": {"chance": 0.2}}[kind]
    found = metrics.gamma_interval(clean, perturbed, VIDEOS, **options)

    def gamma(rows: np.ndarray) -> float:
        before, after = clean[rows].mean(), perturbed[rows].mean()
        if kind == "absolute":
            return 1 - (before - after)
        chance = 0.2 if kind == "corrected" else 0.0
        return (after - chance) / (before - chance)

    assert found.estimate == pytest.approx(gamma(np.arange(N)))
    values = np.array([gamma(rows) for rows in resamples])
    assert (found.low, found.high) == pytest.approx(np.quantile(values, [0.025, 0.975]), abs=0.5 * values.std())
    assert found.standard_error == pytest.approx(values.std(), rel=0.2)


def test_intervals_of_retrieval_draw_videos_with_their_captions(resamples: list[np.ndarray]) -> None:
    """Queries are drawn, galleries stay as they are."""
    similarity = RNG.standard_normal((N, 3 * N)) + 3 * np.repeat(np.eye(N), 3, axis=1)
    caption_to_video = np.repeat(np.arange(N), 3)
    found = metrics.retrieval(similarity, caption_to_video, ks=[1], clusters=VIDEOS, interval=True)
    by_caption = 1 + (similarity > similarity[caption_to_video, np.arange(3 * N)]).sum(axis=0)
    best = similarity[np.repeat(np.arange(N), 3), np.arange(3 * N)].reshape(N, 3).max(axis=1)
    by_video = 1 + (similarity > best[:, None]).sum(axis=1)
    for way, ranks in (("t2v", by_caption.reshape(N, 3)), ("v2t", by_video[:, None])):
        for figure, statistic in (
            ("R@1", lambda drawn: (drawn == 1).mean()),
            ("mean_rank", np.mean),
            ("median_rank", np.median),
        ):
            values = np.array([statistic(ranks[rows]) for rows in resamples])
            interval = (found[f"{way}_{figure}_low"], found[f"{way}_{figure}_high"])
            close = values.std() + 0.02  # intervals for few clusters are wider
            assert interval == pytest.approx(np.quantile(values, [0.025, 0.975]), abs=close), (way, figure)


def test_intervals_of_proximity_and_consistency_draw_within_subsets_and_clusters() -> None:
    from scipy.stats import bootstrap

    antonym = NEAR < 0.4
    found = metrics.proximity(HITS, NEAR, antonym=antonym, interval=True)
    expected = bootstrap((HITS[antonym],), np.mean, n_resamples=4000, method="percentile", rng=0).confidence_interval
    assert (found["antonym_low"], found["antonym_high"]) == pytest.approx((expected.low, expected.high), abs=0.06)
    groups = np.arange(N) // 2
    found = metrics.consistency(HITS, groups, interval=True)
    both = HITS.reshape(-1, 2).min(axis=1)
    expected = bootstrap((both,), np.mean, n_resamples=4000, method="percentile", rng=0).confidence_interval
    assert (found["consistency_low"], found["consistency_high"]) == pytest.approx(
        (expected.low, expected.high), abs=0.06
    )
    # Four contrast clusters a video that are right and wrong together: there is less to be sure of.
    together = np.repeat(HITS[: N // 8 + 1], 8)[:N]
    by_cluster = metrics.consistency(together, groups, interval=True)
    by_video = metrics.consistency(together, groups, videos=np.arange(N) // 8, interval=True)
    widths = [found["consistency_high"] - found["consistency_low"] for found in (by_cluster, by_video)]
    assert widths[1] > 1.5 * widths[0]
    with pytest.raises(ValueError, match="videos: item 1 is of another video"):
        metrics.consistency([1, 1], ["a", "a"], videos=["v", "w"], interval=True)


@pytest.mark.parametrize("n", [10, 101, 400])
@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize("distinct", [3, 1000])
def test_medians_have_the_distribution_of_resampled_medians(n: int, clustered: bool, distinct: int) -> None:
    """By weights (histograms, or counts of every value) and by resampling."""
    from scipy.stats import ks_2samp

    rng = np.random.default_rng(n)
    values = rng.integers(0, distinct, n).astype(float)
    clusters = rng.permutation(np.arange(n) % max(6, n // 3)) if clustered else np.arange(n)
    samples: list[np.ndarray] = []

    def median(counts: np.ndarray, distinct: np.ndarray) -> np.ndarray:
        running = np.cumsum(counts, axis=1)
        middle = running[:, -1:] / 2
        lower, upper = (running >= middle).argmax(axis=1), (running > middle).argmax(axis=1)
        samples.append((distinct[lower, 0] + distinct[upper, 0]) / 2)
        return samples[-1]

    metrics.cluster_bootstrap(values, clusters if clustered else None, statistic=median)
    drawn = np.concatenate(samples[1:])  # the first is the estimate
    assert samples[0] == np.median(values)
    members = [np.flatnonzero(clusters == name) for name in np.unique(clusters)]
    loop = [
        np.median(values[np.concatenate([members[i] for i in rng.integers(0, len(members), len(members))])])
        for _ in range(1000)
    ]
    assert ks_2samp(drawn, loop).pvalue > 1e-4


@pytest.mark.parametrize("videos", [1, 4])
def test_below_five_videos_no_metric_gives_an_interval(videos: int) -> None:
    for name, (measure, figures) in METRICS.items():
        options = {} if name in ("robustness", "compare_choices") else {"interval": True}
        found = measure(np.arange(N), clusters=np.arange(N) % videos, **options)
        for figure in figures:
            for side in ("low", "high"):
                value = found[f"{figure}_{side}"]
                assert value is None or set(value) == {None}, (name, figure)


def test_the_order_of_items_does_not_move_a_statistic_of_many_values() -> None:
    rng = np.random.default_rng(3)
    values, clusters, order = rng.random(900), rng.integers(0, 300, 900), rng.permutation(900)

    def largest(counts: np.ndarray, distinct: np.ndarray) -> np.ndarray:
        return np.where(counts > 0, distinct[:, 0], -np.inf).max(axis=1)

    found = metrics.cluster_bootstrap(values, clusters, statistic=largest, draws=2000)
    assert metrics.cluster_bootstrap(values[order], clusters[order], statistic=largest, draws=2000) == found
