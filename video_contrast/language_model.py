"""Texts under a causal language model: which of two is likelier?

The token that begins texts stands before each, so the first word counts, and a text of a single token has a likelihood.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from video_contrast.pretrained import device_of, load, placed
from video_contrast.token_batches import in_batches, tokens_a_batch
from video_contrast.untyped import Tokenizer, TorchModel

_KEPT = 500_000  # perplexities that stay in memory


class LanguageModel:
    """Perplexities of texts under a causal model: exp of the mean negative log-likelihood of their tokens."""

    def __init__(self, model: str, *, device: str = "auto", batch_tokens: int | None = None) -> None:
        from transformers import AutoModelForCausalLM, AutoTokenizer

        # as a record of a set may name it: no path of this machine, which could not be published
        self.name = Path(model).resolve().name if Path(model).is_dir() else model
        self._device = device_of(device)
        self._budget = tokens_a_batch(batch_tokens, self._device)
        self._tokenizer: Tokenizer = load(model, AutoTokenizer, "language_model")
        network = load(model, AutoModelForCausalLM, "language_model")
        self._model: TorchModel = placed(network, self._device, "language_model")
        self._known: dict[str, float] = {}

    def perplexity(self, texts: Sequence[str]) -> list[float]:
        """One perplexity a text, in float32 or better; equal texts are computed once."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if len(self._known) > _KEPT:
            self._known, new = {}, list(dict.fromkeys(texts))
        if new:
            limit = int(getattr(self._model.config, "max_position_embeddings", 1024) or 1024)
            rows = token_rows(self._tokenizer, new, limit)

            def run(batch: list[int]) -> list[NDArray[np.float64]]:
                return log_probabilities(self._model, [rows[n] for n in batch])

            for batch, logs in in_batches([len(row) for row in rows], self._budget, run):
                self._known.update(zip([new[n] for n in batch], map(perplexity_of, logs), strict=True))
        return [self._known[text] for text in texts]


def token_rows(tokenizer: Tokenizer, texts: Sequence[str], limit: int | None = None) -> list[list[int]]:
    """Token ids of each text behind the token that begins texts (else the one that ends or pads them, else 0).

    `limit`: tokens that the model reads at most; None: all.
    """
    marks = (tokenizer.bos_token_id, tokenizer.eos_token_id, tokenizer.pad_token_id, 0)
    start = next(mark for mark in marks if mark is not None)
    return [[start, *tokenizer.encode(text, add_special_tokens=False)][:limit] for text in texts]


def log_probabilities(model: TorchModel, rows: Sequence[Sequence[int]]) -> list[NDArray[np.float64]]:
    """The log-probability of every token but the first, one array a row, of a causal model in evaluation mode."""
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
