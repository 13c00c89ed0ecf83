"""Refinement: which items stay when a set is cut until two blind scores are symmetric about zero, as in SugarCrepe."""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from video_contrast.audit.blind_audit import accuracy_facts, audited_items, blind_results, learned_scores, size_in_words
from video_contrast.audit.blind_models import too_few, wins
from video_contrast.errors import UsageError
from video_contrast.rows import MultipleChoiceRow
from video_contrast.seeds import digest
from video_contrast.storage.set_folder import BlindModelKey, Facts

GRID = 10  # cells a side of zero and score


def refine(
    rows: Sequence[MultipleChoiceRow], *, seed: int = 0, by: tuple[BlindModelKey, BlindModelKey] | None = None
) -> tuple[list[MultipleChoiceRow], Facts]:
    """Cuts a set to the largest part, cell by cell, on which two blind scores say nothing.

    Per item the gaps (true minus mean of the contrasts) of the classifier and of the trigram model are binned on a grid
    symmetric about zero, and the cells (i, j) and (-i, -j) are cut to the smaller of the two. Returns the rows that
    stay, in their order, and facts: items before and after, and the blind accuracies on what stays. `seed`: of the
    folds, and of which items of a cell stay. `by`: keys of two blind models (`blind_results`) in place of the
    classifier and the trigram model. Raises UsageError: too few items to cross-validate.
    """
    items = audited_items(rows)
    clusters = [item.cluster for item in items]
    if too_few(clusters):
        raise UsageError(f"{size_in_words(items, clusters)}: too few to refine")
    names = ["word n-grams (1-3) and length", "word trigrams of the set's true captions"]
    if by is None:
        blind_scores = learned_scores(items, seed)
    else:
        results = {result.key: result for result in blind_results(items, seed=seed)}
        blind_scores, names = [results[key].scores for key in by], [results[key].description for key in by]
    gaps = [np.array([score[0] - score[1:].mean() for score in scores]) for scores in blind_scores]
    # Signed cells: 0 for a gap of zero, else 1..GRID by size with the gap's sign; edges are quantiles of the size.
    edges = [np.quantile(np.abs(gap), np.arange(1, GRID) / GRID) for gap in gaps]
    sizes = [np.searchsorted(edge, np.abs(gap), side="right") + 1 for edge, gap in zip(edges, gaps, strict=True)]
    members: dict[tuple[int, int], list[int]] = defaultdict(list)
    for number, (i, j) in enumerate(zip(*(np.sign(gaps) * sizes).astype(int).tolist(), strict=True)):
        members[i, j].append(number)
    keep: set[int] = set()
    for (i, j), inside in members.items():
        opposite = members.get((-i, -j), [])
        inside = sorted(inside, key=lambda number: digest(seed, "refine", items[number].id))
        keep.update(inside[: len(opposite)])
    staying = sorted(keep)
    of_staying = [clusters[number] for number in staying]
    after = [accuracy_facts(wins([s[n] for n in staying]), of_staying)["accuracy"] for s in blind_scores if staying]
    facts: Facts = {"items_before": len(rows), "items_after": len(staying), "grid": GRID, "scores": names}
    return [rows[number] for number in staying], facts | {"accuracy_after": after}
