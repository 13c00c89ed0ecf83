"""Robustness of a score to a perturbation: absolute, relative and chance-corrected gamma."""

import numpy as np
from numpy.typing import NDArray

from video_contrast.metrics.bootstrap import OfMeans, cluster_bootstrap
from video_contrast.metrics.checks import Values, as_array, shares
from video_contrast.metrics.interval import Interval, difference_interval, no_interval


def gamma_absolute(clean: Values, perturbed: Values, *, percent: bool = False) -> NDArray[np.float64]:
    """1 - (clean - perturbed): 1 is robust, above 1 the perturbation helps.

    Args:
        clean: score or array of scores without the perturbation, in 0..1 (in 0..100 with `percent`).
        perturbed: the same with it; the two are broadcast.
        percent: the scores are percentages.

    Raises:
        ValueError: a score is not finite or out of its range.

    Source: robustness paper, section 4.3.

    >>> round(float(gamma_absolute(10.3, 7.2, percent=True)), 3)
    0.969
    """
    scale = 100.0 if percent else 1.0
    before, after = _in_range(scale, clean=clean, perturbed=perturbed)
    return 1.0 - (before / scale - after / scale)


def gamma_relative(clean: Values, perturbed: Values, *, percent: bool = False) -> NDArray[np.float64]:
    """1 - (clean - perturbed) / clean: the share of the clean score that is left. NaN where `clean` is 0.

    Args:
        clean: score or array of scores without the perturbation, in 0..1 (in 0..100 with `percent`).
        perturbed: the same with it; the two are broadcast.
        percent: the scores are percentages.

    Returns:
        float64 of the broadcast shape, 0 or more.

    Raises:
        ValueError: a score is not finite or out of its range (a percentage beside a share is).

    Source: robustness paper, section 4.3.

    >>> gamma_relative([0.103, 0.103, 0.0], [0.072, 0.063, 0.0]).round(3).tolist()
    [0.699, 0.612, nan]
    """
    return gamma_corrected(clean, perturbed, chance=0.0, percent=percent)


def gamma_corrected(clean: Values, perturbed: Values, *, chance: Values, percent: bool = False) -> NDArray[np.float64]:
    """(perturbed - chance) / (clean - chance): the share of what the model knew that is left.

    A model that falls to guessing gets 0 here, where the relative gamma still shows chance / clean. NaN where
    the clean score is at or below chance: there is nothing that could be lost. Where it is barely above, the figure is
    a ratio of two noises and may be of any size; `gamma_interval` knows and gives no interval there.

    Args:
        clean, perturbed: scores as for `gamma_relative`; broadcast.
        chance: what guessing scores, on the same scale; one number or an array.
        percent: scores and chance are percentages.

    Returns:
        float64 of the broadcast shape.

    Raises:
        ValueError: a score or the chance is not finite or out of range.

    >>> float(gamma_corrected(0.8, 0.5, chance=0.5)), float(gamma_corrected(0.5, 0.5, chance=0.5))
    (0.0, nan)
    """
    before, after, guess = _in_range(100.0 if percent else 1.0, clean=clean, perturbed=perturbed, chance=chance)
    above = before - guess
    known = above > 0
    return np.where(known, (after - guess) / np.where(known, above, 1.0), np.nan)


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

    Args:
        clean_hits, perturbed_hits: `[n]`, what each item contributes to the score (1 right, 0 wrong, between on
            ties), the same items in the same order.
        clusters: `[n]`, the source videos; a video is drawn with its clean and its perturbed items together.
        absolute: the absolute gamma instead of the relative one.
        chance: subtracted from both means of the relative one.
        seed: of the bootstrap.

    Returns:
        The gamma with its interval (`difference_interval` of the absolute one, else `cluster_bootstrap`); NaN
        throughout where the clean score is at or below chance. The interval is NaN below five clusters, where no item
        changes, and where the clean score is not clearly above chance (2.5 % of the draws are at or below it).

    Raises:
        ValueError: unequal lengths, hits outside 0..1.

    >>> gamma_interval([1, 1, 1, 1], [1, 0, 1, 0]).estimate
    0.5
    """
    before, after = shares(clean_hits, "clean_hits"), shares(perturbed_hits, "perturbed_hits")
    if before.shape != after.shape:
        raise ValueError(f"clean and perturbed must be the same items, not {before.shape} and {after.shape}")

    if absolute:
        change = difference_interval(after - before, clusters)
        return change._replace(estimate=1 + change.estimate, low=1 + change.low, high=1 + change.high)

    def gamma(means: NDArray[np.float64]) -> NDArray[np.float64]:
        clean, perturbed = means.T
        return np.where(clean > chance, (perturbed - chance) / (clean - chance), np.nan)

    bounds = (-np.inf if chance else 0.0, np.inf)
    pairs = np.stack([before, after], axis=1)
    interval = cluster_bootstrap(pairs, clusters, statistic=OfMeans(gamma), seed=seed, bounds=bounds)
    return interval if np.isfinite(interval.estimate) else no_interval(interval.estimate, interval.n_clusters)


def _in_range(highest: float, **scores: Values) -> list[NDArray[np.float64]]:
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
