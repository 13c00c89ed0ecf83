"""Two models, or two conditions, on the same items: the difference, its interval and its p-value.

Tests are sign flips by clusters and McNemar's; Holm corrects a family of p-values.
"""

import math
from collections.abc import Hashable, Mapping
from typing import TypedDict

import numpy as np

from video_contrast.metrics.bootstrap import cluster_bootstrap
from video_contrast.metrics.checks import Figures, Floats, Values, choices, cluster_codes, shares, vector
from video_contrast.metrics.interval import cluster_error, difference_interval, interval_keys, share_interval
from video_contrast.metrics.ranks import Numbers, choice_ranks, exact_mean
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
    1/16: five videos alone cannot show a difference at 5 %. Returns 0..1; 1 where nothing differs. Raises ValueError:
    empty, values that are not finite, not one cluster an item; the message names the item.

    Args:
        change: `[n]`, second less first.
        clusters: `[n]`, the source videos; None: items are independent.
        seed: of the drawn signs.

    Source: Fisher (1935); Dwass (1957) for drawn signs.

    >>> sign_flip([1, 1, 1, 1, 1, 0]), sign_flip([1, -1, 0])
    (0.0625, 1.0)
    """
    values = vector(change, "change")
    codes, n_clusters = cluster_codes(clusters, len(values))
    cluster_sums = np.bincount(codes, weights=values, minlength=n_clusters)
    # Items that cancel out leave rounding; so do sums of thirds.
    sums = np.sort(np.abs(cluster_sums[np.abs(cluster_sums) > 1e-12 * np.abs(values).max()]))
    observed = abs(float(cluster_sums.sum())) * (1 - 1e-9)
    if not len(sums):
        return 1.0
    if np.array_equal(sums, np.rint(sums)) and len(sums) * sums.sum() < _WHOLE:
        chances = np.ones(1)  # of the sums -reach, -reach + 2, ... reach, with one cluster more each time
        for size in sums.astype(np.int64):
            chances = 0.5 * (np.append(chances, np.zeros(size)) + np.append(np.zeros(size), chances))
        reach = int(sums.sum())
        return min(1.0, float(chances[np.abs(np.arange(-reach, reach + 1, 2)) >= observed].sum()))
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


def mcnemar(first: Values, second: Values) -> dict[str, float | int]:
    """Exact two-sided test of paired right and wrong answers.

    Returns `p_value`, `only_first` and `only_second` (items that one model alone gets right). With no such item the
    p-value is 1. Items are taken as independent: for several items a video use `paired_difference`. Raises ValueError:
    unequal lengths, values other than 0 and 1; the message names the item. `first, second`: `[n]`, 1 where the model is
    right, 0 where it is wrong, on the same items.

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
    p_value = min(1.0, 2 * tail / 2**n)
    return {"p_value": p_value, "only_first": only_first, "only_second": only_second}


def holm(p_values: Values) -> Floats:
    """P-values adjusted so that the chance of any false positive in the family stays below the level.

    `p_values`: `[m]`, each from 0 to 1. Returns `float64[m]`, adjusted, in the order given; at most 1. Raises
    ValueError: empty, or a value outside 0..1; the message names it.

    Source: Holm (1979).

    >>> holm([0.01, 0.04, 0.03]).round(3).tolist()
    [0.03, 0.06, 0.06]
    """
    values = shares(p_values, "p_values")
    order = np.argsort(values, kind="stable")
    products = values[order] * np.arange(len(values), 0, -1)
    p_adjusted = np.empty_like(values)
    p_adjusted[order] = np.minimum(np.maximum.accumulate(products), 1.0)
    return p_adjusted


