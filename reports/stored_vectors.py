"""The embeddings that a run left in its store: of clips under a condition, and of captions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from video_contrast.rows import Row
from video_contrast.storage import RunFolder
from video_contrast.storage.run_folder import CLEAN

Vectors = npt.NDArray[np.float64]


class StoredVectors:
    """Reads a run's embeddings; every method returns None where one of them is gone.

    `run`: a finished run; its record names the store.
    """

    def __init__(self, run: RunFolder) -> None:
        from video_contrast.runner.embedding_store import Store
        from video_contrast.runner.keys import Keys
        from video_contrast.runner.views import Sampling

        self._record = run.record
        place = self._record.get("embeddings") or {}
        self._store: Store | None = None
        if place and (Path(place["store"]) / place["space"]).is_dir():
            self._store = Store(Path(place["store"]), place["space"])
        hashes = {path: file.get("sha256", "") for path, file in run.videos.items()}
        self._keys = Keys(hashes, Sampling(**self._record["sampling"]), version=place.get("keys", ""))

    def clips(self, rows: Sequence[Row], condition: str = CLEAN) -> Vectors | None:
        """float64[n, d] of the rows' clips under the visual part of a condition."""
        from video_contrast.runner.conditions import Visual
        from video_contrast.video import Clip

        if self._store is None:  # of a model without embeddings, which may have opened no video
            return None
        visual = Visual.from_record(self._record["conditions"][condition]["visual"])
        return self._rows([self._keys.video(Clip.of(row), visual) for row in rows])

    def texts(self, captions: Sequence[str]) -> Vectors | None:
        """float64[n, d] of captions."""
        return self._rows([self._keys.text(caption) for caption in captions])

    def _rows(self, names: Sequence[str]) -> Vectors | None:
        if self._store is None or any(name not in self._store for name in names):
            return None
        return np.asarray(self._store.get(names), np.float64)
