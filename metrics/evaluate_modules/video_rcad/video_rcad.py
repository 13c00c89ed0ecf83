"""Retrieval from counterfactually augmented data, as an `evaluate` metric."""

from typing import ClassVar

import evaluate

from video_contrast.metrics.evaluate_modules.optional_columns import Columns, OptionalColumns
from video_contrast.metrics.rcad import rcad


class VideoRCAD(OptionalColumns, evaluate.Metric):
    """Rank of a video's true caption among its own counterfactual ones (six in Feint6K): R@1, R@2, R@3, mean and median
    rank. Ties count as their expected value, or for the model as in the released evaluation.

    Args:
        predictions: `[videos][k]`, similarities of each video with its own k captions; or `[videos][texts]`, with the
            captions of all videos (needed for `normalise`).
        references: `[videos]`, the position of the true caption among the video's own (0 in Feint6K).
        columns: optional, `[videos][k]`, which texts are the video's own. Without it, and with `normalise`, they are
            consecutive blocks in the order of the videos.
        clusters: optional, `[videos]`, the source video: adds 95 % intervals.
        normalise: "videos" takes the softmax over the videos of each text's similarities first, as the release does.
        scale: factor of the similarities before that softmax.
        ties: "expected" or "released" (every tie counts for the model).
        ks: the Ks of R@K; by default those of 1, 2, 3 that a video has captions for.
        interval: True or False; by default intervals are given if there are clusters.
        seed: of the bootstrap.
    Returns:
        A dict of numbers; the card lists the keys. NaN and infinite similarities raise ValueError.
    Examples:
        >>> metric = evaluate.load("video_rcad")
        >>> metric.compute(predictions=[[0.5, 0.5, 0.1], [0.9, 0.8, 0.7]], references=[0, 0])["R@1"]
        0.75
    """

    columns: ClassVar[Columns] = {"predictions": ["float64"], "references": "int64"}
    optional: ClassVar[Columns] = {"columns": ["int64"], "clusters": "string"}
    measure = staticmethod(rcad)
    citation = "Ma et al. (2024): Rethinking Video-Text Understanding: Retrieval from Counterfactual Data. ECCV."
    example: ClassVar[dict[str, object]] = {
        "predictions": [[0.5, 0.5, 0.1, 0.0, 0.2, 0.3], [0.9, 0.8, 0.7, 0.6, 0.5, 0.4]],
        "references": [0, 0],
    }
