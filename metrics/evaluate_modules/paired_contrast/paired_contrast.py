"""Two models on the same contrast set, as an `evaluate` comparison."""

from typing import ClassVar

import evaluate

from video_contrast.metrics.evaluate_modules.optional_columns import Columns, OptionalColumns
from video_contrast.metrics.paired import compare_choices


class PairedContrast(OptionalColumns, evaluate.Comparison):
    """Is one model more accurate than another on the same multiple-choice items, or could that be chance? The
    difference with its 95 % interval, a p-value of sign flips by video, and McNemar's exact test.

    Args:
        predictions1, predictions2: `[n][k]`, scores of the two models for the k captions of each item.
        references: `[n]`, the position of the true caption.
        clusters: optional, `[n]`, the source video of each item; without it items count as independent.
        seed: of the signs that are drawn where the test cannot be exact.
    Returns:
        A dict of numbers; the card lists the keys. NaN and infinite scores raise ValueError.
    Examples:
        >>> comparison = evaluate.load("paired_contrast", module_type="comparison")
        >>> result = comparison.compute(predictions1=[[0.1, 0.9]] * 2, predictions2=[[0.8, 0.2]] * 2, references=[0, 0])
        >>> result["difference"]
        1.0
    """

    columns: ClassVar[Columns] = {"predictions1": ["float64"], "predictions2": ["float64"], "references": "int64"}
    measure = staticmethod(compare_choices)
    citation = "McNemar (1947): Note on the sampling error of the difference between proportions. Psychometrika."
    example: ClassVar[dict[str, object]] = {
        "predictions1": [[0.3, 0.4], [0.6, 0.2], [0.1, 0.2], [0.5, 0.4]],
        "predictions2": [[0.5, 0.4], [0.6, 0.1], [0.3, 0.2], [0.5, 0.3]],
        "references": [0, 0, 0, 0],
        "clusters": ["video1", "video1", "video2", "video3"],
    }
