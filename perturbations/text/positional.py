"""Positional: the first word, the last, both, or the order of the words (robustness paper, A.2).

Words are what white space separates, so the number of words stays.
"""

from numpy.random import Generator

from video_contrast.perturbations.registry import text_perturbation

UNKNOWN = "[UNK]"


@text_perturbation("drop_first", category="Positional", origin="synthetic")
def drop_first(caption: str, rng: Generator, *, profile: str = "paper") -> str:
    """The first word becomes [UNK]."""
    words = caption.split()
    words[0] = UNKNOWN
    return " ".join(words)


@text_perturbation("drop_last", category="Positional", origin="synthetic")
def drop_last(caption: str, rng: Generator, *, profile: str = "paper") -> str:
    """The last word becomes [UNK]."""
    words = caption.split()
    words[-1] = UNKNOWN
    return " ".join(words)


@text_perturbation("drop_first_and_last", category="Positional", origin="synthetic")
def drop_first_and_last(caption: str, rng: Generator, *, profile: str = "paper") -> str:
    """The first and the last word become [UNK]."""
    words = caption.split()
    words[0] = words[-1] = UNKNOWN
    return " ".join(words)


@text_perturbation("shuffle_order", category="Positional", origin="synthetic")
def shuffle_order(caption: str, rng: Generator, *, profile: str = "paper") -> str:
    """The words stand in a random order: another one than before if there is another (`released`: any)."""
    words = caption.split()
    mixed = _shuffled(words, rng)
    if profile != "released" and len(set(words)) > 1:
        while mixed == words:
            mixed = _shuffled(words, rng)
    return " ".join(mixed)


def _shuffled(words: list[str], rng: Generator) -> list[str]:
    return [words[n] for n in rng.random(len(words)).argsort().tolist()]
