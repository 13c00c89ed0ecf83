"""Perplexity of captions under a causal language model: how usual their English is."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def perplexity(texts: Sequence[str], model: str, batch_size: int = 64) -> NDArray[np.float64]:
    """Perplexity of each text: exp of the mean negative log-likelihood of its tokens.

    The tokenizer's beginning (or end) token stands before the text, so its first word counts too. Texts of similar
    length go through the model together; a text longer than the model's context is cut.

    Args:
        texts: `[n]`.
        model: a causal language model of transformers: Hub id or folder ("gpt2").
        batch_size: texts in one forward pass.

    Returns:
        float64[n], from 1 on.

    Raises:
        ValueError: the model cannot be loaded; the message names it and the command that fetches it.

    Source: robustness paper, tables of text perturbations.
    """
    import torch
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
    marks = (tokenizer.bos_token_id, tokenizer.eos_token_id, 0)
    start = next(mark for mark in marks if mark is not None)
    limit = int(getattr(network.config, "max_position_embeddings", None) or 1024)
    rows = [[start, *tokenizer.encode(text, add_special_tokens=False)][:limit] for text in texts]
    order = sorted(range(len(rows)), key=lambda i: len(rows[i]))
    is_candidate = np.ones(len(rows))
    for begin in range(0, len(order), batch_size):
        batch = [i for i in order[begin : begin + batch_size] if len(rows[i]) > 1]
        if not batch:
            continue
        width = max(len(rows[i]) for i in batch)
        # Padded on the right: in a causal model no token sees what stands behind it.
        ids = torch.tensor([rows[i] + [start] * (width - len(rows[i])) for i in batch])
        with torch.inference_mode():
            log = network(input_ids=ids).logits[:, :-1].float().log_softmax(-1)
        likely = log.gather(2, ids[:, 1:, None])[:, :, 0].double().numpy()
        for row, i in enumerate(batch):
            is_candidate[i] = np.exp(-likely[row, : len(rows[i]) - 1].mean())
    return is_candidate
