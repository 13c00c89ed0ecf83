"""Words of a caption with their places in it. Every tagger of this room sees the same words."""

import re
from typing import NamedTuple

# A number with its separators, a word with inner hyphens and apostrophes, or one other visible character.
_WORD = re.compile(r"\d+(?:[.,:/]\d+)+|\w+(?:[-'’]\w+)*|[^\w\s]")
_CLITIC = re.compile(r"(?:n['’]t|['’](?:s|re|ve|ll|d|m)|(?<=^can)not)$", re.IGNORECASE)


class Token(NamedTuple):
    """One word: `caption[start:end] == text`; `tag` is a Penn Treebank tag; `lemma` is lower case."""

    text: str
    tag: str
    lemma: str
    start: int
    end: int


def spans(caption: str) -> list[tuple[int, int]]:
    """The character spans of a caption's words, as the Penn Treebank cuts them: "isn't" is "is" + "n't".

    >>> caption = "the dog's tail isn't wagging!"
    >>> [caption[a:b] for a, b in spans(caption)]
    ['the', 'dog', "'s", 'tail', 'is', "n't", 'wagging', '!']
    """
    bounds = []
    for match in _WORD.finditer(caption):
        start, end = match.span()
        clitic = _CLITIC.search(match.group())
        if clitic and clitic.start() > 0:
            cut = start + clitic.start()
            bounds += [(start, cut), (cut, end)]
        else:
            bounds.append((start, end))
    return bounds


def words(caption: str) -> list[str]:
    """The words of a caption.

    >>> words("2,000 well-known women")
    ['2,000', 'well-known', 'women']
    """
    return [caption[start:end] for start, end in spans(caption)]
