"""Diagnostics of a model: how its score changes when the caption becomes false (sensitivity), words that are frequent
(rarity gap), the place of a candidate (position bias), and contrasts that are near to their originals (proximity).
"""

import numpy as np
from numpy.typing import NDArray

from video_contrast.metrics import checks
from video_contrast.metrics.bootstrap import OfMeans, cluster_bootstrap
from video_contrast.metrics.checks import Figures, Floats, Values, choices, shares, vector
from video_contrast.metrics.interval import interval_keys, median_interval, share_interval
from video_contrast.metrics.ranks import Numbers, choice_ranks, exact_mean, exact_std

_SPREAD = OfMeans(lambda means: np.sqrt(np.maximum(means[:, 1] - means[:, 0] ** 2, 0.0)))


def sensitivity(
    true_scores: Values, contrast_scores: Values, *, clusters: Values = None, interval: bool = False, seed: int = 0
) -> Numbers:
    """The change of score from the true caption to its contrast; it should be negative.

    Returns `change` (mean of contrast less true), `change_std`, `change_median`, `wrong_sign` (share of pairs in which
    the contrast scores higher; an equal score counts half), `n_ties`, `n`. Raises ValueError: empty, unequal lengths,
    NaN or infinite scores; the message names the item.

    Args:
        true_scores: `[n]`, score of each video with its true caption.
        contrast_scores: `[n]`, score of the same video with the contrast, in the same order.
        clusters: `[n]`, the source videos, for the intervals.
        interval: add 95 % intervals of `change`, `change_std` (`cluster_bootstrap`), `change_median`
            (`median_interval`) and `wrong_sign` (`share_interval`).

    Source: RCAD paper, section "Sensitivity to the change of object or action".

    >>> result = sensitivity([0.5, 0.5, 0.5, 0.5], [0.3, 0.4, 0.6, 0.5])
    >>> round(result["change"], 3), result["wrong_sign"]
    (-0.05, 0.375)
    """
    before, after = vector(true_scores, "true_scores"), vector(contrast_scores, "contrast_scores")
    if len(before) != len(after):
        raise ValueError(f"{len(before)} true scores but {len(after)} contrast scores: they must be pairs")
    change = after - before
    wrong = (change > 0) + 0.5 * (change == 0)
    result: Numbers = {
        "change": float(change.mean()),
        "change_std": float(change.std()),
        "change_median": float(np.median(change)),
        "wrong_sign": float(wrong.mean()),
        "n_ties": int((change == 0).sum()),
        "n": len(change),
    }
    if interval:
        deviations = change - change.mean()  # squares of large numbers would lose the spread
        squares = np.stack([deviations, deviations**2], axis=1)
        for name, interval_of in (
            ("change", cluster_bootstrap(change, clusters, seed=seed)),
            ("change_std", cluster_bootstrap(squares, clusters, statistic=_SPREAD, seed=seed, bounds=(0, np.inf))),
            ("change_median", median_interval(change, clusters)),
            ("wrong_sign", share_interval(wrong, clusters)),
        ):
            result.update(interval_keys(name, interval_of))
    return result


_GAP = OfMeans(lambda means: means[:, 2] - means[:, 1] / means[:, 0])  # columns: rare, rare and right, right