def paired_difference(first: Values, second: Values, clusters: Values = None, *, seed: int = 0) -> Figures:
    """The mean of `second` less that of `first`, with its interval and the p-value of a sign-flip test.

    Returns `difference`; `low` and `high` (`difference_interval` where all values are in 0..1, else
    `cluster_bootstrap`; None below five clusters); `standard_error` (cluster-robust; None with one cluster); `p_value`
    (two-sided, `sign_flip`; of independent right and wrong answers McNemar's exact one; None with one cluster);
    `n_clusters`, `n`. The interval and the test are different methods and may disagree at the border. Raises
    ValueError: empty, unequal lengths, values that are not finite; the message names the item.

    Args:
        first, second: `[n]`, what each item contributes (hits, ranks, scores), the same items in the same order.
        clusters: `[n]`, the source videos; a test of clustered items one by one finds differences that are not there.
        seed: of the bootstrap, and of the signs (`sign_flip`).

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

    The variance of the mean plus the covariances within clusters, times C / (C - 1) for C clusters. Raises ValueError:
    empty, or values that are not finite. `values`: `[n]`, finite numbers. `clusters`: `[n]`, the source videos; None:
    items are independent.

    Source: Miller (2024), "Adding error bars to evals", section 2.2.

    >>> round(cluster_standard_error([1, 1, 0, 0], ["a", "a", "b", "b"]), 3)
    0.5
    """
    array = vector(values, "values")
    codes, n_clusters = cluster_codes(clusters, len(array))
    return cluster_error(array, codes, n_clusters, np.ones(len(array)))


def pair_by_id(
    clean: Mapping[Hashable, float], perturbed: Mapping[Hashable, float]
) -> tuple[list[Hashable], Floats, Floats]:
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

    Returns `accuracy1`, `accuracy2` and `difference` (second less first), each with `_low` and `_high` (95 %;
    `share_interval`, `difference_interval`; None below five clusters), `standard_error` (cluster-robust) and `p_value`
    (`sign_flip` by clusters), `mcnemar_p_value` (exact; items as independent, a tie counts as wrong), `only_first`,
    `only_second` (items that one model alone gets right), `n_ties1`, `n_ties2`, `n_clusters`, `n`. Raises ValueError:
    as `multiple_choice`; different items.

    Args:
        first, second: `[n][k]`, scores of the two models on the same items, higher is better.
        labels: `[n]`, the position of the true candidate.
        clusters: `[n]`, the source videos.
        seed: of the signs that the test draws where it cannot be exact.

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
        "accuracy1": exact_mean(ranks_a.hit(1)),
        "accuracy2": exact_mean(ranks_b.hit(1)),
        "n_ties1": int(ranks_a.tied.sum()),
        "n_ties2": int(ranks_b.tied.sum()),
        **{name: paired[name] for name in ("n", "n_clusters", "difference", "standard_error", "p_value")},
        "difference_low": paired["low"],
        "difference_high": paired["high"],
        "mcnemar_p_value": test["p_value"],
        **{name: test[name] for name in ("only_first", "only_second")},
    }


ALPHA, POWER = 0.05, 0.8
POINTS = 5.0  # the difference that power is computed for where none was seen


class PairedPower(TypedDict):
    """The result of `paired_power`; the counts needed are of as many items a video as the pilot has on average."""

    difference: float
    clusters_needed: int  # videos
    items_needed: int
    n_clusters: int  # of the pilot
    n_items: int
    detectable: float  # the least difference that the pilot's size shows; 1 or more: none
    detectable_with_more_items: float | None  # the same with any number of items on the pilot's videos
    enough: bool


def paired_power(change: Values, clusters: Values = None, *, difference: float) -> PairedPower:
    """How many videos, and whether more items a video, would show a difference between two models.

    The variance of the mean of paired differences has a part between videos and a part within them (analysis of
    variance of unequal groups): more items a video make the second small, never the first. What so many videos reach
    follows from Student's t (`reach`); fewer than `fewest_clusters` show nothing, whatever the variance. Raises
    ValueError: fewer than two clusters, a difference that is not above 0. `change`: `[n]`, second less first on the
    items of a pilot. `clusters`: `[n]`, the source videos; None: items are independent. `difference`: the true
    difference that is to be found, 0..1, above 0.

    Source: Miller (2024), "Adding error bars to evals", section 5; Searle (1971) for the variance components.

    >>> facts = paired_power([1, 0, 0, 0, 1, 0, -1, 0], difference=0.5)
    >>> facts["clusters_needed"], facts["enough"]
    (15, False)
    """
    values = vector(change, "change")
    codes, n_clusters = cluster_codes(clusters, len(values))
    if n_clusters < 2:
        raise ValueError("power needs a pilot of at least two source videos")
    if not difference > 0:
        raise ValueError(f"the difference to find must be above 0, not {difference}")
    sizes = np.bincount(codes)
    total = len(values)
    squares = float((sizes**2).sum())
    between, within = float(values.var(ddof=1)), 0.0
    if total > n_clusters:
        means = np.bincount(codes, weights=values) / sizes
        within = float(((values - means[codes]) ** 2).sum() / (total - n_clusters))
        spread = float((sizes * (means - values.mean()) ** 2).sum() / (n_clusters - 1))
        between = max(0.0, (spread - within) / ((total - squares / total) / (n_clusters - 1)))
    # The variance of the mean of all items, and of one where every video had endless items.
    variance = between * squares / total**2 + within / total
    floor = between / n_clusters
    n_clusters_needed = clusters_for(variance * n_clusters, difference=difference)
    return {
        "difference": difference,
        "clusters_needed": n_clusters_needed,
        "items_needed": math.ceil(n_clusters_needed * total / n_clusters),
        "n_clusters": n_clusters,
        "n_items": total,
        "detectable": detectable(variance, n_clusters),
        "detectable_with_more_items": detectable(floor, n_clusters) if total > n_clusters else None,
        "enough": n_clusters >= n_clusters_needed,
    }


