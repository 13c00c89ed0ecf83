"""The blind audit: it finds what gives a set away, says chance where nothing does, and refinement takes it out."""

import json
from pathlib import Path

import numpy as np
import pytest

from video_contrast.audit import refined_cut
from video_contrast.audit.blind_audit import audit, audited_items, strongest_first
from video_contrast.audit.blind_models import TrigramModel, blind_scores, cross_fitted, fit_ngrams, folds_of
from video_contrast.audit.refined_cut import refine
from video_contrast.audit.xray import audit_set
from video_contrast.builders import build
from video_contrast.cli import main
from video_contrast.errors import UsageError
from video_contrast.rows import multiple_choice_row
from video_contrast.storage import open_set

SUBJECTS = ["man", "woman", "dog", "child", "crowd", "girl", "cook"]
VERBS = ["runs", "sits", "sings", "eats", "waits", "jumps", "reads"]
PLACES = ["the road", "a field", "some water", "the house", "a stage"]


def pairs(n, negative, *, seed=0, per_cluster=1):
    """Two-way items; `negative(subject, verb, place, rng)` writes the contrast."""
    rng = np.random.default_rng(seed)
    rows = []
    for k in range(n):
        subject, verb, place = (str(rng.choice(words)) for words in (SUBJECTS, VERBS, PLACES))
        true = f"the {subject} {verb} near {place} number {k}"
        label = int(rng.integers(2))
        texts = [negative(subject, verb, place, rng) + f" number {k}"] * 2
        texts[label] = true
        kinds = ["verb_lexical"] * 2
        kinds[label] = "true"
        rows.append(
            multiple_choice_row(
                id=f"i{k}", video_id=f"v{k}", video_path="v.mp4", candidates=texts, label=label, kinds=kinds,
                cluster=f"c{k // per_cluster}",
            )
        )  # fmt: skip
    return rows


def other_verb(subject, verb, place, rng):
    return f"the {subject} {rng.choice([v for v in VERBS if v != verb])} near {place}"


def test_a_set_without_a_text_cue_is_at_chance():
    found = audit(pairs(600, other_verb))
    assert found["items"] == 600 and found["chance"] == 0.5 and found["against"] == ["verb_lexical"]
    for scorer in ("blind", "language_model", "shorter_wins", "longer_wins"):
        assert abs(found[scorer]["accuracy"] - 0.5) < 4 * 0.0204  # binomial standard error of 600 pairs


def test_a_word_that_only_contrasts_have_is_found_by_the_classifier():
    found = audit(pairs(300, lambda s, v, p, rng: f"the {s} wobbles near {p}"))
    assert found["blind"]["accuracy"] > 0.97 and found["blind"]["standard_error"] < 0.02


def test_an_answer_that_is_often_true_gives_questions_away():
    draw = np.random.default_rng(0)
    rows = []
    for k in range(200):
        order = [str(n) for n in draw.permutation(["two", "five", "six", "nine"])]
        label = order.index("two") if k % 2 else int(draw.integers(4))
        row = multiple_choice_row(
            id=f"i{k}", video_id=f"v{k}", video_path="v.mp4", candidates=order, label=label,
            kinds=["true" if n == label else "answer" for n in range(4)],
        )  # fmt: skip
        rows.append(row | {"question": "how many boys jump"})
    # half of the answers are "two", and a quarter of the others
    assert audit(rows)["blind"]["accuracy"] == pytest.approx(5 / 8, abs=0.1)
    assert audit([row | {"question": ""} for row in rows])["blind"]["accuracy"] == 0.25  # captions: nothing to learn


def test_an_order_of_words_that_nobody_writes_is_found_by_the_language_model():
    found = audit(pairs(300, lambda s, v, p, rng: f"near {p} the {v} {s}"))
    assert found["language_model"]["accuracy"] > 0.97


def test_blind_scores_of_a_set_are_those_of_its_audit():
    rows = pairs(300, lambda s, v, p, rng: f"the {s} wobbles near {p}")
    items = audited_items(rows)
    texts, clusters = [item.texts for item in items], [item.cluster for item in items]
    scores = blind_scores(texts, clusters, "blind")
    found = audit(rows)
    assert np.mean([s.argmax() == 0 for s in scores]) == pytest.approx(found["blind"]["accuracy"], abs=1e-4)
    accuracies = [scorer["accuracy"] for _, scorer in strongest_first(found)]
    assert accuracies[0] == max(accuracies) > 0.97
    turned = blind_scores(texts, clusters, "blind", scored=[row["candidates"] for row in rows])
    for row, given, mine in zip(rows, turned, scores, strict=True):
        assert given[row["label"]] == mine[0] and given[1 - row["label"]] == mine[1]


