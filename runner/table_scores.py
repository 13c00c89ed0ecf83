"""Bringing rows, results or lookups together into the scores of a table."""

import math
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np

from video_contrast.errors import VideoContrastError
from video_contrast.metrics.retrieval_counts import SimilarityBlock
from video_contrast.runner.embedding_store import Keys, Store
from video_contrast.runner.encode import Encoding
from video_contrast.runner.items import Items, Texts
from video_contrast.runner.kinds.base import Encoder, LabelledItem, ScoreResult, TextScorer
from video_contrast.runner.plan import Plan, PlannedTable
from video_contrast.runner.score_pairs import Pairing, PairResults, ScoreRequest
from video_contrast.runner.table_metrics import ItemScores, TableScores
from video_contrast.video import Clip

BLOCK = 1 << 24  # numbers of a block: similarities, or those of clips' rows
BLOCK_WIDTH = 8192  # captions of a block
ITEMS = 4096  # multiple-choice items whose rows are read at a time


@dataclass(frozen=True)
class TableScorer:
    """Makes the scores of any table of a run."""

    scores_of: Callable[[PlannedTable, Sequence[int]], TableScores]  # of the items at some places
    missing: frozenset[Clip] = frozenset()  # no table is scored on these, so that all conditions have the same clips

    def scores(self, table: PlannedTable) -> TableScores:
        """The scores of one table, asked for one after the other, so that memory holds one matrix."""
        clips = table.group.items.clips
        places = [n for n, clip in enumerate(clips) if clip not in self.missing] if self.missing else range(len(clips))
        return self.scores_of(table, places)


def encoder_tables(encoding: Encoding) -> TableScorer:
    """Scores joined from the store's rows."""
    model, plan, keys, store = encoding.model, encoding.plan, encoding.keys, encoding.store
    absent = (c for c, visuals in plan.views.items() if any(keys.video(c, visual) not in store for visual in visuals))

    def scores(table: PlannedTable, places: Sequence[int]) -> TableScores:
        names = [keys.video(clip, table.condition.visual) for clip in table.group.items.taken(places).clips]
        frames = tuple(store.numbers(names))
        if table.is_retrieval:
            columns = caption_columns(table, places)
            blocks = _joined_blocks(model, store, names, [Keys.text(text) for _, text, _ in columns], table)
            return TableScores(table, places, blocks=blocks, columns=columns, frames=frames)
        other_scores: list[float | None] = []

        def rows() -> Iterator[np.ndarray]:
            for begin in range(0, len(places), ITEMS):
                part = places[begin : begin + ITEMS]
                others = list(map(table.distractor, part))
                texts = [(*table.texts[n], *filter(None, (other,))) for n, other in zip(part, others, strict=True)]
                rows_of_part = _joined_items(model, store, names[begin : begin + ITEMS], texts, table)
                for row, n, other in zip(rows_of_part, part, others, strict=True):
                    other_scores.append(float(row[-1]) if other else None)
                    yield row[: len(table.texts[n])]

        values = pack(rows())
        return TableScores(table, places, rows=values, replaced_scores=other_scores, frames=frames)

    return TableScorer(scores, _with_groups(plan, frozenset(absent)))


def _joined_items(
    model: Encoder, store: Store, videos: Sequence[str], texts: Sequence[Sequence[str]], table: PlannedTable
) -> Iterator[np.ndarray]:
    """Similarities of clips (by their keys) with a few texts each, float64[k] a clip."""
    video_rows = store.get(videos)
    at = {text: n for n, text in enumerate(sorted({text for own in texts for text in own}))}
    text_rows = store.get(list(map(Keys.text, at)))
    for n, own in enumerate(texts):
        distinct = list(dict.fromkeys(own))  # each joined once, so that equal candidates tie exactly
        row = model.join(video_rows[n : n + 1], text_rows[[at[text] for text in distinct]])
        yield _checked(row, table)[0, [distinct.index(text) for text in own]].astype(np.float64)


def pack(rows: Iterable[np.ndarray]) -> ItemScores:
    """The scores of items, float64[k] each, in one array.

    >>> pack([np.array([0.5, 1.0]), np.array([0.25, 0.0])]).tolist()
    [[0.5, 1.0], [0.25, 0.0]]
    """
    values, sizes = array("d"), []
    for row in rows:
        values.frombytes(np.ascontiguousarray(row, np.float64).tobytes())
        sizes.append(len(row))
    flat = np.frombuffer(values)
    return flat.reshape(len(sizes), -1) if len(set(sizes)) == 1 else np.split(flat, np.cumsum(sizes)[:-1])


