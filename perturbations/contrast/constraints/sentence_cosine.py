"""The cosine limit on whole sentences (paper: Sentence-BERT). Encoder and threshold belong together."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from video_contrast.errors import VideoContrastError
from video_contrast.perturbations.contrast.candidate import Candidate, Original
from video_contrast.perturbations.contrast.constraints.base import Constraint, Verdict
from video_contrast.pretrained import device_of
from video_contrast.untyped import TorchModel

_BATCH = 128


@dataclass
class SentenceCosine(Constraint):
    """Rejects a contrast whose sentence is too close to the original's; antonyms are exempt. Score: the cosine.

    Attributes:
        sentence_model: a Hub id or folder of a sentence encoder.
        sentence_cosine: a contrast must stay under it; it belongs to the encoder (paper: 0.8, A.3).
        device: "auto", "cpu", "cuda" ...
    """

    sentence_model: str = "sentence-transformers/bert-base-nli-mean-tokens"
    sentence_cosine: float = 0.8
    device: str = "auto"
    name = "sentence"
    group = "model"

    def __post_init__(self) -> None:
        from sentence_transformers import SentenceTransformer

        from video_contrast.hub import asked_once

        try:
            with asked_once(self.sentence_model):
                self._model: TorchModel = SentenceTransformer(self.sentence_model, device=device_of(self.device))
        except (OSError, ValueError) as error:
            raise VideoContrastError(
                f"sentence_model: the encoder {self.sentence_model!r} cannot be loaded. Download it on a machine "
                f"with a network (hf download {self.sentence_model}), give the folder of another one with its own "
                "sentence_cosine, or ask for constraints without 'sentence'"
            ) from error

    def check(self, originals: Sequence[Original], candidates: Sequence[Candidate]) -> list[Verdict]:
        """Each unique sentence is encoded once; the encoder sorts its batches by length."""
        texts = [original.caption for original in originals] + [candidate.text for candidate in candidates]
        unique = list(dict.fromkeys(texts))
        if not unique:
            return []
        vectors = np.asarray(
            self._model.encode(unique, batch_size=_BATCH, normalize_embeddings=True, show_progress_bar=False),
            np.float32,
        )
        row = {text: number for number, text in enumerate(unique)}
        before = vectors[[row[original.caption] for original in originals]]
        after = vectors[[row[candidate.text] for candidate in candidates]]
        cosines = np.einsum("nd,nd->n", before, after)
        return [
            Verdict(candidate.antonym or bool(cosine < self.sentence_cosine), float(cosine))
            for candidate, cosine in zip(candidates, cosines, strict=True)
        ]

    def record(self) -> dict[str, object]:
        """The encoder and its limit."""
        return {"model": self.sentence_model, "cosine_below": self.sentence_cosine}
