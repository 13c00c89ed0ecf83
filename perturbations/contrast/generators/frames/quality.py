"""The score of a contrast, and the dial: how sure one wants to be that people find it natural and surely false."""

from collections.abc import Mapping, Sequence
from typing import Literal

from video_contrast.perturbations.contrast.generators.frames.proposal import Proposal

Quality = Literal["high", "balanced", "all"]
WEIGHTS: dict[str, dict[str, float]] = {
    "verb": {
        "antonym": 2.3, "plain": 0.55, "exclusive": 1.5, "fluency": 0.25, "pmi": 0.27, "same_noun": 0.6, "bare": 0.5,
        "siblings": 1.6, "others": 0.75, "tails": 0.8, "seen": 0.2, "company": 2.0, "lift": 0.3, "share": 0.05,
        "said": 0.1, "hidden": 0.1, "speech": 0.4, "rare": 0.7, "antonym_lift": 0.7, "step": 2.2, "step_lift": 0.5,
        "step_company": 0.3, "sure": 3.5,
    },
    "object": {
        "hidden": 0.5, "plain": 0.5, "pmi": 0.3, "own_hidden": 0.3, "same_class": 0.5, "lift": 0.6, "seen": 0.3,
        "siblings": 0.8, "adjectives": 0.6, "company": 0.9, "place": 0.2, "said": 0.2, "fluency": 0.1,
        "others": 0.6, "lead": 0.12, "run": 0.7, "goes": 0.7, "preposition": 0.25,
    },
}  # fmt: skip

QUALITIES: tuple[Quality, ...] = ("high", "balanced", "all")
# Scores that about half and two thirds of MSR-VTT's validation videos reach (verbs), a third and half (objects).
THRESHOLDS: dict[str, dict[str, float]] = {
    "verb": {"high": 0.548, "balanced": -0.5},
    "object": {"high": 0.86, "balanced": -0.68},
}

# How far below the dial the further proposals of a clip may lie whose best one reaches it: the choice that balances
# needs some. Things leave fewer choices than verbs.
ROOM = {"verb": 0.15, "object": 0.5}


def threshold(kind: str, quality: str) -> float:
    """The least score of a quality; none for "all"."""
    return THRESHOLDS[kind].get(quality, float("-inf"))


def reaching(proposals: Sequence[Proposal], kind: str, quality: str) -> list[Proposal]:
    """Returns a clip's proposals at a quality: none if the best one does not reach it.

    Args:
        proposals: of one clip, best first.
        kind: "verb" or "object".
        quality: of `QUALITIES`.
    """
    limit = threshold(kind, quality)
    if not proposals or proposals[0].score < limit:
        return []
    return [proposal for proposal in proposals if proposal.score >= limit - ROOM[kind]]


def score(parts: Mapping[str, float], kind: str) -> float:
    """The weighted sum of what was measured."""
    return sum(weight * parts.get(name, 0.0) for name, weight in WEIGHTS[kind].items())