def _joined_blocks(
    model: Encoder, store: Store, videos: Sequence[str], texts: Sequence[str], table: PlannedTable
) -> tuple[SimilarityBlock, ...]:
    """Similarities of clips with captions in blocks, each of rows that are read when it is computed.

    Each unique row is joined once, so that equal clips and equal captions tie exactly. `videos, texts`: the keys of the
    clips and of the captions. `table`: what is scored.
    """

    def places(names: Sequence[str]) -> tuple[list[str], np.ndarray]:
        at = {name: n for n, name in enumerate(dict.fromkeys(names))}
        return list(at), np.array([at[name] for name in names], np.int64)

    unique_videos, of_row = places(videos)
    unique_texts, of_column = places(texts)

    @lru_cache(maxsize=1)  # the blocks of the same clips follow each other
    def clips(first: int) -> np.ndarray:
        return store.get(unique_videos[first : first + height])

    def values(first: int, left: int, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        block = _checked(model.join(clips(first), store.get(unique_texts[left : left + BLOCK_WIDTH])), table)
        return np.asarray(block[np.ix_(of_row[rows] - first, of_column[columns] - left)])

    height = max(1, min(BLOCK // BLOCK_WIDTH, BLOCK // store.get(unique_videos[:1]).shape[1]))
    blocks = []
    for first in range(0, len(unique_videos), height):
        own_rows = np.flatnonzero((of_row >= first) & (of_row < first + height))
        for left in range(0, len(unique_texts), BLOCK_WIDTH):
            columns = np.flatnonzero((of_column >= left) & (of_column < left + BLOCK_WIDTH))
            for rows in np.split(own_rows, range(BLOCK // BLOCK_WIDTH, len(own_rows), BLOCK // BLOCK_WIDTH)):
                blocks.append(SimilarityBlock(rows, columns, partial(values, first, left, rows, columns)))
    return tuple(blocks)


def pair_tables(pairing: Pairing, results: PairResults) -> TableScorer:
    """Scores read from the results of a pair scorer."""
    absent = (c for c in pairing.plan.views if any(request.key not in results for request in pairing.of_clip(c)))

    def scores(table: PlannedTable, places: Sequence[int]) -> TableScores:
        own = (results.get(pairing.of_item(table, n)[0].key) for n in places)
        if table.is_retrieval:
            return _retrieved(table, places, list(own))
        frames, unparseable, labels = [], [], table.group.items.column("label")

        def rows() -> Iterator[np.ndarray]:
            for n, result in zip(places, own, strict=True):
                frames.append(result.frame_numbers)
                unparseable.append(float(_unparseable(result).any()))
                yield _readable(result.scores, [labels[n]])

        return TableScores(
            table,
            places,
            rows=pack(rows()),
            replaced_scores=[_single(results, pairing.of_item(table, n)[1]) for n in places],
            parts_of=lambda at: results.get(pairing.of_item(table, places[at])[0].key).parts,
            frames=tuple(frames),
            unparseable=tuple(unparseable),
            comparable=not pairing.together and table.group.questions != "asked",
        )

    return TableScorer(scores, _with_groups(pairing.plan, frozenset(absent)))


def _retrieved(table: PlannedTable, places: Sequence[int], own: Sequence[ScoreResult]) -> TableScores:
    """The scores of a retrieval table from the results of its clips, each shown with all captions."""
    # The missing clips' own captions were shown to the others; they leave the gallery with their clips.
    columns = caption_columns(table, places)
    at = {name: n for n, (name, _, _) in enumerate(caption_columns(table, range(len(table.texts))))}
    shown_at = [at[name] for name, _, _ in columns]
    of_row = np.array([row for _, _, row in columns])
    matrix = np.array(
        [_readable(result.scores[shown_at], np.flatnonzero(of_row == row)) for row, result in enumerate(own)]
    )
    return TableScores(
        table,
        places,
        blocks=(SimilarityBlock(np.arange(len(own)), np.arange(len(columns)), lambda: _checked(matrix, table)),),
        columns=columns,
        frames=tuple(result.frame_numbers for result in own),
        unparseable=tuple(float(np.mean(_unparseable(result)[shown_at])) for result in own),
    )


def text_tables(model: TextScorer, plan: Plan, absent: frozenset[Clip]) -> TableScorer:
    """Scores of a model that sees no pixels. `absent`: clips that no model can see, whose items are left out."""

    def scores(table: PlannedTable, places: Sequence[int]) -> TableScores:
        items, item_texts = table.group.items.taken(places), table.texts.taken(places)
        if type(model).begin is not TextScorer.begin:
            model.begin([text for own in item_texts for text in own], condition=table.condition.name)
        if table.is_retrieval:
            columns = caption_columns(table, places)
            names, texts = [name for name, _, _ in columns], [text for _, text, _ in columns]
            videos = items.clips.columns[0].tolist()

            def values(rows: np.ndarray) -> np.ndarray:
                return _checked(np.asarray(model.similarity([videos[row] for row in rows], names, texts)), table)

            height = max(1, BLOCK // max(1, len(columns)))
            parts = np.split(np.arange(len(items)), range(height, len(items), height))
            blocks = tuple(SimilarityBlock(rows, np.arange(len(columns)), partial(values, rows)) for rows in parts)
            return TableScores(table, places, blocks=blocks, columns=columns)
        config, condition = table.name
        if type(model).begin_items is not TextScorer.begin_items:
            model.begin_items(list(_labelled(table, items, item_texts)), config=config, condition=condition)
        rows = pack(
            _checked(np.asarray(model.score_item(item.id, item.clip.video_id, own), np.float64), table)
            for item, own in zip(items, item_texts, strict=True)
        )
        return TableScores(table, places, rows=rows, replaced_scores=[None] * len(items))

    return TableScorer(scores, _with_groups(plan, absent))


def _labelled(table: PlannedTable, items: Items, item_texts: Texts) -> Iterator[LabelledItem]:
    """The items that a blind model may learn from, with their texts under the condition, without the question."""
    for item, own in zip(items, item_texts, strict=True):
        question = table.group.with_question(item, "")
        texts = [text.removeprefix(question) for text in own]
        yield LabelledItem(item.id, item.cluster, texts, item.label, item.kinds, bool(item.question))


def _readable(scores: np.ndarray, true: Sequence[int] | np.ndarray) -> np.ndarray:
    """Scores with those of unparseable answers (NaN) below all others, and of the true texts below these: a guess
    would be right by chance.

    >>> _readable(np.array([0.9, np.nan, 0.2]), [0]), _readable(np.array([np.nan, np.nan, 0.2]), [0])
    (array([ 0.9, -0.8,  0.2]), array([-1.8, -0.8,  0.2]))
    """
    unread = np.isnan(scores)
    lowest = 0.0 if unread.all() else np.nanmin(scores) - 1.0
    own = np.isin(np.arange(len(scores)), true)
    return np.where(unread, np.where(own, lowest - 1.0, lowest), scores)


def _unparseable(result: ScoreResult) -> np.ndarray:
    """bool[k]: the captions about which an answer was probably none of those that were asked for."""
    return np.array([bool(part.get("unparseable")) for part in result.parts or [{}] * len(result.scores)])


def _single(results: PairResults, request: ScoreRequest | None) -> float | None:
    """The score of a text that was scored alone; None where there is none, or its answer cannot be read."""
    score = math.nan if request is None else float(results.get(request.key).scores[0])
    return None if math.isnan(score) else score


def _with_groups(plan: Plan, missing: frozenset[Clip]) -> frozenset[Clip]:
    """Clips without scores; a group of edited clips is left out whole, since its captions are balanced as a whole."""
    torn: set[Clip] = set()
    for group in dict.fromkeys(table.group for table in plan.tables if missing):
        edited = [item for item in group.items if item.group and item.clip.segments]
        names = {item.group for item in edited if item.clip in missing}
        torn.update(item.clip for item in edited if item.group in names)
    return missing | torn


def caption_columns(table: PlannedTable, places: Sequence[int]) -> tuple[tuple[str, str, int], ...]:
    """(id, text, row of its own clip) of every caption of the kept items."""
    names = table.group.items.column("id")
    return tuple(
        (f"{names[n]}#{c}", text, row) for row, n in enumerate(places) for c, text in enumerate(table.texts[n])
    )


def _checked(scores: np.ndarray, table: PlannedTable) -> np.ndarray:
    if not np.isfinite(scores).all():
        raise VideoContrastError(
            f"config {table.group.config}, condition {table.condition.name}: the model gave NaN or infinite scores; "
            "give --dtype float32, or check the checkpoint"
        )
    return scores
