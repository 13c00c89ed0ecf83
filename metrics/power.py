"""Power: how many source videos it takes to tell two models apart, from the variance of a pilot."""

import math
from typing import TypedDict

import numpy as np

from video_contrast.metrics.checks import Values, cluster_codes, vector

ALPHA, POWER = 0.05, 0.8
POINTS = 5.0  # the difference that power is computed for where none was seen


class PairedPower(TypedDict):
    """What `paired_power` returns; the counts needed are of as many items a video as the pilot has on average."""

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
    ValueError: fewer than two clusters, a difference that is not above 0.

    Args:
        change: `[n]`, second less first on the items of a pilot.
        clusters: `[n]`, the source videos; None: items are independent.
        difference: the true difference that is to be found, 0..1, above 0.

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
    between, within = _components(values, codes, n_clusters)
    sizes = np.bincount(codes)
    total = len(values)
    # The variance of the mean of all items, and of one where every video had endless items.
    variance = between * float((sizes**2).sum()) / total**2 + within / total
    floor = between / n_clusters
    needed = clusters_for(variance * n_clusters, difference=difference)
    return {
        "difference": difference,
        "clusters_needed": needed,
        "items_needed": math.ceil(needed * total / n_clusters),
        "n_clusters": n_clusters,
        "n_items": total,
        "detectable": detectable(variance, n_clusters),
        "detectable_with_more_items": detectable(floor, n_clusters) if total > n_clusters else None,
        "enough": n_clusters >= needed,
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
    """The least difference that so many clusters show; 1 where they show none.

    `variance`: of the mean of paired differences.
    """
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
    needed = max(
        fewest_clusters(), math.ceil(normal - 1e-9)
    )  # quantiles of t are larger, so no smaller number fulfils it
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
    observed = abs(float(values.mean()))
    return paired_power(values, clusters, difference=points / 100 if points else observed or POINTS / 100)


def _components(values: Values, codes: Values, n_clusters: int) -> tuple[float, float]:
    """The variance between and within clusters; with one item a cluster all of it is between them."""
    sizes = np.bincount(codes)
    total = len(values)
    means = np.bincount(codes, weights=values) / sizes
    if total == n_clusters:
        return float(values.var(ddof=1)), 0.0
    within = float(((values - means[codes]) ** 2).sum() / (total - n_clusters))
    spread = float((sizes * (means - values.mean()) ** 2).sum() / (n_clusters - 1))
    usual = (total - float((sizes**2).sum()) / total) / (n_clusters - 1)
    return max(0.0, (spread - within) / usual), within
