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
from video_contrast.perturbations.english.lexicon import lines

# Least probabilities. At the default a set as a whole is to stay twenty points above a released one in the eyes of
# every reader, with a contrast for as many captions as that allows (docs/measurements/contrasts.md).
QUALITIES: dict[str, dict[Kind, float]] = {
    "high": {"verb": 0.8, "object": 0.8},
    "balanced": {"verb": 0.45, "object": 0.35},
    "all": {"verb": 0.3, "object": 0.3},
}
QUESTIONS = ("natural", "surely false")
INTERCEPT = "(intercept)"
_NOTHING = (0.0, 0.0)
Logits = tuple[float, float]  # of "natural" and "surely false"
PUTS_IN = "puts in "  # before a word: a feature that only votes of users give weight


@dataclass(frozen=True)
class Judge:
    """Coefficients of one kind of edit: feature -> weights of "natural" and "surely false". Others weigh nothing."""

    weights: Mapping[str, tuple[float, float]]
    votes: int = 0  # of the user, by which it was trained further
    good_votes: int = 0  # of which say that a contrast is natural and surely false

    def probability(self, features: Mapping[str, float], puts_in: str = "") -> float:
        """The probability, 0..1; `puts_in`: the verb or thing that the edit puts in (`proposal.put_in`)."""
        return both(*self.logits(features, puts_in=puts_in))

    def falsity(self, features: Mapping[str, float]) -> float:
        """The probability that an edit is surely false if it is natural, 0..1."""
        return _logistic(self.logits(features)[1])

    def most(self, base: Logits, name: str, limit: float) -> float:
        """The highest probability if a feature that is not in the `base` logits lies between -`limit` and `limit`."""
        natural, false = self.weights.get(name, _NOTHING)
        return both(base[0] + abs(natural) * limit, base[1] + abs(false) * limit)

    def logits(self, features: Mapping[str, float], base: Logits | None = None, *, puts_in: str = "") -> Logits:
        """The logits of "natural" and "surely false"; `base`: those of further features, which edits share."""
        weights = self.weights
        natural, false = base or weights[INTERCEPT]
        if puts_in and self.votes:
            of_word = weights.get(PUTS_IN + puts_in, _NOTHING)
            natural, false = natural + of_word[0], false + of_word[1]
        for name, value in features.items():
            if value and (weight := weights.get(name)):
                natural += weight[0] * value
                false += weight[1] * value
        return natural, false


def both(natural: float, false: float) -> float:
    """The probability, 0..1, that an edit is natural and surely false, of its logits."""
    return _logistic(natural) * _logistic(false)


def _logistic(logit: float) -> float:
    return 1.0 / (1.0 + exp(-logit if -30.0 < logit < 30.0 else -max(-30.0, min(30.0, logit))))


@cache
def load_judge(kind: Kind) -> Judge:
    """The judge of verb or object edits that the package ships."""
    rows = [line.split("\t") for line in lines("video_contrast.perturbations.contrast", "judge.tsv")[1:]]
    table = {(question, feature): float(weight) for of_kind, question, feature, weight in rows if of_kind == kind}
    return Judge(
        {name: (table.get((QUESTIONS[0], name), 0.0), table.get((QUESTIONS[1], name), 0.0)) for _, name in table}
    )


def threshold(quality: str | float, kind: Kind) -> float:
    """The least probability of a quality for a kind of edit: "high", "balanced", "all", or a number between 0 and 1.

    Raises UsageError: it is neither.

    >>> threshold("balanced", "verb"), threshold("balanced", "object"), threshold("0.9", "verb")
    (0.45, 0.35, 0.9)
    """
    if quality in QUALITIES:
        return QUALITIES[str(quality)][kind]
    try:
        least = float(quality)
    except ValueError:
        least = -1.0
    if not 0.0 <= least < 1.0:
        raise UsageError(f"quality must be {', '.join(QUALITIES)} or a probability from 0 to 1, not {quality!r}")
    return least
