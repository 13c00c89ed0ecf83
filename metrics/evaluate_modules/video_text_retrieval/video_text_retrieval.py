"""Text-to-video and video-to-text retrieval, as an `evaluate` metric."""

from typing import ClassVar

import evaluate

from video_contrast.metrics.checks import Argument, Figures
from video_contrast.metrics.evaluate_modules.optional_columns import Columns, OptionalColumns
from video_contrast.metrics.retrieval import retrieval, videos_of_captions


class VideoTextRetrieval(OptionalColumns, evaluate.Metric):
    """Retrieval both ways from similarities of videos and captions, with several captions a video: R@K, mean and median
    rank. Ties count as their expected value, and negative similarities are as good as any.

    Args:
        predictions: `[videos][captions]`, the similarities of each video with all captions, higher is better.
        references: `[videos]`, lists of the columns that are captions of the video (an empty list: a video without
            captions, which is only a wrong answer for others). Every column belongs to exactly one video.
        clusters: optional, `[videos]`, the source video of each clip: adds 95 % intervals.
        ks: the Ks of R@K; by default those of 1, 5, 10 that both galleries are large enough for.
        interval: True or False; by default intervals are given if there are clusters.
        seed: of the bootstrap.
    Returns:
        A dict of numbers; the card lists the keys. NaN and infinite similarities raise ValueError.
    Examples:
        >>> metric = evaluate.load("video_text_retrieval")
        >>> metric.compute(predictions=[[0.9, 0.8, 0.1], [0.2, 0.3, 0.4]], references=[[0, 1], [2]], ks=[1])["v2t_R@1"]
        1.0
    """

    columns: ClassVar[Columns] = {"predictions": ["float64"], "references": ["int64"]}
    measure = staticmethod(retrieval)
    citation = "Schiappa et al. (2022): Robustness Analysis of Video-Language Models. NeurIPS."
    example: ClassVar[dict[str, object]] = {
        "predictions": [[0.9, 0.8, 0.1], [0.2, 0.3, 0.3]],
        "references": [[0, 1], [2]],
        "ks": [1],
    }

    def _compute(self, **inputs: Argument) -> Figures:
        captions, predictions = inputs["references"], inputs["predictions"]
        videos = videos_of_captions(captions, len(predictions[0]) if len(predictions) else 0)
        return super()._compute(**{**inputs, "references": videos})
