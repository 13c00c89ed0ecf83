"""What the word-level rules share: which words may change, how many of them, and how a new word is put in."""

import re
from collections.abc import Callable, Sequence
from itertools import chain

from numpy.random import Generator

from video_contrast.perturbations.language import Token

Draw = Callable[[], float]
WORD = re.compile(r"\w+(?:['’]\w+)*")
MOST = 10  # words that one rule changes in a caption, at most

# Never chosen by a word-level rule: pronouns, articles, forms of be and have, common prepositions, and/or/nor.
FUNCTION_WORDS = frozenset(
    """
    i you he she it we they me him her us them my your his its our their this that these those
    a an the and or nor am is are was were be been being have has had having
    of in on at to by for from with into onto about
    """.split()  # noqa: SIM905
)

# Words that no caption should be given at random: slurs, insults, obscenities, what is sexual or violent.
UNFIT = frozenset(
    """
    abortifacient aphrodisiac assault barf bastard bisexual bitch blow bomb boob breast bugger bullshit bum bust butt
    castrate chink cock colored contraceptive crap cripple cuckold damn damned degenerate dung dwarf dyke erotic fag
    faggot fagot fart fascist fuck fucking garotte garrotte gay goddam goddamn goddamned guillotine gyp hang heathen
    hermaphrodite heterosexual homophile homosexual hump hysteric imbecile invalid kill killing lame laxative lay
    lesbian lunatic lust maniac massacre midget mongol mongoloid murder narcotic nazi negro negroid neurotic neuter
    nude pee pervert pimp piss prick prostitute psychotic puke purgative pussy queer racist rape retard retarded retch
    savage schizoid schizophrenic screw screwing sex sexagenarian sexist shag shit slag slaughter slave slaveholding
    slaver snatch sod spastic spic spick stab strip subnormal suck tart torture torturing tramp transsexual
    transvestite untouchable virgin vomit wank wench whore
    """.split()  # noqa: SIM905
)


def is_content(token: Token) -> bool:
    """Whether a word is a noun, verb, adjective or adverb that a word-level rule may choose."""
    return (
        token.tag[:2] in ("NN", "VB", "JJ", "RB") and token.text.isalpha() and token.text.lower() not in FUNCTION_WORDS
    )


def how_many(share: float, tokens: int) -> int:
    """The number of words to change among `tokens`: the whole part of the share, at least 1, at most 10.

    >>> [how_many(0.2, n) for n in (1, 5, 14, 15, 90)]
    [1, 1, 2, 3, 10]
    """
    return min(max(int(share * tokens), 1), MOST)


def pick(items: Sequence[str], rng: Generator) -> str:
    """One of `items`, all equally likely. (A plain draw in [0, 1) costs a fifth of `rng.integers`.)"""
    return items[int(rng.random() * len(items))]


def draws(rng: Generator) -> Draw:
    """A source of uniform numbers in [0, 1) that asks `rng` for 16 at a time: a fifth of the cost of single ones."""
    return chain.from_iterable(iter(lambda: rng.random(16).tolist(), None)).__next__


def sample(count: int, size: int, rng: Generator) -> list[int]:
    """`size` different numbers below `count` in rising order; all of them if there are not more.

    Args:
        count: how many numbers there are; at least 1.
        size: how many are drawn.
        rng: the caption's random stream.

    >>> import numpy as np
    >>> sample(3, 5, np.random.default_rng(0))
    [0, 1, 2]
    """
    if size >= count:
        return list(range(count))
    if size == 1:
        return [int(rng.random() * count)]
    left = list(range(count))
    return sorted(left.pop(int(rng.random() * len(left))) for _ in range(size))


def put(caption: str, changes: Sequence[tuple[int, int, str]]) -> str:
    """The caption with each span (start, end) replaced; spans in reading order, not overlapping.

    >>> put("a man runs", [(2, 5, "boy"), (6, 10, "sits")])
    'a boy sits'
    """
    parts: list[str] = []
    at = 0
    for start, end, new in changes:
        parts += (caption[at:start], new)
        at = end
    parts.append(caption[at:])
    return "".join(parts)
