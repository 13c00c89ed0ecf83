"""The cosine limit on whole sentences (paper: Sentence-BERT). Encoder and threshold belong together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from video_contrast.errors import VideoContrastError
from video_contrast.perturbations.contrast.generators.batches import device_of
from video_contrast.perturbations.contrast.verb.candidate import Candidate, Original, Verdict

if TYPE_CHECKING:
    from video_contrast.perturbations.contrast.verb.settings import Settings

_BATCH = 128


class SentenceCosine:
    """Rejects a contrast whose sentence is too close to the original's; antonyms are exempt. Score: the cosine."""

    name = "sentence"

    def __init__(self, settings: Settings) -> None:
        from sentence_transformers import SentenceTransformer

        self._name, self._limit = settings.sentence_model, settings.sentence_cosine
        try:
            self._model: Any = SentenceTransformer(self._name, device=device_of(settings.device))
        except (OSError, ValueError) as error:
            raise VideoContrastError(
                f"sentence_model: the encoder {self._name!r} cannot be loaded. Download it on a machine with a network "
                f"(hf download {self._name}), give the folder of another one with its own sentence_cosine, "
                "or ask for constraints without 'sentence'"
            ) from error

    def check(self, originals: Sequence[Original], candidates: Sequence[Candidate]) -> list[Verdict]:
        """Each unique sentence is encoded once; the encoder sorts its batches by length."""
        texts = [original.caption for original in originals] + [made.text for made in candidates]
        unique = list(dict.fromkeys(texts))
        if not unique:
            return []
        vectors = np.asarray(
            self._model.encode(unique, batch_size=_BATCH, normalize_embeddings=True, show_progress_bar=False),
            np.float32,
        )
        row = {text: number for number, text in enumerate(unique)}
        before = vectors[[row[original.caption] for original in originals]]
        after = vectors[[row[made.text] for made in candidates]]
        cosines = np.einsum("nd,nd->n", before, after)
        return [
            Verdict(made.antonym or bool(cosine < self._limit), float(cosine))
            for made, cosine in zip(candidates, cosines, strict=True)
        ]

    def record(self) -> dict[str, object]:
        """The encoder and its limit."""
        return {"model": self._name, "cosine_below": self._limit}
