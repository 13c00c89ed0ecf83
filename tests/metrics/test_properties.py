"""What holds for any scores: chance for constant scorers, no influence of order, bounds around the expected value."""

import itertools
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from video_contrast import metrics
from video_contrast.metrics.ranks import Ranks, choice_ranks, first_chance

# Few distinct values, so that ties are common.
SCORES = st.integers(1, 6).flatmap(
    lambda n: st.integers(2, 5).flatmap(
        lambda k: arrays(np.float64, (n, k), elements=st.sampled_from([-2.0, -0.5, 0.0, 0.5, 3.0]))
    )
)
quick = settings(max_examples=40, deadline=None)


@pytest.fixture
def blocks(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[int, int], None]]:
    """Sets how many videos and captions are compared at a time."""
    module = sys.modules["video_contrast.metrics.retrieval_counts"]

    def chosen(videos: int, captions: int) -> None:
        monkeypatch.setattr(module, "_VIDEOS", videos)
        monkeypatch.setattr(module, "_CAPTIONS", captions)

    yield chosen


def labels_for(scores: np.ndarray, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, scores.shape[1], len(scores))


@given(SCORES, st.integers(0, 2**32))
@quick
def test_one_item_has_the_tie_rule_of_many(scores: np.ndarray, seed: int) -> None:
    labels = labels_for(scores, seed)
    alone = [first_chance(row, label) for row, label in zip(scores.tolist(), labels.tolist(), strict=True)]
    assert alone == choice_ranks(scores, labels).hit(1).tolist()


@pytest.mark.parametrize("k", [2, 3, 5, 6])
def test_a_constant_scorer_gets_exactly_chance(k: int) -> None:
    scores = np.full((7, k), 0.3)
    result = metrics.multiple_choice(scores, labels_for(scores), ks=range(1, k + 1))
    assert result["accuracy"] == result["chance"] == 1 / k
    assert [result[f"R@{j}"] for j in range(1, k + 1)] == pytest.approx([j / k for j in range(1, k + 1)], abs=1e-15)
    assert result["mean_rank"] == (k + 1) / 2
    assert (result["accuracy_worst"], result["accuracy_best"]) == (0, 1)
    rcad = metrics.rcad(scores, labels_for(scores), ks=[1, 2])
    assert (rcad["R@1"], rcad["R@2"]) == (rcad["chance_R@1"], rcad["chance_R@2"])


def test_a_constant_scorer_gets_exactly_chance_in_retrieval_both_ways() -> None:
    caption_to_video = [0, 0, 0, 1, 2, 2, 4]  # video 3 has no captions
    result = metrics.retrieval(np.full((5, 7), -1.5), caption_to_video, ks=[1, 2, 5])
    for way, k in itertools.product(("t2v", "v2t"), (1, 2, 5)):
        assert result[f"{way}_R@{k}"] == result[f"{way}_chance_R@{k}"]
    assert result["t2v_chance_R@2"] == 2 / 5
    # 3 of 7, 1 of 7, 2 of 7 and 1 of 7 captions are right
    assert result["v2t_chance_R@1"] == pytest.approx((3 + 1 + 2 + 1) / 7 / 4)
    assert result["t2v_mean_rank"] == 3


def test_a_constant_scorer_gets_chance_in_group_scores() -> None:
    result = metrics.group_score(np.zeros((3, 2, 2)))
    assert [result[f"{name}_score"] for name in ("text", "video", "group")] == pytest.approx([1 / 4, 1 / 4, 1 / 6])


@quick
@given(SCORES)
def test_the_expected_value_is_the_mean_over_all_orders_of_equal_scores(scores: np.ndarray) -> None:
    """Against brute force: every order of the options, ties decided by the order, gives the same mean."""
    row, label = scores[0], 0
    k = len(row)
    hits, ranks = np.zeros(k), []
    for order in itertools.permutations(range(k)):
        ranked = sorted(order, key=lambda option: -row[option])  # stable: the order decides ties
        rank = ranked.index(label)
        ranks.append(rank + 1)
        hits[rank:] += 1
    result = metrics.multiple_choice(row[None], [label], ks=range(1, k + 1))
    assert result["mean_rank"] == pytest.approx(np.mean(ranks))
    assert [result[f"R@{j + 1}"] for j in range(k)] == pytest.approx(list(hits / len(ranks)))


