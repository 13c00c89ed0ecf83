"""Multiple-choice accuracy of a video-text model on contrast sets, as an `evaluate` metric."""

from typing import ClassVar

import evaluate

from video_contrast.metrics.evaluate_modules.optional_columns import Columns, OptionalColumns
from video_contrast.metrics.multiple_choice import multiple_choice


class VideoContrastMC(OptionalColumns, evaluate.Metric):
    """Accuracy, ranks and R@K of the true caption among its contrasts. Ties count as their expected value, so a scorer
    that gives every caption the same score gets exactly chance.

    Args:
        predictions: `[n][k]`, scores of the k captions of each item, higher is better.
        references: `[n]`, the position of the true caption.
        kinds: optional, `[n][k]`, the kind of each caption: adds the accuracy against each kind of contrast.
        grades: optional, `[n][k]`, how false each caption is, from 1 (true): adds NDCG.
        clusters: optional, `[n]`, the source video of each item: adds 95 % intervals.
        ks: the Ks of R@K, (1,) by default.
        interval: True or False; by default intervals are given if there are clusters.
        seed: of the bootstrap.
        ragged: allow items with different numbers of captions.
    Returns:
        A dict of numbers; the card lists the keys. NaN and infinite scores raise ValueError.
    Examples:
        >>> metric = evaluate.load("video_contrast_mc")
        >>> metric.compute(predictions=[[0.9, 0.1], [0.5, 0.5]], references=[0, 1])["accuracy"]
        0.75
    """

    columns: ClassVar[Columns] = {"predictions": ["float64"], "references": "int64"}
    optional: ClassVar[Columns] = {"kinds": ["string"], "grades": ["int64"], "clusters": "string"}
    measure = staticmethod(multiple_choice)
    citation = "Park et al. (2022): Exposing the Limits of Video-Text Models through Contrast Sets. NAACL."
    example: ClassVar[dict[str, object]] = {
        "predictions": [[0.31, 0.28, 0.05], [0.22, 0.27, 0.11], [0.3, 0.3, 0.02]],
        "references": [0, 0, 0],
        "kinds": [["true", "verb_lm", "random"], ["true", "verb_lm", "random"], ["true", "gender", "random"]],
        "grades": [[1, 2, 3], [1, 2, 3], [1, 3, 2]],
        "clusters": ["video1", "video2", "video3"],
    }
