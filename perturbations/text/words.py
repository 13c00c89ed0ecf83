"""The parts that word-level rules share: words that may change, how many of them do, and how a new one is put in."""

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache

from numpy.random import Generator

from video_contrast.files import Json
from video_contrast.perturbations.english import Sentence, Word, lexicon
from video_contrast.perturbations.english.forms import fix_article, is_noun, like_case, verb_tags
from video_contrast.perturbations.english.lexicon import words_of

WORD = re.compile(r"\w+(?:['’]\w+)*")
MOST = 10  # words that one rule changes in a caption, at most

# Never chosen by a word-level rule: pronouns, articles, forms of be and have, common prepositions, and/or/nor.
FUNCTION_WORDS = words_of("function")

# Words that no caption should be given at random: slurs, insults, obscenities, what is sexual or violent.
UNFIT = words_of("unfit")


def lines(name: str) -> tuple[str, ...]:
    """The lines of a word table (data/LICENSES.md says where it comes from) that are neither empty nor a comment."""
    return lexicon.lines("video_contrast.perturbations.text", "data", name)


@cache
def parsed(name: str) -> Json:
    """A JSON table."""
    return json.loads("\n".join(lines(name)))


def is_content(word: Word) -> bool:
    """Whether a word is a noun, verb, adjective or adverb that a word-level rule may choose."""
    return word.tag[:2] in ("NN", "VB", "JJ", "RB") and word.text.isalpha() and word.text not in FUNCTION_WORDS


def can_be(word: str, tag: str) -> bool:
    """Whether a dictionary knows a word as what the parser takes it for: in "a sings" anything is read as a noun.

    >>> can_be("sings", "NN"), can_be("sings", "VBZ"), can_be("red", "JJ")
    (False, True, True)
    """
    return is_noun(word) if tag in ("NN", "NNS") else tag in verb_tags(word) if tag[:2] == "VB" else True


def how_many(share: float, tokens: int) -> int:
    """The number of words to change among `tokens`: the whole part of the share, at least 1, at most 10.

    >>> [how_many(0.2, n) for n in (1, 5, 14, 15, 90)]
    [1, 1, 2, 3, 10]
    """
    return min(max(int(share * tokens), 1), MOST)


def pick(items: Sequence[str], rng: Generator) -> str:
    """One of `items`, all equally likely. (A plain draw in [0, 1) costs a fifth of `rng.integers`.)"""
    return items[int(rng.random() * len(items))]


def sample(count: int, size: int, rng: Generator) -> list[int]:
    """`size` different numbers below `count` in rising order; all of them if there are not more.

    `count`: how many numbers there are; at least 1.

    >>> import numpy as np
    >>> sample(3, 5, np.random.default_rng(0))
    [0, 1, 2]
    """
    if size >= count:
        return list(range(count))
    if size == 1:
        return [int(rng.random() * count)]
    untried = list(range(count))
    return sorted(untried.pop(int(rng.random() * len(untried))) for _ in range(size))


def rewritten(sentence: Sentence, changes: Mapping[int, str], *, articles: bool = True) -> str:
    """The caption with words replaced, each in the case of the old one.

    `changes`: place of a word -> what stands there instead, in lower case; "" leaves a word out that is not the last.
    `articles`: make an "a" or "an" before a new word fit it.

    >>> from video_contrast.perturbations.english import parse_one
    >>> rewritten(parse_one("A man runs"), {1: "actor", 2: "slowly runs"})
    'An actor slowly runs'
    """
    caption, new_caption, at = sentence.caption, "", 0
    for place, new in sorted(changes.items()):
        word = sentence.words[place]
        before, new = new_caption + caption[at : word.start], like_case(new, caption[word.start : word.end])
        new_caption = (fix_article(before, new or sentence.text(place + 1, place + 2)) if articles else before) + new
        at = word.end if new else sentence.words[place + 1].start
    return new_caption + caption[at:]
