"""Rule constraints of verb contrasts: each rejects what it is for, and is counted."""

import pytest
from contrast_verbs import RULES, TABLE_1_VERB, Given, Listed, check, contrasts_of, tokens_of

from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.perturbations.contrast import verb
from video_contrast.perturbations.contrast.candidate import Original, fill
from video_contrast.perturbations.contrast.phrases import Phrase, phrases, verb_lemmas


@pytest.mark.parametrize(
    ("caption", "found"),
    [
        ("a man is walking up to the door", ["walk", "walk up", "walk up to"]),
        ("a woman is pushing her stroller", ["push"]),
        ("two men sit in a car and are talking", ["sit", "sit in", "talk"]),
        ("a man has been running", ["run"]),
        ("the dog doesn't bark", ["bark"]),
        ("there is a red ball", []),
        ("a man has a hat", []),
        ("two men are doing wrestling", ["do wrestling"]),
        ("a girl sings while a boy dances", ["sing", "dance"]),
    ],
)
def test_phrases_are_verbs_with_particles_and_prepositions_but_no_auxiliaries(caption, found):
    assert [phrase.base for phrase in phrases(tokens_of(caption))] == found


@pytest.mark.parametrize(("caption", "contrast", "antonym"), TABLE_1_VERB)
def test_lm_rows_of_table_1_pass_the_rule_constraints(caption, contrast, antonym):
    siblings = [["people in a scene", "somebody speaks"]]
    for seed in range(8):  # whichever phrase is chosen of the verb's patterns, the row must fit one of them
        try:
            edits, reasons = verb.contrasts(
                [caption], ["1"], generator=Given([contrast]), constraints=[*RULES, "siblings"],
                siblings=siblings, seed=seed,
            )  # fmt: skip
        except StopIteration:
            continue
        if edits[0]:
            break
    assert edits[0].text == contrast and edits[0].antonym is antonym, reasons


@pytest.mark.parametrize(
    ("contrast", "constraint"),
    [
        ("a man is guitar", "has_verb"),
        ("a man is walked", "lemma"),
        ("a man is pillaging", "frequency"),
        ("a man is sang", "inflection"),
    ],
)
def test_each_constraint_rejects_what_it_is_for_and_counts_it(contrast, constraint):
    assert check("a man is walking", [contrast], RULES) == (None, {constraint: 1})
    # What is no verb has no count and no form either, and the same verb in another form does not agree.
    also = {"has_verb": {"frequency", "inflection"}, "lemma": {"inflection"}}.get(constraint, set())
    others = [name for name in RULES if name not in {constraint} | also]
    assert check("a man is walking", [contrast], others)[0] == contrast.split()[-1]


def test_another_verb_of_the_same_caption_is_no_contrast():
    assert check("the dog is running", ["the dog is singing"], RULES)[0] == "singing"
    pipeline = verb.Pipeline(Listed(), RULES)
    lists, _ = pipeline.run_many(
        ["a man is singing a song and dancing with a dog"] * 20, [str(n) for n in range(20)], n=50
    )
    assert all(edit.new not in ("singing", "dancing") for edits in lists for edit in edits)


def test_a_verb_that_a_sibling_caption_uses_is_rejected():
    constraints = [*RULES, "siblings"]
    for sibling in ("she sings a song", "a woman was singing", "a singing woman"):
        found = check("a woman is walking", ["a woman is singing"], constraints, [[sibling, "a woman is walking"]])
        assert found == (None, {"siblings": 1})
    assert check("a woman is walking", ["a woman is singing"], constraints, [["a woman walks"]])[0] == "singing"


