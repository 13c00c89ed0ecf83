"""Two models, or two conditions, on the same items: the difference, its interval and its p-value."""

from collections.abc import Hashable, Mapping

import numpy as np
from numpy.typing import NDArray

from video_contrast.metrics.bootstrap import cluster_bootstrap
from video_contrast.metrics.checks import Figures, Values, choices, cluster_codes, vector
from video_contrast.metrics.interval import cluster_error, difference_interval, interval_keys, share_interval
from video_contrast.metrics.ranks import Numbers, choice_ranks, exact_mean
from video_contrast.metrics.significance import mcnemar, sign_flip


def paired_difference(first: Values, second: Values, clusters: Values = None, *, seed: int = 0) -> Figures:
    """The mean of `second` less that of `first`, with its interval and the p-value of a sign-flip test.

    Args:
        first, second: `[n]`, what each item contributes (hits, ranks, scores), the same items in the same order.
        clusters: `[n]`, the source videos; a test of clustered items one by one finds differences that are not there.
        seed: of the bootstrap, and of the signs (`sign_flip`).

    Returns:
        `difference`; `low` and `high` (`difference_interval` where all values are in 0..1, else `cluster_bootstrap`;
        None below five clusters); `standard_error` (cluster-robust; None with one cluster); `p_value` (two-sided,
        `sign_flip`; of independent right and wrong answers McNemar's exact one; None with one cluster); `n_clusters`,
        `n`. The interval and the test are different methods and may disagree at the border.

    Raises:
        ValueError: empty, unequal lengths, values that are not finite; the message names the item.

    >>> result = paired_difference([0, 0, 1, 0, 1, 0], [1, 1, 1, 0, 1, 1])
    >>> result["difference"], result["low"] < 0.5 < result["high"], result["p_value"]
    (0.5, True, 0.25)
    """
    a, b = vector(first, "first"), vector(second, "second")
    if len(a) != len(b):
        raise ValueError(f"{len(a)} and {len(b)} values: a paired difference needs the same items")
    change = b - a
    if min(a.min(), b.min()) >= 0 and max(a.max(), b.max()) <= 1:
        interval = difference_interval(change, clusters)
    else:
        interval = cluster_bootstrap(change, clusters, seed=seed)
    low, high = interval.bounds
    several = interval.n_clusters > 1
    return {
        "difference": interval.estimate,
        "low": low,
        "high": high,
        "standard_error": cluster_standard_error(change, clusters) if several else None,
        "p_value": sign_flip(change, clusters, seed=seed) if several else None,
        "n_clusters": interval.n_clusters,
        "n": len(a),
    }


def cluster_standard_error(values: Values, clusters: Values = None) -> float:
    """The standard error of a mean of items that belong to clusters; NaN with one cluster.

    The variance of the mean plus the covariances within clusters, times C / (C - 1) for C clusters.

    Args:
        values: `[n]`, finite numbers.
        clusters: `[n]`, the source videos; None: items are independent.

    Raises:
        ValueError: empty, or values that are not finite.

    Source: Miller (2024), "Adding error bars to evals", section 2.2.

    >>> round(cluster_standard_error([1, 1, 0, 0], ["a", "a", "b", "b"]), 3)
    0.5
    """
    array = vector(values, "values")
    codes, n_clusters = cluster_codes(clusters, len(array))
    return cluster_error(array, codes, n_clusters, np.ones(len(array)))


def pair_by_id(
    clean: Mapping[Hashable, float], perturbed: Mapping[Hashable, float]
) -> tuple[list[Hashable], NDArray[np.float64], NDArray[np.float64]]:
    """The items of two runs in one order: `(ids, clean, perturbed)`.

    `clean, perturbed`: the score of each item by its id. Returns the ids in the order of `clean`, and float64[n] of
    each run. Raises ValueError: an id is in one run only, or its score is not a finite number; the message names the
    first, and how many there are.

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


def compare_choices(
    first: Values, second: Values, labels: Values, *, clusters: Values = None, seed: int = 0
) -> Numbers:
    """Is the second model more accurate than the first, and could that be chance?

    Args:
        first, second: `[n][k]`, scores of the two models on the same items, higher is better.
        labels: `[n]`, the position of the true candidate.
        clusters: `[n]`, the source videos.
        seed: of the signs that the test draws where it cannot be exact.

    Returns:
        `accuracy1`, `accuracy2` and `difference` (second less first), each with `_low` and `_high` (95 %;
        `share_interval`, `difference_interval`; None below five clusters), `standard_error` (cluster-robust) and
        `p_value` (`sign_flip` by clusters), `mcnemar_p_value` (exact; items as independent, a tie counts as wrong),
        `only_first`, `only_second` (items that one model alone gets right), `n_ties1`, `n_ties2`, `n_clusters`, `n`.

    Raises:
        ValueError: as `multiple_choice`; different items.

    >>> result = compare_choices([[0.1, 0.9], [0.9, 0.1]], [[0.8, 0.2], [0.7, 0.2]], [0, 0])
    >>> result["difference"], result["mcnemar_p_value"], result["only_second"]
    (0.5, 1.0, 1)
    """
    ranks = []
    for name, scores in (("first", first), ("second", second)):
        array, truth, _ = choices(scores, labels, name=name)
        ranks.append((choice_ranks(array, truth), array.shape))
    (ranks_a, shape), (ranks_b, other) = ranks
    if shape != other:
        raise ValueError(f"the first model has {shape} scores, the second {other}: they must be the same items")
    paired = paired_difference(ranks_a.hit(1), ranks_b.hit(1), clusters, seed=seed)
    # A tie is half right on average, which McNemar's test has no place for: both models get the pessimistic reading.
    test = mcnemar(ranks_a.hit_bounds(1)[0], ranks_b.hit_bounds(1)[0])
    bounds: Numbers = {}
    for name, model in (("accuracy1", ranks_a), ("accuracy2", ranks_b)):
        bounds |= interval_keys(name, share_interval(model.hit(1), clusters))
    return bounds | {
        "n": paired["n"],
        "n_clusters": paired["n_clusters"],
        "accuracy1": exact_mean(ranks_a.hit(1)),
        "accuracy2": exact_mean(ranks_b.hit(1)),
        "n_ties1": int(ranks_a.tied.sum()),
        "n_ties2": int(ranks_b.tied.sum()),
        "difference": paired["difference"],
        "difference_low": paired["low"],
        "difference_high": paired["high"],
        "standard_error": paired["standard_error"],
        "p_value": paired["p_value"],
        "mcnemar_p_value": test["p_value"],
        "only_first": test["only_first"],
        "only_second": test["only_second"],
    }
