"""Object contrasts: one thing swapped, no person, nothing that a sibling names."""

import pytest

from video_contrast.errors import UsageError
from video_contrast.perturbations.contrast import object as objects


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
