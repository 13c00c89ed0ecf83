"""Names and votes as users have them (tensors, columns of data frames, missing values), and what no input may be."""

import math

import numpy as np
import pandas as pd
import pytest
import torch

from video_contrast import metrics

NAN = float("nan")
VOTES = [[0, 0, 1], [1, 1, 1], [0, 1, 1]]


@pytest.mark.parametrize("kind", [torch.tensor, np.array, pd.DataFrame, lambda rows: [torch.tensor(r) for r in rows]])
def test_votes_are_the_same_in_any_container(kind) -> None:
    plain = metrics.majority_vote(VOTES, [0, 1, 0])
    assert metrics.majority_vote(kind(VOTES), torch.tensor([0, 1, 0])) == plain
    assert plain["majority"] == [0, 1, 1]
    assert metrics.agreement(kind(VOTES)) == metrics.agreement(VOTES)


def test_a_vote_that_is_nan_is_missing() -> None:
    gaps = np.array([[1.0, NAN, NAN], [1.0, 0.0, NAN], [0.0, 0.0, NAN]])
    assert metrics.majority_vote(gaps)["majority"] == [1, None, 0]
    assert metrics.agreement(gaps) == metrics.agreement([[1, 0], [0, 0]])


def test_conditions_are_the_same_in_any_container_and_nan_is_no_severity() -> None:
    clean, after, names = [0.5] * 4, [0.4, 0.3, 0.2, 0.1], ["jpeg", "jpeg", "jpeg", "swap"]
    plain = metrics.robustness(clean, after, names, severities=[1, 1, 2, None], categories=["N", "N", "N", None])
    column = pd.Series([1, 1, 2, NAN], index=[9, 8, 7, 6])
    assert metrics.robustness(clean, after, pd.Series(names), severities=column, categories=["N"] * 3 + [NAN]) == plain
    tensor = torch.tensor([1, 1, 2, 3])
    assert metrics.robustness(clean, after, names, severities=tensor)["n_conditions"] == 3
    assert metrics.robustness(clean, after, names, severities=[NAN, float("nan"), np.nan, NAN])["n_conditions"] == 2


def test_ids_and_clusters_may_be_tensors_or_columns() -> None:
    caption_to_video, ids = torch.tensor([7, 5, 5]), pd.Series([5, 7], index=[3, 4])
    similarity = [[0.1, 0.8, 0.9], [0.9, 0.2, 0.3]]
    assert metrics.retrieval(similarity, caption_to_video, video_ids=ids, ks=[1])["t2v_R@1"] == 1
    with pytest.raises(ValueError, match="caption 0 belongs to video 6, which is not among the videos"):
        metrics.retrieval(similarity, pd.Series([6, 5, 5], index=[1, 2, 3]), video_ids=ids)
    clusters = pd.Series(list("abcde"), index=range(5, 10))
    assert metrics.agreement(VOTES + VOTES[:2], clusters=clusters, interval=True)["pairwise_low"] is not None


def test_rows_may_be_lists_in_a_column() -> None:
    assert metrics.accuracy(pd.Series([[0.9, 0.1], [0.2, 0.8]]), [0, 1]) == 1


def test_gammas_take_tensors() -> None:
    half = torch.tensor([0.5], dtype=torch.bfloat16, requires_grad=True)
    assert metrics.gamma_absolute(half, [0.5]).tolist() == metrics.gamma_relative(half, half).tolist() == [1.0]
    assert metrics.gamma_interval(torch.ones(3, dtype=torch.bfloat16), [1, 1, 1]).estimate == 1


def test_a_gamma_of_a_model_near_chance_has_no_interval() -> None:
    """A clean score near chance would give a ratio of any size and sign."""
    rng = np.random.default_rng(0)
    for right, defined in ((0.56, False), (0.9, True)):
        clean = (np.arange(60) < 60 * right).astype(float)
        found = metrics.gamma_interval(clean, clean * (rng.random(60) < 0.9), chance=0.5)
        assert math.isfinite(found.estimate) and math.isfinite(found.low) == defined
    assert math.isnan(metrics.gamma_interval(clean, clean, chance=0.5).low)  # nothing changes: draws say nothing
    unknown = metrics.gamma_interval([0, 0, 0], [1, 0, 1], ["a", "a", "b"])
    assert math.isnan(unknown.estimate) and unknown.n_clusters == 2


@pytest.mark.parametrize("k", [3, 5, 6, 7])
def test_a_constant_scorer_has_no_position_bias_at_all(k: int) -> None:
    for n in range(1, 12):
        result = metrics.position_bias(np.zeros((n, k)), np.arange(n) % k)
        assert set(result["picked"]) == {1 / k} and result["picked_std"] == 0
        assert set(result["accuracy_by_position"]) - {None} == {1 / k} and result["accuracy_std"] == 0


def test_normalised_rcad_tells_probabilities_apart_that_round_to_one() -> None:
    """Both texts of the first video are sure to be its own; the second of them is surer."""
    similarity = np.array([[40.25, 40.5, 0, 0], [0.0, 0.0, 1, 2]])
    assert metrics.rcad(similarity, normalise="videos", scale=3)["mean_rank"] == 2
    assert metrics.rcad(similarity[:, [1, 0, 3, 2]], normalise="videos", scale=3)["mean_rank"] == 1


