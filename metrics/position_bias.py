"""Position bias: does the answer depend on where the true candidate stands?"""

import numpy as np
from numpy.typing import NDArray

from video_contrast.metrics.bootstrap import OfMeans, cluster_bootstrap
from video_contrast.metrics.checks import Figures, Values, choices, cluster_codes
from video_contrast.metrics.interval import interval_keys, share_interval
from video_contrast.metrics.ranks import choice_ranks, exact_mean, exact_std


def position_bias(
    scores: Values, labels: Values, *, clusters: Values = None, interval: bool = False, seed: int = 0
) -> Figures:
    """Accuracy by the position of the true candidate, and how often each position is picked.

    Args:
        scores: `[n][k]` of the candidates in the order in which the model saw them, higher is better.
        labels: `[n]`, the position of the true candidate.
        clusters: `[n]`, the source videos, for the intervals.
        interval: add 95 % intervals of all figures (`share_interval`; `cluster_bootstrap` of the standard deviations,
            which lie high: the noise of a small set, drawn anew, adds to them).
        seed: of the bootstrap.

    Returns:
        `accuracy_by_position` (`[k]`, None where no item has its true candidate there), `accuracy_std` (standard
        deviation of those), `picked` (`[k]`, share of items in which the position is chosen; tied candidates share the
        item), `picked_std`, `n_by_position`, `n`; with interval `<key>_low` and `<key>_high`, lists where the figure
        is one.

    Raises:
        ValueError: as `multiple_choice`.

    >>> result = position_bias([[0.9, 0.1], [0.8, 0.2], [0.7, 0.3], [0.1, 0.9]], [0, 0, 1, 1])
    >>> result["accuracy_by_position"], result["picked"]
    ([1.0, 0.5], [0.75, 0.25])
    """
    array, truth, _ = choices(scores, labels)
    hits = choice_ranks(array, truth).hit(1)
    highest = array == array.max(axis=1, keepdims=True)
    picked = highest / highest.sum(axis=1, keepdims=True)
    here = (truth[:, None] == np.arange(array.shape[1])).astype(np.float64)
    n_by_position = here.sum(axis=0).astype(np.int64)
    by_position = [exact_mean(hits[truth == p]) if n else None for p, n in enumerate(n_by_position)]
    shares = [exact_mean(column) for column in picked.T]
    result: Figures = {
        "accuracy_by_position": by_position,
        "accuracy_std": exact_std(np.array([value for value in by_position if value is not None])),
        "picked": shares,
        "picked_std": exact_std(np.array(shares)),
        "n_by_position": n_by_position.tolist(),
        "n": len(array),
    }
    if not interval:
        return result

    groups, _ = cluster_codes(clusters, len(array))
    of_positions = [
        share_interval(hits[truth == p], groups[truth == p]).bounds if n else (None, None)
        for p, n in enumerate(n_by_position)
    ]
    of_picks = [share_interval(column, groups).bounds for column in picked.T]
    for name, bounds in (("accuracy_by_position", of_positions), ("picked", of_picks)):
        result[f"{name}_low"], result[f"{name}_high"] = ([ends[side] for ends in bounds] for side in (0, 1))
    for name, columns, statistic in (
        ("accuracy_std", np.concatenate([here, here * hits[:, None]], axis=1), OfMeans(_std_of_ratios)),
        ("picked_std", picked, OfMeans(lambda means: means.std(axis=1))),
    ):
        bootstrap = cluster_bootstrap(columns, clusters, statistic=statistic, seed=seed, bounds=(0, 1))
        result |= interval_keys(name, bootstrap)
    return result


def _std_of_ratios(means: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of columns of items and columns of right ones: the standard deviation over the positions that were drawn."""
    here, right = np.split(means, 2, axis=1)
    ratios = np.divide(right, here, out=np.zeros_like(right), where=here > 0)
    n = (here > 0).sum(axis=1)
    mean = ratios.sum(axis=1) / n
    return np.asarray(np.sqrt((((ratios - mean[:, None]) ** 2) * (here > 0)).sum(axis=1) / n), np.float64)
