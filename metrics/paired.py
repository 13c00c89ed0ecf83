"""Two models, or two conditions, on the same items: the difference, its interval and its p-value."""

import math
from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from video_contrast.metrics.checks import cluster_codes, vector
from video_contrast.metrics.cluster_bootstrap import cluster_bootstrap


def paired_difference(
    first: Any, second: Any, clusters: Any = None, *, draws: int = 10_000, level: float = 0.95, seed: int = 0
) -> dict[str, float | int | None]:
    """The mean of `second` less that of `first`, with its paired cluster bootstrap interval.

    Args:
        first, second: `[n]`, what each item contributes (hits, ranks, scores), the same items in the same order.
        clusters: `[n]`, the source videos; a naive bootstrap of clustered items finds differences that are not there.
        draws, level, seed: of the bootstrap.

    Returns:
        `difference`, `low`, `high`, `standard_error` (cluster-robust, `cluster_standard_error`), `p_value` (two-sided
        normal test with it; None with one cluster), `n_clusters`, `n`.

    Raises:
        ValueError: empty, unequal lengths, values that are not finite; the message names the item.

    >>> result = paired_difference([0, 0, 1, 0, 1, 0], [1, 1, 1, 0, 1, 1])
    >>> result["difference"], 0 <= result["low"] < 0.5 < result["high"]
    (0.5, True)
    """
    a, b = vector(first, "first"), vector(second, "second")
    if len(a) != len(b):
        raise ValueError(f"{len(a)} and {len(b)} values: a paired difference needs the same items")
    change = b - a
    interval = cluster_bootstrap(change, clusters, draws=draws, level=level, seed=seed)
    error = cluster_standard_error(change, clusters)
    defined = math.isfinite(error)
    p_value: float | None = None
    if defined:
        z = abs(interval.estimate) / error if error > 0 else (0.0 if interval.estimate == 0 else math.inf)
        p_value = math.erfc(z / math.sqrt(2))
    return {
        "difference": interval.estimate,
        "low": interval.low if defined else None,
        "high": interval.high if defined else None,
        "standard_error": error if defined else None,
        "p_value": p_value,
        "n_clusters": interval.n_clusters,
        "n": len(a),
    }


def cluster_standard_error(values: Any, clusters: Any = None) -> float:
    """The standard error of a mean of items that belong to clusters; NaN with one cluster.

    The variance of the mean plus the covariances within clusters, times C / (C - 1) for C clusters.

    Raises:
        ValueError: empty, or values that are not finite.

    Source: Miller (2024), "Adding error bars to evals", section 2.2.

    >>> round(cluster_standard_error([1, 1, 0, 0], ["a", "a", "b", "b"]), 3)
    0.5
    """
    array = vector(values, "values")
    codes, n_clusters = cluster_codes(clusters, len(array))
    if n_clusters < 2:
        return float("nan")
    within = np.bincount(codes, weights=array - array.mean(), minlength=n_clusters)
    return float(np.sqrt((within**2).sum() * n_clusters / (n_clusters - 1)) / len(array))


def pair_by_id(
    clean: Mapping[Hashable, float], perturbed: Mapping[Hashable, float]
) -> tuple[list[Hashable], NDArray[np.float64], NDArray[np.float64]]:
    """The items of two runs in one order: `(ids, clean, perturbed)`.

    Raises:
        ValueError: an id is in one run only, or its score is not a finite number; the message names the first, and how
            many there are.

    >>> pair_by_id({"a": 1.0, "b": 0.0}, {"b": 0.5, "a": 1.0})[2].tolist()
    [1.0, 0.5]
    """
    for name, these, other in (("perturbed", clean, perturbed), ("clean", perturbed, clean)):
        missing = [key for key in these if key not in other]
        if missing:
            raise ValueError(
                f"item {missing[0]!r} has no {name} score ({len(missing)} of {len(these)} have none); "
                "score both conditions on the same items, or leave those out of both"
            )
    ids = list(clean)
    arrays = []
    for name, run in (("clean", clean), ("perturbed", perturbed)):
        array = np.array([run[i] for i in ids], float)
        bad = np.flatnonzero(~np.isfinite(array))
        if len(bad):
            raise ValueError(f"item {ids[bad[0]]!r}: its {name} score is {array[bad[0]]} ({len(bad)} are not finite)")
        arrays.append(array)
    return ids, arrays[0], arrays[1]