def rarity_gap(
    hits: Values,
    original_counts: Values,
    contrast_counts: Values,
    *,
    clusters: Values = None,
    interval: bool = False,
    seed: int = 0,
) -> Numbers:
    """Accuracy over all items less the accuracy where the original is rarer in training than its contrast.

    Returns `overall`, `rare` and `gap` (None if no item is rare), `n_rare`, `n`. Raises ValueError: empty, unequal
    lengths, hits outside 0..1, counts that are negative or not finite; the message names the item.

    Args:
        hits: `[n]`, 1 right, 0 wrong, between them on a tie.
        original_counts: `[n]`, how often the original word (a character id, a verb) occurs in the training captions.
        contrast_counts: `[n]`, how often the word that replaced it does.
        clusters: `[n]`, for the intervals.
        interval: add 95 % intervals of `overall`, `rare` (`share_interval`) and `gap` (`cluster_bootstrap`).

    Source: contrast-set paper, table 4.

    >>> rarity_gap([1, 1, 0, 1], [5, 9, 1, 2], [3, 3, 3, 3])
    {'overall': 0.75, 'rare': 0.5, 'gap': 0.25, 'n_rare': 2, 'n': 4}
    """
    right = shares(hits, "hits")
    original, contrast = vector(original_counts, "original_counts"), vector(contrast_counts, "contrast_counts")
    if not len(right) == len(original) == len(contrast):
        raise ValueError(f"{len(right)} hits need as many counts, not {len(original)} and {len(contrast)}")
    for name, counts in (("original_counts", original), ("contrast_counts", contrast)):
        if counts.min() < 0:
            raise ValueError(f"{name}: item {int(counts.argmin())} is {counts.min():g}; a count cannot be negative")
    rare = original < contrast
    overall = float(right.mean())
    on_rare = float(right[rare].mean()) if rare.any() else None
    result: Numbers = {
        "overall": overall,
        "rare": on_rare,
        "gap": None if on_rare is None else overall - on_rare,
        "n_rare": int(rare.sum()),
        "n": len(right),
    }
    if interval:
        result.update(interval_keys("overall", share_interval(right, clusters)))
        if rare.any():
            columns = np.stack([rare, rare * right, right], axis=1)
            result.update(interval_keys("gap", cluster_bootstrap(columns, clusters, statistic=_GAP, seed=seed)))
            groups = checks.cluster_codes(clusters, len(right))[0][rare]
            result.update(interval_keys("rare", share_interval(right[rare], groups)))
    return result


def position_bias(
    scores: Values, labels: Values, *, clusters: Values = None, interval: bool = False, seed: int = 0
) -> Figures:
    """Accuracy by the position of the true candidate, and how often each position is picked.

    Returns `accuracy_by_position` (`[k]`, None where no item has its true candidate there), `accuracy_std` (standard
    deviation of those), `picked` (`[k]`, share of items in which the position is chosen; tied candidates share the
    item), `picked_std`, `n_by_position`, `n`; with interval `<key>_low` and `<key>_high`, lists where the figure is
    one. Raises ValueError: as `multiple_choice`.

    Args:
        scores: `[n][k]` of the candidates in the order in which the model saw them, higher is better.
        labels: `[n]`, the position of the true candidate.
        clusters: `[n]`, the source videos, for the intervals.
        interval: add 95 % intervals of all figures (`share_interval`; `cluster_bootstrap` of the standard deviations,
            which lie high: the noise of a small set, drawn anew, adds to them).

    >>> result = position_bias([[0.9, 0.1], [0.8, 0.2], [0.7, 0.3], [0.1, 0.9]], [0, 0, 1, 1])
    >>> result["accuracy_by_position"], result["picked"]
    ([1.0, 0.5], [0.75, 0.25])
    """
    array, truth, _ = choices(scores, labels)
    hits = choice_ranks(array, truth).hit(1)
    highest = array == array.max(axis=1, keepdims=True)
    shares = highest / highest.sum(axis=1, keepdims=True)
    here = (truth[:, None] == np.arange(array.shape[1])).astype(np.float64)
    n_by_position = here.sum(axis=0).astype(np.int64)
    by_position = [exact_mean(hits[truth == p]) if n else None for p, n in enumerate(n_by_position)]
    of_picks = [exact_mean(column) for column in shares.T]
    result: Figures = {
        "accuracy_by_position": by_position,
        "accuracy_std": exact_std(np.array([value for value in by_position if value is not None])),
        "picked": of_picks,
        "picked_std": exact_std(np.array(of_picks)),
        "n_by_position": n_by_position.tolist(),
        "n": len(array),
    }
    if not interval:
        return result

    groups, _ = checks.cluster_codes(clusters, len(array))
    of_positions = [
        share_interval(hits[truth == p], groups[truth == p]).bounds if n else (None, None)
        for p, n in enumerate(n_by_position)
    ]
    bounds_of_picks = [share_interval(column, groups).bounds for column in shares.T]
    for name, bounds in (("accuracy_by_position", of_positions), ("picked", bounds_of_picks)):
        result[f"{name}_low"], result[f"{name}_high"] = ([ends[side] for ends in bounds] for side in (0, 1))
    for name, columns, statistic in (
        ("accuracy_std", np.concatenate([here, here * hits[:, None]], axis=1), OfMeans(_std_of_ratios)),
        ("picked_std", shares, OfMeans(lambda means: means.std(axis=1))),
    ):
        bootstrap = cluster_bootstrap(columns, clusters, statistic=statistic, seed=seed, bounds=(0, 1))
        result |= interval_keys(name, bootstrap)
    return result


