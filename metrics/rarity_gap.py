"""Rarity gap: does a model fall for contrasts whose words are more frequent than the true ones?"""

import numpy as np

from video_contrast.metrics.bootstrap import OfMeans, cluster_bootstrap
from video_contrast.metrics.checks import Values, cluster_codes, shares, vector
from video_contrast.metrics.interval import interval_keys, share_interval

_GAP = OfMeans(lambda means: means[:, 2] - means[:, 1] / means[:, 0])  # columns: rare, rare and right, right


def rarity_gap(
    hits: Values,
    original_counts: Values,
    contrast_counts: Values,
    *,
    clusters: Values = None,
    interval: bool = False,
    seed: int = 0,
) -> dict[str, float | None]:
    """Accuracy over all items less the accuracy where the original is rarer in training than its contrast.

    Args:
        hits: `[n]`, 1 right, 0 wrong, between them on a tie.
        original_counts: `[n]`, how often the original word (a character id, a verb) occurs in the training captions.
        contrast_counts: `[n]`, how often the word that replaced it does.
        clusters: `[n]`, for the intervals.
        interval: add 95 % intervals of `overall`, `rare` (`share_interval`) and `gap` (`cluster_bootstrap`).
        seed: of the bootstrap.

    Returns:
        `overall`, `rare` and `gap` (None if no item is rare), `n_rare`, `n`.

    Raises:
        ValueError: empty, unequal lengths, hits outside 0..1, counts that are negative or not finite; the message names
            the item.

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
    result: dict[str, float | None] = {
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
            groups = cluster_codes(clusters, len(right))[0][rare]
            result.update(interval_keys("rare", share_interval(right[rare], groups)))
    return result
