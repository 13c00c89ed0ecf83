"""Multiple choice: the true caption against its contrasts, by kind of contrast, with intervals on request."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from video_contrast.metrics.checks import Floats, Ints, Values, at_most, choices, cluster_codes, listed, refuse
from video_contrast.metrics.interval import interval_keys, share_interval
from video_contrast.metrics.ranks import Numbers, choice_ranks, exact_mean, hit_figures, rank_figures
from video_contrast.rows import clash

FIGURES = ("ndcg", "ndcg_min_max")


def ndcg(
    scores: Values, grades: Values, *, clusters: Values = None, interval: bool = False, ragged: bool = False
) -> Numbers:
    """Normalised discounted cumulative gain of items whose candidates are graded from 1 (true) to worse ones.

    The gain of a candidate is the number of grades from its own to the worst of its item, the discount of a place is 1
    / log2(place + 1). Equal scores share the gains of their places, so that a constant scorer gets exactly chance.
    Returns `ndcg` (1 for the best order), `ndcg_min_max` (1 for the best order, 0 for the worst, as the VidHal
    benchmark has it), `chance_<figure>` of a random order; with interval `<figure>_low` and `<figure>_high`. Raises
    ValueError: as `multiple_choice`, or grades that do not match the scores; the message names the item.

    Args:
        scores: `[n][k]`, higher is better.
        grades: `[n][k]`, whole numbers from 1, the best; at least two different ones an item.
        clusters: `[n]`, the source video of each item, for the intervals.
        interval: add 95 % intervals (`share_interval`).
        ragged: allow items with different numbers of candidates.

    >>> result = ndcg([[0.9, 0.1, 0.5]], [[1, 2, 3]])
    >>> round(result["ndcg"], 4), round(result["ndcg_min_max"], 4), round(result["chance_ndcg_min_max"], 4)
    (0.9725, 0.8691, 0.5)
    """
    array, _, sizes = choices(scores, ragged=ragged)
    if len(grades) != len(array):
        raise ValueError(f"{len(array)} items need {len(array)} lists of grades, not {len(grades)}")
    values = np.empty((len(FIGURES), 2, len(array)))  # figure, (value, chance), item
    for item, (row, size) in enumerate(zip(array, sizes, strict=True)):
        of_item = listed(grades[item])
        if len(of_item) != size or not all(isinstance(n, int) and n > 0 for n in of_item) or len(set(of_item)) < 2:
            raise ValueError(
                f"grades: item {item} has {size} candidates and needs as many whole numbers from 1, not all alike, not "
                f"{grades[item]!r}"
            )
        gains = np.array([max(of_item) + 1 - n for n in of_item], np.float64)
        best, worst = _dcg(gains, gains), _dcg(-gains, gains)
        both = np.array([_dcg(row[:size], gains), _dcg(np.zeros(size), gains)])
        values[0, :, item], values[1, :, item] = both / best, (both - worst) / (best - worst)
    result: Numbers = {}
    for name, (of_items, chances) in zip(FIGURES, np.clip(values, 0.0, 1.0), strict=True):
        result |= {name: exact_mean(of_items), f"chance_{name}": exact_mean(chances)}
        if interval:
            result |= interval_keys(name, share_interval(of_items, clusters))
    return result


def _dcg(scores: Floats, gains: Floats) -> float:
    """The discounted gains in the order of the scores, the highest first; equal scores share their places."""
    _, levels, counts = np.unique(-scores, return_inverse=True, return_counts=True)
    discounts = np.add.reduceat(1 / np.log2(np.arange(len(scores)) + 2.0), np.cumsum(counts) - counts)
    return float(np.bincount(levels, gains) / counts @ discounts)


def multiple_choice(
    scores: Values,
    labels: Values,
    *,
    kinds: Sequence[Sequence[str]] | None = None,
    grades: Values = None,
    clusters: Values = None,
    ks: Sequence[int] = (1,),
    interval: bool = False,
    seed: int = 0,
    ragged: bool = False,
) -> Numbers:
    """Accuracy, ranks and R@K of the true candidate among its contrasts.

    Returns `accuracy` (expected value under random tie-breaking), `accuracy_worst` and `accuracy_best` (every tie
    decided against and for the true candidate), `n_ties` (items with a tie that involves the true candidate),
    `mean_rank` with `_worst` and `_best`, `median_rank`, `R@K` with `_worst` and `_best`, `chance`, `n`; with grades
    `ndcg`, `ndcg_min_max` and their chance; with kinds `accuracy_<kind>`, its bounds, `chance_<kind>` and `n_<kind>`;
    with interval `<key>_low` and `<key>_high` (None below five clusters) and `clusters` (their number). Raises
    ValueError: no items, ragged rows, NaN or infinite scores, a label out of range, a K larger than the number of
    candidates, grades or kinds that do not match the scores or the labels, or kinds that are named as another figure is
    ("low", "ties", "noun_low" beside "noun"); the message names the item.

    Args:
        scores: `[n][k]`, higher is better; any numbers (cosines, log-likelihoods).
        labels: `[n]`, the position of the true candidate of each item.
        kinds: `[n][k]`, the kind of each candidate ("random", "gender" ...; that of the true one is ignored, as is
            None): adds the accuracy against the candidates of each kind alone, over the items that have one.
        grades: `[n][k]`, how false each candidate is, from 1 (true): adds the figures of `ndcg`.
        clusters: `[n]`, the source video of each item, for the intervals.
        ks: the Ks of R@K, from 1 to the number of candidates.
        interval: add 95 % intervals of every accuracy and R@K (`share_interval`) and of the mean (`cluster_bootstrap`)
            and median rank (`median_interval`).
        ragged: allow items with different numbers of candidates (otherwise that is an error).

    >>> result = multiple_choice([[0.9, 0.1], [0.2, 0.2], [0.1, 0.8]], [0, 0, 0], kinds=[["true", "verb_lm"]] * 3)
    >>> result["accuracy"], result["accuracy_worst"], result["accuracy_best"], result["n_ties"], result["chance"]
    (0.5, 0.3333333333333333, 0.6666666666666666, 1, 0.5)
    >>> result["accuracy_verb_lm"], result["mean_rank"]
    (0.5, 1.5)
    """
    hint = "; pass ragged=True if the items really differ"
    array, truth, sizes = choices(scores, labels, ragged=ragged, hint=hint)
    ks = at_most(ks, int(sizes.min()), "candidates an item")
    groups, n_clusters = cluster_codes(clusters, len(array))
    ranks = choice_ranks(array, truth)
    result: Numbers = {"n": len(array), "chance": exact_mean(1.0 / sizes), "n_ties": int(ranks.tied.sum())}
    if interval:
        result["clusters"] = n_clusters
    result |= hit_figures("accuracy", ranks, groups, interval=interval)
    result |= rank_figures(ranks, ks, groups, interval=interval, seed=seed)
    if grades is not None:
        result |= ndcg(scores, grades, clusters=clusters, interval=interval, ragged=ragged)
    if kinds is not None:
        distinct, row_of = _kind_rows(kinds, sizes, array.shape[1])
        wrong = np.arange(array.shape[1]) != truth[:, None]
        is_true = (distinct == "true")[row_of] & wrong
        refuse(is_true, lambda i, j: f"kinds: item {i} calls candidate {j} the true one, its label says {truth[i]}")
        cells = np.unique(row_of * array.shape[1] + truth)  # rows of kinds with a place of the true candidate
        places = np.arange(array.shape[1]) != cells[:, None] % array.shape[1]
        names = sorted({str(name) for name in np.unique(distinct[cells // array.shape[1]][places])} - {""})
        other = clash(set(names))
        if other is not None:
            raise ValueError(f"kinds: {other[0]!r} cannot be a kind here: {other[1]} is another figure")
        for kind in names:
            among = (distinct == kind)[row_of] & wrong
            has = among.any(axis=1)
            against = choice_ranks(array[has], truth[has], among[has])
            result |= hit_figures(f"accuracy_{kind}", against, groups[has], interval=interval)
            result[f"chance_{kind}"] = exact_mean(1.0 / (1 + among[has].sum(axis=1)))
            result[f"n_{kind}"] = int(has.sum())
    return result


def _kind_rows(kinds: Sequence[Sequence[str]], sizes: Ints, width: int) -> tuple[NDArray[np.str_], Ints]:
    """The distinct lists of kinds, `str[m, width]`, empty behind the candidates of shorter items; `int64[n]`, whose."""
    if len(kinds) != len(sizes):
        raise ValueError(f"{len(sizes)} items need {len(sizes)} lists of kinds, not {len(kinds)}")
    distinct: dict[tuple[str, ...], int] = {}
    row_of = np.empty(len(sizes), np.int64)
    for i, row in enumerate(kinds):
        if isinstance(row, str) or len(row) != sizes[i]:
            raise ValueError(f"kinds: item {i} has {sizes[i]} candidates and needs as many kinds, not {row!r}")
        names = tuple("" if name is None else str(name) for name in listed(row))
        row_of[i] = distinct.setdefault(names, len(distinct))
    return np.array([[*names, *[""] * (width - len(names))] for names in distinct]), row_of
