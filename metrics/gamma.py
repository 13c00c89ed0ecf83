"""Robustness of a score to a perturbation: absolute, relative and chance-corrected gamma."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from video_contrast.metrics.checks import as_array, vector
from video_contrast.metrics.cluster_bootstrap import Interval, OfMeans, cluster_bootstrap


def gamma_absolute(clean: Any, perturbed: Any, *, percent: bool = False) -> NDArray[np.float64]:
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


def gamma_relative(clean: Any, perturbed: Any) -> NDArray[np.float64]:
    """1 - (clean - perturbed) / clean: the share of the clean score that is left. NaN where `clean` is 0.

    The scores may be shares or percentages: the ratio is the same.

    Source: robustness paper, section 4.3.

    >>> gamma_relative([0.103, 0.103, 0.0], [0.072, 0.063, 0.0]).round(3).tolist()
    [0.699, 0.612, nan]
    """
    return gamma_corrected(clean, perturbed, chance=0.0)


def gamma_corrected(clean: Any, perturbed: Any, *, chance: Any) -> NDArray[np.float64]:
    """(perturbed - chance) / (clean - chance): the share of what the model knew that is left.

    A model that falls to guessing gets 0 here, where the relative gamma still shows chance / clean. NaN where
    the clean score is at or below chance: there is nothing that could be lost.

    Args:
        clean, perturbed: scores as for `gamma_absolute`, shares or percentages.
        chance: what guessing scores, on the same scale; one number or an array.

    Raises:
        ValueError: a score or the chance is not finite or out of range.

    >>> float(gamma_corrected(0.8, 0.5, chance=0.5)), float(gamma_corrected(0.5, 0.5, chance=0.5))
    (0.0, nan)
    """
    before, after, guess = _in_range(100.0, clean=clean, perturbed=perturbed, chance=chance)
    above = before - guess
    known = above > 0
    return np.where(known, (after - guess) / np.where(known, above, 1.0), np.nan)


def gamma_interval(
    clean_hits: Any,
    perturbed_hits: Any,
    clusters: Any = None,
    *,
    absolute: bool = False,
    chance: float = 0.0,
    draws: int = 10_000,
    seed: int = 0,
) -> Interval:
    """The relative, absolute or (with `chance`) corrected gamma of paired items, with its cluster bootstrap interval.

    Args:
        clean_hits, perturbed_hits: `[n]`, what each item contributes to the score (1 right, 0 wrong, between on
            ties), the same items in the same order.
        clusters: `[n]`, the source videos; a video is drawn with its clean and its perturbed items together.
        absolute: the absolute gamma instead of the relative one.
        chance: subtracted from both means of the relative one.
        draws, seed: of the bootstrap.

    Returns:
        The gamma with its interval; NaN throughout where the clean score is at or below chance. Draws in which it is
        so are left out; if that is more than half of them the interval is NaN.

    Raises:
        ValueError: unequal lengths, values that are not finite.

    >>> gamma_interval([1, 1, 1, 1], [1, 0, 1, 0]).estimate
    0.5
    """
    before, after = vector(clean_hits, "clean_hits"), vector(perturbed_hits, "perturbed_hits")
    if before.shape != after.shape:
        raise ValueError(f"clean and perturbed must be the same items, not {before.shape} and {after.shape}")

    def gamma(means: NDArray[np.float64]) -> NDArray[np.float64]:
        clean, perturbed = means.T
        if absolute:
            return 1.0 - (clean - perturbed)
        return np.where(clean > chance, (perturbed - chance) / (clean - chance), np.nan)

    pairs = np.stack([before, after], axis=1)
    found = cluster_bootstrap(pairs, clusters, statistic=OfMeans(gamma), draws=draws, seed=seed)
    nan = float("nan")
    return found if np.isfinite(found.estimate) else Interval(nan, nan, nan, nan, found.n_clusters)


def _in_range(highest: float, **scores: Any) -> list[NDArray[np.float64]]:
    """Arrays of finite numbers from 0 to `highest`; the names of the arguments stand in messages."""
    arrays = []
    for name, values in scores.items():
        array = as_array(values).astype(np.float64)
        bad = np.flatnonzero(~np.isfinite(array) | (array < 0) | (array > highest))
        if len(bad):
            where = f" (position {bad[0]})" if array.ndim else ""
            what = name if name == "chance" else f"the {name} score"
            raise ValueError(f"{what}{where} is {array.ravel()[bad[0]]}, not a number from 0 to {highest:g}")
        arrays.append(array)
    return arrays
