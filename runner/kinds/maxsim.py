"""MaxSim of late interaction: every vector of a text is matched with the vector of the clip that fits it best.

Rows hold several vectors of one length, one after the other, and end in vectors of zeros where others are longer;
those are no vectors, and never match.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

AT_ONCE = 1 << 24  # products in memory


def stacked(parts: Sequence[np.ndarray]) -> np.ndarray:
    """Rows of different widths as one array, padded with zeros: float32[n, W].

    >>> stacked([np.ones((1, 2), np.float32), np.ones((1, 4), np.float32)]).tolist()
    [[1.0, 1.0, 0.0, 0.0], [1.0, 1.0, 1.0, 1.0]]
    """
    width = max(part.shape[1] for part in parts)
    if all(part.shape[1] == width for part in parts):
        return np.concatenate(parts)
    return np.concatenate([np.pad(part, ((0, 0), (0, width - part.shape[1]))) for part in parts])


def maxsim(videos: np.ndarray, texts: np.ndarray, dimension: int, *, device: str = "cpu") -> np.ndarray:
    """Sums over a text's vectors of the largest product with a vector of the clip: float32[N, M].

    Computed clip by clip, in blocks of texts, on a CPU in float64: equal rows then tie exactly, wherever they stand.
    `videos`: float32[N, V * dimension]. `texts`: float32[M, T * dimension].

    >>> texts = np.float32([[1, 0, 0, 0], [0.6, 0.8, 0, 1]])
    >>> maxsim(np.float32([[1, 0, 0, 1]]), texts, 2).astype(float).round(2).tolist()
    [[1.0, 1.8]]
    """
    import torch

    dtype = torch.float64 if device == "cpu" else torch.float32
    queries = [vectors(row, dimension) for row in texts]
    places = np.cumsum([0, *map(len, queries)])
    flat = torch.from_numpy(np.concatenate(queries)).to(device, dtype)
    out = np.empty((len(videos), len(texts)), np.float32)
    for n, row in enumerate(videos):
        clip = torch.from_numpy(vectors(row, dimension)).to(device, dtype)
        step = max(1, AT_ONCE // len(clip))
        best = torch.cat([(clip @ block.T).amax(0) for block in flat.split(step)]).cpu().double().numpy()
        out[n] = np.add.reduceat(best, places[:-1])
    return out


def vectors(row: np.ndarray, dimension: int) -> np.ndarray:
    """The vectors of one row, float32[n, dimension], n at least 1."""
    rows = row.reshape(-1, dimension)
    return rows[: max(1, int(rows.any(axis=1).sum()))]
