"""Which verbs are replaced and proposed: no near ones, no vague ones, and those that go with the caption's nouns."""

import numpy as np
import pytest
from contrast_verbs import RULES, Listed

from video_contrast.perturbations.contrast import verb
from video_contrast.perturbations.contrast.near_verbs import near
from video_contrast.perturbations.contrast.phrases import phrases
from video_contrast.perturbations.english import Word, parse_one


@pytest.mark.parametrize(
    ("true", "negative"),
    [("describe", "explain"), ("dance", "move"), ("explain", "show"), ("explore", "visit"), ("film", "record")],
)
def test_near_verbs_are_near_both_ways(true: str, negative: str) -> None:
    assert negative in near(true) and true in near(negative)


def test_a_near_verb_is_no_contrast() -> None:
    captions = ["a woman is describing a couch"] * 8
    edits, counts = verb.contrasts(
        captions,
        [str(n) for n in range(8)],
        siblings=[[]] * 8,
        generator=Listed("explain", "wash"),
        constraints=RULES,
    )
    assert {edit.new for edit in edits if edit} == {"washing"}
    assert counts["candidates:rejected:lemma"] > 0


def test_names_and_adjectives_tagged_as_verbs_are_no_phrases() -> None:
    words = [("stephen", "NNP"), ("colbert", "VBD"), ("interviewing", "VBG"), ("bright", "VBN")]
    starts = np.cumsum([0, *(len(word) + 1 for word, _ in words)])
    tokens = [
        Word(w, t, w, dep="dep", head=0, start=int(s), end=int(s) + len(w))
        for (w, t), s in zip(words, starts, strict=False)
    ]
    assert [phrase.lemma for phrase in phrases(tokens)] == ["interviewing"]


def test_contractions_without_their_apostrophe_are_no_phrases() -> None:
    words = [
        ("they", "PRP", "they"),
        ("re", "VBP", "re"),
        ("going", "VBG", "go"),
        ("don", "VBP", "don"),
        ("t", "VB", "t"),
    ]
    starts = np.cumsum([0, *(len(word) + 1 for word, _, _ in words)])
    tokens = [
        Word(w, t, base, dep="dep", head=0, start=int(s), end=int(s) + len(w))
        for (w, t, base), s in zip(words, starts, strict=False)
    ]
    assert [phrase.lemma for phrase in phrases(tokens)] == ["go"]


@pytest.mark.parametrize(
    ("caption", "found"),
    [
        ("a man sells a very expensive looking car", {"sell"}),  # what describes a thing is not done
        ("a woman mixes mashed potatoes", {"mix"}),
        ("a dish of fried rice", set()),
        ("a man enjoys riding horses", {"enjoy", "ride"}),
        ("a boy is trying to sing", {"sing"}),  # the second verb says what is done
        ("a girl keeps running", {"run"}),
        ("a girl keeps a dog", {"keep"}),
    ],
)
def test_descriptions_and_verbs_that_open_another_are_no_phrases(caption: str, found: set[str]) -> None:
    assert {phrase.lemma for phrase in phrases(parse_one(caption).words)} == found


def test_the_verb_that_can_be_false_is_the_one_replaced() -> None:
    captions = ["a man is showing how a girl is dancing"] * 8
    edits, _ = verb.contrasts(
        captions,
        [str(n) for n in range(8)],
        siblings=[[]] * 8,
        generator=Listed("cook"),
        constraints=RULES,
    )
    assert {edit.old for edit in edits if edit} == {"dancing"}


def test_a_verb_near_to_one_of_a_sibling_caption_is_rejected() -> None:
    options = {"siblings": [["a man jogs"]], "constraints": ["has_verb", "lemma", "siblings"]}
    options["generator"] = Listed("run", "sing")
    edits, counts = verb.contrasts(["a man is outside and laughing"], ["1"], **options)
    assert edits[0] and edits[0].new == "singing"
    assert counts["candidates:rejected:siblings"] == 1