def _std_of_ratios(means: Floats) -> Floats:
    """The standard deviations over the positions that were drawn; `means`: columns of items, then of right ones."""
    here, right = np.split(means, 2, axis=1)
    ratios = np.divide(right, here, out=np.zeros_like(right), where=here > 0)
    n = (here > 0).sum(axis=1)
    mean = ratios.sum(axis=1) / n
    return np.asarray(np.sqrt((((ratios - mean[:, None]) ** 2) * (here > 0)).sum(axis=1) / n), np.float64)


def proximity(
    hits: Values,
    similarity: Values,
    *,
    antonym: Values = None,
    share: float = 0.15,
    clusters: Values = None,
    interval: bool = False,
) -> Numbers:
    """Accuracy on antonyms, and on the highest and lowest `share` of the others by similarity.

    Returns `antonym`, `high`, `low` (None where the subset is empty), `n_antonym`, `n_high` (the size of either
    subset). Raises ValueError: empty, unequal lengths, hits outside 0..1, similarities that are not finite, antonym
    flags that are neither true nor false, share out of range; the message names the item.

    Args:
        hits: `[n]`, 1 right, 0 wrong, between them on a tie.
        similarity: `[n]`, similarity of the original and the contrast sentence (by any sentence encoder).
        antonym: `[n]` of booleans; these items are a subset of their own. None: no item is one.
        share: size of the two subsets, above 0 and at most 0.5. Items that tie at the border share the room that is
            left in equal parts, so that their order has no influence.
        clusters: `[n]`, the source videos, for the intervals.
        interval: add 95 % intervals of the three (`share_interval`), over the items of each subset.

    Source: contrast-set paper, table 5 (15 %).

    >>> result = proximity([0, 1, 1, 1, 0], [0.9, 0.2, 0.3, 0.8, 0.95], antonym=[0, 0, 0, 0, 1], share=0.25)
    >>> result["antonym"], result["high"], result["low"]
    (0.0, 0.0, 1.0)
    """
    right, near = shares(hits, "hits"), vector(similarity, "similarity")
    flags = [False] * len(right) if antonym is None else checks.listed(antonym)
    odd = [flag not in (0, 1) for flag in flags]
    checks.refuse(odd, lambda i: f"antonym: item {i} is {flags[i]!r}, neither True nor False")
    opposite = np.array(flags, bool)
    if not len(right) == len(near) == len(opposite):
        raise ValueError(f"{len(right)} hits need as many similarities and flags, not {len(near)} and {len(opposite)}")
    if clusters is not None:
        clusters, _ = checks.cluster_codes(clusters, len(right))
    if not 0 < share <= 0.5:
        raise ValueError(f"share must be above 0 and at most 0.5, not {share}")
    size = round(share * int((~opposite).sum()))
    highest, lowest = _top(near, ~opposite, size), _top(-near, ~opposite, size)
    result: Numbers = {"n_antonym": int(opposite.sum()), "n_high": size}
    for name, weight in (("antonym", opposite.astype(np.float64)), ("high", highest), ("low", lowest)):
        inside = weight > 0
        result[name] = float((right * weight).sum() / weight.sum()) if inside.any() else None
        if interval and inside.any():
            groups = None if clusters is None else clusters[inside]
            result.update(interval_keys(name, share_interval(right[inside], groups, weights=weight[inside])))
    return result


def _top(key: Floats, among: NDArray[np.bool_], size: int) -> Floats:
    """Weights `[n]` that add up to `size`: 1 for the highest, the same share for all that tie at the border."""
    weights = np.zeros(len(key))
    if size:
        border = np.sort(key[among])[-size]
        above, at = among & (key > border), among & (key == border)
        weights[above] = 1.0
        weights[at] = (size - above.sum()) / at.sum()
    return weights
