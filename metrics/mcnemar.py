"""McNemar's exact test: are two models right on different numbers of the same items?"""

import numpy as np

from video_contrast.metrics.checks import Values, vector


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