def test_rcad_leaves_out_ks_that_a_video_has_no_captions_for() -> None:
    result = metrics.rcad([[0.9, 0.1], [0.1, 0.9]])
    assert (result["R@1"], result["R@2"]) == (0.5, 1) and "R@3" not in result


def test_an_option_without_a_kind_is_of_none() -> None:
    scores, labels = [[0.5, 0.9, 0.1], [0.5, 0.1, 0.2]], [0, 0]
    result = metrics.multiple_choice(scores, labels, kinds=[[None, None, "verb"], [NAN, "verb", ""]])
    assert {key for key in result if key.startswith("n_")} == {"n_ties", "n_verb"}
    assert result["accuracy_verb"] == 1 and result["n_verb"] == 2


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: metrics.accuracy(None), "scores must be rows of numbers, not None"),
        (lambda: metrics.accuracy([["1", "2"]]), "scores must be numbers, not <U1"),
        (lambda: metrics.accuracy([[1, [2, 3]]]), "item 0 holds lists of different lengths"),
        (lambda: metrics.accuracy([1, 2]), "item 0 must be a list of scores, one a candidate, not 1"),
        (lambda: metrics.accuracy([[1, 2]], [1e30]), r"item 0 has label 1e\+30, but candidates 0..1"),
        (lambda: metrics.multiple_choice([[1, 2]], [0], ks=5), r"must be a list such as \[1, 5\], not 5"),
        (lambda: metrics.multiple_choice([[1, 2]], [0], ks=[NAN]), "a whole number from 1 on, not nan"),
        (lambda: metrics.multiple_choice([[1, 2]], [0], kinds=[["true", "worst"]]), "'worst' cannot be a kind"),
        (lambda: metrics.multiple_choice([[1, 2]], [0], kinds=[["true", "ties"]]), "n_ties is another figure"),
        (lambda: metrics.multiple_choice([[1, 2, 3]], [0], kinds=[["true", "a", "a_low"]]), "'a_low' cannot be a kind"),
        (lambda: metrics.share_interval([1] * 6, [*"abcde", NAN]), "item 5 has none"),
        (lambda: metrics.share_interval([1] * 6, weights=[1, 1, -1, 1, 1, 1]), "weights: item 2 is -1.0, below 0"),
        (lambda: metrics.difference_interval([0, 1, -2, 0, 0]), "change: item 2 is -2.0, not between -1 and 1"),
        (lambda: metrics.share_interval([1] * 6, weights=[0] * 6), "weights are all 0"),
        (lambda: metrics.share_interval([1] * 6, weights=[1] * 5), "6 items need 6 weights, not 5"),
        (
            lambda: metrics.rcad([[2**53 + 1, 2**53]], columns=[[0, 1]]),
            r"similarity: 9007199254740993 is beyond 2\*\*53",
        ),
        (lambda: metrics.multiple_choice([[1, 2]] * 2, [0, 0], clusters=["a"]), "2 items need 2 clusters"),
        (lambda: metrics.cluster_bootstrap([1, 2, 3], [1.0, NAN, 2.0]), "clusters: item 1 has none"),
        (lambda: metrics.cluster_bootstrap([1, 2], pd.Series(["a", pd.NA])), "clusters: item 1 has none"),
        (lambda: metrics.cluster_bootstrap([1, 2], draws=1.5), "whole number of at least 1, not 1.5"),
        (lambda: next(metrics.bootstrap_weights(0, 5)), "n_clusters must be at least 1"),
        (lambda: metrics.retrieval(np.eye(2), [[0], [1]]), r"one row number a caption, not the shape \(2, 1\)"),
        (lambda: metrics.rcad([[1, 2, 3]], columns=[[2, 0, 2]]), "video 0 names text 2 twice"),
        (lambda: metrics.rcad(np.eye(2), normalise="videos", scale=NAN), "scale must be a finite number, not nan"),
        (lambda: metrics.group_score([[[1, 2], [3]]]), "scores: item 0 holds lists of different lengths"),
        (lambda: metrics.majority_vote(["yes", "no"]), "item 0 must be a list of votes, not 'yes'"),
        (lambda: metrics.majority_vote(VOTES, [0, None, 1]), "labels: item 1 has none"),
        (lambda: metrics.caption_shift("a dog", "a cat"), "lists of texts, not one text"),
        (lambda: metrics.gamma_corrected(0.5, 0.4, chance=NAN), "chance is nan"),
        (lambda: metrics.gamma_interval([1, 0], [1, NAN]), "perturbed_hits: item 1 is nan"),
        (lambda: metrics.rarity_gap([5, 0], [1, 2], [2, 1]), "hits: item 0 is 5.0, not between 0 and 1"),
        (lambda: metrics.proximity([1, 0], [0.1, 0.2], antonym=["no", "no"]), "antonym: item 0 is 'no'"),
        (lambda: metrics.pair_by_id({"v1": 0.5}, {"v1": None}), "item 'v1': its perturbed score is nan"),
    ],
)
def test_what_is_wrong_is_named(call, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
