"""The sets themselves: the blind audit, similarity matrices, and a map of clips and captions.

The map, by t-SNE, is made from the embeddings that the run stored, with the clips under the visual perturbation that
costs most. Where they are gone (another machine, a cleared store), or where the model joins a clip and a caption
otherwise than by a product, it is made from the similarity matrix: its factors are embeddings up to a change of axes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from video_contrast.reports.figures import FAINT, colour, drawing, finish, shaded
from video_contrast.reports.layout import DASH, Cell, Plot, Section, Table, columns, row, share_cell
from video_contrast.reports.runs import ConfigRun, config_facts
from video_contrast.rows import Row
from video_contrast.runner.kinds.base import unit_rows
from video_contrast.seeds import digest
from video_contrast.storage import RunFolder
from video_contrast.storage.run_file_fields import SimilarityMatrix
from video_contrast.storage.run_folder import CLEAN
from video_contrast.storage.set_folder import BLIND_NAMES

_SHOWN = 60  # clips of a similarity matrix, at most: sections.tsv says so
_POINTS = 400  # of the map of embeddings


def audits(runs: Sequence[ConfigRun]) -> Section:
    """The accuracy of text alone on each multiple-choice config; a set without audit says so."""
    section = Section.of("audit")
    rows = []
    for key in dict.fromkeys(run.key for run in runs if run.layout != "retrieval"):
        audit = config_facts(key).get("audit")
        if not audit:
            rows.append([Cell(key.name), Cell("not audited", tone="quiet"), *[DASH] * len(BLIND_NAMES)])
            continue
        models = [audit.get(name) or {} for name in BLIND_NAMES]
        cells = (share_cell(s.get("accuracy"), s.get("low"), s.get("high"), chance=audit["chance"]) for s in models)
        rows.append(row(key.name, share_cell(audit["chance"]), *cells))
    if rows:
        heads = columns("set", "chance", *BLIND_NAMES.values())
        note = "Small: the 95 % interval over videos; none below five videos."
        section.parts.append(Table("audit", "Accuracy without the video, %", heads, rows, note=note))
    return section


def similarities(runs: Sequence[ConfigRun]) -> Section:
    """Similarity matrices of retrieval runs, clean and perturbed, and a map of their embeddings."""
    section = Section.of("similarity")
    for run in runs:
        if run.layout != "retrieval" or run.is_baseline or not run.has_matrix(run.main):
            continue
        conditions = (name for name in run.in_groups("visual", "text") if run.has_matrix(name))
        names = dict.fromkeys([run.main, run.hardest(conditions) or run.main])
        figures = [_picture(run, condition) for condition in names if run.matrix(condition).all_values is not None]
        section.add([*figures, *filter(None, [embedding_map(run, _POINTS)])], run.key.short)
    return section


def _first_captions(matrix: SimilarityMatrix, most: int) -> tuple[list[int], list[int]]:
    """The first clips that have captions, and the first caption of each: rows and columns of a matrix."""
    first = {owner: column for column, owner in reversed(list(enumerate(matrix.relevant)))}
    rows = sorted(first)[:most]
    return rows, [first[row] for row in rows]


def _picture(run: ConfigRun, condition: str) -> Plot:
    matrix = run.matrix(condition)
    rows, columns = _first_captions(matrix, _SHOWN)
    values = np.asarray(matrix.values[np.ix_(rows, columns)], np.float64)
    low, high = values.min(axis=1, keepdims=True), values.max(axis=1, keepdims=True)
    shades = (values - low) / np.where(high > low, high - low, 1)
    name = re.sub(r"[^\w.-]+", "-", f"similarity-{run.key.stem}-{run.model}-{condition}")
    with drawing(3.6, 3.5) as (canvas, axes):
        axes.imshow(shaded(shades), interpolation="nearest")
        axes.set(xlabel="captions", ylabel="clips", xticks=[], yticks=[])
        ids = [matrix.rows[row] for row in rows]
        lines = [["clip", *ids], *[[clip_id, *line] for clip_id, line in zip(ids, values.tolist(), strict=True)]]
        return finish(canvas, name, f"{run.model}, {condition}", lines, small=True)


_LEAST = 12  # clips; below, a map says nothing
_RANK = 32
_NOISE = 1e-6  # of the largest similarity: what is less is rounding


@dataclass(frozen=True)
class Space:
    """Vectors of some clips and of one caption each, all float64[n, d], of length 1."""

    clips: Vectors
    captions: Vectors
    source: str  # a description for the reader
    perturbed: Vectors | None = None  # the clips under `condition`, or None
    condition: str = ""


def embedding_map(run: ConfigRun, points: int) -> Plot | None:
    """Clips and their first captions, `points` at most, each clip joined to its caption.

    None for a few clips, for a model to which all are alike (there is nothing to place, and t-SNE would crash), and
    where neither embeddings nor all similarities were kept.
    """
    matrix = run.matrix(run.main)
    rows, columns = _first_captions(matrix, points // 2)
    if len(rows) < _LEAST:
        return None
    space = stored(run, [matrix.rows[row] for row in rows], [run.captions[column] for column in columns])
    if space is None:
        if matrix.all_values is None:
            return None
        clips, captions = _factors(np.asarray(matrix.values[np.ix_(rows, columns)], np.float64))
        space = Space(clips, captions, "factors of the similarity matrix")
    if not np.ptp(np.concatenate([space.clips, space.captions]).astype(np.float32), axis=0).any():
        return None
    return _drawn(run, space, [matrix.rows[row] for row in rows])


def stored(run: ConfigRun, ids: Sequence[str], captions: Sequence[str]) -> Space | None:
    """The run's own embeddings of some clips and captions, from its store; None where they are not to be had.

    `run`: a retrieval run; its record names the store.
    """
    vectors = StoredVectors(run.folder)
    rows = [run.set_rows[name] for name in ids]
    of_clips, of_texts = vectors.clips(rows, run.main), vectors.texts(captions)
    if of_clips is None or of_texts is None or of_clips.shape != of_texts.shape:
        return None
    worst = run.hardest(run.in_groups("visual"))
    vectors_of_worst = vectors.clips(rows, worst) if worst else None
    vectors_of_worst = None if vectors_of_worst is None else unit_rows(vectors_of_worst)
    return Space(unit_rows(of_clips), unit_rows(of_texts), "stored embeddings", vectors_of_worst, worst or "")


def _drawn(run: ConfigRun, space: Space, ids: Sequence[str]) -> Plot:
    from sklearn.manifold import TSNE
    from threadpoolctl import threadpool_limits

    groups = [space.clips, space.captions, *([] if space.perturbed is None else [space.perturbed])]
    vectors = np.concatenate(groups).astype(np.float32)
    seed = int.from_bytes(digest("report", "t-SNE")[:4], "little")
    perplexity = min(30.0, (len(vectors) - 1) / 3)
    model = TSNE(perplexity=perplexity, init="pca", random_state=seed, max_iter=500, n_jobs=1)
    with threadpool_limits(1):  # a few hundred points: with more threads, most of the time is waiting for the others
        points = np.split(np.asarray(model.fit_transform(vectors), np.float64), len(groups))
    clips, captions = points[:2]
    name = re.sub(r"[^\w.-]+", "-", f"map-{run.key.stem}-{run.model}")
    lines: list[list[object]] = [["id", "clip x", "clip y", "caption x", "caption y", "made from"]]
    if len(points) > 2:
        lines[0] += [f"{space.condition} x", f"{space.condition} y"]
    with drawing(3.6, 3.7) as (canvas, axes):
        for clip, caption in zip(clips, captions, strict=True):
            axes.plot([clip[0], caption[0]], [clip[1], caption[1]], color=FAINT, linewidth=0.6, zorder=1)
        if len(points) > 2:
            axes.plot(*points[2].T, "o", markerfacecolor="none", markeredgecolor=colour(0), markeredgewidth=0.8,
                      markersize=3.4, label=f"clips, {space.condition.removeprefix('visual:')}", zorder=2)  # fmt: skip
        axes.plot(*clips.T, "o", color=colour(0), markersize=3.4, label="clips", zorder=3)
        axes.plot(*captions.T, "s", color=colour(1), markersize=3.0, label="captions", zorder=2)
        axes.set(xticks=[], yticks=[])
        canvas.legend(loc="outside lower left", ncols=3, handletextpad=0.1, columnspacing=0.8)
        for place, item_id in enumerate(ids):
            more = [] if len(points) < 3 else points[2][place].tolist()
            lines.append([item_id, *clips[place].tolist(), *captions[place].tolist(), space.source, *more])
        return finish(canvas, name, f"{run.model}, t-SNE of {space.source}", lines, small=True)


def _factors(values: Vectors) -> tuple[Vectors, Vectors]:
    """Unit vectors of clips, and of captions, whose products have the pattern of `values` (float64[n, n])."""
    deviations = values - values.mean(axis=0, keepdims=True) - values.mean(axis=1, keepdims=True) + values.mean()
    left, strengths, right = np.linalg.svd(deviations, full_matrices=False)
    rank = min(_RANK, len(strengths))
    least = _NOISE * np.abs(values).max()
    scale = np.sqrt(np.where(strengths > least, strengths, 0.0)[:rank])
    # Signs of singular vectors may differ between machines; the first clip decides them, so the map stays put.
    signs = np.where(left[0, :rank] < 0, -1.0, 1.0)
    return unit_rows(left[:, :rank] * scale * signs), unit_rows(right[:rank].T * scale * signs)


Vectors = npt.NDArray[np.float64]


class StoredVectors:
    """Reads a finished run's embeddings from the store that its record names; None where one of them is gone."""

    def __init__(self, run: RunFolder) -> None:
        from video_contrast.runner.embedding_store import Keys, Store
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
        visual = Visual(**self._record["conditions"][condition]["visual"])
        return self._rows([self._keys.video(Clip.of(row), visual) for row in rows])

    def texts(self, captions: Sequence[str]) -> Vectors | None:
        """float64[n, d] of captions."""
        return self._rows([self._keys.text(caption) for caption in captions])

    def _rows(self, names: Sequence[str]) -> Vectors | None:
        if self._store is None or any(name not in self._store for name in names):
            return None
        return np.asarray(self._store.get(names), np.float64)
