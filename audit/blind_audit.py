"""The blind audit of a multiple-choice set, and its refinement.

A model that never sees the video must not win. The audit says how far texts alone go: a classifier of word n-grams and
length, a language model (the caption that it finds likelier wins), and length. Refinement cuts a set until two blind
scores are symmetric about zero, as SugarCrepe does.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from video_contrast.audit import blind_models as blind
from video_contrast.errors import UsageError
from video_contrast.seeds import digest

FOLDS = 5
LEAST = 20  # items; below, cross-validation says nothing
GRID = 10  # cells a side of zero and score


@dataclass(frozen=True)
class Item:
    """What of an item is audited: the true caption, then the negatives that it was built for."""

    id: str
    cluster: str
    texts: tuple[str, ...]
    kind: str


def items_of(rows: Sequence[Mapping[str, Any]]) -> list[Item]:
    """The audited candidates of each row: the true one against the contrasts, or against all where none is a contrast.

    Raises:
        UsageError: the rows are not of a multiple-choice set.
    """
    found = []
    for row in rows:
        if "candidates" not in row:
            raise UsageError("only multiple-choice sets are audited; this table has no candidates")
        hard = [n for n, kind in enumerate(row["kinds"]) if kind not in ("true", "random")]
        others = hard or [n for n in range(len(row["candidates"])) if n != row["label"]]
        texts = tuple(row["candidates"][n] for n in (row["label"], *others))
        kinds = sorted({row["kinds"][n] for n in others})
        found.append(Item(row["id"], row["cluster"], texts, "+".join(kinds)))
    return found


def audit(
    rows: Sequence[Mapping[str, Any]],
    *,
    seed: int = 0,
    folds: int = FOLDS,
    language_model: str | None = None,
    device: str = "auto",
) -> dict[str, Any]:
    """How well the true caption is told from the contrasts of its item without the video.

    Args:
        rows: of a multiple-choice set.
        seed: of the folds.
        folds: of the cross-validation, grouped by `cluster`.
        language_model: a causal LM (Hub id or folder); its accuracy is added to that of the built-in trigram model.
        device: where that model runs.

    Returns:
        JSON-able: items, against (kinds), chance, and for each blind scorer its accuracy (ties count as a fair share)
        with its standard error over clusters. `note` says why a scorer was left out.
    """
    items = items_of(rows)
    clusters = [item.cluster for item in items]
    chance = float(np.mean([1.0 / len(item.texts) for item in items]))
    facts: dict[str, Any] = {
        "items": len(items),
        "against": sorted({item.kind for item in items}),
        "chance": round(chance, 4),
        "shorter_wins": _accuracy(_lengths(items, -1.0), clusters),
        "longer_wins": _accuracy(_lengths(items, 1.0), clusters),
    }
    if len(items) < LEAST or len(set(clusters)) < folds:
        facts["note"] = f"{len(items)} items of {len(set(clusters))} videos are too few to cross-validate a classifier"
    else:
        ngrams, trigrams = _learned(items, folds, seed)
        facts |= {
            "folds": folds,
            "blind": _accuracy(ngrams, clusters) | {"scorer": "word n-grams (1-3) and length, logistic regression"},
            "language_model": _accuracy(trigrams, clusters) | {"scorer": "word trigrams of the set's true captions"},
        }
    if language_model:
        likely = _likelihoods(items, language_model, device)
        facts["large_language_model"] = _accuracy(likely, clusters) | {"scorer": language_model}
    return facts


def refine(
    rows: Sequence[Mapping[str, Any]], *, seed: int = 0, folds: int = FOLDS, grid: int = GRID
) -> tuple[list[Mapping[str, Any]], dict[str, Any]]:
    """The largest part of a set, cell by cell, on which two blind scores say nothing.

    Per item the gaps (true minus mean of the contrasts) of the n-gram classifier and of the trigram model are binned
    on a grid symmetric about zero, and the cells (i, j) and (-i, -j) are cut to the smaller of the two.

    Returns:
        The rows that stay, in their order, and facts: items before and after, and the blind accuracies on what stays.

    Raises:
        UsageError: too few items to cross-validate.
    """
    items = items_of(rows)
    clusters = [item.cluster for item in items]
    if len(items) < LEAST or len(set(clusters)) < folds:
        raise UsageError(f"{len(items)} items of {len(set(clusters))} videos are too few to refine")
    both = _learned(items, folds, seed)
    gaps = np.array([[score[0] - score[1:].mean() for score in scores] for scores in both])
    cells = np.stack([_cells(gap, grid) for gap in gaps], axis=1)
    members: dict[tuple[int, int], list[int]] = defaultdict(list)
    for number, (i, j) in enumerate(cells.tolist()):
        members[i, j].append(number)
    keep: set[int] = set()
    for cell, inside in members.items():
        opposite = members.get((-cell[0], -cell[1]), [])
        inside = sorted(inside, key=lambda number: digest(seed, "refine", items[number].id))
        keep.update(inside[: len(opposite)])
    kept = [number for number in range(len(rows)) if number in keep]
    facts = {
        "items_before": len(rows),
        "items_after": len(kept),
        "grid": grid,
        "scores": ["word n-grams (1-3) and length", "word trigrams of the set's true captions"],
        "accuracy_after": [
            _accuracy([scores[number] for number in kept], [clusters[number] for number in kept])["accuracy"]
            for scores in both
        ]
        if kept
        else [],
    }
    return [rows[number] for number in kept], facts


def _learned(items: Sequence[Item], folds: int, seed: int) -> tuple[blind.Scores, blind.Scores]:
    fold = blind.folds_of([item.cluster for item in items], folds, seed)
    texts = [item.texts for item in items]
    return blind.cross_fitted(texts, fold, blind.fit_ngrams), blind.cross_fitted(texts, fold, blind.fit_trigrams)


def _lengths(items: Sequence[Item], sign: float) -> blind.Scores:
    return [np.array([sign * len(text.split()) for text in item.texts]) for item in items]


def _likelihoods(items: Sequence[Item], model: str, device: str) -> blind.Scores:
    from video_contrast.perturbations.contrast.constraints.perplexity import LanguageModel

    scorer = LanguageModel(model, device=device)
    scores = -np.log(np.array(scorer.perplexity([text for item in items for text in item.texts])))
    ends = np.cumsum([len(item.texts) for item in items])
    return np.split(scores, ends[:-1])


def _accuracy(scores: blind.Scores, clusters: Sequence[str]) -> dict[str, float]:
    """Accuracy with ties as a fair share, and its standard error over clusters; rounded to 4 places."""
    won = np.array([float(s[0] == s.max()) / np.count_nonzero(s == s.max()) for s in scores])
    accuracy = float(won.mean())
    sums: Counter[str] = Counter()
    for cluster, value in zip(clusters, won - accuracy, strict=True):
        sums[cluster] += value
    parts = np.array(list(sums.values()))
    n = len(parts)
    error = float(np.sqrt((parts**2).sum() * n / (n - 1)) / len(won)) if n > 1 else 0.0
    return {"accuracy": round(accuracy, 4), "standard_error": round(error, 4)}


def _cells(gaps: NDArray[np.float64], grid: int) -> NDArray[np.int64]:
    """Signed cells: 0 for a gap of zero, else 1..grid by size with the gap's sign; edges are quantiles of the size."""
    size = np.abs(gaps)
    edges = np.quantile(size, np.arange(1, grid) / grid)
    return (np.sign(gaps) * (np.searchsorted(edges, size, side="right") + 1)).astype(np.int64)
