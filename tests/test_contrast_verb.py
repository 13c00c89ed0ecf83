"""Verb and object contrasts without a model: phrases, counts, the lexical generator, rule constraints, the pipeline."""

import zipfile
from collections import Counter
from importlib.resources import files

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.perturbations.contrast import object as objects
from video_contrast.perturbations.contrast import verb
from video_contrast.perturbations.contrast.verb.antonyms import antonyms, are_antonyms, table
from video_contrast.perturbations.contrast.verb.candidate import Candidate, Original, fill
from video_contrast.perturbations.contrast.verb.phrases import Phrase, choose, phrases, verb_lemmas
from video_contrast.perturbations.language import tag, verb_tags

RULES = ["has_verb", "lemma", "frequency", "inflection"]
PLACES = ("on a stage", "in a kitchen", "near the door")
TRAIN = [
    f"{who} {doing} {where}"
    for who in ("a man is", "a woman is", "two girls are", "the dog is")
    for doing in ("singing", "walking", "running", "jumping", "sitting", "standing up", "looking at a book", "dancing")
    for where in PLACES
] + [f"a man {verb} his gun" for verb in ("lowers", "raises", "drops", "cleans") for _ in range(4)]
# The LM-made rows of the paper's Table 1: caption, contrast, the verb phrase that was replaced, whether antonyms.
TABLE_1_VERB = [
    ("Two men are doing wrestling.", "Two men are dancing.", False),
    (
        "A man in black shirt is talking with his two friends.",
        "A man in black shirt is running with his two friends.",
        False,
    ),
    ("His gaze steely, Jenko lowers his gun.", "His gaze steely, Jenko raises his gun.", True),
    ("Jenko and Schmidt sit in the rear pew.", "Jenko and Schmidt stand in the rear pew.", True),
]
CAPTIONS = [
    "a woman is talking on a stage",
    "two men are sitting near the door",
    "a boy lowers his gun",
    "the cat sings",
]
IDS = ["a", "b", "c", "d"]


@pytest.fixture(scope="module")
def counts():
    return verb.count(TRAIN, tagger="hanta")


def _tokens(caption):
    return tag([caption], tagger="hanta")[0]


class Given:
    """A generator that proposes given contrasts."""

    name, draw = "given", "first"

    def __init__(self, contrasts):
        self.contrasts = contrasts

    def propose(self, originals, randoms):
        made = []
        for original in originals:
            caption, new = original.caption, []
            for text in self.contrasts:
                start = next(n for n, (a, b) in enumerate(zip(caption, text, strict=False)) if a != b)
                start = caption.rfind(" ", 0, start) + 1
                tail = len(caption) - original.phrase.end
                new.append(Candidate(text, text[start : len(text) - tail], start))
            made.append(new)
        return made


# Phrases


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
    assert [phrase.base for phrase in phrases(_tokens(caption))] == found


def test_one_phrase_is_chosen_by_seed_and_every_verb_has_its_turn():
    found = phrases(_tokens("a man sits in a car and sings"))
    chosen = Counter(choose(found, np.random.default_rng(seed)).base for seed in range(400))
    assert set(chosen) == {"sit", "sit in", "sing"} and 150 < chosen["sing"] < 250
    assert choose([], np.random.default_rng(0)) is None


# Antonyms


def test_the_shipped_antonyms_are_wordnets_477_pairs_with_their_licence():
    folder = files("video_contrast.perturbations.contrast")
    lines = (folder / "antonyms.tsv").read_text(encoding="utf-8").splitlines()
    assert len([line for line in lines if not line.startswith("#")]) == 477
    assert "Princeton University" in (folder / "LICENSES.md").read_text(encoding="utf-8")
    assert all(first in table()[second] for first, others in table().items() for second in others)
    assert antonyms("open") == {"close"} and "push" in antonyms("pull") and antonyms("sing") == frozenset()
    assert (
        are_antonyms("check in", "check out")
        and are_antonyms("sit in", "stand")
        and not are_antonyms("sit in", "stand on")
    )


