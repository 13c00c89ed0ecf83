"""Sets of options by name; what a call gives itself goes first."""

from dataclasses import fields, replace
from typing import Any

from video_contrast.teacher.options import TeachOptions

# The RCAD paper, 5.1: ten action captions a clip by mask filling with XLM-RoBERTa, or by a chat model (5.3, .3 from it
# either way), soft logits of a Sentence-BERT. Constraints: those of the contrast sets that need neither GPT2-XL
# (perplexity) nor word vectors. Where the papers are silent: rates, warm-up and decay of CLIP4Clip as trained in
# mmaction2 (the defaults of `TrainingOptions`), the model's own temperature, frozen.
PRESETS: dict[str, dict[str, Any]] = {
    "none": {},
    "paper": {
        "negatives": "10-action",
        "generator": "mlm",
        "generator_model": "FacebookAI/xlm-roberta-base",
        "constraints": "has_verb,lemma,frequency,siblings,inflection,sentence",
        "objective": "lgt",
        "encoder": "sentence-transformers/bert-base-nli-mean-tokens",
        "batch_size": 128,
        "epochs": 5,
    },
}


def with_preset(options: TeachOptions) -> TeachOptions:
    """The options with those of their preset where they have the usual value.

    A generator model with an endpoint in its options (`--generator-model NAME --generator-options endpoint=URL`) is a
    served chat model, in place of mask filling.

    >>> from pathlib import Path
    >>> paper = with_preset(TeachOptions(output=Path("run"), preset="paper", epochs=2))
    >>> paper.generator, paper.objective, paper.epochs
    ('mlm', 'lgt', 2)
    """
    usual = {field.name: field.default for field in fields(TeachOptions)}
    values = {name: value for name, value in PRESETS[options.preset].items() if getattr(options, name) == usual[name]}
    if "endpoint=" in (options.generator_options or ""):
        values = {**values, "generator": "llm"} if "generator" in values else values
    return replace(options, **values)
