"""How readily people write these words in this order: word trigrams of the counts, with absolute discounting."""

import itertools
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from math import log

from video_contrast.perturbations.contrast.generators.frames.counts import FrameCounts

_DISCOUNT = 0.6


class Fluency:
    """Log-probabilities of words after the two before them.

    The counts are numbers of videos, and rare runs are not among them: what is missing backs off to shorter runs.
    """

    def __init__(self, counts: FrameCounts) -> None:
        self._one = counts.tables["words1"]
        self._two = counts.tables["words2"]
        self._three = counts.tables["words3"]
        self._size = sum(self._one.values())
        self._after1: Counter[str] = Counter()
        self._after2: Counter[str] = Counter()
        self._kinds1: Counter[str] = Counter()
        self._kinds2: Counter[str] = Counter()
        for key, n in self._two.items():
            history = key.split("\t", 1)[0]
            self._after1[history] += n
            self._kinds1[history] += 1
        for key, n in self._three.items():
            history = key.rsplit("\t", 1)[0]
            self._after2[history] += n
            self._kinds2[history] += 1
        self.word = lru_cache(1 << 18)(self._word)
        self.pair = lru_cache(1 << 18)(self._pair)
        self._means = lru_cache(1 << 14)(self._means_of)

    def _word(self, first: str, second: str, word: str) -> float:
        """Log-probability of `word` after `first second`."""
        p = (self._one.get(word, 0) + 0.5) / (self._size + 0.5 * (len(self._one) + 1))
        # What was cut for being rare weighs as one more kind of word each way.
        n, kinds = self._after1.get(second, 0), self._kinds1.get(second, 0) + 2
        p = (max(self._two.get(f"{second}\t{word}", 0) - _DISCOUNT, 0.0) + _DISCOUNT * kinds * p) / (n + 2 * _DISCOUNT)
        history = f"{first}\t{second}"
        n, kinds = self._after2.get(history, 0), self._kinds2.get(history, 0) + 2
        p = (max(self._three.get(f"{history}\t{word}", 0) - _DISCOUNT, 0.0) + _DISCOUNT * kinds * p) / (
            n + 2 * _DISCOUNT
        )
        return log(p)

    def pair_change(self, words: Sequence[str], at: int, size: int, new: Sequence[str]) -> tuple[float, float]:
        """Returns how the mean log-probability of a caption's words changes, by single words and by pairs of words.

        The choice among contrasts keeps both signs even (`choose`); how good a contrast is, `window` tells.

        Args:
            words: of the caption.
            at, size: the first of the words that are replaced, and how many.
            new: what replaces them.
        """
        changed = (*words[:at], *new, *words[at + size :])
        (old_one, old_two), (new_one, new_two) = self._means(tuple(words)), self._means_of(changed)
        return new_one - old_one, new_two - old_two

    def _means_of(self, words: Sequence[str]) -> tuple[float, float]:
        texts = ["<", *words, ">"]
        logs = [self.pair(*two) for two in itertools.pairwise(texts)]
        return sum(alone for alone, _ in logs) / len(logs), sum(two for _, two in logs) / len(logs)

    def _pair(self, first: str, second: str) -> tuple[float, float]:
        """Log-probability of a word alone, and after the one before it."""
        alone = (self._one.get(second, 0) + 0.5) / (self._size + 0.5 * (len(self._one) + 1))
        n, kinds = self._after1.get(first, 0), self._kinds1.get(first, 0) + 2
        seen = max(self._two.get(f"{first}\t{second}", 0) - _DISCOUNT, 0.0)
        return log(alone), log((seen + _DISCOUNT * kinds * alone) / (n + 2 * _DISCOUNT))

    def gain(self, first: str, second: str, word: str) -> float:
        """Returns how much likelier two words before it make a word than it is anywhere (a logarithm).

        Args:
            first, second: the two words before it.
            word: the word.
        """
        alone = (self._one.get(word, 0) + 0.5) / (self._size + 0.5 * (len(self._one) + 1))
        return self.word(first, second, word) - log(alone)

    def attested(self, first: str, second: str, word: str) -> float:
        """Returns 2 where all three words stand in the counts as a run, 1 where the last two do, else 0.

        Args:
            first, second: the two words before it.
            word: the word.
        """
        if f"{first}\t{second}\t{word}" in self._three:
            return 2.0
        return float(f"{second}\t{word}" in self._two)

    def window(self, before: Sequence[str], middle: Sequence[str], after: Sequence[str]) -> float:
        """Returns the sum of the log-probabilities of words and of the two words that follow them.

        Args:
            before: the words that come first; the last two count ("<" at the beginning of a caption).
            middle: the words.
            after: what follows; the first two count (">" at the end of a caption).
        """
        texts = [*before[-2:], *middle, *after[:2]]
        return sum(self.word(texts[n - 2], texts[n - 1], texts[n]) for n in range(2, len(texts)))