@quick
@given(st.integers(0, 3), st.integers(0, 3), st.integers(1, 3))
def test_several_true_answers_are_found_as_often_as_in_all_orders(greater: int, equal: int, same: int) -> None:
    tied = [True] * same + [False] * equal
    first = [order.index(True) for order in set(itertools.permutations(tied))]
    # distinct arrangements are equally likely
    ranks = Ranks(np.array([greater]), np.array([equal]), np.array([same]))
    assert ranks.expected[0] == pytest.approx(greater + 1 + np.mean(first))
    for k in range(1, greater + equal + same + 1):
        assert ranks.hit(k)[0] == pytest.approx(np.mean([greater + 1 + place <= k for place in first]))


@quick
@given(SCORES, st.randoms(use_true_random=False))
def test_the_order_of_options_and_items_changes_nothing(scores: np.ndarray, random: object) -> None:
    labels = labels_for(scores)
    n, k = scores.shape
    kinds = [["true" if j == labels[i] else "ab"[(i + j) % 2] for j in range(k)] for i in range(n)]
    clusters = [f"v{i // 2}" for i in range(n)]
    before = metrics.multiple_choice(scores, labels, kinds=kinds, clusters=clusters, interval=True)
    items, options = list(range(n)), list(range(k))
    random.shuffle(items)  # type: ignore[attr-defined]
    random.shuffle(options)  # type: ignore[attr-defined]
    after = metrics.multiple_choice(
        scores[items][:, options],
        [options.index(labels[i]) for i in items],
        kinds=[[kinds[i][j] for j in options] for i in items],
        clusters=[clusters[i] for i in items],
        interval=True,
    )
    assert before.keys() == after.keys()
    for key, value in before.items():
        assert after[key] == (None if value is None else pytest.approx(value)), key


@quick
@given(SCORES)
def test_bounds_enclose_the_expected_value_and_only_ties_separate_them(scores: np.ndarray) -> None:
    result = metrics.multiple_choice(scores, labels_for(scores), ks=(1, 2))
    for key in ("accuracy", "R@1", "R@2"):
        assert result[f"{key}_worst"] <= result[key] <= result[f"{key}_best"]
    assert result["mean_rank_best"] <= result["mean_rank"] <= result["mean_rank_worst"]
    assert (result["n_ties"] == 0) == (result["mean_rank_best"] == result["mean_rank_worst"])


@quick
@given(SCORES, st.floats(0.1, 10), st.floats(-5, 5))
def test_ranks_do_not_depend_on_scale_or_shift(scores: np.ndarray, scale: float, shift: float) -> None:
    labels = labels_for(scores)
    assert metrics.multiple_choice(scores * scale + shift, labels) == metrics.multiple_choice(scores, labels)


def test_retrieval_does_not_depend_on_the_order_of_videos_and_captions() -> None:
    rng = np.random.default_rng(3)
    similarity = rng.integers(0, 6, (9, 20)).astype(np.float32)
    caption_to_video = rng.permutation(np.arange(20) % 8)
    rows, columns = rng.permutation(9), rng.permutation(20)
    names = [f"video{i}" for i in range(9)]
    before = metrics.retrieval(similarity, [names[i] for i in caption_to_video], video_ids=names, interval=True)
    after = metrics.retrieval(
        similarity[rows][:, columns],
        [names[caption_to_video[j]] for j in columns],
        video_ids=[names[i] for i in rows],
        interval=True,
    )
    assert after == pytest.approx(before)


