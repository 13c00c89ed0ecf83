"""How varied a set of choices is."""

from collections import Counter
from collections.abc import Iterable
from math import exp, log
from typing import NamedTuple


class Variety(NamedTuple):
    """Attributes:
    effective: the number of equally common values that would be as varied: e to the entropy (Hill number of order 1).
    ten_commonest: share of the ten commonest values, 0..1.
    """

    effective: float
    ten_commonest: float


def variety(values: Iterable[str]) -> Variety:
    """Effective number of values, and share of the ten commonest; of no values (0, 0).

    >>> variety(["sit -> stand", "sing -> dance"])
    Variety(effective=2.0, ten_commonest=1.0)
    """
    counts = Counter(values)
    total = sum(counts.values())
    if not total:
        return Variety(0.0, 0.0)
    entropy = -sum(n / total * log(n / total) for n in counts.values())
    return Variety(round(exp(entropy), 10), sum(n for _, n in counts.most_common(10)) / total)
