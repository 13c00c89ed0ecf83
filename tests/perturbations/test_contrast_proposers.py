"""What a model or a person proposes takes the way of the lexicon's proposals: the same rules, the same judge."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from video_contrast.errors import UsageError
from video_contrast.perturbations.contrast.edit import difference
from video_contrast.perturbations.contrast.generate import IMPROBABLE, choose, judged, load_counts, propose
from video_contrast.perturbations.contrast.generators import check_generator_options, make_generator
from video_contrast.perturbations.contrast.proposal import OTHER_FORM
from video_contrast.perturbations.english.forms import verb_tags


class Says:
    """A generator that proposes the same words for every span, and remembers what it was asked."""

    name = "says"

    def __init__(self, *words: str) -> None:
        self.words, self.asked = list(words), []

    def propose(self, spans):
        self.asked += spans
        return [self.words for _ in spans]


def proposed_by(caption, *words, kind="verb", others=(), quality=0.0):
    generator = Says(*words)
    return propose([("a", [caption], others)], load_counts(), target=kind, quality=quality, generator=generator)


def reasons_of(proposed):
    return {edit.text: edit.reason for edit in proposed.rejected}


@pytest.mark.parametrize("caption", ["a woman is opening a door", "a boy is lifting a box", "two dogs run in a park"])
def test_a_models_edit_is_judged_as_the_lexicons_edit_of_the_same_words(caption) -> None:
    by_lexicon = propose([("a", [caption])], load_counts(), quality=0.0).proposals["a"]
    words = dict.fromkeys(item.new for item in by_lexicon if caption.startswith(item.old, item.start))
    by_model = {item.text: item for item in proposed_by(caption, *words).proposals["a"]}
    judged = [item for item in by_lexicon if item.text in by_model]
    assert judged and {item.generator for item in judged} == {"lexicon"}
    for item in judged:
        same = by_model[item.text]
        assert (same.features, same.probability, same.antonym) == (item.features, item.probability, item.antonym)
        assert same.generator == same.edit().generator == "says"


@pytest.mark.parametrize(
    ("caption", "words", "reason"),
    [
        ("a man is walking on a stage", "guitar", OTHER_FORM),
        ("a man is walking on a stage", "sang", OTHER_FORM),
        ("a man is walking on a stage", "walking", "same verb"),
        ("a woman is chopping an onion", "slicing", "near to what it replaces"),
        ("a man is walking on a stage", "pillaging", "unit not known"),
        ("a man is walking on a stage", "singing", "another caption says it"),
        ("a man is walking on a stage", "thinking", "cannot be seen"),
        ("a boy is kicking a ball", "sleeping", "does not take this object"),
        ("a girl is dancing", "holding", "needs an object"),
    ],
)
def test_what_a_model_proposes_is_rejected_by_the_rules_and_kept_with_the_reason(caption, words, reason) -> None:
    proposed = proposed_by(caption, words, others=["somebody sings"])
    ((text, said),) = reasons_of(proposed).items()
    assert (said, text.split()[3]) == (reason, words) and "a" not in proposed.proposals
    assert reason in proposed.missing["a"] and proposed.reasons[reason] == 1


def test_things_take_the_same_way() -> None:
    proposed = proposed_by("a man cuts a tomato", "apple", "tomatoes", "run", "man", "potato", kind="object")
    assert {item.text for item in proposed.proposals["a"]} == {"a man cuts an apple", "a man cuts a potato"}
    assert reasons_of(proposed)["a man cuts a tomatoes"] == OTHER_FORM and len(proposed.rejected) == 3


def test_a_compound_and_its_head_may_name_the_same() -> None:
    proposed = proposed_by("a teacher is writing on a whiteboard", "board", "paper", kind="object", quality=0.0)
    assert reasons_of(proposed) == {"a teacher is writing on a board": "may name the same"}
    proposed = proposed_by("a man shows a race car", "car engine", "truck", kind="object", quality=0.0)
    assert reasons_of(proposed) == {"a man shows a car engine": "may name the same"}


def test_what_is_not_probable_enough_is_kept_with_its_probability() -> None:
    proposed = proposed_by("a man is singing", "dancing", "swimming", quality=0.99)
    assert not proposed.proposals and {edit.reason for edit in proposed.rejected} == {IMPROBABLE}
    assert all(0 < edit.probability < 0.99 for edit in proposed.rejected)


def test_every_verb_that_can_be_replaced_is_asked_for_once() -> None:
    generator = Says("jumping")
    captions = ["a man sits in a car and sings", "a man has a hat"]
    propose([("a", captions), ("b", captions)], load_counts(), generator=generator)
    assert [span.masked("_") for span in generator.asked] == ["a man _ a car and sings", "a man sits in a car and _"]
    assert [span.caption[span.head_start : span.head_end] for span in generator.asked] == ["sits", "sings"]


def test_a_preposition_stays_with_a_verb_that_can_stand_alone() -> None:
    proposed = proposed_by("a man is sitting in a car", "sleeping in", "pushing", "standing in")
    others = {item.new: (item.other, item.features.get("keeps a place", 0.0)) for item in proposed.proposals["a"]}
    assert others["sleeping in"] == ("sleep in", 1.0) and others["pushing"] == ("push", 0.0)


CAPTIONS = ("a woman opens a door", "two boys are sitting on a wall", "the dog runs", "A MAN IS SLICING AN ONION")


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.one_of(st.text(max_size=20), st.sampled_from(["running", "runs", "closes", "jump over"])), max_size=4)
)
def test_no_words_are_too_odd_for_the_rules(words) -> None:
    clips = [(str(n), [caption]) for n, caption in enumerate(CAPTIONS)]
    for kind in ("verb", "object"):
        proposed = propose(clips, load_counts(), target=kind, quality=0.0, generator=Says(*words))
        assert proposed.proposals.keys() | proposed.missing.keys() == {"0", "1", "2", "3"}
        for item in (item for listed in proposed.proposals.values() for item in listed):
            assert item.caption == item.text[: item.start] + item.old + item.text[item.start + len(item.new) :]
            assert kind == "object" or verb_tags(item.new.split()[0])
        assert choose(proposed).keys() <= proposed.proposals.keys()


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("mlm", {"beams": 2}, "option of the generator mlm 'beams'"),
        ("mlm", {"k": "many"}, "generator mlm: k takes a whole number, not 'many'"),
        ("mlm", {"k": 1.5}, "generator mlm: k takes a whole number, not 1.5"),
        ("t5", {"model": 3}, "generator t5: model takes text"),
        ("llm", {"worker": 3}, "did you mean 'workers'"),
    ],
)
def test_wrong_options_of_a_generator_are_said_before_a_model_is_loaded(name, options, message) -> None:
    with pytest.raises(UsageError, match=message):
        check_generator_options(name, options)


def test_a_chat_generator_needs_a_model() -> None:
    with pytest.raises(UsageError, match="needs a model"):
        make_generator("llm", {})


def test_negatives_of_people_are_kept_and_judged() -> None:
    pairs = [
        ("a man is singing on a stage", "a man is dancing on a stage", True),
        ("a man is cooking in a kitchen", "a man is swimming in a kitchen", False),
        ("a woman opens a door", "a woman closes a door", False),
        ("a man slices an onion", "a man slices a guitar", False),
        ("ein Mann singt", "ein Mann schwimmt", False),
        ("a man sings", "nobody", False),
    ]
    captions = [caption for caption, _, _ in pairs]
    scored, doubtful = judged(captions, [difference(caption, text, "human") for caption, text, _ in pairs])
    assert doubtful == [expected for _, _, expected in pairs]
    assert [edit.text for edit in scored] == [text for _, text, _ in pairs]
    assert scored[0].scores["falsity"] < 0.5 < scored[1].scores["falsity"] and not scored[5].scores
    assert all(edit.scores["probability"] <= edit.scores["falsity"] for edit in scored[:4])
