"""Figures of the papers, and of their released examples, by hand."""

import numpy as np
import pytest

from video_contrast import metrics


@pytest.mark.parametrize(
    ("overall", "rare", "gap"), [(0.652, 0.484, 0.168), (0.701, 0.562, 0.139), (0.691, 0.542, 0.149)]
)
def test_differences_of_the_contrast_set_papers_table_4(overall: float, rare: float, gap: float) -> None:
    """MMT, MMT-CLIP and CLIP4CLIP on character ids: 1,000 of 2,000 items have a contrast more frequent than the id."""
    hits = np.zeros(2000)
    hits[: round(rare * 1000)] = 1
    hits[1000 : 1000 + round((2 * overall - rare) * 1000)] = 1
    result = metrics.rarity_gap(hits, [1] * 1000 + [9] * 1000, [5] * 2000)
    assert (result["overall"], result["rare"], result["gap"]) == pytest.approx((overall, rare, gap))


def test_gammas_of_the_released_robustness_example() -> None:
    """VideoCLIP zero-shot on MSR-VTT: clean R@1 10.3 %, R@5 22.7 %."""
    relative = metrics.gamma_relative([0.103, 0.103, 0.227, 0.227], [0.072, 0.063, 0.181, 0.153])
    assert relative == pytest.approx([0.699, 0.612, 0.797, 0.674], abs=5e-4)
    assert metrics.gamma_absolute([10.3, 10.3], [7.2, 6.3], percent=True) == pytest.approx([0.969, 0.960], abs=5e-4)


def test_averages_go_over_severities_first_then_over_perturbations() -> None:
    rows = [("shot_noise", s, "Noise", "video", p) for s, p in zip(range(1, 6), (50, 40, 30, 20, 10), strict=True)]
    rows += [("jpeg", 1, "Digital", "video", 40), ("drop_first", None, "Positional", "text", 25)]
    names, severities, categories, modalities, scores = zip(*rows, strict=True)
    result = metrics.robustness(
        [50.0] * 7, scores, names, severities=severities, categories=categories, modalities=modalities, percent=True
    )
    noise = result["by_category"]["Noise"]
    assert noise["gamma_r"] == pytest.approx(0.6)  # mean of 1, .8, .6, .4, .2
    assert noise["gamma_r_std"] == pytest.approx(np.std([1, 0.8, 0.6, 0.4, 0.2]))
    video = result["by_modality"]["video"]
    assert video["gamma_r"] == pytest.approx((0.6 + 0.8) / 2)  # not the mean of the six conditions
    assert video["gamma_r_std"] == pytest.approx(0.1)
    assert video["gamma_a"] == pytest.approx(1 - ((20 + 10) / 2) / 100)
    assert result["by_modality"]["text"]["gamma_r"] == pytest.approx(0.5)
    assert (result["n_perturbations"], result["n_conditions"]) == (3, 7)


def test_a_clean_score_of_zero_is_missing_and_counted_never_zero_or_infinite() -> None:
    result = metrics.robustness([0.0, 0.5], [0.1, 0.25], ["jpeg", "freeze"])
    assert result["by_perturbation"]["jpeg"]["gamma_r"] is None
    assert result["by_perturbation"]["jpeg"]["gamma_a"] == pytest.approx(1.1)
    assert (result["gamma_r"], result["n_missing"]) == (0.5, 1)
    assert np.isnan(metrics.gamma_relative(0.0, 0.0))


def test_gamma_over_multiple_choice_accuracy_is_corrected_for_chance() -> None:
    """A five-way model that falls to guessing keeps a relative gamma of .25, though it has lost all it knew."""
    result = metrics.robustness([0.8], [0.2], ["freeze"], chance=0.2)
    assert result["gamma_r"] == pytest.approx(0.25)
    assert result["gamma_c"] == pytest.approx(0)


def test_items_give_the_same_gamma_as_their_mean_with_an_interval_around_it() -> None:
    rng = np.random.default_rng(0)
    videos = np.repeat(np.arange(100), 2)
    clean = (rng.random(200) < 0.8).astype(float)
    rows = {"clean": [], "perturbed": [], "names": [], "severities": [], "clusters": []}
    for name, severity, keep in (("jpeg", 1, 0.9), ("jpeg", 5, 0.5), ("drop_first", None, 0.7)):
        perturbed = clean * (rng.random(200) < keep)
        rows["clean"] += list(clean)
        rows["perturbed"] += list(perturbed)
        rows["names"] += [name] * 200
        rows["severities"] += [severity] * 200
        rows["clusters"] += list(videos)
    result = metrics.robustness(
        rows["clean"], rows["perturbed"], rows["names"], severities=rows["severities"], clusters=rows["clusters"]
    )
    jpeg = result["by_perturbation"]["jpeg"]
    by_hand = np.mean([np.mean(rows["perturbed"][i : i + 200]) for i in (0, 200)]) / clean.mean()
    assert jpeg["gamma_r"] == pytest.approx(by_hand)
    assert jpeg["gamma_r_low"] < jpeg["gamma_r"] < jpeg["gamma_r_high"]
    assert jpeg["gamma_r_high"] - jpeg["gamma_r_low"] < 0.25
    single = metrics.gamma_interval(clean, rows["perturbed"][400:], videos)
    text = result["by_perturbation"]["drop_first"]
    assert single.estimate == pytest.approx(text["gamma_r"])
    assert (single.low, single.high) == pytest.approx((text["gamma_r_low"], text["gamma_r_high"]), abs=0.02)


