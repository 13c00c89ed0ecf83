"""What two sides have in common: items, traces, and the raw scores of the same captions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from video_contrast.files import Json
from video_contrast.reports.why_differ.evidence import ItemEvidence, Side
from video_contrast.storage.run_records import SimilarityMatrix

State = Literal["equal", "differs", "follows", "unknown"]

# By how much a number may differ and still be equal; what a certificate passes (docs/why_differ.md has the table).
GREY_LEVELS = 2.0  # of frames: decoders round differently
PIXELS = 0.03  # of the standard deviation of the pixels: two grey levels, or bfloat16
SCORES = {"float32": 1e-3, "bfloat16": 8e-2, "float16": 2e-2}  # of the standard deviation of scores or embeddings
SHOWN = 4  # items or lines that are named


@dataclass(frozen=True)
class StageResult:
    """What a comparison of a stage says."""

    stage: str  # its name
    state: State  # "equal", "differs", "follows" (from another stage) or "unknown" (one side does not record it)
    says: str  # one line
    numbers: dict[str, Json] = field(default_factory=dict)  # what it stands on
    measured: bool = False  # whether it was seen in what came out, and not in a setting or an input

    def __str__(self) -> str:
        return f"{self.state:8} {self.stage:8} {self.says}"


def common(a: Side, b: Side) -> list[str]:
    """The items that both sides have, in the order of the first."""
    return [name for name in a.items if name in b.items]


def item_pairs(a: Side, b: Side) -> list[tuple[str, ItemEvidence, ItemEvidence]]:
    """The items that both sides have: name, evidence of the first, evidence of the second."""
    return [(name, a.items[name], b.items[name]) for name in common(a, b)]


def both_traces(a: Side, b: Side, part: str = "") -> list[tuple[Json, Json]]:
    """The traces of the same clips and captions. `part`: of a trace, where both have it; "" for whole traces."""
    pairs = [(trace, b.traces[name]) for name, trace in a.traces.items() if name in b.traces]
    return [(x[part], y[part]) for x, y in pairs if part in x and part in y] if part else pairs


def aligned_scores(a: Side, b: Side) -> tuple[np.ndarray, np.ndarray]:
    """The raw scores of the same items and captions of both sides, flat; captions are told by their digests."""
    if a.matrix is not None and b.matrix is not None:
        return _aligned_matrices(a.matrix, b.matrix)
    scores = [(x.scores[at], y.scores[other]) for _, x, y in item_pairs(a, b) for at, other in candidate_places(x, y)]
    return np.array([first for first, _ in scores]), np.array([second for _, second in scores])


def candidate_places(x: ItemEvidence, y: ItemEvidence) -> list[tuple[int, int]]:
    """The places of the same candidates in an item of both sides."""
    if not x.scores or not y.scores:
        return []
    if not x.texts or not y.texts:
        return [(n, n) for n in range(len(x.scores))] if len(x.scores) == len(y.scores) else []
    place = {text: n for n, text in enumerate(y.texts)}
    return [(n, place[text]) for n, text in enumerate(x.texts) if text in place]


def _aligned_matrices(a: SimilarityMatrix, b: SimilarityMatrix) -> tuple[np.ndarray, np.ndarray]:
    if a.best is not None or b.best is not None:
        first, second = _known(a), _known(b)
        shared = [pair for pair in first if pair in second]
        return np.array([first[pair] for pair in shared]), np.array([second[pair] for pair in shared])
    rows = [name for name in a.rows if name in set(b.rows)]
    columns = [name for name in a.columns if name in set(b.columns)]
    parts = []
    for matrix in (a, b):
        at_row, at_column = ({name: n for n, name in enumerate(names)} for names in (matrix.rows, matrix.columns))
        places = np.ix_([at_row[name] for name in rows], [at_column[name] for name in columns])
        parts.append(np.asarray(matrix.values[places], np.float64).ravel())
    return parts[0], parts[1]


def _known(matrix: SimilarityMatrix) -> dict[tuple[str, str], float]:
    """(row, column) -> the similarities of each caption with its own clip and of each clip with its best captions."""
    columns, rows = matrix.columns, matrix.rows
    own, best = list(enumerate(matrix.relevant)), matrix.best
    if best is None:
        values = matrix.values
        return {
            (rows[r], columns[c]): float(value) for r, of_row in enumerate(values) for c, value in enumerate(of_row)
        }
    known = {(rows[row], columns[column]): float(best.own[column]) for column, row in own}
    for row, (places, values) in enumerate(zip(best.columns, best.values, strict=True)):
        known |= {(rows[row], columns[c]): float(value) for c, value in zip(places, values, strict=True)}
    return known


def tolerance(a: Side, b: Side) -> float:
    """By how much scores may differ, in standard deviations: that of the coarser dtype."""
    return max(SCORES.get(str(side.model.get("dtype")), SCORES["float32"]) for side in (a, b))


def summary_gap(x: Json, y: Json) -> float:
    """The largest difference of two summaries of arrays; infinite where their shapes differ."""
    if x["shape"] != y["shape"]:
        return float("inf")
    largest = np.abs(np.subtract(x["sample"], y["sample"])).max(initial=0.0)
    return max(float(largest), float(abs(x["mean"] - y["mean"])))


def fitted_line(x: np.ndarray, y: np.ndarray) -> tuple[float, float, float]:
    """Slope and offset of the line that maps x to y best, and the largest distance from it."""
    if np.ptp(x) == 0:
        return 1.0, float(np.mean(y) - np.mean(x)), float(np.abs(y - y.mean()).max())
    slope, offset = np.polyfit(x, y, 1)
    return float(slope), float(offset), float(np.abs(slope * x + offset - y).max())


def few(names: list[str]) -> str:
    """The first of some names."""
    return ", ".join(names[:SHOWN]) + (" ..." if len(names) > SHOWN else "")


def unknown(stage: str, *sides: Side) -> StageResult:
    """What is said of a stage that a side does not record; of the last of `sides`."""
    return StageResult(stage, "unknown", f"{sides[-1].name} ({sides[-1].source}) does not record it")


def other_options(a: Side, b: Side, names: tuple[str, ...] | list[str]) -> list[str]:
    """The options of the kind that both sides have and that differ."""
    shared = [name for name in names if name in a.options and name in b.options]
    return [f"{n} {a.options[n]!r} and {b.options[n]!r}" for n in shared if a.options[n] != b.options[n]]
