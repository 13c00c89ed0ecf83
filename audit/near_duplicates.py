"""Texts that are nearly the same: equal up to case and punctuation, or nearly the same words."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Sequence

_WORD = re.compile(r"[\w']+")
SHARE = 0.9  # of the words of two texts that they have in common
_LONGEST = 400  # texts that share a rare word and are compared with each other, at most


def plain(text: str) -> str:
    """Returns the text in lower case without punctuation.

    >>> plain("A man, running!")
    'a man running'
    """
    return " ".join(_WORD.findall(text.lower()))


def near_duplicates(texts: Sequence[str]) -> list[tuple[int, int]]:
    """Returns pairs of texts whose sets of words have a Jaccard index of at least `SHARE`, but are not `plain`-equal.

    Texts of under five words are left out: one word of four is a difference. A text is compared with those that hold
    one of its rarest words (prefix filtering; Chaudhuri et al. 2006), which finds every pair. Returns places of both
    texts, the smaller one first; of equal texts only the first counts.

    >>> near_duplicates(["a man rides a brown horse on a beach", "on a beach a man rides a brown horse", "a cat"])
    [(0, 1)]
    """
    first: dict[str, int] = {}
    for n, text in enumerate(texts):
        first.setdefault(plain(text), n)
    bags = {n: frozenset(text.split()) for text, n in first.items()}
    frequency = Counter(word for bag in bags.values() for word in bag)
    index: dict[str, list[int]] = defaultdict(list)
    pairs = []
    for n, bag in sorted(bags.items(), key=lambda entry: (len(entry[1]), entry[0])):
        if len(bag) < 5:
            continue
        rare = sorted(bag, key=lambda word: (frequency[word], word))[: len(bag) - math.ceil(SHARE * len(bag)) + 1]
        near = {other for word in rare for other in index[word][-_LONGEST:]}
        for other in near:
            common = len(bag & bags[other])
            if common >= SHARE * (len(bag) + len(bags[other]) - common):
                pairs.append((min(n, other), max(n, other)))
        for word in rare:
            index[word].append(n)
    return sorted(pairs)
