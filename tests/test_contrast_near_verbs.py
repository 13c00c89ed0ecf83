"""Verbs that say nearly the same are no contrasts, and what taggers mistake for verbs is not replaced."""

import numpy as np
import pytest

from video_contrast.perturbations.contrast import verb
from video_contrast.perturbations.contrast.verb.near import near
from video_contrast.perturbations.contrast.verb.phrases import phrases
from video_contrast.perturbations.language import Token


@pytest.mark.parametrize(
    ("true", "negative"),
    [("describe", "explain"), ("dance", "move"), ("explain", "show"), ("explore", "visit"), ("film", "record")],
)
def test_near_verbs_are_near_both_ways(true: str, negative: str) -> None:
    assert negative in near(true) and true in near(negative)


def test_a_near_verb_is_no_contrast() -> None:
    train = [f"{who} is {doing} a couch" for who in ("a man", "a girl") for doing in ("explaining", "washing")] * 4
    captions = ["a woman is describing a couch"] * 8
    edits, counts = verb.contrasts(
        captions, [str(n) for n in range(8)], siblings=[[]] * 8, train_captions=train, tagger="hanta"
    )
    assert {edit.new for edit in edits if edit} == {"washing"}
    assert counts["candidates:rejected:lemma"] > 0


def test_names_and_adjectives_tagged_as_verbs_are_no_phrases() -> None:
    words = [("stephen", "NNP"), ("colbert", "VBD"), ("interviewing", "VBG"), ("bright", "VBN")]
    starts = np.cumsum([0, *(len(word) + 1 for word, _ in words)])
    tokens = [Token(w, t, w, int(s), int(s) + len(w)) for (w, t), s in zip(words, starts, strict=False)]
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
    tokens = [Token(w, t, base, int(s), int(s) + len(w)) for (w, t, base), s in zip(words, starts, strict=False)]
    assert [phrase.lemma for phrase in phrases(tokens)] == ["go"]
