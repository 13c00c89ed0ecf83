"""Classes of faults that readings of changed captions showed: each is one kind of caption, with what it becomes."""

import re

import pytest

from video_contrast.perturbations.language import Token, lemma
from video_contrast.perturbations.text import perturb_captions
from video_contrast.perturbations.text.verb_places import verbs_in_place
from video_contrast.perturbations.text.words import UNFIT


@pytest.fixture(autouse=True)
def _the_tagger_that_needs_no_data(monkeypatch):
    monkeypatch.setenv("VIDEO_CONTRAST_TAGGER", "hanta")


def one(name, caption, **others):
    return perturb_captions([caption], name, ids=["a"], **others)[0]


@pytest.mark.parametrize(
    ("caption", "past", "negated"),
    [
        ("he s singing a song", "he was singing a song", "he s not singing a song"),
        ("they re playing football", "they were playing football", "they re not playing football"),
        ("i m cooking dinner", "i was cooking dinner", "i m not cooking dinner"),
        ("there s a man on stage", "there was a man on stage", "there s not a man on stage"),
        ("a man s dog is barking", "a man s dog was barking", "a man s dog is not barking"),
        ("a bird sits on it s cage", "a bird sat on it s cage", "a bird does not sit on it s cage"),
        ("you can t see me", "you couldn t see me", "you can see me"),
        ("they don t know him", "they didn t know him", "they know him"),
        ("he didn t know", "he doesn t know", "he knew"),
    ],
)
def test_contractions_that_lost_their_apostrophe(caption, past, negated):
    assert one("tense", caption) == past
    assert one("reverse_neg", caption) == negated


def test_no_adverb_stands_before_a_lone_letter():
    assert re.fullmatch(r"he s \w+ singing", one("insert_adv", "he s singing"))


@pytest.mark.parametrize(
    ("present", "past"),
    [
        ("a group of people stand together and smile here", "a group of people stood together and smiled here"),
        ("cook until the sauce thickens", "cooked until the sauce thickened"),
        ("he's got an umbrella", "he had got an umbrella"),
        ("a black haired woman is singing", "a black haired woman was singing"),
    ],
)
def test_a_caption_stays_in_one_tense(present, past):
    assert one("tense", present) == past


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a black haired woman sings", "a black haired woman does not sing"),
        ("a woman in a red and white striped shirt sings", "a woman in a red and white striped shirt does not sing"),
        ("a man wearing glasses explains a car", "a man wearing glasses does not explain a car"),
        (
            "a man sings and then the dog barks at how it looks",
            "a man does not sing and then the dog barks at how it looks",
        ),
        ("food being prepared in a pan", "food not being prepared in a pan"),
        ("A MAN IS RIDING A HORSE", "A MAN IS NOT RIDING A HORSE"),
        ("THE DOG DOESN'T BARK", "THE DOG BARKS"),
        ("Never touch the stove", "Touch the stove"),
        ("Don't touch the stove", "Touch the stove"),
        ("the girl has got a ball", "the girl has not got a ball"),
    ],
)
def test_negation_finds_the_verb_and_keeps_the_case(before, after):
    assert one("reverse_neg", before) == after


@pytest.mark.parametrize(
    ("name", "after"),
    [
        ("no_verbs", "[UNK] oil in a pan"),
        ("no_nouns", "heat [UNK] in a [UNK]"),
        ("only_verbs", "heat [UNK] [UNK] [UNK] [UNK]"),
        ("random_verb", "[UNK] oil in a pan"),
    ],
)
def test_an_order_is_a_verb_to_every_rule(name, after):
    assert one(name, "heat oil in a pan") == after


def test_an_order_becomes_no_noun():
    assert {one("prefix_swap", "season with salt", seed=seed) for seed in range(9)} == {"season with salt"}


def test_an_opening_that_needs_a_sentence_stands_alone_before_an_order():
    drawn = {one("append_irr", "add oil to the wok", seed=seed) for seed in range(80)}
    assert not any(re.search(r" (that|but) add", text) for text in drawn)
    assert any(" that a dog" in one("append_irr", "a dog runs", seed=seed) for seed in range(40))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("she turns and sees a dog", "they turn and see a dog"),
        ("he takes the ball and throws it", "they take the ball and throw it"),
        ("he is dressed in black and goes home", "they are dressed in black and go home"),
        ("he likes cats and dogs", "they like cats and dogs"),
        ("he walks in and a dog barks", "they walk in and a dog barks"),
        ("he says the man runs and hides", "they say the person runs and hides"),
    ],
)
def test_all_verbs_of_they_are_plural(before, after):
    assert one("gender_neutral", before) == after


