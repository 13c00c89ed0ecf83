"""The probability that a reader calls an edit natural and surely false: two logistic regressions on `features`.

`judge.tsv` holds the coefficients (kind, question, feature, weight): is the edit natural, and is it surely false if it
is? `benchmarks/judge.py` trains them on votes of readers.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from math import exp

from video_contrast.errors import UsageError
from video_contrast.perturbations.contrast.proposal import Kind
from video_contrast.perturbations.english.tables import lines

QUALITIES = {"high": 0.7, "balanced": 0.55, "all": 0.4}
QUESTIONS = ("natural", "surely false")
INTERCEPT = "(intercept)"


@dataclass(frozen=True)
class Judge:
    """Coefficients of one kind of edit; features that are not named weigh nothing."""

    natural: Mapping[str, float]
    surely_false: Mapping[str, float]

    def probability(self, features: Mapping[str, float]) -> float:
        """The probability, 0..1."""
        return _logistic(self.natural, features) * self.falsity(features)

    def falsity(self, features: Mapping[str, float]) -> float:
        """The probability that an edit is surely false if it is natural, 0..1."""
        return _logistic(self.surely_false, features)


def _logistic(weights: Mapping[str, float], features: Mapping[str, float]) -> float:
    total = weights.get(INTERCEPT, 0.0) + sum(weights.get(name, 0.0) * value for name, value in features.items())
    return 1.0 / (1.0 + exp(-max(-30.0, min(30.0, total))))


@cache
def load_judge(kind: Kind) -> Judge:
    """The judge of verb or object edits that the package ships."""
    rows = [line.split("\t") for line in lines("video_contrast.perturbations.contrast", "judge.tsv")[1:]]
    natural, surely_false = (
        {feature: float(weight) for of_kind, of, feature, weight in rows if (of_kind, of) == (kind, question)}
        for question in QUESTIONS
    )
    return Judge(natural, surely_false)


def threshold(quality: str | float) -> float:
    """The least probability of a quality: "high", "balanced", "all", or a number between 0 and 1.

    Raises:
        UsageError: it is neither.

    >>> threshold("balanced"), threshold("0.9")
    (0.55, 0.9)
    """
    if quality in QUALITIES:
        return QUALITIES[str(quality)]
    try:
        least = float(quality)
    except ValueError:
        least = -1.0
    if not 0.0 <= least < 1.0:
        raise UsageError(f"quality must be {', '.join(QUALITIES)} or a probability from 0 to 1, not {quality!r}")
    return least
