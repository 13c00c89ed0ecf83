"""The metrics against independent implementations: a plain sort, torchmetrics, scikit-learn, scipy, statsmodels."""

from pathlib import Path

import numpy as np
import pytest

from video_contrast import metrics


@pytest.fixture
def similarity() -> np.ndarray:
    return np.random.default_rng(0).standard_normal((60, 60)).astype(np.float32)


def test_recall_and_ranks_against_a_plain_sort(similarity: np.ndarray) -> None:
    caption_to_video = np.random.default_rng(1).permutation(np.arange(60) % 25)
    result = metrics.retrieval(similarity[:25], caption_to_video, ks=[1, 5])
    t2v, v2t = [], []
    for caption in range(60):
        order = list(np.argsort(-similarity[:25, caption]))
        t2v.append(order.index(caption_to_video[caption]) + 1)
    for video in range(25):
        order = np.argsort(-similarity[video])
        v2t.append(min(place + 1 for place, caption in enumerate(order) if caption_to_video[caption] == video))
    for way, ranks in (("t2v", np.array(t2v)), ("v2t", np.array(v2t))):
        assert result[f"{way}_mean_rank"] == pytest.approx(ranks.mean())
        assert result[f"{way}_median_rank"] == np.median(ranks)
        assert result[f"{way}_R@1"] == pytest.approx((ranks <= 1).mean())
        assert result[f"{way}_R@5"] == pytest.approx((ranks <= 5).mean())


def test_recall_against_torchmetrics_on_shifted_scores(similarity: np.ndarray) -> None:
    """It takes scores above 0 only: raw cosines would lose queries whose answer ranks first with a negative one."""
    import torch
    from torchmetrics.functional.retrieval import retrieval_recall

    shifted = torch.from_numpy(similarity - similarity.min() + 1)
    result = metrics.retrieval(similarity, ks=[1, 5, 10])
    for k in (1, 5, 10):
        recalls = [retrieval_recall(shifted[:, j], torch.arange(60) == j, top_k=k) for j in range(60)]
        assert result[f"t2v_R@{k}"] == pytest.approx(float(torch.stack(recalls).mean()))


def test_accuracy_against_scikit_learn_and_ranks_against_scipy() -> None:
    from scipy.stats import rankdata
    from sklearn.metrics import accuracy_score, top_k_accuracy_score

    rng = np.random.default_rng(2)
    scores, labels = rng.standard_normal((200, 5)), rng.integers(0, 5, 200)
    result = metrics.multiple_choice(scores, labels, ks=(1, 3))
    assert result["accuracy"] == pytest.approx(accuracy_score(labels, scores.argmax(axis=1)))
    assert result["R@3"] == pytest.approx(top_k_accuracy_score(labels, scores, k=3))
    tied = rng.integers(0, 3, (200, 5))
    average = rankdata(-tied, axis=1)[np.arange(200), labels]  # ties: the mean of the ranks
    assert metrics.mean_rank(tied, labels) == pytest.approx(average.mean())
    assert metrics.median_rank(tied, labels) == np.median(average)


def test_mcnemar_against_statsmodels_and_scipy() -> None:
    from scipy.stats import binomtest
    from statsmodels.stats.contingency_tables import mcnemar as reference

    rng = np.random.default_rng(3)
    for n in (12, 300, 5000):
        a, b = rng.random(n) < 0.7, rng.random(n) < 0.66
        found = metrics.mcnemar(a, b)
        table = [[(a & b).sum(), (a & ~b).sum()], [(~a & b).sum(), (~a & ~b).sum()]]
        assert found["p_value"] == pytest.approx(reference(table, exact=True).pvalue)
        discordant = found["only_first"] + found["only_second"]
        assert found["p_value"] == pytest.approx(binomtest(found["only_first"], discordant).pvalue)


def test_holm_against_statsmodels() -> None:
    from statsmodels.stats.multitest import multipletests

    values = np.random.default_rng(4).random(20) ** 3
    assert metrics.holm(values) == pytest.approx(multipletests(values, method="holm")[1])


def test_cluster_standard_error_against_statsmodels_and_the_bootstrap() -> None:
    from scipy.stats import permutation_test
    from statsmodels.regression.linear_model import OLS

    rng = np.random.default_rng(5)
    clusters = rng.integers(0, 80, 400)
    values = rng.standard_normal(80)[clusters] + rng.standard_normal(400)
    groups = {"groups": clusters, "use_correction": False}
    fit = OLS(values, np.ones(400)).fit(cov_type="cluster", cov_kwds=groups)
    n_clusters = len(np.unique(clusters))
    expected = float(fit.bse[0]) * np.sqrt(n_clusters / (n_clusters - 1))
    found = metrics.cluster_standard_error(values, clusters)
    assert found == pytest.approx(expected)
    assert metrics.cluster_bootstrap(values, clusters).standard_error == pytest.approx(found, rel=0.05)
    paired = metrics.paired_difference(np.zeros(400), values, clusters)
    assert paired["standard_error"] == pytest.approx(found)
    sums = np.bincount(clusters, weights=values)
    reference = permutation_test(
        (sums,), lambda x, axis: x.sum(axis=axis), permutation_type="samples", n_resamples=9999, rng=0
    )
    assert paired["p_value"] == pytest.approx(reference.pvalue, abs=0.02)


