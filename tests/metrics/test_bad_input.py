"""Bad input: errors that name the item, or documented missing values."""

import numpy as np
import pytest

from video_contrast import metrics

NAN, INF = float("nan"), float("inf")
GOOD = [[0.1, 0.2, 0.3]] * 4


@pytest.mark.parametrize(
    ("scores", "labels", "message"),
    [
        ([[0.1, 0.2], [0.3, NAN]], [0, 0], "item 1, candidate 1 is nan"),
        ([[0.1, 0.2], [0.3, 0.1], [INF, 1]], [0, 0, 0], "item 2, candidate 0 is inf"),
        ([[0.1, 0.2], [0.3]], [0, 0], "item 1 has 1 candidates, item 0 has 2"),
        ([[0.1, 0.2], 0.3], [0, 0], "item 1 must be a list of scores"),
        ([[0.1], [0.3]], [0, 0], "at least 2 candidates, not 1"),
        ([], [], "no items"),
        (np.zeros((0, 5)), [], "no items"),
        (GOOD, [0, 0, 3, 0], "item 2 has label 3, but candidates 0..2"),
        (GOOD, [0, -1, 0, 0], "item 1 has label -1"),
        (GOOD, [0, 0], "4 items need 4 labels"),
        (GOOD, [0.5, 0, 0, 0], "whole numbers"),
        ([["a", "b"]], [0], "must be numbers"),
        (np.zeros((2, 3, 4)), [0, 0], r"not the shape \(2, 3, 4\)"),
    ],
)
def test_multiple_choice_names_the_item(scores: object, labels: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        metrics.multiple_choice(scores, labels)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ks": (1, 4)}, "R@4 needs at least 4 candidates an item, but there are 3"),
        ({"ks": (0,)}, "from 1 on, not 0"),
        ({"kinds": [["true", "gender", "random"]] * 3}, "4 items need 4 lists of kinds"),
        ({"kinds": [["true", "gender", "random"]] * 3 + [["true"]]}, "kinds: item 3 has 3 candidates"),
        ({"kinds": [["true", "gender", "random"]] * 4}, "item 1 calls candidate 0 the true one, its label says 1"),
        ({"clusters": ["a", "b"], "interval": True}, "4 items need 4 clusters"),
        ({"clusters": ["a", None, "b", "c"], "interval": True}, "clusters: item 1 has none"),
    ],
)
def test_options_of_multiple_choice(options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        metrics.multiple_choice(GOOD, [0, 1, 2, 0], **options)


def test_items_with_different_numbers_of_options_when_asked_for() -> None:
    result = metrics.multiple_choice(
        [[0.5, 0.5], [0.9, 0.1, 0.2, 0.3]], [0, 0], kinds=[["true", "a"], ["true", "a", "b", "b"]], ragged=True
    )
    assert result["accuracy"] == 0.75
    assert result["chance"] == (1 / 2 + 1 / 4) / 2
    assert (result["n_a"], result["n_b"], result["chance_b"]) == (2, 1, 1 / 3)
    assert result["mean_rank_worst"] == 1.5
    with pytest.raises(ValueError, match="needs at least 2 candidates, not 1"):
        metrics.multiple_choice([[0.5, 0.5], [0.9]], [0, 0], ragged=True)


def test_one_item_has_figures_but_no_interval() -> None:
    result = metrics.multiple_choice([[0.9, 0.1]], [0], interval=True)
    assert (result["accuracy"], result["accuracy_low"], result["accuracy_high"]) == (1, None, None)
    assert metrics.paired_difference([1], [0])["p_value"] is None
    assert np.isnan(metrics.cluster_standard_error([1.0, 2.0], ["a", "a"]))


@pytest.mark.parametrize(
    ("similarity", "options", "message"),
    [
        ([[0.1, 0.2], [NAN, 0.4]], {}, "video 1 and caption 0 is nan"),
        ([[NAN, 0.2], [0.1, 0.4]], {}, "video 0 and caption 0 is nan"),
        ([[0.1, -INF], [0.1, 0.4]], {}, "video 0 and caption 1 is -inf"),
        ([[0.1, 0.2], [0.4]], {}, "row 1 has 1 columns, row 0 has 2"),
        (np.zeros((0, 3)), {}, "similarity is empty"),
        (np.zeros((3, 0)), {}, "rows and columns"),
        (np.zeros((2, 3)), {}, "3 captions of 2 videos"),
        (np.zeros((2, 3)), {"caption_to_video": [0, 1, 2]}, "caption 2 belongs to video 2, but the videos are 0..1"),
        (np.zeros((2, 3)), {"caption_to_video": [0, 1]}, "3 captions need as many entries in caption_to_video, not 2"),
        (np.zeros((2, 2)), {"caption_to_video": ["a", "z"], "video_ids": ["a", "b"]}, "caption 1 belongs to video 'z'"),
        (np.zeros((2, 2)), {"caption_to_video": ["a", "a"], "video_ids": ["a", "a"]}, "'a' stands at rows 0 and 1"),
        (np.zeros((2, 2)), {"ks": [3]}, "R@3 needs at least 3"),
        (np.zeros((2, 2)), {"caption_to_video": [0.5, 1]}, "not a row number"),
    ],
)
def test_retrieval_names_the_item(similarity: object, options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        metrics.retrieval(similarity, **options)


def test_a_bad_similarity_is_found_wherever_it_is_in_a_large_matrix() -> None:
    matrix = np.zeros((700, 2000), np.float32)
    caption_to_video = np.arange(2000) % 700
    assert metrics.retrieval(matrix + np.float32(3e38), caption_to_video)["n_videos"] == 700  # large, but finite
    matrix[613, 1777] = np.nan
    with pytest.raises(ValueError, match="video 613 and caption 1777"):
        metrics.retrieval(matrix, caption_to_video)


def test_embeddings_that_cannot_be_compared() -> None:
    with pytest.raises(ValueError, match="have 3 numbers, of captions 4"):
        metrics.retrieval_from_embeddings(np.ones((2, 3)), np.ones((2, 4)))
    zero = np.ones((3, 4))
    zero[2] = 0
    with pytest.raises(ValueError, match="the embedding of video 2 has the length 0: it has no direction"):
        metrics.retrieval_from_embeddings(zero, np.ones((3, 4)))
    captions = np.ones((3, 4))
    captions[1, 1] = INF
    with pytest.raises(ValueError, match="the embedding of caption 1 has the length inf; 1 of 3"):
        metrics.retrieval_from_embeddings(np.ones((3, 4)), captions)
    captions[1, 1] = NAN
    with pytest.raises(ValueError, match="the embedding of caption 1 has the length nan"):
        metrics.retrieval_from_embeddings(np.ones((3, 4)), captions)
    # A product, unlike a cosine, may be zero.
    assert metrics.retrieval_from_embeddings(zero, np.ones((3, 4)), normalise=False)["t2v_n"] == 3


def test_unmatched_ids_between_clean_and_perturbed_are_named() -> None:
    with pytest.raises(ValueError, match=r"item 'b' has no perturbed score \(1 of 2"):
        metrics.pair_by_id({"a": 1.0, "b": 0.0}, {"a": 1.0})
    with pytest.raises(ValueError, match="item 'c' has no clean score"):
        metrics.pair_by_id({"a": 1.0}, {"a": 1.0, "c": 0.0})


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: metrics.rcad([[0.1, NAN]]), "item 0, candidate 1"),
        (lambda: metrics.rcad([[0.1, 0.2]], ks=[3]), "R@3 needs at least 3 captions a video"),
        (lambda: metrics.rcad([[0.1, 0.2]] * 2, columns=[[0, 5], [0, 1]]), "video 0 names text 5"),
        (lambda: metrics.rcad(np.zeros((2, 3)), normalise="videos"), "3 texts do not divide into 2 videos"),
        (lambda: metrics.rcad([[1, 2, 3]], ties="mine"), "ties must be"),
        (lambda: metrics.rcad([[1, 2, 3]], normalise="texts"), "normalise must be"),
        (lambda: metrics.rcad([[1, 2], [NAN, 3]], normalise="videos"), "video 1 and text 0 is nan"),
        (lambda: metrics.robustness([0.5], [1.5], ["jpeg"]), "perturbed score .* is 1.5, not a number from 0 to 1"),
        (lambda: metrics.robustness([0.5, 0.5], [0.1, NAN], ["jpeg"] * 2), "perturbed: item 1 is nan"),
        (lambda: metrics.robustness([], [], []), "clean is empty"),
        (lambda: metrics.robustness([0.5], [0.1], ["a", "b"]), "need 1 perturbations, not 2"),
        (
            lambda: metrics.robustness([0.5] * 2, [0.1] * 2, ["jpeg"] * 2, categories=["Digital", "Noise"]),
            "row 1: perturbation 'jpeg' is 'Noise' here and 'Digital' above",
        ),
        (lambda: metrics.gamma_absolute(0.5, 2.0), "perturbed score is 2.0"),
        (lambda: metrics.gamma_interval([1, 0], [1]), "same items"),
        (lambda: metrics.group_score([[0.1, 0.2]]), "2 captions, 2 videos"),
        (lambda: metrics.group_score([[[0.1, 0.2], [NAN, 1]]]), "pair 0"),
        (lambda: metrics.sensitivity([0.1], [0.1, 0.2]), "must be pairs"),
        (lambda: metrics.sensitivity([0.1, NAN], [0.1, 0.2]), "true_scores: item 1 is nan"),
        (lambda: metrics.consistency([2.0], ["a"]), "item 0 is 2.0, not between 0 and 1"),
        (lambda: metrics.rarity_gap([1], [-1], [2]), "cannot be negative"),
        (lambda: metrics.proximity([1], [0.5], share=0.8), "at most 0.5"),
        (lambda: metrics.majority_vote([[0], [None]]), "item 1 has none"),
        (lambda: metrics.agreement([[0]]), "at least two votes"),
        (lambda: metrics.mcnemar([1, 0.5], [0, 1]), "item 1 is 0.5"),
        (lambda: metrics.mcnemar([1], [0, 1]), "same items"),
        (lambda: metrics.holm([0.5, 1.5]), "item 1 is 1.5"),
        (lambda: metrics.paired_difference([1], [0, 1]), "same items"),
        (lambda: metrics.cluster_bootstrap([1, 2], level=2), "level must be"),
        (lambda: metrics.cluster_bootstrap([1, INF]), "item 1"),
        (lambda: metrics.cluster_bootstrap([1, 2], draws=0), "draws"),
        (lambda: metrics.caption_shift(["a"], ["a", "b"]), "must be pairs"),
        (lambda: metrics.caption_shift(["a", "b"], ["a", " "]), "original caption 1 has no words"),
        (lambda: metrics.caption_shift([], []), "no captions"),
    ],
)
def test_every_metric_says_what_is_wrong(call, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_statistics_of_draws_that_are_undefined_are_left_out() -> None:
    """A ratio over a mean that may be zero: rarely, and in more draws than an end leaves out."""
    rng = np.random.default_rng(0)
    ratio = metrics.OfMeans(lambda means: means[:, 1] / means[:, 0])
    for n_zero, defined in ((6, True), (97, False)):
        pairs = np.stack([np.arange(100) >= n_zero, rng.random(100)], axis=1).astype(float)
        interval = metrics.cluster_bootstrap(pairs, statistic=ratio)
        assert interval.estimate == pytest.approx(pairs[:, 1].mean() / pairs[:, 0].mean())
        assert np.isfinite(interval.low) == defined
    assert np.isnan(metrics.gamma_interval([0, 0], [1, 0]).estimate)


def test_groups_without_items_are_missing_values() -> None:
    assert metrics.rarity_gap([1], [3], [2])["gap"] is None
    assert metrics.proximity([1, 0], [0.1, 0.2])["antonym"] is None
    assert metrics.agreement([[1, 1], [1, 1]])["fleiss_kappa"] is None
    assert metrics.position_bias([[1, 2, 3]], [0])["accuracy_by_position"] == [0.0, None, None]


def test_a_statistic_of_ones_own_is_used_as_it_is_given() -> None:
    spread = metrics.OfMeans(lambda means: np.sqrt(means[:, 1] - means[:, 0] ** 2))
    values = np.random.default_rng(0).random(40)
    interval = metrics.cluster_bootstrap(np.stack([values, values**2], axis=1), statistic=spread)
    assert interval.estimate == pytest.approx(values.std())
    assert interval.low < values.std() < interval.high


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: metrics.right_in_all_rotations([]), "no items"),
        (lambda: metrics.right_in_all_rotations([[1, 0], [1]]), "row 1 has 1 rotations, row 0 has 2"),
        (lambda: metrics.right_in_all_rotations([[1, 0], [1, NAN]]), "item 1, rotation 1 is nan"),
        (lambda: metrics.right_in_all_rotations([[1, 2]]), "item 0, rotation 1 is 2.0, not between 0 and 1"),
        (lambda: metrics.right_in_all_rotations([[]]), r"one column a rotation, not the shape \(1, 0\)"),
        (lambda: metrics.agreement([[1, 1]], clusters=["a", "b"]), "1 items need 1 clusters"),
        (lambda: metrics.caption_shift(["a", None], ["a", "b"]), "perturbed caption 1 is None"),
        (lambda: metrics.robustness([0.5], [0.1], [None]), "perturbations: row 0 has none"),
        (lambda: metrics.robustness([0.5], [0.1], ["jpeg"], chance=1.5), "chance must be from 0 to below 1, not 1.5"),
        (lambda: metrics.rcad([[0.1, 0.2], [0.3]]), "item 1 has 1 candidates, item 0 has 2$"),
        (lambda: metrics.rcad([[0.1, 0.2], [0.3]], normalise="videos"), "similarity: row 1 has 1 texts, row 0 has 2"),
        (lambda: metrics.multiple_choice(GOOD, [0, None, 0, 0]), "labels: item 1 is None"),
        (lambda: metrics.multiple_choice(GOOD, [0, 1, NAN, 0]), "labels: item 2 is nan"),
        (lambda: metrics.retrieval([]), "similarity is empty"),
    ],
)
def test_what_is_wrong_is_named(call, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
