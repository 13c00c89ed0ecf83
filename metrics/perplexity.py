"""Perplexity of captions under a causal language model: how usual their English is."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from video_contrast.pretrained import log_probabilities, perplexity_of, token_rows

_BATCH = 64  # texts in one forward pass


def perplexity(texts: Sequence[str], model: str) -> NDArray[np.float64]:
    """Perplexity of each text: exp of the mean negative log-likelihood of its tokens.

    The tokenizer's first token stands before the text (`causal_lm`). Texts of similar length go through the model
    together; a text longer than the model's context is cut.

    Args:
        texts: `[n]`.
        model: a causal language model of transformers: Hub id or folder ("gpt2").

    Returns:
        float64[n], from 1 on.

    Raises:
        ValueError: the model cannot be loaded; the message names it and the command that fetches it.

    Source: robustness paper, tables of text perturbations.
    """
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from video_contrast.hub import asked_once

    try:
        with asked_once(model):
            tokenizer = AutoTokenizer.from_pretrained(model)
            network = AutoModelForCausalLM.from_pretrained(model).eval()
    except (OSError, ValueError) as error:
        raise ValueError(
            f"the language model {model!r} cannot be loaded ({error}); get it: hf download {model}"
        ) from error
    limit = int(getattr(network.config, "max_position_embeddings", None) or 1024)
    rows = token_rows(tokenizer, texts, limit)
    order = sorted(range(len(rows)), key=lambda n: len(rows[n]))
    perplexities = np.empty(len(rows))
    for begin in range(0, len(order), _BATCH):
        batch = order[begin : begin + _BATCH]
        perplexities[batch] = [perplexity_of(logs) for logs in log_probabilities(network, [rows[n] for n in batch])]
    return perplexities
