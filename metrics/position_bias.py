"""Position bias: does the answer depend on where the true option stands?"""

from typing import Any

import numpy as np

from video_contrast.metrics.checks import choices, vector
from video_contrast.metrics.cluster_bootstrap import cluster_bootstrap, interval_keys
from video_contrast.metrics.ranks import choice_places


def position_bias(
    scores: Any, labels: Any, *, clusters: Any = None, interval: bool = False, seed: int = 0
) -> dict[str, Any]:
    """Accuracy by the position of the true option, and how often each position is picked.

    Args:
        scores: `[n][k]` of the options in the order in which the model saw them, higher is better.
        labels: `[n]`, the position of the true option.
        clusters: `[n]`, the source videos, for the intervals.
        interval: add `low_by_position` and `high_by_position`, 95 % cluster bootstrap intervals of the accuracies.
        seed: of the bootstrap.

    Returns:
        `accuracy_by_position` (`[k]`, None where no item has its true option there), `accuracy_std` (standard
        deviation of those), `picked` (`[k]`, share of items in which the position is chosen; tied options share the
        item), `picked_std`, `n_by_position`, `n`.

    Raises:
        ValueError: as `multiple_choice`.

    >>> result = position_bias([[0.9, 0.1], [0.8, 0.2], [0.7, 0.3], [0.1, 0.9]], [0, 0, 1, 1])
    >>> result["accuracy_by_position"], result["picked"]
    ([1.0, 0.5], [0.75, 0.25])
    """
    array, truth, _ = choices(scores, labels)
    hits = choice_places(array, truth).hit(1)
    highest = array == array.max(axis=1, keepdims=True)
    picked = (highest / highest.sum(axis=1, keepdims=True)).mean(axis=0)
    members = [truth == position for position in range(array.shape[1])]
    by_position = [float(hits[rows].mean()) if rows.any() else None for rows in members]
    result: dict[str, Any] = {
        "accuracy_by_position": by_position,
        "accuracy_std": float(np.std([value for value in by_position if value is not None])),
        "picked": picked.tolist(),
        "picked_std": float(picked.std()),
        "n_by_position": [int(rows.sum()) for rows in members],
        "n": len(array),
    }
    if interval:
        groups = np.arange(len(array)) if clusters is None else np.asarray(clusters)
        found = [
            interval_keys("x", cluster_bootstrap(hits[rows], groups[rows], seed=seed)) if rows.any() else {}
            for rows in members
        ]
        result["low_by_position"] = [keys.get("x_low") for keys in found]
        result["high_by_position"] = [keys.get("x_high") for keys in found]
    return result


def right_in_all_rotations(hits: Any) -> float:
    """The share of items that are right wherever the true option stands.

    Args:
        hits: `[n][rotations]`, 1 right, 0 wrong, between them on a tie.

    Raises:
        ValueError: empty, not a rectangle, or values that are not finite.

    >>> right_in_all_rotations([[1, 1, 1], [1, 0, 1]])
    0.5
    """
    columns = list(zip(*hits, strict=True))
    if not columns:
        raise ValueError("hits are empty: there are no items")
    return float(np.prod([vector(column, "hits") for column in columns], axis=0).mean())
