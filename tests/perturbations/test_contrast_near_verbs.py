"""Which verbs are replaced and proposed: no near ones, no vague ones, and those that go with the caption's nouns."""

import numpy as np
import pytest

from video_contrast.perturbations.contrast import verb
from video_contrast.perturbations.contrast.near_verbs import near, vague
from video_contrast.perturbations.contrast.phrases import phrases
from video_contrast.perturbations.language import Token, tag


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
    assert {phrase.lemma for phrase in phrases(tag([caption], tagger="hanta")[0])} == found


def test_the_verb_that_can_be_false_is_the_one_replaced() -> None:
    train = [f"a {who} is {doing}" for who in ("man", "girl") for doing in ("cooking", "dancing", "walking")] * 4
    captions = ["a man is showing how a girl is dancing"] * 8
    edits, _ = verb.contrasts(
        captions, [str(n) for n in range(8)], siblings=[[]] * 8, train_captions=train, tagger="hanta"
    )
    assert {edit.old for edit in edits if edit} == {"dancing"}


def test_vague_verbs_are_never_proposed() -> None:
    assert {"use", "want", "look"} <= vague() and not vague() & {"sing", "walk", "cut"}
    train = [f"a man is {doing} a guitar" for doing in ("using", "wanting", "breaking") for _ in range(6)]
    pipeline = verb.Pipeline("lexical", ["has_verb"], counts=verb.count(train, tagger="hanta"), tagger="hanta")
    lists, _ = pipeline.run_many(["a man is playing a guitar"], ["1"], n=9)
    assert [edit.new for edit in lists[0]] == ["breaking"]


def test_a_verb_near_to_one_of_a_sibling_caption_is_rejected() -> None:
    train = [f"a man is {doing}" for doing in ("singing", "jogging") for _ in range(6)]
    options = {"siblings": [["a man runs"]], "train_captions": train, "tagger": "hanta", "generator_options": {"k": 9}}
    edits, counts = verb.contrasts(["a man is outside and laughing"], ["1"], **options)
    assert edits[0] and edits[0].new == "singing"
    assert counts["candidates:rejected:siblings"] == 1


def test_verbs_keep_the_company_of_the_captions_nouns() -> None:
    things = {"guitar": ("playing", "tuning"), "cake": ("eating", "baking"), "car": ("driving", "washing")}
    train = [f"a man is {doing} a {thing}" for thing, all_ in things.items() for doing in all_ for _ in range(40)]
    captions = [f"a man is holding a {thing}" for thing in things for _ in range(40)]
    edits, _ = verb.contrasts(
        captions, [str(n) for n in range(120)], siblings=[[]] * 120, train_captions=train, tagger="hanta"
    )
    fitting = [edit.new in things[caption.split()[-1]] for caption, edit in zip(captions, edits, strict=True) if edit]
    assert len(fitting) == 120 and np.mean(fitting) > 0.8
