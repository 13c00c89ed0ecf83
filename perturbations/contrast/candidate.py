"""What passes between generators and constraints: a caption with its chosen phrase, and a proposed replacement."""

import re
from dataclasses import dataclass

from video_contrast.perturbations.contrast.edit import like_case
from video_contrast.perturbations.contrast.phrases import Phrase
from video_contrast.perturbations.language import Token


@dataclass(frozen=True, slots=True)
class Original:
    """A caption whose `phrase` is to be replaced.

    `own` are the lemmas of the caption's own verbs (nouns), `sibling_words`
    are what the other captions of the video call things.
    """

    caption: str
    tokens: list[Token]
    phrase: Phrase
    own: frozenset[str]
    sibling_words: frozenset[str] = frozenset()


@dataclass(slots=True)
class Candidate:
    """A proposed caption: `text[start : start + len(new)] == new`.

    `lemmas` are the verbs in `new` (the main one first) and `tag` the form of the main one; a generator that knows
    them fills them in, the pipeline tags the text for the others. No verb: no lemmas.
    """

    text: str
    new: str
    start: int
    lemmas: tuple[str, ...] | None = None
    tag: str = ""
    antonym: bool = False


# Spelling tells the sound but for a few words: "a one-man show", "a university", "an hour".
_VOWEL_SOUND = re.compile(r"(?!uni(?!n)|us[eiu]|ut[ei]|one|once|eu)[aeiou]|hour|honest|heir", re.IGNORECASE)
_ARTICLE = re.compile(r"(?<![\w'-])(an?)\s+$", re.IGNORECASE)


def fill(original: Original, new: str) -> Candidate:
    """The candidate with `new` in place of the original's phrase, in its case; an article before it is made to fit.

    Where "a" must become "an", the article belongs to the replaced span.
    """
    phrase, caption = original.phrase, original.caption
    start, shown = phrase.start, like_case(new, caption[phrase.start : phrase.end])
    article = _ARTICLE.search(caption, 0, start)
    if article:
        fitting = "an" if _VOWEL_SOUND.match(new) else "a"
        if fitting != article.group(1).lower():
            start = article.start(1)
            shown = like_case(fitting, article.group(1)) + caption[article.end(1) : phrase.start] + shown
    return Candidate(caption[:start] + shown + caption[phrase.end :], shown, start)