def test_the_shipped_antonyms_are_those_of_wordnets_own_file(nltk_data):
    pairs = set()
    with zipfile.ZipFile(nltk_data / "corpora" / "wordnet.zip") as archive:
        lines = archive.read("wordnet/data.verb").decode().splitlines()
    synsets = {line.split()[0]: line.split("|")[0].split() for line in lines if not line.startswith(" ")}
    for fields in synsets.values():
        words = fields[4 : 4 + 2 * int(fields[3], 16) : 2]
        pointers = fields[5 + 2 * len(words) :]
        for kind, offset, part, places in zip(*(pointers[n::4] for n in range(4)), strict=False):
            if kind == "!" and part == "v":
                other = synsets[offset][4 + 2 * (int(places[2:], 16) - 1)]
                pairs.add(
                    frozenset(
                        (words[int(places[:2], 16) - 1].lower().replace("_", " "), other.lower().replace("_", " "))
                    )
                )
    assert pairs == {frozenset((verb, other)) for verb, others in table().items() for other in others}


# Counts


def test_the_frequency_limit_is_the_papers_scaled_down_with_the_corpus(counts):
    def limit(size):
        return verb.WordCounts(size, Counter(), Counter(), {}, {}, "").limit

    assert limit(100_000) == limit(10**7) == 30
    assert limit(50_000) == 15 and limit(10) == 2 and limit(0) == 2
    assert counts.size == len(TRAIN) and counts.limit == 2
    assert counts.uses["sing"] == 12 and counts.uses["be"] == 0
    assert counts.frames["word:on"]["sing"] == 4
    assert counts.company["noun", "after gun"]["lower"] == 4


def test_a_word_that_is_mostly_a_noun_is_no_typical_verb():
    counted = verb.count(["a man hairs a dog", *["a dog with long hair"] * 30, "a man sings"], tagger="hanta")
    assert counted.is_typical("sing") and not counted.is_typical("hair")


# The pipeline


def _run(counts, constraints=RULES, captions=CAPTIONS, ids=IDS, **others):
    return verb.contrasts(captions, ids, counts=counts, constraints=constraints, tagger="hanta", **others)


def test_lexical_contrasts_change_one_phrase_to_a_verb_of_the_training_captions(counts):
    edits, reasons = _run(counts)
    assert reasons["edited"] == 4
    for caption, edit in zip(CAPTIONS, edits, strict=True):
        assert edit.text == caption.replace(edit.old, edit.new, 1)
        assert edit.text[edit.start : edit.start + len(edit.new)] == edit.new
        assert edit.generator == "lexical" and edit.scores["frequency"] > 2
        wanted = next(t.tag for t in _tokens(caption) if t.text == edit.old.split()[0])
        assert wanted in verb_tags(edit.new.split()[0])  # the form agrees with the sentence
    assert edits[2].new in ("raises", "drops", "cleans")


def test_contrasts_depend_on_caption_id_and_seed_alone(counts):
    edits, _ = _run(counts)
    again, _ = _run(counts, captions=CAPTIONS[::-1], ids=IDS[::-1])
    assert edits == again[::-1]
    assert [_run(counts, captions=[c], ids=[i])[0][0] for c, i in zip(CAPTIONS, IDS, strict=True)] == edits
    assert any(_run(counts, seed=seed)[0] != edits for seed in (1, 2, 3))


def test_several_contrasts_a_caption_differ_and_begin_with_the_one(counts):
    pipeline = verb.VerbPipeline("lexical", RULES, counts=counts, tagger="hanta")
    lists, _ = pipeline.run_many(CAPTIONS, IDS, n=3)
    ones, _ = pipeline.run(CAPTIONS, IDS)
    assert [edits[0] for edits in lists] == ones
    assert all(len({edit.text for edit in edits}) == len(edits) <= 3 for edits in lists)
    assert any(len(edits) == 3 for edits in lists)


def test_antonyms_come_first_as_often_as_asked(counts):
    captions, ids = ["a man lowers his gun"] * 200, [str(n) for n in range(200)]

    def share(wanted):
        options = {"antonym_share": wanted, "k": 1}
        edits, _ = _run(counts, captions=captions, ids=ids, generator_options=options)
        return sum(edit.antonym and edit.new == "raises" for edit in edits if edit) / 200

    assert share(1.0) == 1.0
    assert share(0.0) < share(0.5) < 0.9


