"""The score of a contrast, and the dial: how sure one wants to be that people find it natural and surely false."""

from collections.abc import Mapping
from typing import Literal

Quality = Literal["high", "balanced", "all"]
WEIGHTS: dict[str, dict[str, float]] = {
    "verb": {
        "antonym": 2.3, "plain": 0.55, "exclusive": 1.3, "fluency": 0.25, "pmi": 0.27, "same_noun": 0.6, "bare": 0.5,
        "siblings": 1.3, "others": 0.75, "tails": 0.8, "seen": 0.2, "company": 2.0, "lift": 0.1, "share": 0.05,
        "said": 0.1, "hidden": 0.1, "speech": 0.2,
    },
    "object": {
        "hidden": 0.5, "plain": 0.4, "pmi": 0.3, "own_hidden": 0.3, "same_class": 0.5, "lift": 0.45, "seen": 0.3,
        "siblings": 1.0, "adjectives": 0.6, "company": 0.9, "place": 0.2, "said": 0.2, "fluency": 0.1,
    },
}  # fmt: skip

QUALITIES: tuple[Quality, ...] = ("high", "balanced", "all")
# Scores that about half and two thirds of MSR-VTT's validation videos reach (verbs), a third and half (objects).
THRESHOLDS: dict[str, dict[str, float]] = {
    "verb": {"high": 0.43, "balanced": -0.58},
    "object": {"high": 0.93, "balanced": -0.43},
}


def threshold(kind: str, quality: str) -> float:
    """The least score of a quality; none for "all"."""
    return THRESHOLDS[kind].get(quality, float("-inf"))


def score(parts: Mapping[str, float], kind: str) -> float:
    """The weighted sum of what was measured."""
    return sum(weight * parts.get(name, 0.0) for name, weight in WEIGHTS[kind].items())
