"""R@K under the tie rule."""

from video_contrast.metrics.checks import Values, at_most, choices
from video_contrast.metrics.ranks import choice_ranks, exact_mean


def recall_at_k(scores: Values, labels: Values = None, *, k: int = 1) -> float:
    """The share of items whose true candidate is among the first `k`, as expected under random tie-breaking.

    An item with g candidates above the true one and e equal to it counts clip((k - g) / (e + 1), 0, 1).

    Args:
        scores: `[n][candidates]`, higher is better.
        labels: `[n]`, the position of the true candidate; None: always 0.
        k: from 1 to the number of candidates.

    Returns:
        0..1; exactly k / candidates for a scorer that gives every candidate the same score.

    Raises:
        ValueError: as `multiple_choice`.

    >>> recall_at_k([[0.7, 0.1, 0.2], [0.5, 0.5, 0.9]], k=2)
    0.75
    """
    array, truth, sizes = choices(scores, labels)
    (k,) = at_most([k], int(sizes.min()), "candidates an item")
    return exact_mean(choice_ranks(array, truth).hit(k))
