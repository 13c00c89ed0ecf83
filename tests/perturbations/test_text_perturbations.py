"""What holds for every text perturbation that needs no model, and what single rules promise."""

import json
import re
from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.perturbations.registry import TEXT
from video_contrast.perturbations.text import PROFILES, how_to_get, names, perturb_captions, shift
from video_contrast.perturbations.text.words import lines

FREE = [name for name in names() if not TEXT[name].batched]


CAPTIONS = [
    "A man is playing his guitar, and he sings to her.",
    "two girls don't run in the park",
    "basketball players wearing red shirts make a shot in the last seven seconds of the game",
    "run",
    "?!",
    "he  has   two  spaces",
    "un garçon mange une pomme 日本語 🎉",
]


def one(name, caption, **others):
    return perturb_captions([caption], name, ids=["a"], **others)[0]


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("name", FREE)
def test_a_caption_is_perturbed_the_same_in_any_company(name, profile):
    ids = [f"clip{n}" for n in range(len(CAPTIONS))]
    together = perturb_captions(CAPTIONS, name, ids=ids, seed=3, profile=profile)
    backwards = perturb_captions(CAPTIONS[::-1], name, ids=ids[::-1], seed=3, profile=profile)[::-1]
    alone = [
        perturb_captions([c], name, ids=[i], seed=3, profile=profile)[0] for c, i in zip(CAPTIONS, ids, strict=True)
    ]
    assert together == backwards == alone


@pytest.mark.parametrize("name", ["keyboard", "typos", "append_irr", "shuffle_order", "random_noun", "insert_adv"])
def test_seed_id_and_caption_index_each_change_the_draw(name):
    caption = "a young man and a small dog are walking along the wide river near an old stone bridge"
    drawn = {one(name, caption, seed=seed, caption_indices=[index]) for seed in range(3) for index in range(3)} | set(
        perturb_captions([caption] * 3, name, ids=["b", "c", "d"])
    )
    assert len(drawn) > 3
    assert perturb_captions([caption] * 2, name, ids=[7, "7"]) == [one_id(name, caption, "7")] * 2


def one_id(name, caption, identifier):
    return perturb_captions([caption], name, ids=[identifier])[0]


@settings(max_examples=25, deadline=None)
@given(st.lists(st.text(max_size=30), min_size=1, max_size=4))
def test_no_text_breaks_a_rule_and_none_adds_a_line(captions):
    flat = [" ".join(caption.split()) for caption in captions]
    for name in FREE:
        done = perturb_captions(flat, name, ids=range(len(flat)))
        assert len(done) == len(flat)
        for before, after in zip(flat, done, strict=True):
            assert isinstance(after, str)
            assert "\n" not in after
            assert before or after == ""


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from(["a", "man", "runs", "sits", "quickly", "red", "the", "don't", "stop!"]), min_size=1))
def test_dropping_keeps_the_number_of_words_and_only_writes_unk(words):
    caption = " ".join(words)
    for name in ("no_nouns", "no_verbs", "only_nouns", "random_noun", "random_verb", "drop_first", "drop_last"):
        after = one(name, caption).split()
        assert len(after) == len(words)
        assert all(new in (old, "[UNK]") for old, new in zip(words, after, strict=True))
    nouns, rest = one("only_nouns", caption).split(), one("no_nouns", caption).split()
    assert all((a == "[UNK]") != (b == "[UNK]") for a, b in zip(nouns, rest, strict=True))


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from(["man", "Woman", "cooking", "rice", "table", "isn't", "8", "x"]), min_size=1))
def test_character_rules_change_single_characters_of_few_words(words):
    caption = " ".join(words)
    for name, share in (("keyboard", 0.2), ("ocr", 0.2), ("typos", 0.3)):
        after = one(name, caption).split(" ")
        changed = [(old, new) for old, new in zip(words, after, strict=True) if old != new]
        assert len(changed) <= max(1, min(10, int(share * len(words))))
        for old, new in changed:
            if name == "typos":
                assert old[0] == new[0] and old[-1] == new[-1] and abs(len(old) - len(new)) <= 1
            else:
                assert len(old) == len(new) and sum(a != b for a, b in zip(old, new, strict=True)) == 1


def test_function_words_are_never_misspelled():
    caption = "he was in the and of their with to be has on it"
    assert {
        one(name, caption, seed=s) for name in ("keyboard", "ocr", "typos", "spelling_error") for s in range(9)
    } == {caption}


def test_keyboard_neighbours_are_single_other_keys_in_paper_and_as_in_the_table_in_released():
    from video_contrast.perturbations.text.characters import _neighbours

    assert " " in _neighbours("released")["u"] and " " not in _neighbours("paper")["u"]
    assert all(key not in near for key, near in _neighbours("paper").items())


