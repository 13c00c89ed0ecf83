"""Object contrasts: one thing of the caption swapped for another (the noun contrast of the RCAD paper, figure 5).

The same propose -> accept pipeline as for verbs, on noun phrases, for a masked language model.
"""

from collections.abc import Sequence
from typing import Any

from video_contrast.perturbations.contrast.phrases import Phrase
from video_contrast.perturbations.contrast.pipeline import Outcome, run_pipeline
from video_contrast.perturbations.contrast.target import Target
from video_contrast.perturbations.english import Word

_COMMON = ("NN", "NNS")
# People are the business of gender and character contrasts.
_PEOPLE = frozenset(
    """man woman boy girl guy lady person people child kid baby someone somebody everyone anyone gentleman male female
    toddler teenager adult couple group crowd audience family friend mother father son daughter brother sister
    player singer dancer actor actress teacher student chef cook reporter host artist worker driver rider band team
    one other thing something anything nothing""".split()  # noqa: SIM905
)
# Words that say where, how much or what kind, and words for the video itself: swapping them leaves the clip as it was.
_VAGUE = frozenset(
    """front back middle side top bottom center end rest part inside outside bunch lot kind type sort variety set series
    pair piece number few couple place area location background foreground view angle distance time day moment way
    manner detail thing stuff item object topic subject information feature fact reason merit scene clip video footage
    film movie episode segment screen image picture slideshow montage animation compilation voice sound case order
    """.split()  # noqa: SIM905
)


def contrasts(captions: Sequence[str], ids: Sequence[str], **arguments: Any) -> Outcome:  # each of its own type
    """Object contrasts in one call: arguments as of `pipeline.run_pipeline`, results as of `Pipeline.run`."""
    return run_pipeline(OBJECT, captions, ids, **arguments)


def _find(tokens: Sequence[Word]) -> list[Phrase]:
    """The things: runs of common nouns, whose last word is the head; no people."""
    nouns: list[Phrase] = []
    first = 0
    for place, token in enumerate(tokens):
        if token.tag not in _COMMON:
            first = place + 1
            continue
        last = place + 1 == len(tokens) or tokens[place + 1].tag not in _COMMON
        run = tokens[first : place + 1]
        if last and len(run) <= 2 and _proposable(token.lemma) and all(word.text.isalpha() for word in run):
            lead = tuple(word.text.lower() for word in run[:-1])
            nouns.append(_Thing(run[0].start, token.end, lemma=token.lemma, tag=token.tag, particles=lead, place=place))
    return nouns


class _Thing(Phrase):
    """A phrase whose further words stand before its head: `particles` of "table tennis" are ("table",)."""

    @property
    def base(self) -> str:
        return " ".join((*self.particles, self.lemma))


def _lemmas(tokens: Sequence[Word]) -> frozenset[str]:
    return frozenset(token.lemma for token in tokens if token.tag in _COMMON)


def _within(tokens: Sequence[Word], start: int, end: int) -> Sequence[Word]:
    inside = [token for token in tokens if token.start >= start and token.end <= end and token.tag in _COMMON]
    return [token for token in reversed(inside) if token.lemma not in _PEOPLE]


def _proposable(lemma: str) -> bool:
    return lemma not in _PEOPLE and lemma not in _VAGUE


OBJECT = Target(
    name="object",
    find=_find,
    lemmas=_lemmas,
    within=_within,
    proposable=_proposable,
    generators=("mlm",),
)