@pytest.mark.parametrize(
    "caption", ["rinse the chick peas", "lady gaga is singing", "someone plays guitar hero", "add some ma po sauce"]
)
def test_names_of_things_and_of_people_keep_their_gendered_word(caption):
    assert one("gender_swap", caption) == one("gender_male", caption) == caption


def test_no_word_is_drawn_that_no_caption_should_hold(nltk_data, monkeypatch):
    import nltk.data

    monkeypatch.setattr(nltk.data, "path", [str(nltk_data)])
    captions = ["a man in a red shirt opens a big door"] * 400
    for name in ("multi_pos_swap_NN", "multi_pos_swap_JJ", "typos"):
        drawn = {word for text in perturb_captions(captions, name, ids=range(400)) for word in text.split()}
        assert not drawn & UNFIT, name


def test_a_verb_without_an_object_gets_no_synonym_that_needs_one(nltk_data, monkeypatch):
    import nltk.data

    monkeypatch.setattr(nltk.data, "path", [str(nltk_data)])
    drawn = {one("swap_syn_wordnet", "let it set for an hour", seed=seed) for seed in range(30)}
    assert not any(re.search(r"\b(put|place)\b", text) for text in drawn)
    assert one("swap_syn_wordnet", "set the pan aside") != "set the pan aside"


@pytest.mark.parametrize(
    ("before", "past", "negated"),
    [
        ("bill murray talks to a man", "bill murray talked to a man", "bill murray does not talk to a man"),
        ("a man s voice talks while music plays", "a man s voice talked while music played", None),
        ("in a pan add oil and stir", "in a pan added oil and stirred", "in a pan do not add oil and stir"),
        ("once it is hot strain the potatoes", "once it was hot strained the potatoes", None),
        ("rinse and scrub the mussels", "rinsed and scrubbed the mussels", "do not rinse and scrub the mussels"),
        ("a couple takes turns", "a couple took turns", "a couple does not take turns"),
        ("a man shows what he can do", "a man showed what he could do", "a man does not show what he can do"),
        ("a kid opens a trash can", "a kid opened a trash can", "a kid does not open a trash can"),
        ("she used to sing songs", "she used to sing songs", None),
        ("let's go home", "let's go home", "let's not go home"),
        ("please add oil", "please add oil", "please do not add oil"),
        ("neither man smiles", "neither man smiled", "each man smiles"),
        ("neither a dog nor a cat sleeps", "neither a dog nor a cat slept", "either a dog or a cat sleeps"),
    ],
)
def test_names_phrases_and_second_verbs(before, past, negated):
    assert one("tense", before) == past
    if negated:
        assert one("reverse_neg", before) == negated


def _tagged(text):
    pieces, at = [], 0
    for piece in text.split():
        word, _, part = piece.rpartition("/")
        pieces.append(Token(word, part, lemma(word, part), start=at, end=at + len(word)))
        at += len(word) + 1
    return pieces


@pytest.mark.parametrize(
    ("misread", "places"),
    [
        ("a/DT toy/NN in/IN the/DT children/NNS room/VBP", {5: "NN"}),
        ("a/DT man/NN has/VBZ a/DT dogs/NNS head/VBP", {5: "NN"}),
        ("a/DT woman/NN wears/VBZ sunglasses/NNS and/CC stands/NNS on/IN a/DT beach/NN", {5: "VBZ"}),
        ("a/DT woman/NN wears/VBZ hats/NNS and/CC trucks/NNS on/IN a/DT road/NN", {}),
        ("cook/VB it/PRP until/IN the/DT color/NN changes/NNS", {5: "VBZ"}),
        ("models/NNS take/VBP turns/VBZ", {2: "NNS"}),
        ("this/DT looks/VBZ good/JJ", {}),
    ],
)
def test_what_is_a_verb_goes_by_its_place(misread, places):
    tokens = _tagged(misread)
    assert {n: b.tag for n, (a, b) in enumerate(zip(tokens, verbs_in_place(tokens), strict=True)) if a != b} == places


@pytest.mark.parametrize("phrase", ["a serving bowl", "boiling water", "oil to pot", "a black haired man"])
def test_no_adverb_stands_inside_a_noun_phrase(phrase):
    assert phrase in one("insert_adv", f"add {phrase}")


def test_a_word_with_another_first_part_can_stand_in_its_place():
    assert {one("prefix_swap", "mix everything", seed=seed) for seed in range(20)} == {"mix something", "mix nothing"}
    assert not any("arson" in one("prefix_swap", "a person sits", seed=seed) for seed in range(20))
    assert not any("comply" in one("prefix_swap", "apply glue", seed=seed) for seed in range(20))
