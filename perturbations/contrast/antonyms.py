"""Verb antonyms of WordNet 3.0, shipped as a table of 477 pairs (VerbNet, which the paper names, has none)."""

from functools import cache

from video_contrast.perturbations.english.tables import both_ways, lines


@cache
def table() -> dict[str, frozenset[str]]:
    """Verb -> its antonyms, both ways."""
    return both_ways(tuple(line.split("\t")) for line in lines("video_contrast.perturbations.contrast", "antonyms.tsv"))


def antonyms(base: str) -> frozenset[str]:
    """The antonyms of a verb in its dictionary form, also of several words.

    >>> sorted(antonyms("sit")), sorted(antonyms("push")), sorted(antonyms("eat"))
    (['lie', 'stand'], ['pull'], [])
    """
    return table().get(base, frozenset())


def are_antonyms(first: str, second: str) -> bool:
    """Whether two phrases in dictionary form are antonyms, as they stand or by their verbs.

    Where both have particles and differ in them, the verbs alone do not tell.

    >>> are_antonyms("sit", "stand"), are_antonyms("sit in", "stand in"), are_antonyms("sit", "sing")
    (True, True, False)
    """
    if second in antonyms(first):
        return True
    (verb, _, rest), (other, _, other_rest) = first.partition(" "), second.partition(" ")
    return other in antonyms(verb) and (rest == other_rest or not rest or not other_rest)
