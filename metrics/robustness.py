"""Robustness over many perturbations: gammas, averaged over severities, sub-types, categories and modalities."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from video_contrast.metrics.bootstrap import DRAWS, OfMeans, bootstrap_totals, cluster_bootstrap, interval_of_samples
from video_contrast.metrics.checks import Figures, Floats, Ints, Values, as_array, cluster_codes, listed, shares, vector
from video_contrast.metrics.interval import Interval, difference_interval, interval_keys
from video_contrast.metrics.ranks import exact_std


def gamma_absolute(clean: Values, perturbed: Values, *, percent: bool = False) -> Floats:
    """1 - (clean - perturbed): 1 is robust, above 1 the perturbation helps.

    Raises ValueError: a score is not finite or out of its range.

    Args:
        clean: score or array of scores without the perturbation, in 0..1 (in 0..100 with `percent`).
        perturbed: the same with it; the two are broadcast.
        percent: the scores are percentages.

    Source: robustness paper, section 4.3.

    >>> round(float(gamma_absolute(10.3, 7.2, percent=True)), 3)
    0.969
    """
    scale = 100.0 if percent else 1.0
    before, after = _in_range(scale, clean=clean, perturbed=perturbed)
    return 1.0 - (before / scale - after / scale)


def gamma_relative(clean: Values, perturbed: Values, *, percent: bool = False) -> Floats:
    """1 - (clean - perturbed) / clean: the share of the clean score that is left. NaN where `clean` is 0.

    Returns float64 of the broadcast shape, 0 or more. Raises ValueError: a score is not finite or out of its range (a
    percentage beside a share is).

    Args:
        clean: score or array of scores without the perturbation, in 0..1 (in 0..100 with `percent`).
        perturbed: the same with it; the two are broadcast.
        percent: the scores are percentages.

    Source: robustness paper, section 4.3.

    >>> gamma_relative([0.103, 0.103, 0.0], [0.072, 0.063, 0.0]).round(3).tolist()
    [0.699, 0.612, nan]
    """
    return gamma_corrected(clean, perturbed, chance=0.0, percent=percent)


def gamma_corrected(clean: Values, perturbed: Values, *, chance: Values, percent: bool = False) -> Floats:
    """(perturbed - chance) / (clean - chance): the share of what the model knew that is left.

    A model that falls to guessing gets 0 here, where the relative gamma still shows chance / clean. NaN where the clean
    score is at or below chance: there is nothing that could be lost. Where it is barely above, the figure is a ratio of
    two noises and may be of any size; `gamma_interval` knows and gives no interval there. Returns float64 of the
    broadcast shape. Raises ValueError: a score or the chance is not finite or out of range.

    Args:
        clean, perturbed: scores as for `gamma_relative`; broadcast.
        chance: what guessing scores, on the same scale; one number or an array.
        percent: scores and chance are percentages.

    >>> float(gamma_corrected(0.8, 0.5, chance=0.5)), float(gamma_corrected(0.5, 0.5, chance=0.5))
    (0.0, nan)
    """
    before, after, guess = _in_range(100.0 if percent else 1.0, clean=clean, perturbed=perturbed, chance=chance)
    above = before - guess
    above_chance = above > 0
    return np.where(above_chance, (after - guess) / np.where(above_chance, above, 1.0), np.nan)


def gamma_interval(
    clean_hits: Values,
    perturbed_hits: Values,
    clusters: Values = None,
    *,
    absolute: bool = False,
    chance: float = 0.0,
    seed: int = 0,
) -> Interval:
    """The relative, absolute or (with `chance`) corrected gamma of paired items, with its interval.

    Returns the gamma with its interval (`difference_interval` of the absolute one, else `cluster_bootstrap`); NaN
    throughout where the clean score is at or below chance. The interval is NaN below five clusters, where no item
    changes, and where the clean score is not clearly above chance (2.5 % of the draws are at or below it). Raises
    ValueError: unequal lengths, hits outside 0..1.

    Args:
        clean_hits, perturbed_hits: `[n]`, what each item contributes to the score (1 right, 0 wrong, between on
            ties), the same items in the same order.
        clusters: `[n]`, the source videos; a video is drawn with its clean and its perturbed items together.
        absolute: the absolute gamma instead of the relative one.
        chance: subtracted from both means of the relative one.

    >>> gamma_interval([1, 1, 1, 1], [1, 0, 1, 0]).estimate
    0.5
    """
    before, after = shares(clean_hits, "clean_hits"), shares(perturbed_hits, "perturbed_hits")
    if before.shape != after.shape:
        raise ValueError(f"clean and perturbed must be the same items, not {before.shape} and {after.shape}")

    if absolute:
        change = difference_interval(after - before, clusters)
        return change._replace(estimate=1 + change.estimate, low=1 + change.low, high=1 + change.high)

    def gamma(means: Floats) -> Floats:
        clean, perturbed = means.T
        return np.where(clean > chance, (perturbed - chance) / (clean - chance), np.nan)

    bounds = (-np.inf if chance else 0.0, np.inf)
    pairs = np.stack([before, after], axis=1)
    interval = cluster_bootstrap(pairs, clusters, statistic=OfMeans(gamma), seed=seed, bounds=bounds)
    return interval if np.isfinite(interval.estimate) else Interval(interval.estimate, n_clusters=interval.n_clusters)


def _in_range(highest: float, **scores: Values) -> list[Floats]:
    """Arrays of finite numbers from 0 to `highest`; the names of the arguments stand in messages."""
    arrays = []
    for name, values in scores.items():
        array = as_array(values).astype(np.float64)
        bad = np.flatnonzero(~np.isfinite(array) | (array < 0) | (array > highest))
        if len(bad):
            where = f" (position {bad[0]})" if array.ndim else ""
            hint = " (percent=True takes percentages)" if highest == 1 and array.ravel()[bad[0]] > 1 else ""
            what = name if name == "chance" else f"the {name} score"
            raise ValueError(f"{what}{where} is {array.ravel()[bad[0]]}, not a number from 0 to {highest:g}{hint}")
        arrays.append(array)
    return arrays


Names = Sequence[object] | None
GammasOf = Callable[[Floats, Floats], dict[str, Floats]]  # clean and perturbed scores -> gammas


def robustness(
    clean: Values,
    perturbed: Values,
    perturbations: Sequence[str],
    *,
    severities: Names = None,
    categories: Names = None,
    origins: Names = None,
    modalities: Names = None,
    chance: float | None = None,
    percent: bool = False,
    ddof: int = 0,
    clusters: Values = None,
    seed: int = 0,
) -> Figures:
    """Absolute, relative and chance-corrected gamma of a model, by perturbation and by group of perturbations.

    A row is a score of one condition (a perturbation at a severity), or one item under one condition (what it
    contributes to R@K or to the multiple-choice accuracy): rows of one condition are averaged first. The gammas of a
    perturbation are averaged over its severities, then those of a group over its perturbations, as in the paper; a
    standard deviation is over what is averaged last. Returns `gamma_a`, `gamma_r` (and `gamma_c` with chance), each
    with `_std`, `clean`, `perturbed`, `n_perturbations`, `n_conditions` and `n_missing` (perturbations without a
    relative gamma: their clean score is 0), over all perturbations; and the same figures in `by_perturbation`,
    `by_category`, `by_origin`, `by_modality` (name -> figures). Undefined figures are None. With clusters `<key>_low`
    and `<key>_high` of gammas and scores. Raises ValueError: empty, unequal lengths, scores or chance out of range, a
    row without a perturbation, a perturbation in two categories (origins, modalities); the message names the row.

    Args:
        clean: `[rows]`, the score without perturbation, of the same items.
        perturbed: `[rows]`, the score with it.
        perturbations: `[rows]`, the name of the perturbation ("shot_noise", "drop_first", "jpeg+drop_first").
        severities: `[rows]`; None (or None or NaN in a row) where there are none.
        categories: `[rows]`, for example "Noise", "DropText".
        origins: `[rows]`, "natural", "machine" or "synthetic"; None or NaN in a row leaves it out of these groups.
        modalities: `[rows]`, "video", "text" or "both".
        chance: what guessing scores; adds the chance-corrected gamma.
        percent: the scores are 0..100 instead of 0..1.
        ddof: of the standard deviations; 1 divides by n - 1.
        clusters: `[rows]`, the source video, where the rows are items: adds 95 % cluster bootstrap intervals
            of the gammas and scores (None below five videos), in which a video is drawn with all of its conditions. A
            standard deviation describes the perturbations that were chosen and has none.

    Source: robustness paper, section 4.3.

    >>> result = robustness([0.103] * 2, [0.072, 0.063], ["shuffle_order", "shot_noise"], modalities=["text", "video"])
    >>> {name: round(group["gamma_r"], 3) for name, group in result["by_modality"].items()}
    {'text': 0.699, 'video': 0.612}
    >>> round(result["gamma_r"], 3), round(result["gamma_r_std"], 3)
    (0.655, 0.044)
    """
    before, after = vector(clean, "clean"), vector(perturbed, "perturbed")
    rows = len(before)
    if len(after) != rows:
        raise ValueError(f"{rows} clean scores need {rows} perturbed, not {len(after)}")
    optional: dict[str, Names] = {"perturbations": perturbations, "severities": severities, "categories": categories}
    columns = _checked_columns(rows, optional | {"origins": origins, "modalities": modalities})
    name_of = columns["perturbations"]
    highest = 100 if percent else 1
    if chance is not None and not 0 <= chance < highest:
        raise ValueError(f"chance must be from 0 to below {highest}, not {chance}")
    gamma_absolute(before, after, percent=percent)  # refuses scores out of range, and names the row
    keys = list(zip(name_of, columns.get("severities", [None] * rows), strict=True))
    # Sorted, so that the order of the rows has no influence on the draws.
    conditions = {key: j for j, key in enumerate(sorted(set(keys), key=repr))}
    condition = np.array([conditions[key] for key in keys])
    names = list(dict.fromkeys(name_of))
    members = [np.array([j for (name, _), j in conditions.items() if name == condition]) for condition in names]
    groups: dict[str, dict[object, Ints]] = {"": {"": np.arange(len(names))}}
    for table, kind in (("by_category", "categories"), ("by_origin", "origins"), ("by_modality", "modalities")):
        if kind in columns:
            groups[table] = _groups(names, name_of, columns[kind], table)

    sizes = np.bincount(condition)
    means = [np.bincount(condition, weights=values) / sizes for values in (before, after)]
    gammas_of = partial(_gammas, chance=chance, percent=percent)
    gammas = gammas_of(*means)
    samples: dict[str, Floats] = {}
    n_clusters = 0
    if clusters is not None:
        samples, n_clusters = _bootstrap_gammas((before, after), condition, clusters, gammas_of, seed)

    scores = {"clean": means[0], "perturbed": means[1]}
    figures = partial(_figures, scores, gammas, samples=samples, n_clusters=n_clusters, ddof=ddof)
    result = {"by_perturbation": {name: figures([members[i]]) for i, name in enumerate(names)}}
    for table, tables_of_group in groups.items():
        grouped_figures = {
            group: figures([members[i] for i in inside]) | {"n_perturbations": len(inside)}
            for group, inside in tables_of_group.items()
        }
        result.update(grouped_figures[""] if table == "" else {table: grouped_figures})
    return result


def _figures(
    scores: dict[str, Floats],
    gammas: dict[str, Floats],
    inside: list[Ints],
    *,
    samples: dict[str, Floats],
    n_clusters: int,
    ddof: int,
) -> Figures:
    """Figures over perturbations, each given by the numbers of its conditions, or over the severities of one."""
    result: Figures = {}
    for gamma, values in gammas.items():
        each = [_mean(values[j]) for j in inside]
        mean = _mean(np.array(each))
        result[gamma] = mean if np.isfinite(mean) else None
        spread = np.array(each) if len(inside) > 1 else values[inside[0]]
        defined = spread[np.isfinite(spread)]
        result[f"{gamma}_std"] = exact_std(defined, ddof) if len(defined) > ddof else None
    for name, values in scores.items():
        result[name] = _mean(np.array([values[j].mean() for j in inside]))
    for name, values in samples.items():
        aggregated = _means(np.stack([_means(values[:, j]) for j in inside], axis=1))
        estimate = float("nan") if result[name] is None else result[name]
        bounds = (-np.inf if name == "gamma_c" else 0.0, np.inf)
        result |= interval_keys(name, interval_of_samples(estimate, aggregated, n_clusters, bounds=bounds))
    result["n_conditions"] = int(sum(len(j) for j in inside))
    result["n_missing"] = int(sum(np.isnan(gammas["gamma_r"][j]).all() for j in inside))
    return result


def _checked_columns(rows: int, optional: Mapping[str, Names]) -> dict[str, list[Any]]:
    """The columns that are there, as lists of one value a row; every row has a perturbation."""
    columns = {name: listed(column) for name, column in optional.items() if column is not None}
    for name, column in columns.items():
        if len(column) != rows:
            raise ValueError(f"{rows} clean scores need {rows} {name}, not {len(column)}")
    if None in columns["perturbations"]:
        raise ValueError(f"perturbations: row {columns['perturbations'].index(None)} has none")
    return columns


def _gammas(clean: Floats, perturbed: Floats, chance: float | None, percent: bool) -> dict[str, Floats]:
    gammas = {"gamma_a": gamma_absolute(clean, perturbed, percent=percent)}
    gammas["gamma_r"] = gamma_relative(clean, perturbed, percent=percent)
    if chance is not None:
        gammas["gamma_c"] = gamma_corrected(clean, perturbed, chance=chance, percent=percent)
    return gammas


def _groups(names: list[str], perturbations: Sequence[str], column: Sequence[object], table: str) -> dict[object, Ints]:
    """Group -> numbers of its perturbations, in order of appearance; a perturbation may be in one only."""
    group_of: dict[str, object] = {}
    for row, (name, group) in enumerate(zip(perturbations, column, strict=True)):
        if group_of.setdefault(name, group) != group:
            both = f"{group!r} here and {group_of[name]!r} above"
            raise ValueError(f"row {row}: perturbation {name!r} is {both} ({table})")
    kinds = dict.fromkeys(group for group in group_of.values() if group is not None)
    return {group: np.array([i for i, name in enumerate(names) if group_of[name] == group]) for group in kinds}


def _bootstrap_gammas(
    scores: tuple[Floats, Floats], condition: Ints, clusters: Values, gammas_of: GammasOf, seed: int
) -> tuple[dict[str, Floats], int]:
    """Gammas and scores `[draws, conditions]` over resampled videos, and how many videos there are."""
    n_conditions = int(condition.max()) + 1
    codes, n_clusters = cluster_codes(clusters, len(condition))
    cells, n_cells = codes * n_conditions + condition, n_clusters * n_conditions
    sums = [np.bincount(cells, weights=weights, minlength=n_cells) for weights in (*scores, None)]
    each = np.concatenate([np.asarray(part, float).reshape(n_clusters, n_conditions) for part in sums], axis=1)
    totals = bootstrap_totals(each, DRAWS, seed) if n_clusters > 1 else np.zeros((1, 3 * n_conditions))
    clean, perturbed, sizes = np.split(totals, 3, axis=1)
    empty = sizes == 0  # no video with this condition was drawn (or there is one video only: nothing to draw)
    sizes = np.where(empty, 1.0, sizes)
    clean, perturbed = clean / sizes, perturbed / sizes
    values_of = gammas_of(clean, perturbed) | {"clean": clean, "perturbed": perturbed}
    return {name: np.where(empty, np.nan, values) for name, values in values_of.items()}, n_clusters


def _means(values: Floats) -> Floats:
    """Means of the rows over what is defined in them; NaN where nothing is."""
    is_finite = np.isfinite(values)
    n = is_finite.sum(axis=1)
    return np.where(n > 0, np.where(is_finite, values, 0.0).sum(axis=1) / np.maximum(n, 1), np.nan)


def _mean(values: Floats) -> float:
    return float(_means(values[None])[0])
