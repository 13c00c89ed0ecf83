"""Contrasts of the shapes world: captions that differ from the true one in one respect and are false of the clip.

Genders and names are swapped by the product's own perturbations; the other contrasts are edits of what the caption
claims. Whatever made it, a contrast is used only if the truth checker finds it false.
"""

from collections.abc import Sequence
from dataclasses import replace

from numpy.random import Generator

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


def gender(scene: Scene, caption: str, rng: Generator) -> Edit | None:
    """One gendered noun swapped by the product's gender perturbation.

    Words that no true caption uses ("guy") are drawn again: they would give the contrast away.
    """
    from video_contrast.perturbations.contrast import gender as perturbation

    for _ in range(_TRIES):
        edit = perturbation.swap(caption, rng)
        if edit is None or edit.new in PEOPLE:
            return edit
    return None


def person_id(scene: Scene, caption: str, rng: Generator) -> Edit | None:
    """The name swapped for another of the cast with the same gender, by the product's character-id perturbation."""
    from video_contrast.perturbations.contrast import person_id as perturbation

    return perturbation.swap(caption, CAST, rng)


def antonym(scene: Scene, said: Claim, phrase: int = 0, names: bool = False) -> Edit | None:
    """The action swapped for what the clip would show if it were played backwards."""
    if said.action not in REVERSE:
        return None
    return _edit(said, replace(said, action=REVERSE[said.action]), phrase, names, antonym=True)


def verb(scene: Scene, said: Claim, rng: Generator, phrase: int = 0) -> Edit | None:
    """The action swapped for another that takes the same objects."""
    options = TRANSITIVE if said.action in TRANSITIVE else INTRANSITIVE
    return _first_false(scene, said, [replace(said, action=a) for a in _shuffled(rng, options)], phrase)


def entity(scene: Scene, said: Claim, rng: Generator, phrase: int = 0) -> Edit | None:
    """Who acts swapped for another kind of figure of the same colour: a shape for a shape, a person for a person."""
    kinds = PEOPLE if said.subject.kind in PEOPLE else SHAPES
    others = [Figure(kind, said.subject.colour) for kind in _shuffled(rng, kinds)]
    return _first_false(scene, said, [replace(said, subject=figure) for figure in others], phrase)


def object(scene: Scene, said: Claim, rng: Generator, phrase: int = 0) -> Edit | None:
    """The object or landmark swapped for another: a thing for a thing, a coloured shape for one of another colour."""
    if said.other is None:
        return None
    if said.other.colour is None:
        others = [Figure(kind) for kind in _shuffled(rng, THINGS)]
    else:
        others = [Figure(said.other.kind, colour) for colour in _shuffled(rng, COLOURS)]
    return _first_false(scene, said, [replace(said, other=figure) for figure in others], phrase)


def role(scene: Scene, said: Claim, phrase: int = 0) -> Edit | None:
    """Who acts and who is acted upon, swapped (only where both could do either)."""
    if said.other is None or said.other.colour is None or said.action not in TRANSITIVE:
        return None
    swapped = replace(said, subject=said.other, other=said.subject)
    return _first_false(scene, said, [swapped], phrase)


def counterfactuals(scene: Scene, said: Claim, rng: Generator, phrase: int = 0) -> list[Edit] | None:
    """Five other actions of the same figures, such that the six options are three pairs of antonyms.

    In pairs, since an option whose antonym is present would otherwise be the likelier one: then text alone would tell.
    None for an action without an antonym, or one with objects (there are too few of those).
    """
    if said.action in TRANSITIVE or said.action not in REVERSE:
        return None
    chosen = [REVERSE[said.action]]
    pairs = [pair for pair in ANTONYMS if pair[0] not in TRANSITIVE and said.action not in pair]
    for number in rng.permutation(len(pairs)):
        pair = pairs[int(number)]
        captions = [write(replace(said, action=action), phrase=phrase) for action in pair]
        if len(chosen) < 5 and all(verdict(scene, caption) == "false" for caption in captions):
            chosen += pair
    if len(chosen) < 5:
        return None
    return [_edit(said, replace(said, action=a), phrase, antonym=a == REVERSE[said.action]) for a in chosen]


def negatives(scene: Scene, said: Claim, rng: Generator, phrase: int = 0, names: bool = False) -> dict[str, list[str]]:
    """Every false caption one edit away from a true one, by kind of edit (antonym, verb, entity, colour, object, role,
    setting), each kind in seeded order. Training draws from them."""
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
    return {kind: [text for text in found if verdict(scene, text) == "false"] for kind, found in texts.items()}


def _first_false(scene: Scene, said: Claim, claims: Sequence[Claim], phrase: int) -> Edit | None:
    for other in claims:
        edit = _edit(said, other, phrase)
        if verdict(scene, edit.text) == "false":
            return edit
    return None


def _edit(said: Claim, other: Claim, phrase: int, names: bool = False, *, antonym: bool = False) -> Edit:
    """The edit that turns one claim's caption into the other's: the whole words between what they share."""
    old, new = (write(c, names=names, phrase=phrase).split() for c in (said, other))
    first = next((n for n, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    last = 0
    while last < min(len(old), len(new)) - first and old[-1 - last] == new[-1 - last]:
        last += 1
    start = sum(len(word) + 1 for word in new[:first])
    replaced, put = (" ".join(words[first : len(words) - last]) for words in (old, new))
    return Edit(" ".join(new), replaced, put, start, "shapes-grammar", antonym=antonym)


def _shuffled(rng: Generator, options: Sequence[str]) -> list[str]:
    return [options[int(n)] for n in rng.permutation(len(options))]