def test_longer_contrasts_are_found_by_length():
    found = audit(pairs(100, lambda s, v, p, rng: f"the {s} {v} and {v} near {p}"))
    assert (found["shorter_wins"]["accuracy"], found["shorter_wins"]["standard_error"]) == (1.0, 0.0)
    assert found["shorter_wins"]["low"] > 0.95 and found["longer_wins"]["accuracy"] == 0.0


def test_ties_are_a_fair_share_and_random_options_have_their_own_chance():
    rows = [
        multiple_choice_row(
            id=f"i{k}", video_id=f"v{k}", video_path="v.mp4", candidates=[f"{w} {k}" for w in "abcde"], label=k % 5,
            kinds=["true" if n == k % 5 else "random" for n in range(5)],
        )
        for k in range(40)
    ]  # fmt: skip
    found = audit(rows)
    assert found["chance"] == 0.2 and found["shorter_wins"]["accuracy"] == 0.2 and found["against"] == ["random"]


def test_only_the_contrasts_are_audited_where_there_are_some():
    row = multiple_choice_row(
        id="i", video_id="v", video_path="v.mp4", candidates=["a b", "a b c d", "a c"], label=0,
        kinds=["true", "random", "gender"],
    )  # fmt: skip
    found = audit([row])
    assert found["chance"] == 0.5 and found["shorter_wins"]["accuracy"] == 0.5 and "too few" in found["note"]


def test_standard_errors_know_that_items_of_one_video_go_together():
    def doubled(rows):
        return [{**row, "id": f"{row['id']}-{copy}"} for row in rows for copy in range(4)]

    rows = pairs(200, lambda s, v, p, rng: f"the {s} {v} near {p}" + " again" * int(rng.integers(2)))
    once, often = audit(rows)["shorter_wins"], audit(doubled(rows))["shorter_wins"]
    assert often["accuracy"] == once["accuracy"]
    assert often["standard_error"] == pytest.approx(once["standard_error"], abs=2e-4)


def test_no_caption_is_scored_by_a_model_that_has_seen_its_video():
    clusters = [f"c{n // 3}" for n in range(60)]
    fold = folds_of(clusters, 5, 0)
    assert len(set(fold.tolist())) == 5
    assert all(len({fold[n] for n in range(60) if clusters[n] == name}) == 1 for name in set(clusters))
    seen = []

    def fit(items):
        known = {text for item in items for text in item}
        return lambda texts: np.array([float(text in known) for text in texts])

    items = [[f"{n} true", "shared false"] for n in range(60)]
    seen = cross_fitted(items, fold, fit)
    assert not np.concatenate(seen).any()  # neither an own text nor one that stands in another fold as well


def test_the_trigram_model_is_a_distribution():
    model = TrigramModel(["a man runs", "a dog runs", "the dog sits"])
    words = [*model.vocabulary, "never seen"]
    total = sum(model._probability(("a", "dog"), word if word in model.vocabulary else "?") for word in words)
    assert total == pytest.approx(1.0, abs=1e-9)


def leaky(subject, verb, place, rng):
    """Half of the contrasts use a verb that true captions use less."""
    return f"the {subject} {'waits' if rng.integers(2) else rng.choice(VERBS)} beside {place}"


def test_refinement_makes_both_blind_scores_symmetric():
    rows = [row for row in pairs(400, leaky) if row["candidates"][0] != row["candidates"][1]]
    before = audit(rows)
    kept, facts = refine(rows)
    assert before["blind"]["accuracy"] > 0.9
    assert facts["items_before"] == len(rows) and facts["items_after"] == len(kept) < len(rows)
    assert all(abs(accuracy - 0.5) < 1e-9 for accuracy in facts["accuracy_after"])
    assert [row["id"] for row in kept] == [row["id"] for row in rows if row in kept]
    assert refine(rows)[0] == kept


