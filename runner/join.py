"""Bringing encodings, answers or lookups together into the scores of a cell."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from video_contrast.errors import VideoContrastError
from video_contrast.runner.encode import Keys
from video_contrast.runner.kinds.base import Encoder, TextScorer
from video_contrast.runner.pairs import Answers, asks_replaced, cell_asks, columns_of
from video_contrast.runner.plan import Cell, Plan
from video_contrast.runner.results import CellScores
from video_contrast.runner.store import Store
from video_contrast.video.clip import Clip


@dataclass(frozen=True)
class Scorer:
    """Gives the scores of any cell of a run.

    Attributes:
        scores: makes them, one cell at a time, so that memory holds one matrix.
        missing: clips without scores. Every cell is scored on the clips that all conditions have.
    """

    scores: Callable[[Cell], CellScores]
    missing: frozenset[Clip] = frozenset()

    def matrix_bytes(self, cell: Cell) -> int:
        """The size of a retrieval cell's matrix."""
        if cell.group.layout != "retrieval":
            return 0
        return 4 * len(cell.group.items) * sum(map(len, cell.texts))


def encoder_cells(model: Encoder, plan: Plan, keys: Keys, store: Store) -> Scorer:
    """Scores joined from the store's rows."""
    missing = frozenset(
        clip for clip, visuals in plan.views.items() if any(keys.video(clip, visual) not in store for visual in visuals)
    )

    def scores(cell: Cell) -> CellScores:
        kept = _kept(cell, missing)
        visual = cell.condition.visual
        names = [keys.video(cell.group.items[n].clip, visual) for n in kept]
        videos = store.get(names)
        frames = tuple(tuple(int(n) for n in row) for row in store.numbers(names))
        texts = Rows(store, [text for n in kept for text in _with_replaced(cell, n)])
        if cell.group.layout == "retrieval":
            columns, words = _columns(cell, kept)
            matrix = _checked(model.join(videos, texts.of(words)), cell)
            return CellScores(cell, kept, matrix=matrix, columns=columns, frames=frames)
        rows = []
        replaced: list[float | None] = []
        for at, n in enumerate(kept):
            own = list(_with_replaced(cell, n))
            row = _checked(model.join(videos[at : at + 1], texts.of(own)), cell)[0].astype(np.float64)
            rows.append(row[: len(cell.texts[n])])
            replaced.append(float(row[-1]) if len(own) > len(cell.texts[n]) else None)
        return CellScores(cell, kept, tuple(rows), tuple(replaced), frames=frames)

    return Scorer(scores, missing)


class Rows:
    """The rows of some texts, read from the store once."""

    def __init__(self, store: Store, texts: Sequence[str]) -> None:
        unique = sorted(set(texts))
        self._at = {text: n for n, text in enumerate(unique)}
        self._rows = store.get([Keys.text(text) for text in unique])

    def of(self, texts: Sequence[str]) -> np.ndarray:
        """float32[len(texts), E]."""
        return self._rows[[self._at[text] for text in texts]]


def pair_cells(plan: Plan, keys: Keys, answers: Answers, together: bool = False) -> Scorer:
    """Scores read from the answers."""
    every = (pair for cell in plan.cells for pair in cell_asks(cell, keys, together))
    missing = frozenset(clip for clip, ask in every if ask.key not in answers)

    def scores(cell: Cell) -> CellScores:
        kept = _kept(cell, missing)
        asked = [answers.get(ask.key) if clip not in missing else None for clip, ask in cell_asks(cell, keys, together)]
        if cell.group.layout == "retrieval":
            # The missing clips' own captions were shown to the others; they leave the gallery with their clips.
            columns, _ = _columns(cell, kept)
            at = {name: n for n, name in enumerate(columns_of(cell)[0])}
            chosen = [at[name] for name, _, _ in columns]
            found = [asked[n] for n in kept]
            matrix = np.array([[one.scores[c] for c in chosen] for one in found if one is not None], np.float64)
            for row, line in enumerate(matrix):
                _wrong(line, [at for at, (_, _, own) in enumerate(columns) if own == row])
            frames = tuple(one.numbers for one in found if one is not None)
            return CellScores(cell, kept, matrix=_checked(matrix, cell), columns=columns, frames=frames)
        rows, parts, frames_, replaced = [], [], [], []
        stream, inside = iter(asked), frozenset(kept)
        for n, item in enumerate(cell.group.items):
            other = next(stream) if not together and asks_replaced(cell, item) else None
            own = next(stream)
            if n in inside and own is not None:
                rows.append(_wrong(np.array(own.scores, np.float64), [item.label]))
                parts.append(own.parts)
                frames_.append(own.numbers)
                replaced.append(other.scores[0] if other is not None else None)
        return CellScores(cell, kept, tuple(rows), tuple(replaced), tuple(parts), tuple(frames_))

    return Scorer(scores, missing)


def text_cells(model: TextScorer, plan: Plan) -> Scorer:
    """Scores of a model that sees no pixels."""

    def scores(cell: Cell) -> CellScores:
        items = cell.group.items
        kept = tuple(range(len(items)))
        model.begin([text for own in cell.texts for text in own], condition=cell.condition.name)
        if cell.group.layout == "retrieval":
            columns, words = _columns(cell, kept)
            matrix = model.similarity([item.clip.video_id for item in items], [name for name, _, _ in columns], words)
            return CellScores(cell, kept, matrix=_checked(np.asarray(matrix), cell), columns=columns)
        rows = tuple(
            _checked(np.asarray(model.score_item(item.id, item.clip.video_id, own), np.float64), cell)
            for item, own in zip(items, cell.texts, strict=True)
        )
        return CellScores(cell, kept, rows, (None,) * len(items))

    return Scorer(scores)


def _wrong(scores: np.ndarray, true: Sequence[int]) -> np.ndarray:
    """A row with an answer that was no option (NaN) counts as wrong: the true texts come last. It is never guessed."""
    if np.isnan(scores).any():
        scores[:] = 0.0
        scores[list(true)] = -1.0
    return scores


def _kept(cell: Cell, missing: frozenset[Clip]) -> tuple[int, ...]:
    return tuple(n for n, item in enumerate(cell.group.items) if item.clip not in missing)


def _with_replaced(cell: Cell, n: int) -> tuple[str, ...]:
    item = cell.group.items[n]
    if item.replaced and cell.condition.text.name is None and cell.group.layout != "retrieval":
        return (*cell.texts[n], item.replaced)
    return cell.texts[n]


def _columns(cell: Cell, kept: Sequence[int]) -> tuple[tuple[tuple[str, str, int], ...], list[str]]:
    """(id, text, row of its own clip) of every caption of the kept items, and the texts."""
    columns = tuple(
        (f"{cell.group.items[n].id}#{c}", text, row)
        for row, n in enumerate(kept)
        for c, text in enumerate(cell.texts[n])
    )
    return columns, [text for _, text, _ in columns]


def _checked(scores: np.ndarray, cell: Cell) -> np.ndarray:
    if not np.isfinite(scores).all():
        raise VideoContrastError(
            f"config {cell.group.config}, condition {cell.condition.name}: the model gave NaN or infinite scores; "
            "give --dtype float32, or check the checkpoint"
        )
    return scores
