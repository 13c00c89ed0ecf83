"""A causal language model that reads captions without their videos: which of two texts is likelier?"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from video_contrast.causal_lm import log_probabilities, perplexity_of, token_rows
from video_contrast.perturbations.contrast.batches import in_batches, tokens_a_batch
from video_contrast.pretrained import device_of, load, placed
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
        self._model: TorchModel = placed(
            load(model, AutoModelForCausalLM, "language_model"), self._device, "language_model"
        )
        self._known: dict[str, float] = {}

    def perplexity(self, texts: Sequence[str]) -> list[float]:
        """One perplexity a text, in float32 or better; equal texts are computed once."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if len(self._known) > _KEPT:
            self._known, new = {}, list(dict.fromkeys(texts))
        if new:
            self._known.update(zip(new, self._compute(new), strict=True))
        return [self._known[text] for text in texts]

    def _compute(self, texts: list[str]) -> list[float]:
        limit = int(getattr(self._model.config, "max_position_embeddings", 1024) or 1024)
        rows = token_rows(self._tokenizer, texts, limit)
        perplexities: dict[int, float] = {}

        def run(batch: list[int]) -> list[NDArray[np.float64]]:
            return log_probabilities(self._model, [rows[n] for n in batch])

        for batch, logs in in_batches([len(row) for row in rows], self._budget, run):
            perplexities.update(zip(batch, map(perplexity_of, logs), strict=True))
        return [perplexities[n] for n in range(len(rows))]
