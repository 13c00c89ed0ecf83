"""Multiple-choice accuracy under the tie rule."""

from video_contrast.metrics.checks import Values, choices
from video_contrast.metrics.ranks import choice_ranks, exact_mean


def accuracy(scores: Values, labels: Values = None) -> float:
    """The share of items whose true candidate scores highest; a tie among m candidates counts 1/m.

    Args:
        scores: `[n][k]`, higher is better.
        labels: `[n]`, the position of the true candidate; None: always 0.

    Returns:
        0..1; exactly 1/k for a scorer that gives every candidate the same score.

    Raises:
        ValueError: as `multiple_choice`.

    >>> accuracy([[0.7, 0.1], [0.5, 0.5]])
    0.75
    """
    array, truth, _ = choices(scores, labels)
    return exact_mean(choice_ranks(array, truth).hit(1))