def test_blocks_of_embeddings_give_what_the_whole_matrix_gives(blocks: Callable[[int, int], None]) -> None:
    blocks(16, 32)
    rng = np.random.default_rng(1)
    # Small whole numbers: products are exact, so the blocks must agree with the matrix to the last tie.
    videos = rng.integers(-2, 3, (75, 12)).astype(np.float32)
    captions = rng.integers(-2, 3, (201, 12)).astype(np.float32)
    caption_to_video = rng.integers(0, 70, 201)
    whole = metrics.retrieval(videos @ captions.T, caption_to_video)
    assert whole["t2v_n_ties"] > 0
    assert metrics.retrieval_from_embeddings(videos, captions, caption_to_video, normalise=False) == whole


@pytest.mark.parametrize("kind", ["plain", "nearly equal", "equal up to length", "of all lengths"])
@pytest.mark.parametrize("normalise", [True, False])
def test_places_from_embeddings_are_those_of_exact_arithmetic(
    kind: str, normalise: bool, blocks: Callable[[int, int], None]
) -> None:
    """Against fractions, for any size of blocks: single precision alone would get the near ones wrong."""
    rng = np.random.default_rng(2)
    videos, captions, caption_to_video = (
        rng.standard_normal((12, 9)),
        rng.standard_normal((30, 9)),
        rng.integers(0, 12, 30),
    )
    if kind == "nearly equal":
        videos, captions = 1 + 1e-6 * videos, 1 + 1e-6 * captions
    elif kind == "equal up to length":
        videos = videos[rng.integers(0, 4, 12)] * rng.choice([1, 3], (12, 1))
        captions = videos[caption_to_video] * rng.choice([1, 2, 3], (30, 1))
    elif kind == "of all lengths":
        videos, captions = videos * 10.0 ** rng.integers(-30, 30, (12, 1)), captions * 1e30
    # The definition: numbers are rounded to 2**-26 of the length, or of the next power of two above it.
    grids = []
    for embeddings in (videos, captions):
        lengths = np.sqrt((embeddings**2).sum(axis=1))
        unit = lengths if normalise else 2.0 ** np.frexp(lengths)[1]
        steps = np.rint(embeddings / unit[:, None] * 2**26)
        sizes = [Fraction(1 if normalise else value) for value in unit]
        grids.append([[Fraction(x) * size for x in row] for row, size in zip(steps, sizes, strict=True)])
    exact = [[sum(x * y for x, y in zip(left, right, strict=True)) for right in grids[1]] for left in grids[0]]
    order = sorted({value for row in exact for value in row})
    expected = metrics.retrieval([[order.index(value) for value in row] for row in exact], caption_to_video)
    if kind == "equal up to length" and normalise:
        assert expected["t2v_n_ties"] > 0
    for size in ((1, 5), (7, 8), (5, 300), (512, 8192)):
        blocks(*size)
        assert metrics.retrieval_from_embeddings(videos, captions, caption_to_video, normalise=normalise) == expected


def test_equal_embeddings_tie_exactly_wherever_they_stand() -> None:
    """A float32 product rounds differently in different ranks of a block; a constant model must still get chance."""
    rng = np.random.default_rng(2)
    videos = np.repeat(rng.standard_normal((1, 61)).astype(np.float32), 700, axis=0)
    captions = np.repeat(rng.standard_normal((1, 61)).astype(np.float32), 2500, axis=0)
    result = metrics.retrieval_from_embeddings(videos, captions, np.arange(2500) % 700, ks=[1, 10])
    for key in ("t2v_R@1", "t2v_R@10", "v2t_R@1", "v2t_R@10"):
        assert result[key] == result[key.replace("R@", "chance_R@")]


def test_retrieval_from_embeddings_never_holds_the_matrix() -> None:
    """192 MB of similarities pass through a block of 17 MB."""
    import tracemalloc

    rng = np.random.default_rng(0)
    videos, captions = rng.random((4000, 8), np.float32), rng.random((12_000, 8), np.float32)
    caption_to_video = np.arange(12_000) % 4000
    tracemalloc.start()
    try:
        result = metrics.retrieval_from_embeddings(videos, captions, caption_to_video)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert result["n_captions"] == 12_000
    assert peak < 32e6


