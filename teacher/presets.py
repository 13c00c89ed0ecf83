"""Sets of options by name; what a call gives itself goes first."""

from video_contrast.options import GivenOptions, OptionValues

# The RCAD paper, 5.1: ten action captions a clip by mask filling with XLM-RoBERTa, or by a chat model (5.3, .3 from it
# either way), soft logits of a Sentence-BERT. Constraints: those of the contrast sets that need neither GPT2-XL
# (perplexity) nor word vectors. Where the papers are silent: rates, warm-up and decay of CLIP4Clip as trained in
# mmaction2 (the defaults of `TrainingOptions`), the model's own temperature, frozen.
PRESETS: dict[str, OptionValues] = {
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


def with_preset(given: GivenOptions) -> OptionValues:
    """The options that a call gives, and those of its preset that it does not give.

    A generator model with an endpoint in its options (`--generator-model NAME --generator-options endpoint=URL`) is a
    served chat model, in place of mask filling.

    >>> options = with_preset({"preset": "paper", "objective": "lbl"})
    >>> options["generator"], options["objective"], options["batch_size"]
    ('mlm', 'lbl', 128)
    """
    values = dict(PRESETS.get(given.get("preset", "none"), {}))
    if "generator" in values and "endpoint=" in (given.get("generator_options") or ""):
        values["generator"] = "llm"
    return {**values, **given}
