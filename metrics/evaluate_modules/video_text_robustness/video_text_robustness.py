"""Robustness (gamma) of a video-text model to perturbations, as an `evaluate` metric."""

from typing import ClassVar

import evaluate

from video_contrast.metrics.checks import Argument, Figures
from video_contrast.metrics.evaluate_modules.optional_columns import Columns, OptionalColumns
from video_contrast.metrics.robustness import robustness


class VideoTextRobustness(OptionalColumns, evaluate.Metric):
    """Absolute, relative and chance-corrected gamma over any score (R@K, multiple-choice accuracy): how much of the
    clean score is left under perturbations, averaged over severities, then over perturbations, by category, origin and
    modality, with standard deviations.

    Args:
        predictions: `[rows]`, the score under a perturbation: a figure of a condition, or what one item contributes to
            it.
        references: `[rows]`, the clean score of the same.
        perturbations: `[rows]`, the perturbation's name.
        severities, categories, origins, modalities: optional, `[rows]`: severity 1..5; its category ("Noise");
            "natural", "machine" or "synthetic"; "video", "text" or "both".
        clusters: optional, `[rows]`, the source video where rows are items: adds 95 % intervals.
        chance: what guessing scores; adds the chance-corrected gamma.
        percent: the scores are 0..100.
        ddof: of the standard deviations.
        seed: of the bootstrap.
    Returns:
        A dict of numbers, and one a perturbation and group; the card lists the keys. NaN raises ValueError.
    Examples:
        >>> metric = evaluate.load("video_text_robustness")
        >>> result = metric.compute(predictions=[0.072], references=[0.103], perturbations=["shuffle_order"])
        >>> round(result["gamma_r"], 3)
        0.699
    """

    columns: ClassVar[Columns] = {"predictions": "float64", "references": "float64", "perturbations": "string"}
    optional: ClassVar[Columns] = {
        "severities": "int64",
        "categories": "string",
        "origins": "string",
        "modalities": "string",
        "clusters": "string",
    }
    citation = "Schiappa et al. (2022): Robustness Analysis of Video-Language Models. NeurIPS."
    example: ClassVar[dict[str, object]] = {
        "predictions": [0.072, 0.063, 0.05],
        "references": [0.103, 0.103, 0.103],
        "perturbations": ["shuffle_order", "shot_noise", "shot_noise"],
        "severities": [None, 1, 2],
        "modalities": ["text", "video", "video"],
    }

    def _compute(self, **inputs: Argument) -> Figures:
        return robustness(inputs.pop("references"), inputs.pop("predictions"), **inputs)
