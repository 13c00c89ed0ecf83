"""Two models on the same multiple-choice items."""

from video_contrast.metrics.checks import Values, choices
from video_contrast.metrics.interval import interval_keys, share_interval
from video_contrast.metrics.mcnemar import mcnemar
from video_contrast.metrics.paired import paired_difference
from video_contrast.metrics.rank_figures import Numbers
from video_contrast.metrics.ranks import choice_ranks, exact_mean


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
