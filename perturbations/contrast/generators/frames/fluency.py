"""How readily people write these words in this order: word trigrams of the counts, with absolute discounting."""

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

    def window(self, before: Sequence[str], middle: Sequence[str], after: Sequence[str]) -> float:
        """Returns the sum of the log-probabilities of words and of the two words that follow them.

        Args:
            before: the words that come first; the last two count ("<" at the beginning of a caption).
            middle: the words.
            after: what follows; the first two count (">" at the end of a caption).
        """
        texts = [*before[-2:], *middle, *after[:2]]
        return sum(self.word(texts[n - 2], texts[n - 1], texts[n]) for n in range(2, len(texts)))
