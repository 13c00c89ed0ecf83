"""The main verb of a verb phrase."""

from functools import cache

from video_contrast.perturbations.english.forms import lemma

_AUXILIARIES = frozenset({"is", "are", "was", "were", "be", "been", "being", "has", "have", "had", "am"})


@cache
def main_verb(phrase: str) -> str:
    """The dictionary form of a phrase's main verb: of the first word that is no auxiliary; "" of an empty phrase.

    >>> main_verb("is sitting on"), main_verb("Sings")
    ('sit', 'sing')
    """
    words = without_auxiliaries(phrase.lower())
    return lemma(words[0], "VB") if words else ""


def without_auxiliaries(phrase: str) -> list[str]:
    """The words of a verb phrase from its main verb on.

    >>> without_auxiliaries("has been sitting down")
    ['sitting', 'down']
    """
    words = phrase.split()
    while len(words) > 1 and words[0] in _AUXILIARIES:
        words = words[1:]
    return words
