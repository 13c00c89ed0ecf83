"""Contrasts of the shapes world: captions that differ from the true one in one respect and are false of the clip.

Genders and names are swapped by the product's own perturbations; the other contrasts are edits of what the caption
claims. Whatever made it, a contrast is used only if the truth checker finds it false.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from numpy.random import Generator

from video_contrast.builders.assembly.difference import difference
from video_contrast.builders.shapes.captions import Claim, write
from video_contrast.builders.shapes.truth import verdict
from video_contrast.builders.shapes.world import (
    ANTONYMS,
    CAST,
    COLOURS,
    INTRANSITIVE,
    PEOPLE,
    REVERSE,
    SHAPES,
    THINGS,
    TRANSITIVE,
    Figure,
    Scene,
)
from video_contrast.perturbations.contrast import Edit

_TRIES = 8


@dataclass(frozen=True, slots=True)
class TrueCaption:
    """A true caption, of which contrasts are made."""

    scene: Scene  # what the clip shows
    claimed: Claim  # what the caption claims
    phrase: int = 0  # 0 for the usual phrase of the action, 1 for the paraphrase

    def edit(self, other: Claim, *, antonym: bool = False) -> Edit:
        """The edit that turns the caption into that of another claim: the whole words between what they share."""
        texts = write(self.claimed, phrase=self.phrase), write(other, phrase=self.phrase)
        return replace(difference(*texts, generator="shapes-grammar"), antonym=antonym)

    def first_false(self, claims: Iterable[Claim]) -> list[Edit]:
        """The edit to the first of the claims that is false of the scene; an empty list where all may be true."""
        edits = map(self.edit, claims)
        return [*islice((edit for edit in edits if verdict(self.scene, edit.text) == "false"), 1)]


def gender(true: TrueCaption, rng: Generator) -> list[Edit]:
    """One gendered noun swapped by the product's gender perturbation.

    Words that no true caption uses ("guy") are drawn again: they would give the contrast away.
    """
    from video_contrast.perturbations.contrast import gender as perturbation

    for _ in range(_TRIES):
        edit = perturbation.swap(write(true.claimed, phrase=true.phrase), rng)
        if edit is None or edit.new in PEOPLE:
            return [edit] if edit else []
    return []


def person_id(true: TrueCaption, rng: Generator) -> list[Edit]:
    """The name swapped for another of the cast with the same gender, by the product's character-id perturbation."""
    from video_contrast.perturbations.contrast import person_id as perturbation

    edit = perturbation.swap(write(true.claimed, names=True, phrase=true.phrase), CAST, rng)
    return [edit] if edit else []


def antonym(true: TrueCaption) -> Edit:
    """The action (one of `REVERSE`) swapped for what the clip would show if it were played backwards."""
    return true.edit(replace(true.claimed, action=REVERSE[true.claimed.action]), antonym=True)


def verb(true: TrueCaption, rng: Generator) -> list[Edit]:
    """The action swapped for another that takes the same objects."""
    return true.first_false(_other_actions(true.claimed, rng))


def entity(true: TrueCaption, rng: Generator) -> list[Edit]:
    """Who acts swapped for another kind of figure of the same colour: a shape for a shape, a person for a person."""
    return true.first_false(_other_subjects(true.claimed, rng))


def object(true: TrueCaption, rng: Generator) -> list[Edit]:
    """The object or landmark swapped for another: a thing for a thing, a coloured shape for one of another colour."""
    return true.first_false(_other_objects(true.claimed, rng))


def role(true: TrueCaption, rng: Generator) -> list[Edit]:
    """Who acts and who is acted upon, swapped; of two shapes only: a person acts on a shape, and never the reverse.

    Else text alone would tell: "a blue cross lifts a man" is true of no clip.
    """
    if true.claimed.subject.kind not in SHAPES:
        return []
    return true.first_false(_swapped_roles(true.claimed))


def counterfactuals(true: TrueCaption, rng: Generator) -> list[Edit]:
    """Five other actions of the same figures, such that the six candidates are three pairs of antonyms.

    In pairs, since a candidate whose antonym is present would otherwise be the likelier one: then text alone would
    tell. None for an action without an antonym, or one with objects (there are too few of those).
    """
    action = true.claimed.action
    if action in TRANSITIVE or action not in REVERSE:
        return []
    edits = [antonym(true)]
    pairs = [pair for pair in ANTONYMS if pair[0] not in TRANSITIVE and action not in pair]
    for number in rng.permutation(len(pairs)):
        pair = [true.edit(replace(true.claimed, action=other)) for other in pairs[int(number)]]
        if len(edits) < 5 and all(verdict(true.scene, edit.text) == "false" for edit in pair):
            edits += pair
    return edits if len(edits) == 5 else []


def negatives(
    scene: Scene, claimed: Claim, rng: Generator, phrase: int = 0, names: bool = False
) -> dict[str, list[str]]:
    """Returns every false caption one edit away from a true one; training draws from them.

    Returns kind of edit (antonym, verb, entity, colour, object, role) -> captions in seeded order. `phrase`: 0 for the
    usual phrase of the action, 1 for the paraphrase.
    """
    reverse = REVERSE.get(claimed.action)
    edits = {
        "antonym": [replace(claimed, action=reverse)] if reverse else [],
        "verb": [other for other in _other_actions(claimed, rng) if other.action != reverse],
        "entity": _other_subjects(claimed, rng),
        "colour": [replace(claimed, subject=Figure(claimed.subject.kind, c)) for c in _shuffled(rng, COLOURS)],
    }
    if claimed.other:
        edits["object"] = _other_objects(claimed, rng)
    if roles := _swapped_roles(claimed):
        edits["role"] = roles
    texts = {kind: [write(c, names=names, phrase=phrase) for c in claims] for kind, claims in edits.items()}
    return {kind: [text for text in of_kind if verdict(scene, text) == "false"] for kind, of_kind in texts.items()}


def _other_actions(claimed: Claim, rng: Generator) -> list[Claim]:
    actions = TRANSITIVE if claimed.action in TRANSITIVE else INTRANSITIVE
    return [replace(claimed, action=action) for action in _shuffled(rng, actions)]


def _other_subjects(claimed: Claim, rng: Generator) -> list[Claim]:
    kinds = PEOPLE if claimed.subject.kind in PEOPLE else SHAPES
    return [replace(claimed, subject=Figure(kind, claimed.subject.colour)) for kind in _shuffled(rng, kinds)]


def _swapped_roles(claimed: Claim) -> list[Claim]:
    if claimed.other is None or claimed.other.colour is None or claimed.action not in TRANSITIVE:
        return []
    return [replace(claimed, subject=claimed.other, other=claimed.subject)]


def _other_objects(claimed: Claim, rng: Generator) -> list[Claim]:
    """The claim with other objects: another thing, or the same shape in another colour."""
    other = claimed.other
    if other is None:
        return []
    if other.colour is None:
        return [replace(claimed, other=Figure(kind)) for kind in _shuffled(rng, THINGS)]
    return [replace(claimed, other=Figure(other.kind, colour)) for colour in _shuffled(rng, COLOURS)]


def _shuffled(rng: Generator, words: Sequence[str]) -> list[str]:
    return [words[int(n)] for n in rng.permutation(len(words))]
