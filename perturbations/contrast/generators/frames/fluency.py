"""How readily people write these words in this order: word trigrams of the counts, with absolute discounting."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from math import log

from video_contrast.perturbations.contrast.generators.frames.counts import FrameCounts
from video_contrast.perturbations.contrast.generators.frames.words import Word

_DISCOUNT = 0.6
_MARKS = (".", ",")


class Fluency:
    """Log-probabilities of words after the two before them.

    The counts are numbers of videos, and rare runs are not among them: what is missing backs off to shorter runs.
    """

    def __init__(self, counts: FrameCounts) -> None:
        self._one = counts.tables["words1"]
        self._two = _Runs(counts.tables["words2"])
        self._three = _Runs(counts.tables["words3"])
        self._size = sum(self._one.values())
        self.word = lru_cache(1 << 18)(self._word)
        self.pair = lru_cache(1 << 18)(self._pair)
        self.plain = lru_cache(1 << 14)(self._plain)
        self._means = lru_cache(1 << 14)(self._means_of)

    def _alone(self, word: str) -> float:
        return (self._one.get(word, 0) + 0.5) / (self._size + 0.5 * (len(self._one) + 1))

    def _word(self, first: str, second: str, word: str) -> float:
        """Log-probability of `word` after `first second`."""
        after_one = self._two.share(second, word, self._alone(word))
        return log(self._three.share(f"{first}\t{second}", word, after_one))

    def _pair(self, first: str, second: str) -> tuple[float, float]:
        """Log-probability of a word alone, and after the one before it."""
        alone = self._alone(second)
        return log(alone), log(self._two.share(first, second, alone))

    def change(self, caption: Sequence[Word], first: int, size: int, new: Sequence[str]) -> dict[str, float]:
        """Returns how likely a caption's words become with some of them replaced: logarithms against the caption.

        The choice among contrasts keeps the signs of the means even (`choose`).

        Args:
            caption: its words.
            first, size: place of the first of those that are replaced, and how many they are.
            new: what replaces them.
        """
        words = without_marks(caption)
        at = first - sum(word.text in _MARKS for word in caption[:first])
        before, old, after = ["<", "<", *words[:at]], words[at : at + size], [*words[at + size :], ">", ">"]
        new_log, old_log = self.window(before, new, after), self.window(before, old, after)
        plain = self.plain(tuple(words))
        known = plain * (len(words) + 1)
        changed = (*words[:at], *new, *words[at + size :])
        (old_one, old_two), (new_one, new_two) = self._means(tuple(words)), self._means_of(changed)
        return {
            "fluency": new_log / (len(new) + 2) - old_log / (size + 2),
            "fluency_sum": new_log - old_log,
            "fluency_mean": (known + new_log - old_log) / (len(words) - size + len(new) + 1) - plain,
            "words_mean": new_one - old_one,
            "pairs_mean": new_two - old_two,
        }

    def _means_of(self, words: Sequence[str]) -> tuple[float, float]:
        logs = [self.pair(*two) for two in pairwise(["<", *words, ">"])]
        return sum(alone for alone, _ in logs) / len(logs), sum(two for _, two in logs) / len(logs)

    def _plain(self, words: tuple[str, ...]) -> float:
        """Mean log-probability of a caption's own words: how well the caption itself is written."""
        return self.window(["<", "<"], words, [">"]) / (len(words) + 1)

    def gain(self, first: str, second: str, word: str) -> float:
        """Returns how much likelier two words before it make a word than it is anywhere (a logarithm).

        Args:
            first, second: the two words before it.
            word: the word.
        """
        return self.word(first, second, word) - log(self._alone(word))

    def attested(self, first: str, second: str, word: str) -> float:
        """Returns 2 where all three words stand in the counts as a run, 1 where the last two do, else 0.

        Args:
            first, second: the two words before it.
            word: the word.
        """
        if f"{first}\t{second}\t{word}" in self._three.counts:
            return 2.0
        return float(f"{second}\t{word}" in self._two.counts)

    def window(self, before: Sequence[str], middle: Sequence[str], after: Sequence[str]) -> float:
        """Returns the sum of the log-probabilities of words and of the two words that follow them.

        Args:
            before: the words that come first; the last two count ("<" at the beginning of a caption).
            middle: the words.
            after: what follows; the first two count (">" at the end of a caption).
        """
        texts = [*before[-2:], *middle, *after[:2]]
        return sum(self.word(texts[n - 2], texts[n - 1], texts[n]) for n in range(2, len(texts)))


class _Runs:
    """Runs of words with how often each stands, and how likely a word follows the others (absolute discounting)."""

    def __init__(self, counts: Mapping[str, int]) -> None:
        self.counts = counts
        self._uses: Counter[str] = Counter()
        self._kinds: Counter[str] = Counter()
        for run, n in counts.items():
            history = run.rpartition("\t")[0]
            self._uses[history] += n
            self._kinds[history] += 1

    def share(self, history: str, word: str, otherwise: float) -> float:
        """Probability of a word after a history, backed off to its probability `otherwise`."""
        # What was cut for being rare weighs as one more kind of word each way.
        n, kinds = self._uses.get(history, 0), self._kinds.get(history, 0) + 2
        seen = max(self.counts.get(f"{history}\t{word}", 0) - _DISCOUNT, 0.0)
        return (seen + _DISCOUNT * kinds * otherwise) / (n + 2 * _DISCOUNT)


def without_marks(caption: Sequence[Word]) -> list[str]:
    """The words of a caption without full stops and commas."""
    return [word.text for word in caption if word.text not in _MARKS]
