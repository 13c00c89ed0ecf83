"""Verbs that say nearly the same: a contrast between two of them is not false. A table of our own in the package."""

from functools import cache
from itertools import combinations

from video_contrast.perturbations.english.tables import both_ways, lines


@cache
def _lines() -> list[tuple[str, list[str]]]:
    """The table's lines: their kind and their verbs."""
    split = (line.partition("\t") for line in lines("video_contrast.perturbations.contrast", "near_verbs.tsv"))
    return [(kind, listed.split()) for kind, _, listed in split]


@cache
def _table() -> dict[str, frozenset[str]]:
    """Verb -> the verbs near it, both ways."""
    same = [pair for kind, verbs in _lines() if kind == "same" for pair in combinations(verbs, 2)]
    covered = [(first, other) for kind, (first, *others) in _lines() if kind == "covers" for other in others]
    return both_ways([*same, *covered])


def near(lemma: str) -> frozenset[str]:
    """The verbs that may be true of whatever `lemma` is true of, or the other way round.

    >>> sorted(near("film")), "move" in near("dance"), "walk" in near("dance")
    (['capture', 'photograph', 'record', 'shoot', 'videotape'], True, False)
    """
    return _table().get(lemma, frozenset())


@cache
def vague() -> frozenset[str]:
    """Verbs that are true of most clips or cannot be seen: what they say is hardly ever false.

    >>> "do" in vague(), "want" in vague(), "sing" in vague()
    (True, True, False)
    """
    return frozenset(verb for kind, listed in _lines() if kind == "vague" for verb in listed)