def test_every_candidate_is_counted_once_and_every_caption_has_an_outcome(counts):
    captions = [*CAPTIONS, "", " ", "a red ball", "她在跑步", "😀😀", "x" * 10_000, "the man sits. " * 700]
    edits, reasons = _run(counts, captions=captions, ids=[str(n) for n in range(len(captions))])
    outcomes = sum(reasons[name] for name in ("edited", "empty", "no_verb", "no_proposal", "all_rejected"))
    assert outcomes == len(captions) and reasons["empty"] == 2 and reasons["no_verb"] == 4
    assert reasons["edited"] == sum(edit is not None for edit in edits) == 5
    rejected = sum(reasons[f"candidates:rejected:{name}"] for name in RULES)
    assert reasons["candidates:proposed"] == rejected + reasons["candidates:accepted"]


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=80), st.integers(0, 5))
def test_no_text_is_too_odd(caption, seed):
    counted = verb.WordCounts(3, Counter(sing=9, run=9), Counter(), {"end": Counter(sing=9, run=9)}, {}, "")
    edits, reasons = verb.contrasts([caption], ["1"], counts=counted, constraints=RULES, seed=seed, tagger="hanta")
    assert sum(reasons[name] for name in ("edited", "empty", "no_verb", "no_proposal", "all_rejected")) == 1
    assert edits[0] is None or edits[0].text != caption


@pytest.mark.parametrize(("caption", "contrast", "antonym"), TABLE_1_VERB)
def test_lm_rows_of_table_1_pass_the_rule_constraints(caption, contrast, antonym):
    known = verb.WordCounts(10**6, Counter(dance=90, run=90, **{"raise": 90}, stand=90), Counter(), {}, {}, "")
    siblings = [["people in a scene", "somebody speaks"]]
    for seed in range(8):  # whichever phrase is chosen of the verb's patterns, the row must fit one of them
        try:
            edits, reasons = verb.contrasts(
                [caption], ["1"], counts=known, generator=Given([contrast]), constraints=[*RULES, "siblings"],
                siblings=siblings, seed=seed, tagger="hanta",
            )  # fmt: skip
        except StopIteration:
            continue
        if edits[0]:
            break
    assert edits[0].text == contrast and edits[0].antonym is antonym, reasons


# Constraints


def _check(caption, contrasts, counts, constraints, siblings=None, **settings):
    edits, reasons = verb.contrasts(
        [caption], ["1"], counts=counts, generator=Given(contrasts), constraints=constraints,
        siblings=siblings, tagger="hanta", **settings,
    )  # fmt: skip
    rejected = {name.rpartition(":")[2]: n for name, n in reasons.items() if ":rejected:" in name and n}
    return (edits[0].new if edits[0] else None), rejected


@pytest.mark.parametrize(
    ("contrast", "constraint"),
    [
        ("a man is guitar", "has_verb"),
        ("a man is walked", "lemma"),
        ("a man is flying", "frequency"),
        ("a man is sings", "inflection"),
    ],
)
def test_each_constraint_rejects_what_it_is_for_and_counts_it(counts, contrast, constraint):
    assert _check("a man is walking", [contrast], counts, RULES) == (None, {constraint: 1})
    # What is no verb has no count and no form either, and the same verb in another form does not agree.
    also = {"has_verb": {"frequency", "inflection"}, "lemma": {"inflection"}}.get(constraint, set())
    others = [name for name in RULES if name not in {constraint} | also]
    assert _check("a man is walking", [contrast], counts, others)[0] == contrast.split()[-1]


def test_another_verb_of_the_same_caption_is_no_contrast(counts):
    assert _check("the dog is running", ["the dog is singing"], counts, RULES)[0] == "singing"
    pipeline = verb.VerbPipeline("lexical", RULES, counts=counts, tagger="hanta")
    lists, _ = pipeline.run_many(["a man is singing and dancing"] * 20, [str(n) for n in range(20)], n=50)
    assert all(edit.new not in ("singing", "dancing") for edits in lists for edit in edits)


