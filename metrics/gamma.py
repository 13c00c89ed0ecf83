"""Robustness of a score to a perturbation: absolute, relative and chance-corrected gamma."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

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
    before, after = _scores(clean, perturbed, 100.0 if percent else 1.0)
    return 1.0 - (before - after)


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

    >>> float(gamma_corrected(0.8, 0.5, chance=0.5)), float(gamma_corrected(0.5, 0.5, chance=0.5))
    (0.0, nan)
    """
    before, after = _scores(clean, perturbed, 1.0, highest=100.0)
    above = before - np.asarray(chance, np.float64)
    known = above > 0
    return np.where(known, (after - chance) / np.where(known, above, 1.0), np.nan)


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
        The gamma with its interval; NaN throughout where the clean score is at or below chance.

    Raises:
        ValueError: unequal lengths, values that are not finite.

    >>> gamma_interval([1, 1, 1, 1], [1, 0, 1, 0]).estimate
    0.5
    """
    before, after = np.asarray(clean_hits, np.float64), np.asarray(perturbed_hits, np.float64)
    if before.shape != after.shape:
        raise ValueError(f"clean and perturbed must be the same items, not {before.shape} and {after.shape}")
    if absolute:
        loss = OfMeans(lambda means: 1.0 - (means[:, 0] - means[:, 1]))
        return cluster_bootstrap(np.stack([before, after], axis=-1), clusters, statistic=loss, draws=draws, seed=seed)
    if before.ndim == 1 and len(before) and before.mean() <= chance:
        return Interval(float("nan"), float("nan"), float("nan"), float("nan"), len(before))
    pairs = np.stack([before - chance, after - chance], axis=-1)
    return cluster_bootstrap(pairs, clusters, statistic="ratio", draws=draws, seed=seed)


def _scores(
    clean: Any, perturbed: Any, scale: float, highest: float | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    both = []
    for name, values in (("clean", clean), ("perturbed", perturbed)):
        array = np.asarray(values, np.float64)
        limit = highest or scale
        bad = np.flatnonzero(~np.isfinite(array) | (array < 0) | (array > limit))
        if len(bad):
            where = f" (position {bad[0]})" if array.ndim else ""
            raise ValueError(f"the {name} score{where} is {array.ravel()[bad[0]]}, not a number from 0 to {limit:g}")
        both.append(array / scale)
    return both[0], both[1]
