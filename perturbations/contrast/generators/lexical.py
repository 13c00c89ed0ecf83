"""Phrases of the training captions and WordNet antonyms, inflected to fit: needs no model and no download."""

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.random import Generator as Random

from video_contrast.errors import UsageError
from video_contrast.perturbations.contrast.antonyms import antonyms
from video_contrast.perturbations.contrast.candidate import Candidate, Original, fill
from video_contrast.perturbations.contrast.counts import WordCounts
from video_contrast.perturbations.contrast.target import VERB, Target

_DISCOUNT = 0.75  # of each count: what was seen once beside a word is mostly chance
_PRIOR = 5.0  # captions that a frame's own shares weigh beside what was seen in the neighbour's company
_PHRASE_LIMIT = 1 / 3  # of the frequency limit: rarer phrases are mostly slips ("going bankrupt", "pinging")
_LEAST_SHARE = 0.05  # of a phrase's uses under which a frame is a tagging error: "is listening a song"


class LexicalGenerator:
    """Draws phrases as often as the training captions use them in such a frame and beside the caption's own nouns.

    A draw by training frequency keeps the proposals' words as common as the originals', and the company of the nouns
    keeps them plausible, so a text-only model finds little to tell them by. The weight of a phrase is its share in the
    frame, times how much more often it stands beside each neighbour (a naive Bayes rule, smoothed towards the frame).

    Args:
        counts: the training captions' phrases.
        k: proposals a caption, beside the antonyms.
        antonym_share: how often the antonyms, where the verb has any, come first in the list rather than last.
    """

    name = "lexical"
    draw = "first"

    def __init__(self, counts: WordCounts, k: int = 12, antonym_share: float = 0.3, target: Target = VERB) -> None:
        if k < 1 or not 0 <= antonym_share <= 1:
            raise UsageError(f"k must be at least 1 and antonym_share in 0..1, not {k} and {antonym_share}")
        self._counts, self._k, self._antonym_share, self._target = counts, k, antonym_share, target
        self._vocabulary = lru_cache(1024)(self._make_vocabulary)
        self._frame = lru_cache(None)(self._make_frame)

    def propose(self, originals: Sequence[Original], randoms: Sequence[Random]) -> list[list[Candidate]]:
        """Candidates with their lemmas and tags known."""
        return [self._propose(original, rng) for original, rng in zip(originals, randoms, strict=True)]

    def _propose(self, original: Original, rng: Random) -> list[Candidate]:
        bases = self._draw(*self._target.context(original.tokens, original.phrase), rng)
        opposite = self._antonyms(original) if self._target.name == "verb" else []
        antonyms_first = bool(rng.random() < self._antonym_share)
        bases = list(dict.fromkeys([*opposite, *bases] if antonyms_first else [*bases, *opposite]))
        return [self._candidate(original, base, base in opposite) for base in bases]

    def _draw(self, kind: str, neighbours: tuple[str, ...], rng: Random) -> list[str]:
        names, shares = self._vocabulary(kind, neighbours)
        if not len(names):
            return []
        picks = rng.choice(len(names), min(self._k, len(names)), replace=False, p=shares)
        return [names[n] for n in picks]

    def _make_vocabulary(self, kind: str, neighbours: tuple[str, ...]) -> tuple[list[str], np.ndarray]:
        names, places, shares = self._frame(kind)
        if not len(names) or not neighbours:
            return names, shares
        weights = shares.copy()
        for neighbour in neighbours:
            beside = _PRIOR * shares
            for name, uses in self._counts.company.get((kind, neighbour), {}).items():
                if name in places:
                    beside[places[name]] += uses - _DISCOUNT
            weights *= beside / shares / beside.sum()
        return names, weights / weights.sum()

    def _make_frame(self, kind: str) -> tuple[list[str], dict[str, int], np.ndarray]:
        """The phrases of a frame in a fixed order, their places in it, and their shares."""
        counted = self._counts.frames.get(kind) or self._counts.uses
        names = sorted(name for name, uses in counted.items() if self._fits(name, uses))
        shares = np.array([counted[name] for name in names], np.float64)
        return names, {name: n for n, name in enumerate(names)}, shares / max(shares.sum(), 1.0)

    def _fits(self, base: str, uses: int) -> bool:
        """Whether a phrase that stands `uses` times in a frame may be proposed there."""
        head, everywhere = self._head(base), self._phrase_uses()[base]
        return (
            uses >= _LEAST_SHARE * everywhere
            and everywhere >= _PHRASE_LIMIT * self._counts.limit
            and self._target.proposable(head)
            and self._counts.is_typical(head)
        )

    @lru_cache(1)  # noqa: B019  one count for the life of a generator
    def _phrase_uses(self) -> Counter[str]:
        total = Counter[str]()
        for counted in self._counts.frames.values():
            total.update(counted)
        return total

    def _antonyms(self, original: Original) -> list[str]:
        """Antonyms of the phrase; antonyms of its verb take over its particles if the corpus knows them together."""
        phrase = original.phrase
        # Antonyms of several words ("keep quiet") only where the captions use them.
        bases = {base for base in antonyms(phrase.base) if " " not in base or self._phrase_uses()[base]}
        if phrase.particles:
            rest = " ".join(phrase.particles)
            bases |= {f"{verb} {rest}" for verb in antonyms(phrase.lemma) if self._phrase_uses()[f"{verb} {rest}"]}
        return sorted(bases)

    def _candidate(self, original: Original, base: str, antonym: bool) -> Candidate:
        tag = original.phrase.tag
        filled = fill(original, self._target.inflect(base, tag))
        filled.lemmas, filled.tag, filled.antonym = (self._head(base),), tag, antonym
        return filled

    def _head(self, base: str) -> str:
        return base.split(" ")[0 if self._target.name == "verb" else -1]