def test_refinement_keeps_almost_all_of_a_set_without_a_cue(monkeypatch):
    monkeypatch.setattr(refined_cut, "GRID", 2)
    rows = pairs(400, other_verb)
    kept, facts = refine(rows)
    assert len(kept) > 0.75 * len(rows) and facts["items_after"] == len(kept)


def test_the_command_writes_audit_and_refined_config_into_set_and_card(tmp_path, capsys):
    table = tmp_path / "c.csv"
    rng = np.random.default_rng(0)
    lines = [f"v{n}.mp4,a {rng.choice(['man'] * 6 + ['woman'])} is {rng.choice(VERBS)} in {n}" for n in range(120)]
    table.write_text("video,caption\n" + "\n".join(lines))
    root = build("captions", ["random_mc", "gender_mc"], output=tmp_path / "set", captions=str(table))
    former = json.loads((root / "set.json").read_text())["configs"]["gender_mc"]["facts"]["audit"]
    assert former["blind"]["accuracy"] > 0.6  # more men than women: "man" is the better guess
    assert main(["audit", str(root), "gender_mc", "--refine"]) == 0
    said = capsys.readouterr().out
    assert "gender_mc (test): 120 items, against gender, chance 50.0 %" in said and "gender_mc_refined" in said
    record = json.loads((root / "set.json").read_text())["configs"]
    kept = open_set(root).rows("gender_mc_refined", "test")
    assert 0 < len(kept) == record["gender_mc_refined"]["facts"]["splits"]["test"]["items"] < 120
    assert record["gender_mc"]["facts"]["audit"]["blind"] == former["blind"]  # the same audit, made again
    assert "gender_mc_refined" in (root / "README.md").read_text()
    first = (root / "set.json").read_bytes()
    assert main(["audit", str(root), "gender_mc", "--refine"]) == 0 and (root / "set.json").read_bytes() == first
    assert main(["check", str(root)]) == 0


def test_what_cannot_be_audited_is_said(tmp_path, capsys):
    assert main(["audit", str(tmp_path)]) == 1 and "no table lies in it" in capsys.readouterr().err
    table = tmp_path / "c.csv"
    table.write_text("video,caption\n" + "\n".join(f"v{n}.mp4,a man is in {n}" for n in range(8)))
    root = build("captions", ["retrieval", "gender_mc"], output=tmp_path / "set", captions=str(table))
    assert main(["audit", str(root), "retrieval"]) == 2
    assert "unknown config of candidates 'retrieval'" in capsys.readouterr().err
    assert main(["audit", str(root), "--refine"]) == 2
    assert "too few to refine" in capsys.readouterr().err
    with pytest.raises(UsageError, match="unknown split of gender_mc 'dev'"):
        audit_set(root, ["gender_mc"], split="dev")


def test_a_language_model_of_ones_own_joins_the_audit(tmp_path):
    import tiny_models

    model = str(tiny_models.gpt2(tmp_path / "gpt2"))
    from video_contrast.language_model import LanguageModel

    found = audit(pairs(30, other_verb), language_model=LanguageModel(model, device="cpu"))
    assert found["large_language_model"]["description"] == Path(model).name  # the record can be published
    assert 0 <= found["large_language_model"]["accuracy"] <= 1


def test_the_blind_classifier_is_that_of_scikit_learn_on_its_own_count_of_n_grams():
    from scipy import sparse
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(0)
    items = [[" ".join(rng.choice(list("abcdef"), rng.integers(2, 7))) for _ in range(3)] for _ in range(60)]
    texts = [text for item in items for text in item]
    words = CountVectorizer(token_pattern=r"\S+", ngram_range=(1, 3), binary=True, min_df=2)
    counted, unknown = words.fit_transform(texts), ["a b c", "f e d a b", "no such word"]

    def with_lengths(counts, of):
        return sparse.hstack([counts, [[len(text.split()) / 10, len(text) / 50] for text in of]])

    model = LogisticRegression(C=1.0, solver="newton-cg", tol=1e-3)
    weights = [1.0, 0.5, 0.5] * len(items)
    model.fit(with_lengths(counted, texts), [True, False, False] * len(items), sample_weight=weights)
    expected = model.decision_function(with_lengths(words.transform(unknown), unknown))
    np.testing.assert_allclose(fit_ngrams(items)(unknown), expected, rtol=1e-9)
