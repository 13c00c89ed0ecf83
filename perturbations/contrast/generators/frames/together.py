"""What can be true together, learnt from videos that many people captioned.

Twenty people describe one clip. Two verbs that often stand in captions of the same video can be true of it together;
two that hardly ever do exclude each other. And a verb that, where it is said at all, only one in twenty says, may be
true of a video without anybody saying so.
"""

from collections import Counter, defaultdict
from functools import cached_property, lru_cache
from math import log
from typing import Literal

from video_contrast.perturbations.contrast.generators.frames.counts import FrameCounts

Kind = Literal["verb", "noun"]
_PRIOR = 1.5  # videos by which observed and expected are smoothed


class Together:
    """Lift and hiddenness of the verbs (or nouns) of some counts."""

    def __init__(self, counts: FrameCounts, kind: Kind) -> None:
        self._counts = counts
        self._kind = kind
        self.lift = lru_cache(1 << 20)(self._lift)

    @cached_property
    def _by_item(self) -> dict[str, dict[str, int]]:
        """Item -> category -> videos; item "" holds the videos of each category."""
        by_item: dict[str, dict[str, int]] = defaultdict(dict)
        for key, n in sorted(self._counts.tables[f"{self._kind}s"].items()):
            category, item = key.split("\t")
            by_item[item][category] = n
        return dict(by_item)

    @cached_property
    def totals(self) -> dict[str, int]:
        """Item -> the videos that say it."""
        return {item: sum(by.values()) for item, by in self._by_item.items()}

    def expected(self, first: str, second: str) -> float:
        """Videos that would say both, if the two were independent within each category."""
        sizes = self._by_item.get("", {})
        rarer, commoner = self._by_item.get(first, {}), self._by_item.get(second, {})
        if len(commoner) < len(rarer):
            rarer, commoner = commoner, rarer
        return sum(n * commoner.get(category, 0) / sizes[category] for category, n in rarer.items())

    def observed(self, first: str, second: str) -> int:
        """Videos that say both."""
        a, b = sorted((first, second))
        return self._counts.get(f"{self._kind}_pairs", a, b)

    def _lift(self, first: str, second: str) -> float:
        """Observed over expected, smoothed towards 1 where little is known.

        Below 1 the two exclude each other; 1 says that nothing is known or that they do not care.
        """
        expected = self.expected(first, second)
        return (self.observed(first, second) + _PRIOR) / (expected + _PRIOR)

    def hidden(self, item: str) -> float:
        """How often it is true without being said, over how often it is said (Chao's estimate from rare mentions)."""
        total = self.totals.get(item, 0)
        in_one = self._counts.get(f"{self._kind}_spread", item, "1")
        in_two = self._counts.get(f"{self._kind}_spread", item, "2")
        return (in_one * in_one / (2 * (in_two + 1)) + 1) / (total + 2)

    def same_noun(self, noun: str, first: str, second: str) -> float:
        """Returns the lift of two verbs among the videos where either is said of this very noun.

        Args:
            noun: in dictionary form.
            first, second: verbs, with their particles.
        """
        a, b = sorted((first, second))
        both = self._counts.get("same_noun", noun, a, b)
        of_first, of_second = self._counts.get("same_noun", noun, a, ""), self._counts.get("same_noun", noun, b, "")
        total = self._counts.tables["nouns"]
        if not of_first or not of_second or not total:
            return 1.0
        videos = self.noun_videos.get(noun, 0)
        expected = of_first * of_second / max(videos, of_first, of_second, 1)
        return (both + _PRIOR / 2) / (expected + _PRIOR / 2)

    @cached_property
    def noun_videos(self) -> dict[str, int]:
        """Noun -> the videos that say it."""
        videos: dict[str, int] = defaultdict(int)
        for key, n in self._counts.tables["nouns"].items():
            videos[key.split("\t")[1]] += n
        return dict(videos)

    def log_lift(self, first: str, second: str) -> float:
        """Logarithm of `lift`."""
        return log(self.lift(first, second))

    def mean_log_lift(self, own_words: Counter[str], other: str, captions: int) -> float:
        """Returns the mean logarithm of lift between a word and all that the captions of a clip say.

        Args:
            own_words: word -> how many of the captions say it, its weight.
            other: the word.
            captions: how many captions there are.
        """
        total = weight = 0.0
        for word, n in own_words.items():
            if word not in self.totals or word == "be":
                continue
            share = n / captions
            total += share * self.log_lift(word, other)
            weight += share
        return total / weight if weight else 0.0
