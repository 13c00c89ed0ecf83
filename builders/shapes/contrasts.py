"""Contrasts of the shapes world: claims that differ from that of a true caption in one respect.

Genders and names are swapped by the product's own perturbations; the other contrasts are edits of what the caption
claims. They are used only where the truth checker finds them false of the clip.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

from numpy.random import Generator

from video_contrast.builders.shapes import world
from video_contrast.builders.shapes.captions import Claim, noun_phrase, read, read_figure, verdict, write
from video_contrast.perturbations.contrast import gender as gender_edits
from video_contrast.perturbations.contrast import person_id as name_edits

_TRIES = 8


def gender(claimed: Claim, rng: Generator) -> Iterator[Claim]:
    """One gendered noun swapped by the product's gender perturbation; words that no caption uses ("guy") are left."""
    edits = (gender_edits.swap(noun_phrase(claimed.subject), rng) for _ in range(_TRIES))
    figures = (read_figure(edit.text) for edit in edits if edit and edit.new in world.PEOPLE)
    return (replace(claimed, subject=figure) for figure in islice(figures, 1))


def person_id(claimed: Claim, rng: Generator) -> Iterator[Claim]:
    """The name swapped for another of the cast with the same gender, by the product's character-id perturbation."""
    edits = (name_edits.swap(write(claimed, names=True), world.CAST, rng) for _ in range(_TRIES))
    return (read(edit.text) for edit in edits if edit)


def verb(claimed: Claim, rng: Generator) -> list[Claim]:
    """The action swapped for another, not its antonym, that takes the same objects."""
    actions = world.TRANSITIVE if claimed.action in world.TRANSITIVE else world.INTRANSITIVE
    others = [action for action in _shuffled(rng, actions) if action != world.REVERSE.get(claimed.action)]
    return [replace(claimed, action=action) for action in others]


def entity(claimed: Claim, rng: Generator) -> list[Claim]:
    """Who acts swapped for another kind of figure of the same colour: a shape for a shape, a person for a person."""
    kinds = world.PEOPLE if claimed.subject.kind in world.PEOPLE else world.SHAPES
    return [replace(claimed, subject=world.Figure(kind, claimed.subject.colour)) for kind in _shuffled(rng, kinds)]


def object(claimed: Claim, rng: Generator) -> list[Claim]:
    """The object or landmark swapped for another: a thing for a thing, a coloured shape for one of another colour."""
    other = claimed.other
    if other is None:
        return []
    if other.colour is None:
        return [replace(claimed, other=world.Figure(kind)) for kind in _shuffled(rng, world.THINGS)]
    return [replace(claimed, other=world.Figure(other.kind, colour)) for colour in _shuffled(rng, world.COLOURS)]


def role(claimed: Claim, rng: Generator) -> list[Claim]:
    """Who acts and who is acted upon, swapped."""
    if claimed.other is None or claimed.other.colour is None or claimed.action not in world.TRANSITIVE:
        return []
    return [replace(claimed, subject=claimed.other, other=claimed.subject)]


def negatives(
    scene: world.Scene, claimed: Claim, rng: Generator, phrase: int = 0, names: bool = False
) -> dict[str, list[str]]:
    """Returns every false caption one edit away from a true one; training draws from them.

    Returns kind of edit (antonym, verb, entity, colour, object, role) -> captions in seeded order. `phrase`: 0 for the
    usual phrase of the action, 1 for the paraphrase.
    """
    reverse = world.REVERSE.get(claimed.action)
    edits = {
        "antonym": [replace(claimed, action=reverse)] if reverse else [],
        "verb": verb(claimed, rng),
        "entity": entity(claimed, rng),
        "colour": [
            replace(claimed, subject=world.Figure(claimed.subject.kind, c)) for c in _shuffled(rng, world.COLOURS)
        ],
    }
    if claimed.other:
        edits["object"] = object(claimed, rng)
    if roles := role(claimed, rng):
        edits["role"] = roles
    texts = {kind: [write(c, names=names, phrase=phrase) for c in claims] for kind, claims in edits.items()}
    return {kind: [text for text in of_kind if verdict(scene, text) == "false"] for kind, of_kind in texts.items()}


def _shuffled(rng: Generator, words: Sequence[str]) -> list[str]:
    return [words[int(n)] for n in rng.permutation(len(words))]
