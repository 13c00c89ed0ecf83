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


def gender(statement: Claim, rng: Generator) -> Iterator[Claim]:
    """One gendered noun swapped by the product's gender perturbation; words that no caption uses ("guy") are left."""
    edits = (gender_edits.swap(noun_phrase(statement.subject), rng) for _ in range(_TRIES))
    figures = (read_figure(edit.text) for edit in edits if edit and edit.new in world.PEOPLE)
    return (replace(statement, subject=figure) for figure in islice(figures, 1))


def person_id(statement: Claim, rng: Generator) -> Iterator[Claim]:
    """The name swapped for another of the cast with the same gender, by the product's character-id perturbation."""
    edits = (name_edits.swap(write(statement, names=True), world.CAST, rng) for _ in range(_TRIES))
    return (read(edit.text) for edit in edits if edit)


def verb(statement: Claim, rng: Generator) -> list[Claim]:
    """The action swapped for another, not its antonym, that takes the same objects."""
    actions = world.TRANSITIVE if statement.action in world.TRANSITIVE else world.INTRANSITIVE
    others = [action for action in _shuffled(rng, actions) if action != world.REVERSE.get(statement.action)]
    return [replace(statement, action=action) for action in others]


def entity(statement: Claim, rng: Generator) -> list[Claim]:
    """The doer swapped for another kind of figure of the same colour: a shape for a shape, a person for a person."""
    kinds = world.PEOPLE if statement.subject.kind in world.PEOPLE else world.SHAPES
    return [replace(statement, subject=world.Figure(kind, statement.subject.colour)) for kind in _shuffled(rng, kinds)]


def object(statement: Claim, rng: Generator) -> list[Claim]:
    """The object or landmark swapped for another: a thing for a thing, a coloured shape for one of another colour."""
    other = statement.other
    if other is None:
        return []
    if other.colour is None:
        return [replace(statement, other=world.Figure(kind)) for kind in _shuffled(rng, world.THINGS)]
    return [replace(statement, other=world.Figure(other.kind, colour)) for colour in _shuffled(rng, world.COLOURS)]


def role(statement: Claim, rng: Generator) -> list[Claim]:
    """The doer and the undergoer, swapped."""
    if statement.other is None or statement.other.colour is None or statement.action not in world.TRANSITIVE:
        return []
    return [replace(statement, subject=statement.other, other=statement.subject)]


def negatives(
    scene: world.Scene, statement: Claim, rng: Generator, phrase: int = 0, names: bool = False
) -> dict[str, list[str]]:
    """Returns every false caption one edit away from a true one; training draws from them.

    Returns kind of edit (antonym, verb, entity, colour, object, role) -> captions in seeded order. `phrase`: 0 for the
    usual phrase of the action, 1 for the paraphrase.
    """
    reverse = world.REVERSE.get(statement.action)
    edits = {
        "antonym": [replace(statement, action=reverse)] if reverse else [],
        "verb": verb(statement, rng),
        "entity": entity(statement, rng),
        "colour": [
            replace(statement, subject=world.Figure(statement.subject.kind, c)) for c in _shuffled(rng, world.COLOURS)
        ],
    }
    if statement.other:
        edits["object"] = object(statement, rng)
    if roles := role(statement, rng):
        edits["role"] = roles
    texts = {kind: [write(c, names=names, phrase=phrase) for c in claims] for kind, claims in edits.items()}
    return {kind: [text for text in of_kind if verdict(scene, text) == "false"] for kind, of_kind in texts.items()}


def _shuffled(rng: Generator, words: Sequence[str]) -> list[str]:
    return [words[int(n)] for n in rng.permutation(len(words))]
