"""Fluency by the perplexity of a causal language model (paper: GPT2-XL, 3.2 criterion 3 and A.3)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from video_contrast.causal_lm import log_probabilities, perplexity_of, token_rows
from video_contrast.errors import UsageError
from video_contrast.perturbations.contrast.batches import in_batches, tokens_a_batch
from video_contrast.perturbations.contrast.candidate import Candidate, Original
from video_contrast.perturbations.contrast.constraints.base import Constraint, Verdict
from video_contrast.pretrained import device_of, load, placed
from video_contrast.untyped import Tokenizer, TorchModel

_KEPT = 500_000  # perplexities that stay in memory
FORMS = ("rise", "printed")


class LanguageModel:
    """Perplexities of texts under a causal model: exp of the mean negative log-likelihood of their tokens."""

    def __init__(self, model: str, *, device: str = "auto", batch_tokens: int | None = None) -> None:
        from transformers import AutoModelForCausalLM, AutoTokenizer

        self.name = model
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


def is_fluent(
    original: float, new: float, *, rise: float = 0.6, loose_rise: float = 1.4, cap: float = 750.0, form: str = "rise"
) -> tuple[bool, float]:
    """Whether a contrast of perplexity `new` is plausible beside the original, and the difference that decides.

    The paper prints (original - new) / original, which cannot exceed 1, so that neither threshold would bite
    ("printed"); the limits make sense for the rise (new - original) / original, our default.

    Args:
        original, new: perplexities, above 0.
        rise: a difference under it is accepted (A.3).
        loose_rise, cap: a difference under the first is accepted too if `new` is under the second (A.3).
        form: "rise" or "printed".

    Returns:
        Whether it is plausible, and the difference.

    >>> is_fluent(100, 150), is_fluent(100, 230), is_fluent(400, 900), is_fluent(400, 900, form="printed")
    ((True, 0.5), (True, 1.3), (False, 1.25), (True, -1.25))
    """
    difference = (original - new) / original if form == "printed" else (new - original) / original
    return difference < rise or (difference < loose_rise and new < cap), difference


@dataclass
class Perplexity(Constraint):
    """Rejects contrasts that read worse than their original (`is_fluent`). Score: the difference.

    Attributes:
        language_model: a causal model, a Hub id or folder.
        perplexity_rise, perplexity_loose_rise, perplexity_cap: a contrast is kept if the rise is under the first, or
            under the second with a perplexity under the cap (paper: 0.6, 1.4, 750; A.3).
        perplexity_form: "rise" for (new - old) / old, or "printed" for the paper's (old - new) / old.
        batch_tokens: tokens in one batch; None: what suits the device.
        device: "auto", "cpu", "cuda" ...
    """

    language_model: str = "openai-community/gpt2-xl"
    perplexity_rise: float = 0.6
    perplexity_loose_rise: float = 1.4
    perplexity_cap: float = 750.0
    perplexity_form: str = "rise"
    batch_tokens: int | None = None
    device: str = "auto"
    name = "perplexity"
    group = "model"

    def __post_init__(self) -> None:
        if self.perplexity_form not in FORMS:
            raise UsageError(f"perplexity_form must be one of {', '.join(FORMS)}, not {self.perplexity_form!r}")
        self._model = LanguageModel(self.language_model, device=self.device, batch_tokens=self.batch_tokens)

    def check(self, originals: Sequence[Original], candidates: Sequence[Candidate]) -> list[Verdict]:
        """Each unique sentence goes through the model once."""
        texts = [original.caption for original in originals] + [candidate.text for candidate in candidates]
        values = self._model.perplexity(texts)
        return [
            Verdict(
                *is_fluent(
                    old,
                    new,
                    rise=self.perplexity_rise,
                    loose_rise=self.perplexity_loose_rise,
                    cap=self.perplexity_cap,
                    form=self.perplexity_form,
                )
            )
            for old, new in zip(values[: len(originals)], values[len(originals) :], strict=True)
        ]

    def record(self) -> dict[str, object]:
        """The model, the limits and the form."""
        return {
            "model": self.language_model,
            "rise_below": self.perplexity_rise,
            "or_rise_below": self.perplexity_loose_rise,
            "with_perplexity_below": self.perplexity_cap,
            "form": self.perplexity_form,
        }
