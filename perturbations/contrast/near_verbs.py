"""Verbs that say nearly the same: a contrast between two of them is not false. A table of our own in the package."""

from functools import cache
from importlib.resources import files
from itertools import combinations


@cache
def _lines() -> list[tuple[str, list[str]]]:
    """The table's lines: their kind and their verbs."""
    text = (files("video_contrast.perturbations.contrast") / "near_verbs.tsv").read_text(encoding="utf-8")
    split = (line.partition("\t") for line in text.splitlines() if not line.startswith("#"))
    return [(kind, listed.split()) for kind, _, listed in split]


@cache
def _table() -> dict[str, frozenset[str]]:
    """Verb -> the verbs near it, both ways."""
    near: dict[str, set[str]] = {}
    for kind, (first, *others) in _lines():
        if kind == "vague":
            continue
        pairs = [(first, other) for other in others] if kind == "covers" else combinations((first, *others), 2)
        for first, other in pairs:
            near.setdefault(first, set()).add(other)
            near.setdefault(other, set()).add(first)
    return {verb: frozenset(others) for verb, others in near.items()}


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