def test_punctuation_wraps_in_one_of_six_pairs_with_a_mark():
    form = re.compile(r'(?:"%"|\{%\}|\[%\]|\(%\)|`%`|【%】)'.replace("%", r"a dog(?:\.\.\.|[.,;])"))
    drawn = {one("punctuation", "a dog.", seed=seed) for seed in range(200)}
    assert all(form.fullmatch(text) for text in drawn)
    assert len(drawn) == 24


def test_a_proverb_closes_captions_of_ten_words_or_more_only():
    nine, ten = "one two three four five six seven eight nine", "one two three four five six seven eight nine ten"
    assert one("append_irr", nine).endswith(nine)
    assert re.search(rf"{ten}\. [A-Z].*\.$", one("append_irr", ten))
    assert "a man runs" in one("append_irr", "A man runs")


def test_there_are_at_least_100_openings_and_50_proverbs_none_twice():
    for table, least in (("openings.txt", 100), ("proverbs.txt", 50)):
        rows = lines(table)
        assert len(rows) == len(set(rows)) >= least
    assert not set(lines("openings.txt")) & set(lines("proverbs.txt"))


def test_shuffled_words_are_the_same_words_in_another_order():
    for seed in range(20):
        after = one("shuffle_order", "big dog", seed=seed)
        assert after == "dog big"
    assert one("shuffle_order", "dog dog") == "dog dog"


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        (
            "gender_female",
            "A man and his son pay him; the prize is his.",
            "A woman and her son pay her; the prize is hers.",
        ),
        ("gender_male", "she takes her bag and looks at her", "he takes his bag and looks at him"),
        ("gender_male", "The WOMAN washes herself", "The MAN washes himself"),
        ("gender_neutral", "he slowly walks and she's singing", "they slowly walk and they're singing"),
        ("gender_neutral", "a female singer meets an actress", "a singer meets an actor"),
        ("gender_neutral", "he and she dance in his or her car", "they dance in their car"),
        ("gender_neutral", "the man is proud of his car", "the person is proud of their car"),
        ("gender_swap", "an uncle and his girlfriends", "an aunt and her boyfriends"),
        ("gender_swap", "a waitress serves a king", "a waiter serves a queen"),
        ("gender_swap", "his or her car", "her or his car"),
        ("gender_swap", "a nephew and an aunt", "a niece and an uncle"),
    ],
)
def test_bias_writes_correct_english(name, before, after):
    assert one(name, before) == after


def test_released_bias_repeats_the_slips():
    assert one("gender_female", "he washes his car", profile="released") == "she washes hers car"
    assert one("gender_male", "she washes her car", profile="released") == "he washes him car"
    assert one("gender_female", "a female sings", profile="released") == "a male sings"
    assert one("gender_female", "a man, a plan", profile="released") == "a man, a plan"


@pytest.mark.parametrize("word", ["woman", "batman", "manly", "human", "man-made", "mankind"])
def test_only_whole_words_are_gendered(word):
    assert one("gender_female", f"the {word} sign") == f"the {word} sign"


def test_paper_profile_inserts_adverbs_only_and_fits_the_article():
    drawn = {one("insert_adv", "a smiling man runs", seed=seed) for seed in range(60)}
    for text in drawn:
        assert not {"beverly", "norway", "eleven", "sphere"} & set(text.split())
        first = text.split()[1]
        assert text.split()[0] == ("an" if first[0] in "aeiou" and not first.startswith(("uni", "usu")) else "a")


def test_prefix_swap_gives_another_word_with_the_same_rest():
    drawn = {one("prefix_swap", "they play basketball", seed=seed) for seed in range(20)}
    assert len(drawn) > 3
    assert all(text.startswith("they play ") and text.endswith("ball") and "basket" not in text for text in drawn)
    assert one("prefix_swap", "a cat") == "a cat"


def test_shift_counts_unchanged_captions():
    assert shift(["a", "b", "c"], ["a", "x", "c"]) == {"captions": 3, "unchanged": 2, "unchanged_share": 2 / 3}
    assert shift([], [])["unchanged_share"] == 0
    with pytest.raises(ValueError, match="1 originals but 0"):
        shift(["a"], [])


def test_each_of_the_35_says_what_it_needs_and_one_command_that_gets_it():
    said = {name: how_to_get(TEXT[name]) for name in names()}
    assert {name for name, text in said.items() if text == "nothing"} == set(FREE)
    assert "hf download google-bert/bert-base-uncased" in said["mlm_suggestion"]
    assert "hf download facebook/wmt19-en-de && hf download facebook/wmt19-de-en" in said["back_trans"]
    named = "rules; a checkpoint can be named: pip install sentencepiece && hf download prithivida/active_to_passive_"
    assert said["active_to_passive"].startswith(named)


def test_tables_travel_with_their_licences():
    folder = files("video_contrast.perturbations.text") / "data"
    notice = (folder / "LICENSES.md").read_text()
    for entry in folder.iterdir():
        assert entry.name == "LICENSES.md" or f"`{entry.name}`" in notice, f"{entry.name} has no licence"
    assert json.loads((folder / "ocr_en.json").read_text())["2"] == ["z", "Z"]


