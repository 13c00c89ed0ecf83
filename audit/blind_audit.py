"""The blind audit of a multiple-choice set, and its refinement.

A model that never sees the video must not win. The audit reports how far texts alone go: the blind models of
`blind_models`, a language model if one is given (the caption that it finds likelier wins), and length. Refinement cuts
a set until two blind scores are symmetric about zero, as SugarCrepe does.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from video_contrast.audit.blind_models import BLIND_MODELS, FOLDS, Scores, audited_negatives, blind_scores, too_few
from video_contrast.errors import UsageError
from video_contrast.rows import MultipleChoiceRow, Row
from video_contrast.seeds import digest

GRID = 10  # cells a side of zero and score


@dataclass(frozen=True)
class AuditedItem:
    """The candidates of an item that are audited: the true one, then the negatives that the item was built for."""

    id: str
    cluster: str
    texts: tuple[str, ...]
    kind: str


def audited_items(rows: Sequence[Row]) -> list[AuditedItem]:
    """Returns the audited candidates of each row: the true one, and its contrasts, or all others if it has none.

    Raises:
        UsageError: the rows are not of a multiple-choice set.
    """
    items = []
    for row in rows:
        if "candidates" not in row:
            raise UsageError("only multiple-choice sets are audited; this table has no candidates")
        others = audited_negatives(row["label"], row["kinds"])
        texts = tuple(row["candidates"][n] for n in (row["label"], *others))
        kinds = sorted({row["kinds"][n] for n in others})
        items.append(AuditedItem(row["id"], row["cluster"], texts, "+".join(kinds)))
    return items


def audit(
    rows: Sequence[Row],
    *,
    seed: int = 0,
    folds: int = FOLDS,
    language_model: str | None = None,
    device: str = "auto",
) -> dict[str, Any]:
    """Measures how well the true caption is told from the contrasts of its item without the video.

    Args:
        rows: of a multiple-choice set.
        seed: of the folds.
        folds: of the cross-validation, grouped by `cluster`.
        language_model: a causal LM (Hub id or folder); its accuracy is added to those of the built-in models.
        device: where that model runs.

    Returns:
        JSON-able: items, against (kinds), chance, and for each blind model its accuracy (0..1, a tie counts as a fair
        share) with its standard error over clusters. `note` says why a model was left out.

    Raises:
        UsageError: the rows are not of a multiple-choice set, or the language model cannot be loaded.
    """
    items = audited_items(rows)
    clusters = [item.cluster for item in items]
    chance = float(np.mean([1.0 / len(item.texts) for item in items]))
    facts: dict[str, Any] = {
        "items": len(items),
        "against": sorted({item.kind for item in items}),
        "chance": round(chance, 4),
        "shorter_wins": _accuracy(_lengths(items, -1.0), clusters),
        "longer_wins": _accuracy(_lengths(items, 1.0), clusters),
    }
    if too_few(clusters, folds):
        facts["note"] = f"{len(items)} items of {len(set(clusters))} videos are too few to cross-validate a classifier"
    else:
        facts["folds"] = folds
        for scores, model in zip(_learned(items, folds, seed), BLIND_MODELS.values(), strict=True):
            facts[model.key] = _accuracy(scores, clusters) | {"scorer": model.summary}
    if language_model:
        likely = _likelihoods(items, language_model, device)
        facts["large_language_model"] = _accuracy(likely, clusters) | {"scorer": language_model}
    return facts


def audit_splits(splits: Mapping[str, Sequence[Row]], seed: int = 0) -> dict[str, Any]:
    """Returns the audit that a card shows: of the split `test`, or of the first if there is none; `split` names it."""
    split = "test" if "test" in splits else next(iter(splits))
    return {"split": split, **audit(splits[split], seed=seed)}


# Keys of an audit that hold an accuracy, and how they are called.
SCORERS = {
    "blind": "blind classifier",
    "language_model": "trigram model",
    "large_language_model": "language model",
    "shorter_wins": "shorter wins",
    "longer_wins": "longer wins",
}


def strongest_first(facts: Mapping[str, Any]) -> list[tuple[str, float, float]]:
    """Returns name, accuracy and standard error of every blind model of an audit, the most accurate first.

    >>> strongest_first({"blind": {"accuracy": 0.5, "standard_error": 0.1},
    ...                  "shorter_wins": {"accuracy": 0.6, "standard_error": 0.1}})
    [('shorter wins', 0.6, 0.1), ('blind classifier', 0.5, 0.1)]
    """
    results = [
        (name, float(facts[key]["accuracy"]), float(facts[key]["standard_error"]))
        for key, name in SCORERS.items()
        if key in facts
    ]
    return sorted(results, key=lambda result: -result[1])


def refine(
    rows: Sequence[MultipleChoiceRow], *, seed: int = 0, folds: int = FOLDS, grid: int = GRID
) -> tuple[list[MultipleChoiceRow], dict[str, Any]]:
    """Cuts a set to the largest part, cell by cell, on which two blind scores say nothing.

    Per item the gaps (true minus mean of the contrasts) of the classifier and of the trigram model are binned on a
    grid symmetric about zero, and the cells (i, j) and (-i, -j) are cut to the smaller of the two.

    Args:
        rows: of a multiple-choice set.
        seed: of the folds, and of which items of a cell stay.
        folds: of the cross-validation, grouped by `cluster`.
        grid: cells a side of zero and score.

    Returns:
        The rows that stay, in their order, and facts: items before and after, and the blind accuracies on what stays.

    Raises:
        UsageError: too few items to cross-validate.
    """
    items = audited_items(rows)
    clusters = [item.cluster for item in items]
    if too_few(clusters, folds):
        raise UsageError(f"{len(items)} items of {len(set(clusters))} videos are too few to refine")
    learned = _learned(items, folds, seed)
    gaps = [np.array([score[0] - score[1:].mean() for score in scores]) for scores in learned]
    members: dict[tuple[int, int], list[int]] = defaultdict(list)
    for number, (i, j) in enumerate(zip(*(_cells(gap, grid).tolist() for gap in gaps), strict=True)):
        members[i, j].append(number)
    keep: set[int] = set()
    for (i, j), inside in members.items():
        opposite = members.get((-i, -j), [])
        inside = sorted(inside, key=lambda number: digest(seed, "refine", items[number].id))
        keep.update(inside[: len(opposite)])
    kept = sorted(keep)
    left = [clusters[number] for number in kept]
    facts = {
        "items_before": len(rows),
        "items_after": len(kept),
        "grid": grid,
        "scores": ["word n-grams (1-3) and length", "word trigrams of the set's true captions"],
        "accuracy_after": [_accuracy([scores[n] for n in kept], left)["accuracy"] for scores in learned if kept],
    }
    return [rows[number] for number in kept], facts


def _learned(items: Sequence[AuditedItem], folds: int, seed: int) -> list[Scores]:
    """The cross-fitted scores of every blind model that learns, in the order of `BLIND_MODELS`."""
    texts, clusters = [item.texts for item in items], [item.cluster for item in items]
    return [blind_scores(texts, clusters, model, folds=folds, seed=seed) for model in BLIND_MODELS]


def _lengths(items: Sequence[AuditedItem], sign: float) -> Scores:
    return [np.array([sign * len(text.split()) for text in item.texts]) for item in items]


def _likelihoods(items: Sequence[AuditedItem], model: str, device: str) -> Scores:
    from video_contrast.perturbations.contrast.constraints.perplexity import LanguageModel

    scorer = LanguageModel(model, device=device)
    scores = -np.log(np.array(scorer.perplexity([text for item in items for text in item.texts])))
    ends = np.cumsum([len(item.texts) for item in items])
    return np.split(scores, ends[:-1])


def _accuracy(scores: Scores, clusters: Sequence[str]) -> dict[str, float]:
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
