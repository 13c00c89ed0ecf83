"""Bringing encodings, answers or lookups together into the scores of a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from video_contrast.errors import VideoContrastError
from video_contrast.runner.encode import Keys
from video_contrast.runner.kinds.base import Encoder, TextScorer
from video_contrast.runner.pairs import PairResults, columns_of, requests_of_table, scores_replaced
from video_contrast.runner.plan import Plan, PlannedTable
from video_contrast.runner.results import TableScores
from video_contrast.runner.store import Store
from video_contrast.video.clip import Clip


@dataclass(frozen=True)
class Scorer:
    """Gives the scores of any table of a run.

    Attributes:
        scores: makes them, one table at a time, so that memory holds one matrix.
        missing: clips without scores. Every table is scored on the clips that all conditions have.
    """

    scores: Callable[[PlannedTable], TableScores]
    missing: frozenset[Clip] = frozenset()

    def matrix_bytes(self, table: PlannedTable) -> int:
        """The size of a retrieval table's matrix."""
        if table.group.layout != "retrieval":
            return 0
        return 4 * len(table.group.items) * sum(map(len, table.texts))


def encoder_tables(model: Encoder, plan: Plan, keys: Keys, store: Store) -> Scorer:
    """Scores joined from the store's rows."""
    missing = frozenset(
        clip for clip, visuals in plan.views.items() if any(keys.video(clip, visual) not in store for visual in visuals)
    )

    def scores(table: PlannedTable) -> TableScores:
        kept = _kept(table, missing)
        visual = table.condition.visual
        names = [keys.video(table.group.items[n].clip, visual) for n in kept]
        videos = store.get(names)
        frames = tuple(tuple(int(n) for n in row) for row in store.numbers(names))
        texts = Rows(store, [text for n in kept for text in _with_replaced(table, n)])
        if table.group.layout == "retrieval":
            columns, words = _columns(table, kept)
            matrix = _checked(model.join(videos, texts.of(words)), table)
            return TableScores(table, kept, matrix=matrix, columns=columns, frames=frames)
        rows = []
        replaced: list[float | None] = []
        for at, n in enumerate(kept):
            own = list(_with_replaced(table, n))
            row = _checked(model.join(videos[at : at + 1], texts.of(own)), table)[0].astype(np.float64)
            rows.append(row[: len(table.texts[n])])
            replaced.append(float(row[-1]) if len(own) > len(table.texts[n]) else None)
        return TableScores(table, kept, tuple(rows), tuple(replaced), frames=frames)

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


def pair_tables(plan: Plan, keys: Keys, answers: PairResults, together: bool = False) -> Scorer:
    """Scores read from the answers."""
    every = (pair for table in plan.tables for pair in requests_of_table(table, keys, together))
    missing = frozenset(clip for clip, request in every if request.key not in answers)

    def scores(table: PlannedTable) -> TableScores:
        kept = _kept(table, missing)
        asked = [
            answers.get(request.key) if clip not in missing else None
            for clip, request in requests_of_table(table, keys, together)
        ]
        if table.group.layout == "retrieval":
            # The missing clips' own captions were shown to the others; they leave the gallery with their clips.
            columns, _ = _columns(table, kept)
            at = {name: n for n, name in enumerate(columns_of(table)[0])}
            chosen = [at[name] for name, _, _ in columns]
            found = [asked[n] for n in kept]
            matrix = np.array([[one.scores[c] for c in chosen] for one in found if one is not None], np.float64)
            for row, line in enumerate(matrix):
                _wrong(line, [at for at, (_, _, own) in enumerate(columns) if own == row])
            frames = tuple(one.numbers for one in found if one is not None)
            return TableScores(table, kept, matrix=_checked(matrix, table), columns=columns, frames=frames)
        rows, parts, frames_, replaced = [], [], [], []
        stream, inside = iter(asked), frozenset(kept)
        for n, item in enumerate(table.group.items):
            other = next(stream) if not together and scores_replaced(table, item) else None
            own = next(stream)
            if n in inside and own is not None:
                rows.append(_wrong(np.array(own.scores, np.float64), [item.label]))
                parts.append(own.parts)
                frames_.append(own.numbers)
                replaced.append(other.scores[0] if other is not None else None)
        return TableScores(table, kept, tuple(rows), tuple(replaced), tuple(parts), tuple(frames_))

    return Scorer(scores, missing)


def text_tables(model: TextScorer, plan: Plan) -> Scorer:
    """Scores of a model that sees no pixels."""

    def scores(table: PlannedTable) -> TableScores:
        items = table.group.items
        kept = tuple(range(len(items)))
        model.begin([text for own in table.texts for text in own], condition=table.condition.name)
        if table.group.layout == "retrieval":
            columns, words = _columns(table, kept)
            matrix = model.similarity([item.clip.video_id for item in items], [name for name, _, _ in columns], words)
            return TableScores(table, kept, matrix=_checked(np.asarray(matrix), table), columns=columns)
        rows = tuple(
            _checked(np.asarray(model.score_item(item.id, item.clip.video_id, own), np.float64), table)
            for item, own in zip(items, table.texts, strict=True)
        )
        return TableScores(table, kept, rows, (None,) * len(items))

    return Scorer(scores)


def _wrong(scores: np.ndarray, true: Sequence[int]) -> np.ndarray:
    """A row with an answer that was no option (NaN) counts as wrong: the true texts come last. It is never guessed."""
    if np.isnan(scores).any():
        scores[:] = 0.0
        scores[list(true)] = -1.0
    return scores


def _kept(table: PlannedTable, missing: frozenset[Clip]) -> tuple[int, ...]:
    return tuple(n for n, item in enumerate(table.group.items) if item.clip not in missing)


def _with_replaced(table: PlannedTable, n: int) -> tuple[str, ...]:
    item = table.group.items[n]
    if item.replaced and table.condition.text.name is None and table.group.layout != "retrieval":
        return (*table.texts[n], item.replaced)
    return table.texts[n]


def _columns(table: PlannedTable, kept: Sequence[int]) -> tuple[tuple[tuple[str, str, int], ...], list[str]]:
    """(id, text, row of its own clip) of every caption of the kept items, and the texts."""
    columns = tuple(
        (f"{table.group.items[n].id}#{c}", text, row)
        for row, n in enumerate(kept)
        for c, text in enumerate(table.texts[n])
    )
    return columns, [text for _, text, _ in columns]


def _checked(scores: np.ndarray, table: PlannedTable) -> np.ndarray:
    if not np.isfinite(scores).all():
        raise VideoContrastError(
            f"config {table.group.config}, condition {table.condition.name}: the model gave NaN or infinite scores; "
            "give --dtype float32, or check the checkpoint"
        )
    return scores
