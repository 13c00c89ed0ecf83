"""Verb distributions of two sets (contrast-set paper, figure 3), in numbers and as a plot."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from video_contrast.errors import UsageError
from video_contrast.reports.paper_analyses.stored_hits import contrasts_of
from video_contrast.rows import MultipleChoiceRow

_SHOWN = 30  # verbs of the plot


def verb_counts(rows: Sequence[MultipleChoiceRow]) -> Counter[str]:
    """Lemmas of the verbs that a set's contrasts put in, with how often each occurs."""
    from video_contrast.perturbations.english import parse

    pairs = contrasts_of(rows)
    counts: Counter[str] = Counter()
    for (row, n), sentence in zip(pairs, parse([row["candidates"][n] for row, n in pairs]), strict=True):
        edit = row["edits"][n]
        inside = [word for word in sentence.words if edit and word.end > edit["start"] and word.start < edit["end"]]
        counts.update(word.lemma for word in inside if word.is_verb)
    return counts


class VerbComparison(TypedDict):
    """How far the verb distributions of two sets are apart; pairs are of the first and the second set."""

    total_variation: float  # 0 equal to 1 disjoint
    jensen_shannon: float  # bits, 0 to 1
    entropy: list[float]  # bits
    verbs: list[int]
    shared: int
    more_in_first: list[str]  # the verbs whose shares differ most
    more_in_second: list[str]


def compare_verbs(first: Mapping[str, int], second: Mapping[str, int]) -> VerbComparison:
    """RunFigure 3 in numbers: how far the verb distributions of two sets are apart.

    Args:
        first, second: lemma -> count (`verb_counts`).

    Raises:
        UsageError: a set has no verbs.

    >>> compare_verbs({"run": 1, "sit": 1}, {"run": 2})["total_variation"]
    0.5
    """
    names = sorted(set(first) | set(second))
    if not sum(first.values()) or not sum(second.values()):
        raise UsageError("one of the sets has no verb contrasts to compare")
    p = np.array([first.get(name, 0) for name in names], np.float64) / sum(first.values())
    q = np.array([second.get(name, 0) for name in names], np.float64) / sum(second.values())
    middle = (p + q) / 2
    by_difference = np.argsort(p - q, kind="stable")
    return {
        "total_variation": round(float(np.abs(p - q).sum() / 2), 4),
        "jensen_shannon": round(_entropy(middle) - (_entropy(p) + _entropy(q)) / 2, 4),
        "entropy": [round(_entropy(p), 4), round(_entropy(q), 4)],
        "verbs": [int((p > 0).sum()), int((q > 0).sum())],
        "shared": int(((p > 0) & (q > 0)).sum()),
        "more_in_first": [names[n] for n in by_difference[::-1][:5] if p[n] > q[n]],
        "more_in_second": [names[n] for n in by_difference[:5] if q[n] > p[n]],
    }


def plot_verbs(first: Mapping[str, int], second: Mapping[str, int], names: tuple[str, str], output: str | Path) -> Path:
    """Draws figure 3: the share of each verb in two sets, the commonest of the first set to the left.

    Args:
        first, second: lemma -> count (`verb_counts`).
        names: of the two sets.
        output: the PNG file.
    """
    from video_contrast.files import write_bytes
    from video_contrast.reports.verbs import verb_plot

    counts = [(name, Counter(of_set)) for name, of_set in zip(names, (first, second), strict=True)]
    verbs = sorted({*first, *second}, key=lambda verb: (-first.get(verb, 0) / sum(first.values()), verb))[:_SHOWN]
    return write_bytes(output, verb_plot(counts, verbs, name="verbs", size=(7.2, 3.4)).png)


def _entropy(shares: NDArray[np.float64]) -> float:
    positive = shares[shares > 0]
    return float(-(positive * np.log2(positive)).sum())
