"""Rejects contrasts that the caption entails, by a natural-language-inference model. Optional."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from video_contrast.errors import UsageError
from video_contrast.perturbations.contrast.generators.batches import by_length, device_of, load, tokens_a_batch
from video_contrast.perturbations.contrast.verb.candidate import Candidate, Original, Verdict

if TYPE_CHECKING:
    from video_contrast.perturbations.contrast.verb.settings import Settings


class NotEntailed:
    """Rejects a contrast that follows from the original caption. Score: the probability of entailment."""

    name = "nli"

    def __init__(self, settings: Settings) -> None:
        from transformers import AutoModelForSequenceClassification, AutoTokenizer

        if settings.nli_model is None:
            raise UsageError(
                "the constraint 'nli' needs a model: give nli_model= (such as cross-encoder/nli-deberta-v3-base)"
            )
        self._name, self._limit = settings.nli_model, settings.nli_entailment
        self._device = device_of(settings.device)
        self._budget = tokens_a_batch(settings.batch_tokens, self._device)
        self._tokenizer: Any = load(self._name, AutoTokenizer, "nli_model")
        self._model: Any = load(self._name, AutoModelForSequenceClassification, "nli_model").to(self._device).eval()
        labels = {str(name).lower(): int(number) for number, name in self._model.config.id2label.items()}
        if "entailment" not in labels:
            raise UsageError(f"nli_model {self._name!r} has the labels {sorted(labels)}; one must be 'entailment'")
        self._entailment = labels["entailment"]

    def check(self, originals: Sequence[Original], candidates: Sequence[Candidate]) -> list[Verdict]:
        """Premise: the original; hypothesis: the contrast."""
        pairs = [(original.caption, made.text) for original, made in zip(originals, candidates, strict=True)]
        unique = list(dict.fromkeys(pairs))
        found = dict(zip(unique, self._probabilities(unique), strict=True))
        return [Verdict(found[pair] < self._limit, found[pair]) for pair in pairs]

    def record(self) -> dict[str, object]:
        """The model and its limit."""
        return {"model": self._name, "entailment_below": self._limit}

    def _probabilities(self, pairs: list[tuple[str, str]]) -> list[float]:
        import torch

        lengths = [len(ids) for ids in self._tokenizer([a for a, _ in pairs], [b for _, b in pairs])["input_ids"]]
        found = np.empty(len(pairs))
        for batch in by_length(lengths, self._budget):
            first, second = [pairs[n][0] for n in batch], [pairs[n][1] for n in batch]
            inputs = self._tokenizer(first, second, padding=True, truncation=True, return_tensors="pt").to(self._device)
            with torch.inference_mode():
                shares = self._model(**inputs).logits.float().softmax(-1)
            found[batch] = shares[:, self._entailment].cpu().numpy()
        return [float(share) for share in found]
