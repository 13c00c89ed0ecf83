"""All right together: every member of a contrast cluster, every rotation of the candidates."""

import numpy as np

from video_contrast.metrics.checks import Values, cluster_codes, refuse, rows_of_one_length, shares
from video_contrast.metrics.interval import interval_keys, share_interval
from video_contrast.metrics.ranks import Numbers


def consistency(hits: Values, clusters: Values, *, videos: Values = None, interval: bool = False) -> Numbers:
    """The share of clusters of which every item is right.

    Returns `consistency`, `accuracy` (of the items), `n_clusters`, `n`. Raises ValueError: empty, hits outside 0..1,
    not one cluster an item, or a cluster of two videos; the message names it.

    Args:
        hits: `[n]`, 1 right, 0 wrong, between them the expected value on a tie (`ranks.Ranks.hit(1)`).
        clusters: `[n]`, the contrast cluster of each item (all contrasts of one original).
        videos: `[n]`, the source video of each item, for the intervals, where a video has several contrast clusters;
            None: the clusters are what is drawn.
        interval: add 95 % cluster bootstrap intervals of both figures.

    Source: contrast sets (Gardner et al. 2020).

    >>> consistency([1, 1, 1, 0], ["a", "a", "b", "b"])["consistency"]
    0.5
    """
    values = shares(hits, "hits")
    codes, n_clusters = cluster_codes(clusters, len(values))
    all_right = np.ones(n_clusters)
    np.multiply.at(all_right, codes, values)
    result: Numbers = {
        "consistency": float(all_right.mean()),
        "accuracy": float(values.mean()),
        "n_clusters": n_clusters,
        "n": len(values),
    }
    if interval:
        clusters = codes if videos is None else cluster_codes(videos, len(values))[0]
        video_of = np.empty(n_clusters, np.int64)
        video_of[codes[::-1]] = clusters[::-1]  # the video of the first item of each
        apart = video_of[codes] != clusters
        refuse(apart, lambda i: f"videos: item {i} is of another video than the rest of its contrast cluster")
        result |= interval_keys("consistency", share_interval(all_right, video_of))
        result |= interval_keys("accuracy", share_interval(values, clusters))
    return result


def right_in_all_rotations(hits: Values, *, clusters: Values = None, interval: bool = False) -> Numbers:
    """The share of items that a letter-choice model gets right in every rotation of the candidates.

    Returns `right_in_all`, `accuracy` (the mean over rotations), `rotations`, `n`; with interval `<key>_low` and
    `<key>_high`. Raises ValueError: empty, rows of different lengths, values outside 0..1; the message names the item.

    Args:
        hits: `[n][rotations]`, 1 right, 0 wrong, between them on a tie.
        clusters: `[n]`, the source videos, for the intervals.
        interval: add 95 % intervals of both figures (`share_interval`).

    >>> right_in_all_rotations([[1, 1, 1], [1, 0, 1]])["right_in_all"]
    0.5
    """
    array = rows_of_one_length(hits, "hits", "rotations").astype(np.float64)
    if not len(array):
        raise ValueError("hits are empty: there are no items")
    if array.ndim != 2 or not array.shape[1]:
        raise ValueError(f"hits must be one row an item and one column a rotation, not the shape {array.shape}")
    bad = ~((array >= 0) & (array <= 1))
    refuse(bad, lambda i, j: f"hits: item {i}, rotation {j} is {array[i, j]}, not between 0 and 1")
    result: Numbers = {"n": len(array), "rotations": array.shape[1]}
    for name, values in (("right_in_all", array.prod(axis=1)), ("accuracy", array.mean(axis=1))):
        result[name] = float(values.mean())
        if interval:
            result |= interval_keys(name, share_interval(values, clusters))
    return result
