"""What the generator returns: one edit of one caption, with what was measured of it."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

# Spelling tells the sound but for a few words: "a one-man show", "a university", "an hour".
_VOWEL_SOUND = re.compile(r"(?!uni(?!n)|us[eiu]|ut[ei]|one|once|eu)[aeiou]|hour|honest|heir", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Proposal:
    """One contrast to one caption of a clip.

    Attributes:
        clip, index: the clip's id and the caption's place among its captions.
        caption, text: the caption and the contrast; `text[start : start + len(new)] == new`.
        start, old, new: where the edit stands in both, what it replaces and what stands there instead.
        unit, other: what is replaced and what replaces, in dictionary form ("sit on", "stand on"; "guitar", "piano").
        antonym: whether the two are opposites.
        score: the higher, the likelier that people find it natural and surely false (`quality`).
        parts: what each rule measured, by its name.
    """

    clip: str
    index: int
    caption: str
    text: str
    start: int
    old: str
    new: str
    unit: str
    other: str
    antonym: bool = False
    score: float = 0.0
    parts: Mapping[str, float] = field(default_factory=dict)


@dataclass
class Refusals:
    """Why verbs (or things) of a clip's captions were not replaced.

    Attributes:
        reasons: how often each rule said no.
        examples: the same with the words that it was about, as lines for people.
    """

    reasons: Counter[str] = field(default_factory=Counter)
    examples: Counter[str] = field(default_factory=Counter)

    def add(self, reason: str, words: str = "", *, of_all: bool = False) -> None:
        """Counts a refusal.

        Args:
            reason: the rule.
            words: of the caption, which it is about.
            of_all: whether it was said of what could replace them, not of the words themselves.
        """
        self.reasons[reason] += 1
        about = f"nothing in place of {words!r}" if of_all else repr(words)
        self.examples[f"{about}: {reason}" if words else reason] += 1

    def line(self) -> str:
        """The commonest refusals: "'takes': light verb; nothing in place of 'rides': goes with what it replaces"."""
        lines = [f"{line} ({n})" if n > 1 or ":" not in line else line for line, n in self.examples.most_common(3)]
        return "; ".join(lines) or "nothing to replace"


def article(word: str) -> str:
    """The indefinite article that a word takes, as the frames generator has always written it ("an ukulele")."""
    return "an" if _VOWEL_SOUND.match(word) else "a"