def test_unknown_name_profile_and_lengths_are_usage_errors():
    with pytest.raises(UsageError, match="did you mean 'keyboard'"):
        one("keybord", "a man")
    with pytest.raises(UsageError, match="choose paper or released"):
        one("keyboard", "a man", profile="monotone")
    with pytest.raises(UsageError, match="2 captions, 1 ids"):
        perturb_captions(["a", "b"], "ocr", ids=["x"])
    with pytest.raises(UsageError, match="needs no model"):
        one("ocr", "a man", models={"ocr": "x"})
    with pytest.raises(VideoContrastError, match=r"caption 1 \(id y\) is NoneType, not text"):
        perturb_captions(["a", None], "ocr", ids=["x", "y"])


def test_wordnet_swaps_keep_the_form_in_paper_and_not_in_released():
    caption = "a small child sprints"
    drawn = {one("swap_syn_wordnet", caption, seed=seed) for seed in range(30)}
    assert caption not in drawn
    nouns = {one("multi_pos_swap_NN", "a dog", seed=seed) for seed in range(30)}
    assert len(nouns) > 20
    for text in nouns:
        article, noun = text.split()
        assert article in ("a", "an") and noun != "dog"
    adjectives = one("multi_pos_swap_JJ", "a big old red house").split()
    assert sum(a != b for a, b in zip(adjectives[1:], ["big", "old", "red", "house"], strict=True)) == 2


def test_a_caption_of_one_word_is_defined_for_every_rule():
    assert {name: one(name, "dancing") for name in ("drop_first", "drop_last", "drop_first_and_last")} == dict.fromkeys(
        ("drop_first", "drop_last", "drop_first_and_last"), "[UNK]"
    )
    assert one("shuffle_order", "dancing") == "dancing"
    assert one("reverse_neg", "dancing") == "dancing"
    assert all(one(name, "dancing") for name in FREE)
    assert all(one(name, caption) == caption for name in FREE for caption in ("", "   "))


UNTAGGED = [name for name in FREE if not TEXT[name].requirements]


@pytest.mark.parametrize("name", UNTAGGED)
def test_a_rules_output_is_the_stored_one_of_its_version(name):
    """A changed rule needs a new version, or sets built before and after it would share a name."""
    stored = json.loads((Path(__file__).parent / "golden_text.json").read_text(encoding="utf-8"))
    done = {
        profile: perturb_captions(stored["captions"], name, ids=stored["ids"], seed=stored["seed"], profile=profile)
        for profile in PROFILES
    }
    assert {"version": TEXT[name].version, **done} == stored["outputs"][name]


def test_paper_synonyms_are_of_the_sense_that_fits_and_released_ones_of_any():
    caption = "a car"
    paper = {one("swap_syn_wordnet", caption, seed=seed) for seed in range(60)}
    released = {one("swap_syn_wordnet", caption, seed=seed, profile="released") for seed in range(200)}
    assert paper == {"an auto", "an automobile", "a motorcar"}
    assert {"a auto", "a gondola", "a motorcar"} <= released


def test_misspellings_are_spelled_wrong_and_hold_no_markup_and_nothing_offensive():
    from video_contrast.perturbations.text.characters import _misspellings

    table = _misspellings("paper")
    wrong = {misspelling for others in table.values() for misspelling in others}
    assert len(table) > 8000 and all(re.fullmatch(r"[a-z]+(?:['’][a-z]+)?", word) for word in wrong)
    assert not wrong & {"shit", "cafetiere", "bad", "two", "to", "sex", "their"}
    assert "shirt" in table and "Shit" in _misspellings("released")["shirt"]
    assert {one("spelling_error", "shirt", seed=seed).islower() for seed in range(40)} == {True}
    assert one("spelling_error", "SHIRT").isupper()


def test_the_article_fits_the_word_with_another_first_part():
    for seed in range(60):
        after = one("prefix_swap", "a person and an import", seed=seed)
        assert not re.search(r"\ba [aeio]\w", after.replace("a one", "")) and not re.search(r"\ban [^aeiouh ]", after)


def test_synonyms_are_of_the_commonest_sense_and_of_single_words():
    drawn = {one("swap_syn_wordnet", "a man in a suit talks to a woman", seed=seed) for seed in range(200)}
    assert not any("courtship" in text or "wooing" in text for text in drawn)
    for caption, word in (
        ("a man on a hard chair", "difficult"),  # the chair is not difficult
        ("a news person talks", "individual"),
        ("three women chase a man", "dog"),
    ):
        assert not any(word in one("swap_syn_wordnet", caption, seed=seed).split() for seed in range(20)), caption
    mixed = {one("swap_syn_wordnet", "mix the eggs in a bowl", seed=seed) for seed in range(20)}
    assert mixed == {"blend the eggs in a bowl", "combine the eggs in a bowl"}, "an order is a verb"