def test_bootstrap_interval_against_scipy_on_independent_items() -> None:
    from scipy.stats import bootstrap

    values = np.random.default_rng(6).exponential(size=120)
    expected = bootstrap((values,), np.mean, n_resamples=4000, method="percentile", rng=0).confidence_interval
    found = metrics.cluster_bootstrap(values, draws=4000)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=0.03)


@pytest.mark.parametrize("n_clusters", [3, 10, 40, 700])
def test_bootstrap_weights_against_the_binomial_distribution(n_clusters: int) -> None:
    """How often one cluster is drawn is binomial, in the tails too; draws are independent, so chi-square applies."""
    from scipy.stats import binom, chisquare

    draws = 40_000 if n_clusters < 100 else 10_000
    weights = np.concatenate(list(metrics.bootstrap_weights(n_clusters, draws)))[:, n_clusters // 2].astype(int)
    top = 4 if n_clusters > 3 else 3
    found = np.bincount(np.minimum(weights, top), minlength=top + 1)
    expected = binom.pmf(np.arange(top), n_clusters, 1 / n_clusters)
    assert chisquare(found, np.append(expected, 1 - expected.sum()) * len(weights)).pvalue > 0.001


def test_any_statistic_of_the_drawn_counts() -> None:
    """A statistic of one's own, the standard deviation, against scipy."""
    from scipy.stats import bootstrap

    values = np.random.default_rng(7).integers(0, 9, 200).astype(float)

    def spread(counts: np.ndarray, distinct: np.ndarray) -> np.ndarray:
        mean = counts @ distinct[:, 0] / counts.sum(axis=1)
        return np.sqrt(counts @ distinct[:, 0] ** 2 / counts.sum(axis=1) - mean**2)

    expected = bootstrap((values,), np.std, n_resamples=4000, method="percentile", rng=0).confidence_interval
    found = metrics.cluster_bootstrap(values, statistic=spread, draws=4000)
    assert found.estimate == pytest.approx(values.std())
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=0.03)


def test_agreement_against_statsmodels() -> None:
    from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

    votes = np.random.default_rng(8).integers(0, 3, (40, 3))
    found = metrics.agreement(votes.tolist())
    assert found["fleiss_kappa"] == pytest.approx(fleiss_kappa(aggregate_raters(votes)[0]))


def test_bleu_against_sacrebleu_and_rouge_against_rouge_score() -> None:
    import sacrebleu
    from rouge_score import rouge_scorer

    before = [
        "a man is driving a red car down the road",
        "two dogs play in the snow",
        "a woman sings on a stage at night",
    ]
    after = ["a man is [UNK] a red car the road", "snow the in play dogs two", "a woman sings on a big stage"]
    found = metrics.caption_shift(after, before)
    expected = sacrebleu.corpus_bleu(after, [before], tokenize="none", smooth_method="none").score / 100
    assert found["bleu"] == pytest.approx(expected)
    scorer = rouge_scorer.RougeScorer(["rouge1", "rougeL"], tokenizer=Whitespace())
    assert found["rouge_1"] == pytest.approx(
        np.mean([scorer.score(b, a)["rouge1"].fmeasure for a, b in zip(after, before, strict=True)])
    )
    assert found["rouge_l"] == pytest.approx(
        np.mean([scorer.score(b, a)["rougeL"].fmeasure for a, b in zip(after, before, strict=True)])
    )


def test_perplexity_against_the_models_own_loss(tmp_path: Path) -> None:
    import tiny_models
    import torch

    folder = tiny_models.gpt2(tmp_path / "lm")
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder).eval()
    start = tokenizer.bos_token_id if tokenizer.bos_token_id is not None else tokenizer.eos_token_id
    texts = ["a man drives a car", "a dog", "two women sing on a stage"]
    expected = []
    for text in texts:
        ids = torch.tensor([[start if start is not None else 0, *tokenizer.encode(text, add_special_tokens=False)]])
        with torch.inference_mode():
            expected.append(float(model(input_ids=ids, labels=ids).loss.exp()))
    found = metrics.perplexity(texts, str(folder))
    np.testing.assert_allclose(found, expected, rtol=1e-4)
    shift = metrics.caption_shift(["a man drives a bus", *texts[1:]], texts, language_model=str(folder))
    assert shift["perplexity_before"] == pytest.approx(np.mean(expected), rel=1e-4)
    with pytest.raises(ValueError, match="hf download"):
        metrics.perplexity(["a"], str(tmp_path / "none"))


def test_meteor_against_nltk_and_without_its_data(nltk_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import nltk
    from nltk.corpus.reader.wordnet import WordNetCorpusReader
    from nltk.translate.meteor_score import meteor_score

    # where nothing has loaded it before: the map to other languages takes most of the seconds
    monkeypatch.setattr(WordNetCorpusReader, "map_wn", lambda self, version="wordnet": None)

    before, after = ["a man is driving a car", "a dog runs"], ["a man drives a car", "a dog jumps"]
    monkeypatch.setattr(nltk.data, "path", [str(nltk_data)])
    expected = np.mean([meteor_score([b.split()], a.split()) for a, b in zip(after, before, strict=True)])
    assert metrics.caption_shift(after, before, meteor=True)["meteor"] == pytest.approx(expected)


class Whitespace:
    def tokenize(self, text: str) -> list[str]:
        return text.split()
