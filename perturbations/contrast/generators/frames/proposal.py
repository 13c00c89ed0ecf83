"""What the generator returns: one edit of one caption, with what was measured of it."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from video_contrast.perturbations.language.fitting import like_case

# Spelling tells the sound but for a few words: "a one-man show", "a university", "an hour".
_VOWEL_SOUND = re.compile(r"(?!uni(?!n)|us[eiu]|ut[ei]|one|once|eu)[aeiou]|hour|honest|heir", re.IGNORECASE)
_ARTICLE = re.compile(r"(?<![\w'-])(an?)(\s+)$", re.IGNORECASE)


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


def replaced(caption: str, start: int, end: int, new: str) -> tuple[str, int, str, str]:
    """Returns the caption with `new` at `start:end`, in the case of what stood there; the article before it fits.

    Args:
        caption: the text.
        start, end: characters that are replaced.
        new: what stands there instead, in lower case.

    Returns:
        text, start, old, new; where "a" becomes "an" the article belongs to both.

    >>> replaced("a man eats a carrot", 13, 19, "onion")
    ('a man eats an onion', 11, 'a carrot', 'an onion')
    """
    old = caption[start:end]
    shown = like_case(new, old)
    article = _ARTICLE.search(caption, 0, start)
    if article:
        fitting = "an" if _VOWEL_SOUND.match(new) else "a"
        if fitting != article[1].lower():
            shown = like_case(fitting, article[1]) + article[2] + shown
            start = article.start(1)
            old = caption[start:end]
    return caption[:start] + shown + caption[end:], start, old, shown
