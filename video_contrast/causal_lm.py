"""Log-probabilities of texts under a causal language model: the token that begins texts stands before each.

So the first word counts too, and a text of a single token has a likelihood.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from video_contrast.untyped import Tokenizer, TorchModel


def token_rows(tokenizer: Tokenizer, texts: Sequence[str], limit: int | None = None) -> list[list[int]]:
    """Token ids of each text behind the token that begins texts (else the one that ends or pads them, else 0).

    `limit`: tokens that the model reads at most; None: all.
    """
    marks = (tokenizer.bos_token_id, tokenizer.eos_token_id, tokenizer.pad_token_id, 0)
    start = next(mark for mark in marks if mark is not None)
    return [[start, *tokenizer.encode(text, add_special_tokens=False)][:limit] for text in texts]


def log_probabilities(model: TorchModel, rows: Sequence[Sequence[int]]) -> list[NDArray[np.float64]]:
    """The log-probability of every token but the first, one array a row; the rows are one batch.

    `model`: a causal language model of transformers in evaluation mode.
    """
    import torch

    width = max(map(len, rows))
    # Padded on the right: in a causal model no token sees what stands behind it.
    ids = torch.tensor([[*row, *[row[0]] * (width - len(row))] for row in rows], device=model.device)
    if width < 2:
        return [np.zeros(0) for _ in rows]
    with torch.inference_mode():
        log = model(input_ids=ids).logits[:, :-1].float().log_softmax(-1)
        likely = log.gather(2, ids[:, 1:, None])[:, :, 0].double().cpu().numpy()
    return [of_row[: len(row) - 1] for of_row, row in zip(likely, rows, strict=True)]


def perplexity_of(logs: NDArray[np.float64]) -> float:
    """exp of the mean negative log-probability; 1 for no token.

    >>> perplexity_of(np.log([0.5, 0.5]))
    2.0
    """
    return float(np.exp(-logs.mean())) if len(logs) else 1.0
