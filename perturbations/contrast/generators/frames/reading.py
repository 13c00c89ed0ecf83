"""A caption read: its actions, its things, and the verbs and nouns that it uses at all; and a clip by its captions."""

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

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
) -> dict[str, Reading]:
    """Returns the reading of each different caption, in their order.

    Args:
        captions: any texts.
        parser, cache: as of `parse.parse`.
    """
    unique = list(dict.fromkeys(captions))
    return {caption: understand(caption, words) for caption, words in iterate(unique, parser=parser, cache=cache)}


@dataclass(frozen=True)
class ReadClip:
    """A clip's captions after reading.

    Attributes:
        id: of the clip; names its random streams.
        category: of the video, or "".
        readings: of its captions, in their order.
        verbs, nouns: how many of the captions use each verb (or verb with particle) and each noun.
        captions: how many captions are known, also those that may not be contrasted.
    """

    id: str
    category: str
    readings: tuple[Reading, ...]
    verbs: Counter[str] = field(default_factory=Counter)
    nouns: Counter[str] = field(default_factory=Counter)
    captions: int = 0

    @classmethod
    def of(cls, id: str, category: str, readings: tuple[Reading, ...], also: tuple[Reading, ...] = ()) -> "ReadClip":
        """Makes a clip of its readings.

        Args:
            id, category: of the clip; "" where the category is not known.
            readings: of its captions, in their order.
            also: readings of captions that are true of it but may not be contrasted.
        """
        # Sorted, since sums of floats over them must not depend on the order of a set.
        verbs = Counter(verb for reading in (*readings, *also) for verb in sorted(reading.verbs))
        nouns = Counter(noun for reading in (*readings, *also) for noun in sorted(reading.nouns))
        words = Counter(word.lemma for reading in (*readings, *also) for word in reading.words)
        for word, n in words.items():  # what one caption's noun says may be another's verb ("a fight")
            verbs.setdefault(word, n)
        return cls(id, category, readings, verbs, nouns, captions=len(readings) + len(also))