def test_synonyms_of_first_senses_count_as_used_by_a_sibling_on_request(monkeypatch):
    from video_contrast.perturbations.contrast.constraints import siblings as rules
    from video_contrast.perturbations.english import wordnet

    class WordNet:
        @staticmethod
        def senses(name, part):
            assert part == "v"
            two = (wordnet.Sense(1, ("jump", "vault")), wordnet.Sense(2, ("jump", "hurdle_over")))
            return two if name == "jump" else ()

    monkeypatch.setattr(wordnet, "load", WordNet)
    rules._synonyms.cache_clear()
    constraints = [*RULES, "siblings"]
    for sibling, senses, accepted in [
        ("a woman vaults", 0, True),
        ("a woman vaults", 1, False),
        ("they hurdle", 1, True),
    ]:
        arguments = ("a woman is walking", ["a woman is jumping"], constraints, [[sibling]])
        assert (check(*arguments, sibling_senses=senses)[0] == "jumping") is accepted
    rules._synonyms.cache_clear()


def test_absent_wordnet_is_an_error_that_names_the_command(monkeypatch, tmp_path):
    import nltk.data

    from video_contrast.perturbations.contrast.constraints import siblings as rules

    monkeypatch.setattr(nltk.data, "path", [str(tmp_path)])
    rules._synonyms.cache_clear()
    with pytest.raises(VideoContrastError, match=r"python -m nltk\.downloader wordnet"):
        verb.Pipeline(Listed(), options=dict(sibling_senses=2))
    rules._synonyms.cache_clear()


def test_default_sets_and_the_record_of_what_was_not_applied():
    for name in ("t5", "mlm", "llm"):
        assert verb.constraint_names(name, None) == [
            "has_verb",
            "lemma",
            "frequency",
            "siblings",
            "lift",
            "inflection",
            "perplexity",
            "word_vectors",
            "sentence",
        ]
    record = verb.Pipeline(Listed(), RULES).record()
    assert record["not_applied"] == ["siblings", "lift", "perplexity", "word_vectors", "sentence", "nli"]
    assert record["constraints"]["frequency"] == {"more_than": 10}
    assert record["parser"].startswith("captions-")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"constraints": ["frequncy"]}, "did you mean 'frequency'"),
        ({"generator": "t6"}, "unknown verb generator 't6'"),
        ({"constraints": ["siblings"]}, "constraint 'siblings' needs the other captions"),
        ({"word_cosin": 0.3}, "did you mean 'word_cosine'"),
        ({"generator": "mlm", "generator_options": {"beams": 2}}, "generator mlm 'beams'"),
        ({"generator": "mlm", "generator_options": {"k": "many"}}, "'k' must be a whole number, not 'many'"),
        ({"word_cosine": "low"}, "option of a constraint 'word_cosine' must be a number, not 'low'"),
        ({"ids": ["a"]}, "same length"),
    ],
)
def test_wrong_calls_say_what_is_wrong(arguments, message):
    with pytest.raises(UsageError, match=message):
        contrasts_of(**arguments)


def test_articles_and_case_fit_what_follows():
    tokens = tokens_of("A smiling girl")
    original = Original("A smiling girl", tokens, Phrase(2, 9, "smile", "VBG", (), 1), verb_lemmas(tokens))
    made = fill(original, "annoying")
    assert made.text == "An annoying girl" and made.text[made.start : made.start + len(made.new)] == "An annoying"
    assert fill(original, "using").text == "A using girl"


def test_an_option_that_constraints_share_has_one_default():
    from dataclasses import fields

    from video_contrast.perturbations.contrast.constraints import CONSTRAINTS

    defaults = {}
    for name, constraint in CONSTRAINTS.items():
        assert name == constraint.name
        for field in fields(constraint):
            assert defaults.setdefault(field.name, field.default) == field.default


def test_a_constraint_judges_single_candidates_as_it_judges_many():
    from video_contrast.perturbations.contrast.constraints import make_constraint

    tokens = tokens_of("a man is walking")
    original = Original("a man is walking", tokens, Phrase(9, 16, "walk", "VBG", (), 3), verb_lemmas(tokens))
    candidates = [fill(original, "singing"), fill(original, "walking")]
    for candidate, lemma in zip(candidates, ("sing", "walk"), strict=True):
        candidate.lemmas, candidate.tag = (lemma,), "VBG"
    constraint = make_constraint("lemma", {})
    assert [verdict.ok for verdict in constraint.check([original] * 2, candidates)] == [True, False]
    assert [constraint.accepts(original, candidate).ok for candidate in candidates] == [True, False]
