"""Contrasts of the shapes world: captions that differ from the true one in one respect and are false of the clip.

Genders and names are swapped by the product's own perturbations; the other contrasts are edits of what the caption
claims. Whatever made it, a contrast is used only if the truth checker finds it false.
"""

from collections.abc import Sequence
from dataclasses import replace
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


def gender(scene: Scene, claimed: Claim, rng: Generator, phrase: int = 0) -> list[Edit]:
    """One gendered noun swapped by the product's gender perturbation.

    Words that no true caption uses ("guy") are drawn again: they would give the contrast away.
    """
    from video_contrast.perturbations.contrast import gender as perturbation

    for _ in range(_TRIES):
        edit = perturbation.swap(write(claimed, phrase=phrase), rng)
        if edit is None or edit.new in PEOPLE:
            return [edit] if edit else []
    return []


def person_id(scene: Scene, claimed: Claim, rng: Generator, phrase: int = 0) -> list[Edit]:
    """The name swapped for another of the cast with the same gender, by the product's character-id perturbation."""
    from video_contrast.perturbations.contrast import person_id as perturbation

    edit = perturbation.swap(write(claimed, names=True, phrase=phrase), CAST, rng)
    return [edit] if edit else []


def antonym(claimed: Claim, phrase: int = 0) -> Edit:
    """The action (one of `REVERSE`) swapped for what the clip would show if it were played backwards."""
    return _edit(claimed, replace(claimed, action=REVERSE[claimed.action]), phrase, antonym=True)


def verb(scene: Scene, claimed: Claim, rng: Generator, phrase: int = 0) -> list[Edit]:
    """The action swapped for another that takes the same objects."""
    actions = TRANSITIVE if claimed.action in TRANSITIVE else INTRANSITIVE
    return _first_false(scene, claimed, [replace(claimed, action=a) for a in _shuffled(rng, actions)], phrase)


def entity(scene: Scene, claimed: Claim, rng: Generator, phrase: int = 0) -> list[Edit]:
    """Who acts swapped for another kind of figure of the same colour: a shape for a shape, a person for a person."""
    kinds = PEOPLE if claimed.subject.kind in PEOPLE else SHAPES
    others = [Figure(kind, claimed.subject.colour) for kind in _shuffled(rng, kinds)]
    return _first_false(scene, claimed, [replace(claimed, subject=figure) for figure in others], phrase)


def object(scene: Scene, claimed: Claim, rng: Generator, phrase: int = 0) -> list[Edit]:
    """The object or landmark swapped for another: a thing for a thing, a coloured shape for one of another colour."""
    if claimed.other is None:
        return []
    if claimed.other.colour is None:
        others = [Figure(kind) for kind in _shuffled(rng, THINGS)]
    else:
        others = [Figure(claimed.other.kind, colour) for colour in _shuffled(rng, COLOURS)]
    return _first_false(scene, claimed, [replace(claimed, other=figure) for figure in others], phrase)


def role(scene: Scene, claimed: Claim, rng: Generator, phrase: int = 0) -> list[Edit]:
    """Who acts and who is acted upon, swapped (only where both could do either)."""
    if claimed.other is None or claimed.other.colour is None or claimed.action not in TRANSITIVE:
        return []
    return _first_false(scene, claimed, [replace(claimed, subject=claimed.other, other=claimed.subject)], phrase)


def counterfactuals(scene: Scene, claimed: Claim, rng: Generator, phrase: int = 0) -> list[Edit]:
    """Five other actions of the same figures, such that the six candidates are three pairs of antonyms.

    In pairs, since a candidate whose antonym is present would otherwise be the likelier one: then text alone would
    tell. None for an action without an antonym, or one with objects (there are too few of those).
    """
    if claimed.action in TRANSITIVE or claimed.action not in REVERSE:
        return []
    actions = [REVERSE[claimed.action]]
    pairs = [pair for pair in ANTONYMS if pair[0] not in TRANSITIVE and claimed.action not in pair]
    for number in rng.permutation(len(pairs)):
        pair = pairs[int(number)]
        captions = [write(replace(claimed, action=action), phrase=phrase) for action in pair]
        if len(actions) < 5 and all(verdict(scene, caption) == "false" for caption in captions):
            actions += pair
    if len(actions) < 5:
        return []
    return [_edit(claimed, replace(claimed, action=a), phrase, antonym=a == REVERSE[claimed.action]) for a in actions]


def negatives(
    scene: Scene, claimed: Claim, rng: Generator, phrase: int = 0, names: bool = False
) -> dict[str, list[str]]:
    """Returns every false caption one edit away from a true one; training draws from them.

    Args:
        scene: what the clip shows.
        claimed: what the true caption claims.
        rng: of the order.
        phrase: 0 for the usual phrase of the action, 1 for the paraphrase.
        names: call people by their names.

    Returns:
        Kind of edit (antonym, verb, entity, colour, object, role) -> captions in seeded order.
    """
    actions = TRANSITIVE if claimed.action in TRANSITIVE else INTRANSITIVE
    people = claimed.subject.kind in PEOPLE
    kinds, colour = (PEOPLE if people else SHAPES), claimed.subject.colour
    edits: dict[str, list[Claim]] = {
        "antonym": [replace(claimed, action=REVERSE[claimed.action])] if claimed.action in REVERSE else [],
        "verb": [replace(claimed, action=a) for a in _shuffled(rng, actions) if a != REVERSE.get(claimed.action)],
        "entity": [replace(claimed, subject=Figure(kind, colour)) for kind in _shuffled(rng, kinds)],
        "colour": [replace(claimed, subject=Figure(claimed.subject.kind, c)) for c in _shuffled(rng, COLOURS)],
    }
    if claimed.other and claimed.other.colour is None:
        edits["object"] = [replace(claimed, other=Figure(kind)) for kind in _shuffled(rng, THINGS)]
    elif claimed.other:
        edits["object"] = [replace(claimed, other=Figure(claimed.other.kind, c)) for c in _shuffled(rng, COLOURS)]
        if claimed.action in TRANSITIVE:
            edits["role"] = [replace(claimed, subject=claimed.other, other=claimed.subject)]
    texts = {kind: [write(c, names=names, phrase=phrase) for c in claims] for kind, claims in edits.items()}
    return {kind: [text for text in of_kind if verdict(scene, text) == "false"] for kind, of_kind in texts.items()}


def _first_false(scene: Scene, claimed: Claim, claims: Sequence[Claim], phrase: int) -> list[Edit]:
    """The edit to the first of the claims that is false of the scene."""
    edits = (_edit(claimed, other, phrase) for other in claims)
    return [*islice((edit for edit in edits if verdict(scene, edit.text) == "false"), 1)]


def _edit(claimed: Claim, other: Claim, phrase: int, *, antonym: bool = False) -> Edit:
    """The edit that turns one claim's caption into the other's: the whole words between what they share."""
    edit = difference(write(claimed, phrase=phrase), write(other, phrase=phrase), "shapes-grammar")
    return replace(edit, antonym=antonym)


def _shuffled(rng: Generator, words: Sequence[str]) -> list[str]:
    return [words[int(n)] for n in rng.permutation(len(words))]