def test_a_verb_that_a_sibling_caption_uses_is_rejected(counts):
    constraints = [*RULES, "siblings"]
    for sibling in ("she sings a song", "a woman was singing", "a singing woman"):
        found = _check(
            "a woman is walking", ["a woman is singing"], counts, constraints, [[sibling, "a woman is walking"]]
        )
        assert found == (None, {"siblings": 1})
    assert (
        _check("a woman is walking", ["a woman is singing"], counts, constraints, [["a woman walks"]])[0] == "singing"
    )


class _Synset:
    def __init__(self, *names):
        self.names = names

    def lemma_names(self):
        return list(self.names)


def test_synonyms_of_first_senses_count_as_used_by_a_sibling_on_request(counts, monkeypatch):
    import nltk.corpus

    from video_contrast.perturbations.contrast.verb import rules

    class WordNet:
        @staticmethod
        def synsets(name, pos):
            assert pos == "v"
            return [_Synset("jump", "vault"), _Synset("jump", "hurdle_over")] if name == "jump" else []

    monkeypatch.setattr(nltk.corpus, "wordnet", WordNet)
    rules._synonyms.cache_clear()
    constraints = [*RULES, "siblings"]
    for sibling, senses, accepted in [
        ("a woman vaults", 0, True),
        ("a woman vaults", 1, False),
        ("they hurdle", 1, True),
    ]:
        arguments = ("a woman is walking", ["a woman is jumping"], counts, constraints, [[sibling]])
        assert (_check(*arguments, sibling_senses=senses)[0] == "jumping") is accepted
    rules._synonyms.cache_clear()


def test_absent_wordnet_is_an_error_that_names_the_command(counts, monkeypatch):
    import nltk.corpus

    from video_contrast.perturbations.contrast.verb import rules

    class Absent:
        @staticmethod
        def synsets(name, pos):
            raise LookupError("Resource wordnet not found")

    monkeypatch.setattr(nltk.corpus, "wordnet", Absent)
    rules._synonyms.cache_clear()
    with pytest.raises(VideoContrastError, match=r"python -m nltk\.downloader wordnet"):
        verb.VerbPipeline("lexical", counts=counts, settings=verb.Settings(sibling_senses=2))
    rules._synonyms.cache_clear()


def test_default_sets_and_the_record_of_what_was_not_applied(counts):
    assert verb.constraint_names("lexical", None) == ["has_verb", "lemma", "frequency", "siblings", "inflection"]
    for name in ("t5", "mlm", "llm"):
        assert verb.constraint_names(name, None) == [
            "has_verb", "lemma", "frequency", "siblings", "inflection", "perplexity", "word_vectors", "sentence",
        ]  # fmt: skip
    record = verb.VerbPipeline("lexical", counts=counts, tagger="hanta").record()
    assert record["not_applied"] == ["perplexity", "word_vectors", "sentence", "nli"]
    assert record["constraints"]["frequency"] == {"more_than": 2.0, "training_captions": len(TRAIN)}
    assert record["tagger"].startswith("hanta-")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"constraints": ["frequncy"]}, "did you mean 'frequency'"),
        ({"generator": "t6"}, "unknown verb generator 't6'"),
        ({"counts": None}, "needs training captions"),
        ({"constraints": None}, "constraint 'siblings' needs the other captions"),
        ({"word_cosin": 0.3}, "did you mean 'word_cosine'"),
        ({"generator_options": {"k": 0}}, "k must be at least 1"),
        ({"generator_options": {"beams": 2}}, "does not take these options"),
        ({"ids": ["a"]}, "same length"),
    ],
)
def test_wrong_calls_say_what_is_wrong(counts, arguments, message):
    with pytest.raises(UsageError, match=message):
        _run(**({"counts": counts} | arguments))


