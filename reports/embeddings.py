"""A map of the space that clips and captions share, by t-SNE.

The similarities of a dual encoder are products of its embeddings, so a factorisation of the matrix gives the embeddings
back up to a change of axes. That needs no model and no stored vectors, and serves models that give similarities only.
"""

import re

import numpy as np
import numpy.typing as npt

from video_contrast.reports.figures import FAINT, colour, drawing, finish, tidy
from video_contrast.reports.layout import Figure
from video_contrast.reports.runs import Run
from video_contrast.seeds import digest

_LEAST = 12  # clips; below, a map says nothing
_RANK = 32


def embedding_map(run: Run, points: int) -> Figure | None:
    """Clips and their first captions as points, each clip joined to its own caption; None for a handful of clips.

    Args:
        run: a retrieval run with its matrix.
        points: clips and captions together, at most.
    """
    matrix = run.matrix(run.main)
    first = {owner: column for column, owner in reversed(list(enumerate(matrix.relevant)))}
    rows = [row for row in range(len(matrix.rows)) if row in first][: points // 2]
    if len(rows) < _LEAST:
        return None
    values = np.asarray(matrix.values[np.ix_(rows, [first[row] for row in rows])], np.float64)
    places = _placed(_factors(values))
    clips, captions = places[: len(rows)], places[len(rows) :]
    name = re.sub(r"[^\w.-]+", "-", f"map-{run.key.config}-{run.model}")
    with drawing(3.6, 3.5) as (canvas, axes):
        for clip, caption in zip(clips, captions, strict=True):
            axes.plot([clip[0], caption[0]], [clip[1], caption[1]], color=FAINT, linewidth=0.7, zorder=1)
        axes.plot(clips[:, 0], clips[:, 1], "o", color=colour(0), markersize=3.6, label="clips", zorder=3)
        axes.plot(captions[:, 0], captions[:, 1], "s", color=colour(1), markersize=3.2, label="captions", zorder=2)
        axes.set_xticks([])
        axes.set_yticks([])
        tidy(axes, grid="")
        canvas.legend(loc="outside lower left", ncols=2, handletextpad=0.1)
        lines: list[list[object]] = [["id", "clip x", "clip y", "caption x", "caption y"]]
        for row, clip, caption in zip(rows, clips.tolist(), captions.tolist(), strict=True):
            lines.append([matrix.rows[row], *clip, *caption])
        return finish(canvas, name, f"{run.model}, t-SNE of clips and captions", lines, small=True)


def _factors(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Unit vectors of clips, then of captions, whose products have the pattern of `values` (float64[n, n])."""
    centred = values - values.mean(axis=0, keepdims=True) - values.mean(axis=1, keepdims=True) + values.mean()
    left, strengths, right = np.linalg.svd(centred, full_matrices=False)
    rank = min(_RANK, len(strengths))
    scale = np.sqrt(strengths[:rank])
    both = np.concatenate([left[:, :rank] * scale, right[:rank].T * scale])
    lengths = np.linalg.norm(both, axis=1, keepdims=True)
    return both / np.where(lengths > 0, lengths, 1)


def _placed(vectors: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    from sklearn.manifold import TSNE

    seed = int.from_bytes(digest("report", "t-SNE")[:4], "little")
    # Signs of singular vectors may differ between machines; the first point decides them, so the map stays put.
    signs = np.where(vectors[0] < 0, -1.0, 1.0)
    perplexity = min(30.0, (len(vectors) - 1) / 3)
    model = TSNE(perplexity=perplexity, init="pca", random_state=seed, max_iter=500, n_jobs=1)
    return np.asarray(model.fit_transform((vectors * signs).astype(np.float32)), np.float64)