def test_the_import_brings_no_heavy_library() -> None:
    import subprocess

    code = (
        "import sys, video_contrast.metrics; "
        "print(*{'torch', 'datasets', 'evaluate', 'scipy', 'pandas', 'sklearn', 'matplotlib'} & set(sys.modules))"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout.split() == []


def test_a_memory_mapped_matrix_is_read_as_an_array_is(tmp_path) -> None:
    matrix = np.random.default_rng(0).standard_normal((40, 40)).astype(np.float32)
    np.save(tmp_path / "similarity.npy", matrix)
    assert metrics.retrieval(np.load(tmp_path / "similarity.npy", mmap_mode="r")) == metrics.retrieval(matrix)


def test_torch_tensors_of_any_precision_are_taken() -> None:
    import torch

    scores = torch.tensor([[0.5, 0.25], [0.125, 0.75]])
    expected = metrics.multiple_choice(scores.tolist(), [0, 0])
    for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64):
        assert metrics.multiple_choice(scores.to(dtype).requires_grad_(), torch.tensor([0, 0])) == expected


def test_the_bootstrap_depends_on_its_seed_alone() -> None:
    values = np.random.default_rng(0).random(50)
    first = metrics.cluster_bootstrap(values, seed=1)
    assert metrics.cluster_bootstrap(values, seed=1) == first
    assert metrics.cluster_bootstrap(values, seed=2) != first
    assert metrics.cluster_bootstrap(values[::-1], seed=1).low == pytest.approx(first.low)


def test_weights_of_the_bootstrap_draw_every_cluster_as_often_as_it_should() -> None:
    weights = np.concatenate(list(metrics.bootstrap_weights(40, 20_000)))
    assert (weights.sum(axis=1) == 40).all()
    assert weights.mean(axis=0) == pytest.approx(np.ones(40), abs=0.05)
    assert weights.var(axis=0) == pytest.approx(np.full(40, 1 - 1 / 40), abs=0.08)


def test_intervals_cover_as_often_as_they_say_on_clustered_items() -> None:
    """95 % intervals over videos hold the truth about 95 % of the time; over items they do so far less often."""
    covered = {"clusters": 0, "items": 0}
    trials = 150
    for trial in range(trials):
        rng = np.random.default_rng(trial)
        clusters = np.repeat(np.arange(40), 10)
        hits = (rng.random(400) < np.repeat(rng.beta(1, 1, 40), 10)).astype(float)  # truth: 0.5
        for name, groups in (("clusters", clusters), ("items", None)):
            interval = metrics.share_interval(hits, groups)
            covered[name] += interval.low <= 0.5 <= interval.high
    assert 0.88 * trials <= covered["clusters"] <= trials
    assert covered["items"] < 0.75 * trials


def test_a_perfect_and_a_hopeless_model() -> None:
    best = metrics.retrieval(np.eye(12))
    worst = metrics.retrieval(-np.eye(12))
    assert (best["t2v_R@1"], best["v2t_mean_rank"]) == (1, 1)
    assert (worst["t2v_R@10"], worst["v2t_mean_rank"]) == (0, 12)


def test_normalising_over_videos_makes_a_caption_that_suits_all_lose() -> None:
    """Video 1 likes the first caption of video 0 better than video 0 does: after the softmax it says little for 0."""
    similarity = np.array([[5.0, 4.0, 0.0, 0.0], [6.0, 0.0, 3.0, 0.0]])
    assert metrics.rcad(similarity, columns=[[0, 1], [2, 3]], ks=[1])["R@1"] == 1
    result = metrics.rcad(similarity, normalise="videos", ks=[1])
    released = np.exp(similarity) / np.exp(similarity).sum(axis=0)
    assert result["R@1"] == np.mean([released[0, 0] > released[0, 1], released[1, 2] > released[1, 3]]) == 0.5
