"""Scoring only the best captions of a clip with a slow pair scorer, chosen by the checkpoint's own embeddings."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from video_contrast.runner.kinds.base import ClipFrames, Encoder, PairScorer, ScoreResult


class Prefilter:
    """The coarse encoder of a pair scorer, with each text encoded once.

    Args:
        model: a pair scorer with `coarse` and `prefilter`.
    """

    def __init__(self, model: PairScorer) -> None:
        assert model.coarse is not None
        self.model = model
        self.encoder: Encoder = model.coarse
        self._rows: dict[str, np.ndarray] = {}

    def applies(self, texts: Sequence[str]) -> bool:
        """Whether there is anything to leave out: more texts than are to be scored."""
        return len(texts) > self.model.prefilter

    def score(self, clip: ClipFrames, texts: Sequence[str], position: int) -> ScoreResult:
        """Returns the scorer's scores of the best texts; all others below them, in the order of coarse similarity.

        Args:
            clip: the frames.
            texts: captions of all clips.
            position: of the item in the run.

        Returns:
            float64[k]. The parts of a text that was left out hold its `coarse` similarity only.
        """
        fresh = [text for text in dict.fromkeys(texts) if text not in self._rows]
        for begin in range(0, len(fresh), 64):
            batch = fresh[begin : begin + 64]
            self._rows.update(zip(batch, self.encoder.encode_texts(batch), strict=True))
        video = self.encoder.encode_prepared([self.encoder.prepare(clip)])
        coarse = self.encoder.join(video, np.stack([self._rows[text] for text in texts]))[0].astype(np.float64)
        best = np.argsort(-coarse, kind="stable")[: self.model.prefilter]
        fine = self.model.score(clip, [texts[i] for i in best], position=position)
        # Below the worst fine score by at least 1, and equal where the coarse similarities are.
        scores = fine.scores.min() - 1.0 - (coarse.max() - coarse)
        scores[best] = fine.scores
        parts = [{"coarse": float(value)} for value in coarse]
        for at, part in zip(best, fine.parts or [{}] * len(best), strict=True):
            parts[at] = {**part, **parts[at]}
        return ScoreResult(scores, parts, fine.counts)
