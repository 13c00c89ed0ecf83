"""Object contrasts by models: one thing swapped, no person, nothing that another caption names."""

import pytest

from video_contrast.errors import UsageError
from video_contrast.perturbations.contrast import object as objects
from video_contrast.perturbations.contrast.candidate import fill
from video_contrast.perturbations.english.forms import inflect_name


class Listed:
    """A generator that proposes things of a list, in the number of what they replace."""

    name, draw = "listed", "uniform"

    def __init__(self, *names: str) -> None:
        self.names = names

    def propose(self, originals, randoms):
        return [[fill(one, inflect_name(name, one.phrase.tag)) for name in self.names] for one in originals]


def contrasts(captions, *names, siblings=()):
    ids = [str(n) for n in range(len(captions))]
    siblings = [list(siblings)] * len(captions)
    constraints = ["has_noun", "lemma", "siblings"]
    return objects.contrasts(captions, ids, siblings=siblings, generator=Listed(*names), constraints=constraints)


def test_object_contrasts_swap_one_thing_and_no_person() -> None:
    captions = ["a boy cuts a tomato", "a girl washes an egg", "a man eats two eggs", "a man and a woman"]
    edits, reasons = contrasts(captions, "onion", "carrot")
    assert reasons["no_object"] == 1 and reasons["edited"] == 3 and edits[3] is None
    for caption, edit in zip(captions[:3], edits[:3], strict=True):
        assert edit.text.split()[:2] == caption.split()[:2]
        assert not {"tomato", "egg", "eggs"} & set(edit.text.split())
        assert ("an onion" in edit.text) == ("onion" in edit.text.split())  # the article fits
        assert edit.text[edit.start : edit.start + len(edit.new)] == edit.new


def test_an_object_that_a_sibling_names_is_rejected() -> None:
    edits, _ = contrasts(["a man cuts a potato"] * 9, "onion", "carrot", siblings=["carrots"])
    assert {edit.text for edit in edits} == {"a man cuts an onion"}
    with pytest.raises(UsageError, match="objects have the generators mlm"):
        objects.contrasts(["a man cuts a potato"], ["1"], generator="t5")
