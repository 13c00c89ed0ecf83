"""One engine for gendered words: what `perturb` and the contrasts make of the same captions."""

import numpy as np
import pytest

from video_contrast.perturbations.contrast import gender
from video_contrast.perturbations.english import parse_one
from video_contrast.perturbations.english.forms import within
from video_contrast.perturbations.english.gender import pronoun
from video_contrast.perturbations.text import perturb_captions

HERS = [  # (with a man, with a woman): the same sentence, each the counterpart of the other
    ("a man is lying on his back", "a woman is lying on her back"),
    ("a man pushes him back", "a woman pushes her back"),
    ("a man shows his back yard", "a woman shows her back yard"),
    ("a man opens his can of soda", "a woman opens her can of soda"),
    ("a man walks with a friend of his to a car", "a woman walks with a friend of hers to a car"),
    ("a man takes his own car", "a woman takes her own car"),
    ("a man sees him running in a park", "a woman sees her running in a park"),
    ("a man likes his cooking", "a woman likes her cooking"),
    ("a man looks at him while he sings", "a woman looks at her while she sings"),
]
VERBS = ["a player misses a shot", "they miss the bus", "he hosts a tv show".replace("he ", "someone ")]


def one(name, caption, **others):
    return perturb_captions([caption], name, ids=["1"], **others)[0]


@pytest.mark.parametrize(("man", "woman"), HERS)
def test_his_and_her_go_by_their_role_in_every_engine(man, woman):
    assert one("gender_female", man) == woman == one("gender_swap", man)
    assert one("gender_male", woman) == man == one("gender_swap", woman)
    assert gender.swap(man, np.random.default_rng(0)).text == woman
    assert gender.swap(woman, np.random.default_rng(0)).text == man


def test_neutral_possessives():
    assert one("gender_neutral", "he is lying on his back") == "they are lying on their back"
    assert one("gender_neutral", "he pushes her back") == "they push them back"


@pytest.mark.parametrize("caption", VERBS)
def test_a_verb_is_no_person(caption):
    assert one("gender_swap", caption) == caption
    assert gender.contrasts([caption], ["1"], extended=True)[0] == [None]


def test_captions_of_other_languages_are_counted_and_left():
    captions = ["a girl plays", "il y a une girl qui joue dans le jardin", "zwei man spielen im garten fussball"]
    edits, counts = gender.contrasts(captions, ["1", "2", "3"])
    assert [bool(edit) for edit in edits] == [True, False, False] and counts == {"edited": 1, "not_english": 2}


def test_a_host_is_a_person_where_it_is_a_noun():
    assert one("gender_swap", "a host talks to two hosts") == "a hostess talks to two hostesses"


def test_titles_have_no_plural():
    assert one("gender_swap", "Mr Smith greets Miss Jones") == "Mrs Smith greets Mr Jones"


def test_released_keeps_the_slips():
    assert one("gender_female", "lying on his back", profile="released") == "lying on hers back"
    assert one("gender_male", "she washes her car", profile="released") == "he washes him car"
    assert one("gender_swap", "he misses a shot", profile="released") == "she mrs a shot"


@pytest.mark.parametrize(
    ("caption", "male"),
    [
        ("she takes her very cute dog", "his"),
        ("a man likes her very much", "him"),
        ("a girl washes her face", "his"),
        ("a man helps her friend", "his"),
        ("a man looks at her", "him"),
        ("she combs her colored hair", "his"),
    ],
)
def test_what_her_owns_is_told_by_the_parse(caption, male):
    sentence = parse_one(caption)
    place = next(n for n, word in enumerate(sentence.words) if word.text == "her")
    assert pronoun(sentence, place, "male") == male


@pytest.mark.parametrize(
    ("phrase", "tag", "inside"),
    [
        ("Young men", "NNP", "young men"),
        ("Young men", "JJ", "young men"),
        ("John", "NNP", "John"),
        ("Asian woman", "JJ", "Asian woman"),
        ("Taylor Swift", "NNP", "Taylor Swift"),
        ("A man", "DT", "a man"),
        ("I", "PRP", "I"),
    ],
)
def test_a_first_word_keeps_its_capital_inside_a_sentence_if_it_is_a_name(phrase, tag, inside):
    assert within(phrase, tag) == inside
