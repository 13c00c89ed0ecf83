"""Text, video and group score of pairs of videos and captions, as an `evaluate` metric."""

from typing import ClassVar

import evaluate

from video_contrast.metrics.evaluate_modules.optional_columns import Columns, OptionalColumns
from video_contrast.metrics.group_score import group_score


class VideoContrastPairs(OptionalColumns, evaluate.Metric):
    """Pairs of videos and captions, each caption true for one video (or n of each): does each video prefer its
    caption, each caption its video, and both? Ties count as their expected value, so a constant scorer gets exactly
    1/4, 1/4 and 1/6.

    Args:
        predictions: `[n][k][k]`, scores of each caption (first) with each video of a group, higher is better; caption
            j is true for video j. A pair is k = 2.
        clusters: optional, `[n]`, the source video of each group: adds 95 % intervals.
        interval: True or False; by default intervals are given if there are clusters.
    Returns:
        A dict of numbers; the card lists the keys. NaN and infinite scores raise ValueError.
    Examples:
        >>> metric = evaluate.load("video_contrast_pairs")
        >>> metric.compute(predictions=[[[0.9, 0.2], [0.1, 0.8]], [[0.9, 0.95], [0.1, 0.97]]])["group_score"]
        0.5
    """

    columns: ClassVar[Columns] = {"predictions": [["float64"]]}
    measure = staticmethod(group_score)
    citation = "Thrush et al. (2022): Winoground: Probing Vision and Language Models for Compositionality. CVPR."
    example: ClassVar[dict[str, object]] = {
        "predictions": [[[0.9, 0.2], [0.1, 0.8]], [[0.9, 0.95], [0.1, 0.97]], [[0.5, 0.5], [0.5, 0.5]]],
        "clusters": ["video1", "video2", "video3"],
    }
