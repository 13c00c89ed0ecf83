"""Rejects contrasts that the caption entails, by a natural-language-inference model. Optional."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from video_contrast.errors import UsageError
from video_contrast.perturbations.contrast.batches import in_batches, tokens_a_batch
from video_contrast.perturbations.contrast.candidate import Candidate, Original
from video_contrast.perturbations.contrast.constraints.base import Constraint, Verdict
from video_contrast.pretrained import device_of, load, placed
from video_contrast.untyped import Tensor, Tokenizer, TorchModel


@dataclass
class NotEntailed(Constraint):
    """Rejects a contrast that follows from the original caption. Score: the probability of entailment.

    Attributes:
        nli_model: a Hub id or folder of a natural-language-inference model; it has no default.
        nli_entailment: a contrast is rejected from this probability on.
        batch_tokens: tokens in one batch; None: what suits the device.
        device: "auto", "cpu", "cuda" ...
    """

    nli_model: str | None = None
    nli_entailment: float = 0.5
    batch_tokens: int | None = None
    device: str = "auto"
    name = "nli"
    group = "request"

    def __post_init__(self) -> None:
        from transformers import AutoModelForSequenceClassification, AutoTokenizer

        if self.nli_model is None:
            raise UsageError(
                "the constraint 'nli' needs a model: give nli_model= (such as cross-encoder/nli-deberta-v3-base)"
            )
        self._device = device_of(self.device)
        self._budget = tokens_a_batch(self.batch_tokens, self._device)
        self._tokenizer: Tokenizer = load(self.nli_model, AutoTokenizer, "nli_model")
        self._model: TorchModel = placed(
            load(self.nli_model, AutoModelForSequenceClassification, "nli_model"), self._device, "nli_model"
        )
        labels = {str(name).lower(): int(number) for number, name in self._model.config.id2label.items()}
        if "entailment" not in labels:
            raise UsageError(f"nli_model {self.nli_model!r} has the labels {sorted(labels)}; one must be 'entailment'")
        self._entailment = labels["entailment"]

    def check(self, originals: Sequence[Original], candidates: Sequence[Candidate]) -> list[Verdict]:
        """Premise: the original; hypothesis: the contrast."""
        pairs = [(original.caption, candidate.text) for original, candidate in zip(originals, candidates, strict=True)]
        unique = list(dict.fromkeys(pairs))
        entailed = dict(zip(unique, self._probabilities(unique), strict=True))
        return [Verdict(entailed[pair] < self.nli_entailment, entailed[pair]) for pair in pairs]

    def record(self) -> dict[str, object]:
        """The model and its limit."""
        return {"model": self.nli_model, "entailment_below": self.nli_entailment}

    def _probabilities(self, pairs: list[tuple[str, str]]) -> list[float]:
        lengths = [len(ids) for ids in self._tokenizer([a for a, _ in pairs], [b for _, b in pairs])["input_ids"]]
        probabilities = np.empty(len(pairs))
        for batch, shares in in_batches(lengths, self._budget, lambda batch: self._batch([pairs[n] for n in batch])):
            probabilities[batch] = shares
        return [float(share) for share in probabilities]

    def _batch(self, pairs: list[tuple[str, str]]) -> Tensor:
        import torch

        first, second = [a for a, _ in pairs], [b for _, b in pairs]
        inputs = self._tokenizer(first, second, padding=True, truncation=True, return_tensors="pt").to(self._device)
        with torch.inference_mode():
            shares = self._model(**inputs).logits.float().softmax(-1)
        return shares[:, self._entailment].cpu().numpy()
