"""Mean rank under the tie rule."""

from video_contrast.metrics.checks import Values, choices
from video_contrast.metrics.ranks import choice_ranks, exact_mean


def mean_rank(scores: Values, labels: Values = None) -> float:
    """The mean rank of the true candidate, from 1; a tie counts half a place.

    Args:
        scores: `[n][k]`, higher is better.
        labels: `[n]`, the position of the true candidate; None: always 0.

    Returns:
        1..k; exactly (k + 1) / 2 for a scorer that gives every candidate the same score.

    Raises:
        ValueError: as `multiple_choice`.

    >>> mean_rank([[0.7, 0.1, 0.2], [0.5, 0.5, 0.9]])
    1.75
    """
    array, truth, _ = choices(scores, labels)
    return exact_mean(choice_ranks(array, truth).expected)