def reach(n_clusters: int) -> float:
    """How many standard errors a difference must have for a sign-flip test of so many clusters to show it.

    The sum of two quantiles of Student's t with one degree of freedom less than clusters. At 80 % power, draws of a
    normal distribution are then shown in 70 % (6 clusters), 79 % (8) and 80 % (12, 30) of the cases; with normal
    quantiles it was 46 %, 63 %, 72 % and 78 %. The level is the largest that the test's steps of 2 / 2^clusters attain.
    Returns above 0; infinity below `fewest_clusters`. `n_clusters`: at least 2.

    >>> round(reach(6), 2), round(reach(12), 2), round(reach(1000), 2), reach(5)
    (3.89, 3.08, 2.8, inf)
    """
    from scipy.special import stdtrit

    steps = 2 ** min(n_clusters - 1, 50)
    level = math.floor(ALPHA * steps) / steps
    if not level:
        return math.inf
    return float(stdtrit(n_clusters - 1, 1 - level / 2) + stdtrit(n_clusters - 1, POWER))


def detectable(variance: float, n_clusters: int) -> float:
    """The least difference that so many clusters show, 1 where none. `variance`: of the mean of paired differences."""
    errors = reach(n_clusters)
    return errors * math.sqrt(variance) if math.isfinite(errors) else 1.0


def clusters_for(variance: float, *, difference: float) -> int:
    """The least number of clusters, `fewest_clusters` or more, of which a test shows a difference.

    `variance`: between the means of clusters, so that of the mean of all is `variance / n_clusters`. `difference`:
    above 0, up to 1.

    >>> clusters_for(0.5, difference=0.05), clusters_for(0.0, difference=0.05)
    (1572, 6)
    """
    from scipy.special import ndtri

    normal = ((float(ndtri(1 - ALPHA / 2)) + float(ndtri(POWER))) / difference) ** 2 * variance
    needed = max(fewest_clusters(), math.ceil(normal - 1e-9))  # quantiles of t are larger: no smaller number fulfils it
    while reach(needed) ** 2 * variance > difference**2 * needed * (1 + 1e-12):
        needed += 1
    return needed


def fewest_clusters(alpha: float = ALPHA) -> int:
    """The least number of clusters at which a two-sided sign-flip test can reach a level.

    >>> fewest_clusters(), fewest_clusters(0.1)
    (6, 5)
    """
    return 1 + math.ceil(-math.log2(alpha))


def pilot_power(change: Values, clusters: Values = None, *, points: float | None = None) -> PairedPower | None:
    """`paired_power` for the difference of `points`, else for that of the pilot (5 points where it has none).

    Returns as of `paired_power`; None with one cluster, and where no item differs. `change`: `[n]`, second less first.
    `clusters`: `[n]`, the source videos; None: items are independent.
    """
    values = vector(change, "change")
    if cluster_codes(clusters, len(values))[1] < 2 or not values.any():
        return None
    observed = round(abs(float(values.mean())), 12)  # shares of ties that cancel out leave less
    return paired_power(values, clusters, difference=points / 100 if points else observed or POINTS / 100)
