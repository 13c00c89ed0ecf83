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


def gender(scene: Scene, said: Claim, rng: Generator, phrase: int = 0) -> list[Edit]:
    """One gendered noun swapped by the product's gender perturbation.

    Words that no true caption uses ("guy") are drawn again: they would give the contrast away.
    """
    from video_contrast.perturbations.contrast import gender as perturbation

    for _ in range(_TRIES):
        edit = perturbation.swap(write(said, phrase=phrase), rng)
        if edit is None or edit.new in PEOPLE:
            return [edit] if edit else []
    return []


def person_id(scene: Scene, said: Claim, rng: Generator, phrase: int = 0) -> list[Edit]:
    """The name swapped for another of the cast with the same gender, by the product's character-id perturbation."""
    from video_contrast.perturbations.contrast import person_id as perturbation

    edit = perturbation.swap(write(said, names=True, phrase=phrase), CAST, rng)
    return [edit] if edit else []


def antonym(said: Claim, phrase: int = 0) -> Edit:
    """The action (one of `REVERSE`) swapped for what the clip would show if it were played backwards."""
    return _edit(said, replace(said, action=REVERSE[said.action]), phrase, antonym=True)


def verb(scene: Scene, said: Claim, rng: Generator, phrase: int = 0) -> list[Edit]:
    """The action swapped for another that takes the same objects."""
    actions = TRANSITIVE if said.action in TRANSITIVE else INTRANSITIVE
    return _first_false(scene, said, [replace(said, action=a) for a in _shuffled(rng, actions)], phrase)


def entity(scene: Scene, said: Claim, rng: Generator, phrase: int = 0) -> list[Edit]:
    """Who acts swapped for another kind of figure of the same colour: a shape for a shape, a person for a person."""
    kinds = PEOPLE if said.subject.kind in PEOPLE else SHAPES
    others = [Figure(kind, said.subject.colour) for kind in _shuffled(rng, kinds)]
    return _first_false(scene, said, [replace(said, subject=figure) for figure in others], phrase)


def object(scene: Scene, said: Claim, rng: Generator, phrase: int = 0) -> list[Edit]:
    """The object or landmark swapped for another: a thing for a thing, a coloured shape for one of another colour."""
    if said.other is None:
        return []
    if said.other.colour is None:
        others = [Figure(kind) for kind in _shuffled(rng, THINGS)]
    else:
        others = [Figure(said.other.kind, colour) for colour in _shuffled(rng, COLOURS)]
    return _first_false(scene, said, [replace(said, other=figure) for figure in others], phrase)


def role(scene: Scene, said: Claim, rng: Generator, phrase: int = 0) -> list[Edit]:
    """Who acts and who is acted upon, swapped (only where both could do either)."""
    if said.other is None or said.other.colour is None or said.action not in TRANSITIVE:
        return []
    return _first_false(scene, said, [replace(said, subject=said.other, other=said.subject)], phrase)


def counterfactuals(scene: Scene, said: Claim, rng: Generator, phrase: int = 0) -> list[Edit]:
    """Five other actions of the same figures, such that the six candidates are three pairs of antonyms.

    In pairs, since a candidate whose antonym is present would otherwise be the likelier one: then text alone would
    tell. None for an action without an antonym, or one with objects (there are too few of those).
    """
    if said.action in TRANSITIVE or said.action not in REVERSE:
        return []
    actions = [REVERSE[said.action]]
    pairs = [pair for pair in ANTONYMS if pair[0] not in TRANSITIVE and said.action not in pair]
    for number in rng.permutation(len(pairs)):
        pair = pairs[int(number)]
        captions = [write(replace(said, action=action), phrase=phrase) for action in pair]
        if len(actions) < 5 and all(verdict(scene, caption) == "false" for caption in captions):
            actions += pair
    if len(actions) < 5:
        return []
    return [_edit(said, replace(said, action=a), phrase, antonym=a == REVERSE[said.action]) for a in actions]


def negatives(scene: Scene, said: Claim, rng: Generator, phrase: int = 0, names: bool = False) -> dict[str, list[str]]:
    """Returns every false caption one edit away from a true one; training draws from them.

    Args:
        scene: what the clip shows.
        said: what the true caption claims.
        rng: of the order.
        phrase: 0 for the usual phrase of the action, 1 for the paraphrase.
        names: call people by their names.

    Returns:
        Kind of edit (antonym, verb, entity, colour, object, role) -> captions in seeded order.
    """
    actions = TRANSITIVE if said.action in TRANSITIVE else INTRANSITIVE
    people = said.subject.kind in PEOPLE
    kinds, colour = (PEOPLE if people else SHAPES), said.subject.colour
    edits: dict[str, list[Claim]] = {
        "antonym": [replace(said, action=REVERSE[said.action])] if said.action in REVERSE else [],
        "verb": [replace(said, action=a) for a in _shuffled(rng, actions) if a != REVERSE.get(said.action)],
        "entity": [replace(said, subject=Figure(kind, colour)) for kind in _shuffled(rng, kinds)],
        "colour": [replace(said, subject=Figure(said.subject.kind, c)) for c in _shuffled(rng, COLOURS)],
    }
    if said.other and said.other.colour is None:
        edits["object"] = [replace(said, other=Figure(kind)) for kind in _shuffled(rng, THINGS)]
    elif said.other:
        edits["object"] = [replace(said, other=Figure(said.other.kind, c)) for c in _shuffled(rng, COLOURS)]
        if said.action in TRANSITIVE:
            edits["role"] = [replace(said, subject=said.other, other=said.subject)]
    texts = {kind: [write(c, names=names, phrase=phrase) for c in claims] for kind, claims in edits.items()}
    return {kind: [text for text in of_kind if verdict(scene, text) == "false"] for kind, of_kind in texts.items()}


def _first_false(scene: Scene, said: Claim, claims: Sequence[Claim], phrase: int) -> list[Edit]:
    """The edit to the first of the claims that is false of the scene."""
    edits = (_edit(said, other, phrase) for other in claims)
    return [*islice((edit for edit in edits if verdict(scene, edit.text) == "false"), 1)]


def _edit(said: Claim, other: Claim, phrase: int, *, antonym: bool = False) -> Edit:
    """The edit that turns one claim's caption into the other's: the whole words between what they share."""
    edit = difference(write(said, phrase=phrase), write(other, phrase=phrase), "shapes-grammar")
    return replace(edit, antonym=antonym)


def _shuffled(rng: Generator, words: Sequence[str]) -> list[str]:
    return [words[int(n)] for n in rng.permutation(len(words))]
