"""Tests of paired differences (sign flips by clusters, McNemar's), and Holm's correction of a family of p-values."""

import numpy as np
from numpy.typing import NDArray

from video_contrast.metrics.checks import Values, cluster_codes, shares, vector
from video_contrast.seeds import stream

_ENUMERATED = 15  # so many clusters have 32,768 sets of signs
_DRAWS = 9_999
_AT_ONCE = 1 << 20  # numbers drawn
_WHOLE = 1 << 30  # clusters times their sum: some 30,000 items of which one model is right take seconds


def sign_flip(change: Values, clusters: Values = None, *, seed: int = 0) -> float:
    """The two-sided p-value of a mean of paired differences, if both sides of every pair are interchangeable.

    The two models are interchanged in whole clusters; the p-value is the share of all sets of signs in which the sum of
    the differences is as far from 0 as it is. That share is exact where all sums of clusters are whole numbers (right
    and wrong answers; for independent items this is McNemar's exact test) of some 30,000 at most, or up to 15 clusters
    differ; else 9,999 sets of signs are drawn, and the p-value is at least 1e-4. With five clusters it is at least
    1/16: five videos alone cannot show a difference at 5 %.

    Args:
        change: `[n]`, second less first.
        clusters: `[n]`, the source videos; None: items are independent.
        seed: of the drawn signs.

    Returns:
        0..1; 1 where nothing differs.

    Raises:
        ValueError: empty, values that are not finite, not one cluster an item; the message names the item.

    Source: Fisher (1935); Dwass (1957) for drawn signs.

    >>> sign_flip([1, 1, 1, 1, 1, 0]), sign_flip([1, -1, 0])
    (0.0625, 1.0)
    """
    values = vector(change, "change")
    codes, n_clusters = cluster_codes(clusters, len(values))
    signed = np.bincount(codes, weights=values, minlength=n_clusters)
    # Items that cancel out leave rounding; so do sums of thirds.
    sums = np.sort(np.abs(signed[np.abs(signed) > 1e-12 * np.abs(values).max()]))
    observed = abs(float(signed.sum())) * (1 - 1e-9)
    if not len(sums):
        return 1.0
    if np.array_equal(sums, np.rint(sums)) and len(sums) * sums.sum() < _WHOLE:
        return _whole(sums.astype(np.int64), observed)
    if len(sums) <= _ENUMERATED:
        signs = (np.arange(2 ** len(sums))[:, None] >> np.arange(len(sums)) & 1) * 2 - 1
        return float((np.abs(signs @ sums) >= observed).mean())
    # Of equal sums the signs are binomial; rounded, since those of thirds are equal but for their last digits.
    sizes, times = np.unique((sums / sums[-1]).round(12), return_counts=True)
    if 8 * len(sizes) > len(sums):  # a binomial takes ten times as long as a sign
        sizes, times = sums / sums[-1], np.ones(len(sums), np.int8)
    rng, extreme = stream(seed, "sign_flip", len(sums)), 0
    step = max(1, _AT_ONCE // len(sizes))
    for begin in range(0, _DRAWS, step):
        shape = (min(step, _DRAWS - begin), len(sizes))
        positive = rng.binomial(times, 0.5, shape) if times.max() > 1 else rng.integers(0, 2, shape, np.int8)
        extreme += int((np.abs((2 * positive - times) @ sizes) >= observed / sums[-1]).sum())
    return (1 + extreme) / (1 + _DRAWS)


def _whole(sums: NDArray[np.int64], observed: float) -> float:
    """The exact share: the distribution of the sum of whole numbers with random signs, one cluster after another."""
    chances = np.ones(1)  # of the sums -reach, -reach + 2, ... reach
    for size in sums:
        chances = 0.5 * (np.append(chances, np.zeros(size)) + np.append(np.zeros(size), chances))
    reach = int(sums.sum())
    return min(1.0, float(chances[np.abs(np.arange(-reach, reach + 1, 2)) >= observed].sum()))


def mcnemar(first: Values, second: Values) -> dict[str, float | int]:
    """Exact two-sided test of paired right and wrong answers.

    Args:
        first, second: `[n]`, 1 where the model is right, 0 where it is wrong, on the same items.

    Returns:
        `p_value`, `only_first` and `only_second` (items that one model alone gets right). With no such item the
        p-value is 1. Items are taken as independent: for several items a video use `paired_difference`.

    Raises:
        ValueError: unequal lengths, values other than 0 and 1; the message names the item.

    Source: McNemar (1947), exact binomial form.

    >>> mcnemar([1, 1, 1, 1, 1, 1, 0], [0, 0, 0, 0, 0, 1, 0])
    {'p_value': 0.0625, 'only_first': 5, 'only_second': 0}
    """
    a, b = vector(first, "first"), vector(second, "second")
    if len(a) != len(b):
        raise ValueError(f"{len(a)} and {len(b)} answers: McNemar's test compares the same items")
    for name, values in (("first", a), ("second", b)):
        bad = np.flatnonzero((values != 0) & (values != 1))
        if len(bad):
            raise ValueError(f"{name}: item {bad[0]} is {values[bad[0]]}, neither right (1) nor wrong (0)")
    only_first, only_second = int((a > b).sum()), int((b > a).sum())
    n, fewer = only_first + only_second, min(only_first, only_second)
    term, tail = 1, 1  # binomial coefficients as whole numbers: exact for any n
    for i in range(fewer):
        term = term * (n - i) // (i + 1)
        tail += term
    p_value = min(1.0, 2 * tail / 2**n) if n else 1.0
    return {"p_value": p_value, "only_first": only_first, "only_second": only_second}


def holm(p_values: Values) -> NDArray[np.float64]:
    """P-values adjusted so that the chance of any false positive in the family stays below the level.

    `p_values`: `[m]`, each from 0 to 1. Returns `float64[m]`, adjusted, in the order given; at most 1. Raises
    ValueError: empty, or a value outside 0..1; the message names it.

    Source: Holm (1979).

    >>> holm([0.01, 0.04, 0.03]).round(3).tolist()
    [0.03, 0.06, 0.06]
    """
    values = shares(p_values, "p_values")
    order = np.argsort(values, kind="stable")
    scaled = values[order] * np.arange(len(values), 0, -1)
    adjusted = np.empty_like(values)
    adjusted[order] = np.minimum(np.maximum.accumulate(scaled), 1.0)
    return adjusted