def test_rcad_of_a_small_matrix_with_ties_under_both_conventions() -> None:
    similarity = [
        [0.9, 0.1, 0.2, 0.3, 0.4, 0.5],  # rank 1
        [0.5, 0.5, 0.1, 0.1, 0.1, 0.1],  # tied with one: 1 or 2
        [0.2, 0.9, 0.2, 0.2, 0.1, 0.1],  # one above, tied with two: 2 to 4
        [0.1, 0.2, 0.3, 0.4, 0.5, 0.6],  # rank 6
    ]
    ours = metrics.rcad(similarity)
    assert ours["R@1"] == pytest.approx((1 + 1 / 2) / 4)
    assert ours["R@2"] == pytest.approx((1 + 1 + 1 / 3) / 4)
    assert ours["R@3"] == pytest.approx((1 + 1 + 2 / 3) / 4)
    assert ours["mean_rank"] == (1 + 1.5 + 3 + 6) / 4
    assert ours["median_rank"] == (1.5 + 3) / 2
    released = metrics.rcad(similarity, ties="released")
    assert [released[f"R@{k}"] for k in (1, 2, 3)] == [2 / 4, 3 / 4, 3 / 4]
    assert (released["mean_rank"], released["median_rank"]) == ((1 + 1 + 2 + 6) / 4, 1.5)


def test_bleu_and_share_changed_of_positional_perturbations_on_real_captions(shared_data) -> None:
    """The paper's Positional BLEU-4 of .64: drop_first .871, drop_last the same, both .744 on the 1k-A captions."""
    import csv

    with open(shared_data / "msrvtt" / "MSRVTT_JSFUSION_test.csv", encoding="utf-8") as handle:
        captions = [row["sentence"] for row in csv.DictReader(handle)]
    words = [caption.split() for caption in captions]
    dropped = {
        "first": [" ".join(["[UNK]", *w[1:]]) for w in words],
        "last": [" ".join([*w[:-1], "[UNK]"]) for w in words],
        "both": [" ".join(["[UNK]", *w[1:-1], "[UNK]"]) for w in words],
    }
    found = {name: metrics.caption_shift(texts, captions) for name, texts in dropped.items()}
    assert [round(found[name]["bleu"], 3) for name in ("first", "last", "both")] == [0.871, 0.871, 0.744]
    assert found["first"]["unique_words_before"] == 2008
    assert found["first"]["changed"] == 1


def test_chance_of_group_scores_is_that_of_random_scores() -> None:
    result = metrics.group_score(np.random.default_rng(0).random((60_000, 2, 2)))
    for name in ("text_score", "video_score", "group_score"):
        assert result[name] == pytest.approx(result[f"chance_{name}"], abs=0.006)


def test_antonyms_and_nearest_and_farthest_contrasts() -> None:
    similarity = np.linspace(0, 1, 100)
    hits = similarity < 0.9  # wrong on the ten nearest
    antonym = np.zeros(100, bool)
    antonym[50] = True
    result = metrics.proximity(hits, similarity, antonym=antonym)
    assert result == {"antonym": 1.0, "high": pytest.approx(5 / 15), "low": 1.0, "n_antonym": 1, "n_high": 15}


def test_subsets_positions_and_votes_have_intervals_on_request() -> None:
    rng = np.random.default_rng(0)
    hits, videos = rng.integers(0, 2, 200), rng.integers(0, 60, 200)
    subsets = metrics.proximity(hits, rng.random(200), antonym=rng.random(200) < 0.3, clusters=videos, interval=True)
    for name in ("antonym", "high", "low"):
        assert subsets[f"{name}_low"] < subsets[name] < subsets[f"{name}_high"]
    bias = metrics.position_bias(rng.random((200, 2)), rng.integers(0, 2, 200), clusters=videos, interval=True)
    for low, value, high in zip(
        bias["accuracy_by_position_low"], bias["accuracy_by_position"], bias["accuracy_by_position_high"], strict=True
    ):
        assert low < value < high
    votes = metrics.majority_vote(rng.integers(0, 2, (200, 3)).tolist(), [0] * 200, clusters=videos, interval=True)
    assert votes["accuracy_low"] < votes["accuracy"] < votes["accuracy_high"]


def test_equal_similarities_at_the_border_share_the_room() -> None:
    assert metrics.proximity([1, 0, 0, 1], [0.5] * 4, share=0.25)["high"] == 0.5


def test_consistency_needs_every_member_of_a_cluster() -> None:
    result = metrics.consistency([1, 1, 0, 1, 0.5], ["a", "a", "b", "b", "c"])
    assert result["consistency"] == pytest.approx((1 + 0 + 0.5) / 3)


def test_position_bias_shows_a_model_that_always_says_a() -> None:
    scores = np.tile([0.9, 0.1, 0.1, 0.1], (8, 1))
    result = metrics.position_bias(scores, [0, 1, 2, 3] * 2)
    assert result["accuracy_by_position"] == [1, 0, 0, 0]
    assert result["picked"] == [1, 0, 0, 0]
    assert result["accuracy_std"] == pytest.approx(np.std([1, 0, 0, 0]))
    assert metrics.right_in_all_rotations(np.eye(4))["right_in_all"] == 0


def test_sensitivity_counts_scores_that_rise_when_the_caption_becomes_false() -> None:
    result = metrics.sensitivity([0.3, 0.3, 0.3] * 2, [0.1, 0.5, 0.3] * 2, interval=True)
    assert (result["wrong_sign"], result["n_ties"]) == (0.5, 2)
    assert result["wrong_sign_low"] <= 0.5 <= result["wrong_sign_high"]


def test_the_majority_of_three_judges() -> None:
    result = metrics.majority_vote([[0, 0, 1], [2, 2, 2], [0, 1, 2]], [0, 1, 2])
    assert result["majority"] == [0, 2, None]
    assert result["accuracy"] == pytest.approx((1 + 0 + 1 / 3) / 3)
    assert result["individual_accuracy"] == pytest.approx(3 / 9)
