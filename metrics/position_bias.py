"""Position bias: does the answer depend on where the true option stands?"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from video_contrast.metrics.checks import choices
from video_contrast.metrics.cluster_bootstrap import OfMeans, cluster_bootstrap, interval_keys
from video_contrast.metrics.ranks import choice_places, exact_mean, exact_std


def position_bias(
    scores: Any, labels: Any, *, clusters: Any = None, interval: bool = False, seed: int = 0
) -> dict[str, Any]:
    """Accuracy by the position of the true option, and how often each position is picked.

    Args:
        scores: `[n][k]` of the options in the order in which the model saw them, higher is better.
        labels: `[n]`, the position of the true option.
        clusters: `[n]`, the source videos, for the intervals.
        interval: add 95 % cluster bootstrap intervals of all figures. Those of the standard deviations lie high: the
            noise of a small set, drawn anew, adds to them.
        seed: of the bootstrap.

    Returns:
        `accuracy_by_position` (`[k]`, None where no item has its true option there), `accuracy_std` (standard
        deviation of those), `picked` (`[k]`, share of items in which the position is chosen; tied options share the
        item), `picked_std`, `n_by_position`, `n`; with interval `<key>_low` and `<key>_high`, lists where the figure
        is one.

    Raises:
        ValueError: as `multiple_choice`.

    >>> result = position_bias([[0.9, 0.1], [0.8, 0.2], [0.7, 0.3], [0.1, 0.9]], [0, 0, 1, 1])
    >>> result["accuracy_by_position"], result["picked"]
    ([1.0, 0.5], [0.75, 0.25])
    """
    array, truth, _ = choices(scores, labels)
    hits = choice_places(array, truth).hit(1)
    highest = array == array.max(axis=1, keepdims=True)
    picked = highest / highest.sum(axis=1, keepdims=True)
    here = (truth[:, None] == np.arange(array.shape[1])).astype(np.float64)
    n_by_position = here.sum(axis=0).astype(np.int64)
    by_position = [exact_mean(hits[truth == p]) if n else None for p, n in enumerate(n_by_position)]
    shares = [exact_mean(column) for column in picked.T]
    result: dict[str, Any] = {
        "accuracy_by_position": by_position,
        "accuracy_std": exact_std(np.array([value for value in by_position if value is not None])),
        "picked": shares,
        "picked_std": exact_std(np.array(shares)),
        "n_by_position": n_by_position.tolist(),
        "n": len(array),
    }
    if not interval:
        return result

    def bounds(columns: NDArray[np.float64], statistic: str | OfMeans) -> dict[str, float | None]:
        return interval_keys("x", cluster_bootstrap(columns, clusters, statistic=statistic, seed=seed))

    right = here * hits[:, None]
    pairs = np.stack([here.T, right.T], axis=2)
    for name, found in (
        ("accuracy_by_position", [bounds(pair, "ratio") for pair in pairs]),
        ("picked", [bounds(column, "mean") for column in picked.T]),
    ):
        result |= {f"{name}_{side}": [keys[f"x_{side}"] for keys in found] for side in ("low", "high")}
    for name, columns, statistic in (
        ("accuracy_std", np.concatenate([here, right], axis=1), OfMeans(_std_of_ratios)),
        ("picked_std", picked, OfMeans(lambda means: means.std(axis=1))),
    ):
        result |= {f"{name}_{side}": bounds(columns, statistic)[f"x_{side}"] for side in ("low", "high")}
    return result


def _std_of_ratios(means: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of columns of items and columns of right ones: the standard deviation over the positions that were drawn."""
    here, right = np.split(means, 2, axis=1)
    ratios = np.divide(right, here, out=np.zeros_like(right), where=here > 0)
    n = (here > 0).sum(axis=1)
    mean = ratios.sum(axis=1) / n
    return np.sqrt((((ratios - mean[:, None]) ** 2) * (here > 0)).sum(axis=1) / n)
