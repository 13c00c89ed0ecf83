"""How far a perturbation moves captions, as an `evaluate` measurement."""

from typing import ClassVar

import evaluate

from video_contrast.metrics.evaluate_modules.optional_columns import Columns, OptionalColumns
from video_contrast.metrics.shift import caption_shift


class CaptionShift(OptionalColumns, evaluate.Measurement):
    """The effect of a text perturbation: share of changed captions, BLEU-4, ROUGE-1 and ROUGE-L against the originals,
    edited words, vocabulary before and after; METEOR and perplexity on request.

    Args:
        data: `[n]`, the perturbed captions.
        references: `[n]`, the same captions before the perturbation.
        meteor: add METEOR (needs NLTK's WordNet data).
        language_model: add perplexities under a causal language model ("gpt2", or a folder).
        clusters: optional, `[n]`, the source video of each caption: adds 95 % intervals.
        interval: True or False; by default intervals are given if there are clusters.
        seed: of the bootstrap.
    Returns:
        A dict of numbers; the card lists the keys.
    Examples:
        >>> measurement = evaluate.load("caption_shift", module_type="measurement")
        >>> measurement.compute(data=["[UNK] dog runs", "a cat"], references=["a dog runs", "a cat"])["changed"]
        0.5
    """

    columns: ClassVar[Columns] = {"data": "string", "references": "string"}
    measure = staticmethod(caption_shift)
    citation = "Schiappa et al. (2022): Robustness Analysis of Video-Language Models. NeurIPS."
    example: ClassVar[dict[str, object]] = {
        "data": ["[UNK] little girl does gymnastics", "a dog runs after a ball"],
        "references": ["a little girl does gymnastics", "a dog runs after a ball"],
    }
