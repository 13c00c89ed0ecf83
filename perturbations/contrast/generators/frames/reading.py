"""A caption read: its actions, its things, and the verbs and nouns that it uses at all."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from video_contrast.perturbations.contrast.generators.frames.actions import Action, actions
from video_contrast.perturbations.contrast.generators.frames.parse import iterate
from video_contrast.perturbations.contrast.generators.frames.things import Thing, things
from video_contrast.perturbations.contrast.generators.frames.tree import noun_lemmas, verb_lemmas
from video_contrast.perturbations.contrast.generators.frames.words import Parse


@dataclass(frozen=True, slots=True)
class Reading:
    """One caption.

    Attributes:
        caption: as given.
        words: its parse.
        actions, things: in the caption's order, also those that cannot be replaced.
        verbs: lemmas of all verbs; with a particle also as a phrase ("pick up").
        nouns: lemmas of all nouns, and compounds ("video game").
    """

    caption: str
    words: Parse
    actions: tuple[Action, ...]
    things: tuple[Thing, ...]
    verbs: frozenset[str]
    nouns: frozenset[str]


def understand(caption: str, words: Parse) -> Reading:
    """The reading of a parsed caption."""
    acts = actions(words)
    phrases = {act.phrase for act in acts}
    return Reading(
        caption,
        words,
        actions=tuple(acts),
        things=tuple(things(words, acts)),
        verbs=verb_lemmas(words) | phrases,
        nouns=noun_lemmas(words),
    )


def read(
    captions: Sequence[str], *, parser: str = "auto", cache: str | os.PathLike[str] | None = None
) -> Iterator[Reading]:
    """Yields the readings of captions, in their order (equal captions once).

    Args:
        captions: any texts.
        parser, cache: as of `parse.parse`.
    """
    unique = list(dict.fromkeys(captions))
    for caption, words in iterate(unique, parser=parser, cache=cache):
        yield understand(caption, words)