def test_a_corpus_too_small_for_the_limit_rejects_everything_and_counts_it():
    edits, reasons = verb.contrasts(
        CAPTIONS, IDS, train_captions=["a man sings", "a dog runs"], constraints=RULES, tagger="hanta"
    )
    assert edits == [None] * 4 and reasons["candidates:rejected:frequency"] > 0
    assert reasons["all_rejected"] + reasons["no_proposal"] == 4


def test_articles_and_case_fit_what_follows():
    tokens = _tokens("A smiling girl")
    original = Original("A smiling girl", tokens, Phrase(2, 9, "smile", "VBG", (), 1), verb_lemmas(tokens))
    made = fill(original, "annoying")
    assert made.text == "An annoying girl" and made.text[made.start : made.start + len(made.new)] == "An annoying"
    assert fill(original, "using").text == "A using girl"


# Objects


def test_object_contrasts_swap_one_thing_and_no_person():
    train = [
        f"{who} {does} {thing}"
        for who in ("a man", "a woman")
        for does in ("cuts", "washes", "eats")
        for thing in ("an onion", "a carrot", "an apple", "two carrots", "some onions", "the table tennis bat")
    ]
    captions = ["a boy cuts a tomato", "a girl washes an egg", "a man eats two eggs", "a man and a woman"] * 5
    ids = [str(n) for n in range(20)]
    edits, reasons = objects.contrasts(captions, ids, siblings=[[]] * 20, train_captions=train, tagger="hanta")
    assert reasons["no_object"] == 5 and reasons["edited"] == 15
    for caption, edit in zip(captions, edits, strict=True):
        if edit is None:
            continue
        assert edit.text.split()[:3] == caption.split()[:3] or edit.old.startswith(("a ", "an "))
        assert not {"tomato", "egg", "eggs"} & set(edit.text.split())
        assert ("an onion" in edit.text) == ("onion" in edit.text.split())  # the article fits
        assert edit.text[edit.start : edit.start + len(edit.new)] == edit.new
    again, _ = objects.contrasts(captions[:4], ids[:4], siblings=[[]] * 4, train_captions=train, tagger="hanta")
    assert again == edits[:4]


def test_an_object_that_a_sibling_names_is_rejected():
    train = ["a man cuts an onion", "a man cuts a carrot"] * 5
    counted = objects.count(train, tagger="hanta")
    arguments = {"counts": counted, "tagger": "hanta"}
    edits, _ = objects.contrasts(
        ["a man cuts a potato"] * 20, [str(n) for n in range(20)], siblings=[["carrots"]] * 20, **arguments
    )
    assert {edit.text for edit in edits if edit} == {"a man cuts an onion"}
    with pytest.raises(UsageError, match="objects have the generators lexical, mlm"):
        objects.contrasts(["a man cuts a potato"], ["1"], generator="t5", **arguments)


# The real captions


def test_real_captions_give_contrasts_by_the_rules_for_most_videos(shared_data):
    import json

    folder = shared_data / "msrvtt"
    train = json.loads((folder / "train_val_videodatainfo.json").read_text(encoding="utf-8"))["sentences"]
    test = json.loads((folder / "test_videodatainfo.json").read_text(encoding="utf-8"))["sentences"][:2000]
    groups: dict[str, list[str]] = {}
    for sentence in test:
        groups.setdefault(sentence["video_id"], []).append(sentence["caption"])
    groups = {video: texts for video, texts in groups.items() if len(texts) == 20}
    captions = [texts[0] for texts in groups.values()]
    edits, reasons = verb.contrasts(
        captions, list(groups), siblings=list(groups.values()), tagger="hanta",
        train_captions=[sentence["caption"] for sentence in train[:4000]],
    )  # fmt: skip
    assert reasons["edited"] > 0.95 * (len(captions) - reasons["no_verb"])
    made = [(edit, texts) for edit, texts in zip(edits, groups.values(), strict=True) if edit]
    for edit, texts in made:
        assert edit.text not in texts
        own = {token.lemma for text in texts for token in _tokens(text) if token.tag.startswith("VB")}
        new = [t for t in _tokens(edit.text) if edit.start <= t.start < edit.start + len(edit.new)]
        assert new[0].lemma not in own
