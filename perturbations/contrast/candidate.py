"""What passes between generators and constraints: a caption with its chosen phrase, and a proposed replacement."""

from collections.abc import Sequence
from dataclasses import dataclass

from video_contrast.perturbations.contrast.phrases import Phrase
from video_contrast.perturbations.english import Word
from video_contrast.perturbations.english.forms import replaced


@dataclass(frozen=True, slots=True)
class Original:
    """A caption whose `phrase` is to be replaced.

    `own` are the lemmas of the caption's own verbs (nouns), `sibling_words`
    are what the other captions of the video call things.
    """

    caption: str
    tokens: Sequence[Word]
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


def fill(original: Original, new: str) -> Candidate:
    """The candidate with `new` in place of the original's phrase, in its case; an article before it is made to fit.

    Where "a" must become "an", the article belongs to the replaced span.
    """
    text, start, _, shown = replaced(original.caption, original.phrase.start, original.phrase.end, new)
    return Candidate(text, shown, start)
