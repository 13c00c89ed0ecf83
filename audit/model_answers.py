"""Models' scores as evidence on a set: how much of them a blind model explains, and where they contradict the key."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from video_contrast.audit.blind_audit import AuditedItem, BlindResult, accuracy_facts
from video_contrast.audit.blind_models import wins
from video_contrast.audit.item_checks import EXAMPLES
from video_contrast.audit.records import AccuracyFacts
from video_contrast.errors import VideoContrastError
from video_contrast.metrics.paired import PairedPower, clusters_for, detectable, paired_power
from video_contrast.metrics.ranks import first_chance
from video_contrast.rows import MultipleChoiceRow
from video_contrast.storage.set_folder import Facts

SUSPECTS = 200  # kept in the record


@dataclass(frozen=True)
class ModelAnswers:
    """The answers of one model."""

    model: str  # its name
    hits: Mapping[str, float]  # item id -> 0..1, what the item contributes to the accuracy
    choices: Mapping[str, int]  # item id -> the candidate that it chose; without the items where that is not known


def explained(
    items: Sequence[AuditedItem], blind: Sequence[BlindResult], best: str, answers: Sequence[ModelAnswers]
) -> list[Facts]:
    """The part of each model's accuracy that a blind model has too, and its accuracy where no blind model wins.

    Returns a row a model. `best`: key of the best of them. Raises VideoContrastError: a model has no item of the set.
    """
    by_item = zip(*(result.scores for result in blind), strict=True)
    is_solved = np.array([any(first_chance(score.tolist()) == 1 for score in scores) for scores in by_item])
    won = wins(next(result.scores for result in blind if result.key == best))
    chance = np.array([1.0 / len(item.texts) for item in items])
    rows: list[Facts] = []
    for model in answers:
        here = np.array([item.id in model.hits for item in items])
        if not here.any():
            raise VideoContrastError(f"the scores of {model.model} hold no item of this set: their ids differ")
        hits = np.array([model.hits.get(item.id, 0.0) for item in items])
        lead = float((hits - chance)[here].mean())
        rows.append(
            {
                "model": model.model,
                "n": int(here.sum()),
                **_accuracy(hits, here, items),
                "explained": round(float((won - chance)[here].mean()) / lead, 4) if lead > 0 else None,
                "on_blind_wins": _accuracy(hits, here & is_solved, items) if (here & is_solved).any() else None,
                "on_rest": _accuracy(hits, here & ~is_solved, items) if (here & ~is_solved).any() else None,
                "n_rest": int((here & ~is_solved).sum()),
            }
        )
    return rows


def _accuracy(hits: NDArray[np.float64], among: NDArray[np.bool_], items: Sequence[AuditedItem]) -> AccuracyFacts:
    return accuracy_facts(hits[among], [item.cluster for item, inside in zip(items, among, strict=True) if inside])


def suspects(rows: Sequence[MultipleChoiceRow], answers: Sequence[ModelAnswers]) -> Facts | None:
    """Items whose key all models contradict in the same way; None with fewer than two models of known choices.

    Beside them stands how many would be expected if each model erred by itself, at its own rate, evenly over the wrong
    candidates: what exceeds that are shared errors, of the key or of the models.
    """
    models = [model for model in answers if model.choices]
    if len(models) < 2:
        return None
    items: list[Facts] = []
    expected = 0.0
    both = [row for row in rows if all(row["id"] in model.choices for model in models)]
    rates = [float(np.mean([m.choices[row["id"]] != row["label"] for row in both])) if both else 0.0 for m in models]
    for row in both:
        wrong = len(row["candidates"]) - 1
        expected += math.prod(rates) * wrong ** (1 - len(models))
        choices = {model.choices[row["id"]] for model in models}
        if len(choices) == 1 and choices != {row["label"]}:
            key, choice = (row["candidates"][n] for n in (row["label"], *choices))
            items.append({"id": row["id"], "key": key, "chosen": choice})
    return {
        "models": [model.model for model in models],
        "count": len(items),
        "of": len(both),
        "expected": round(expected, 1),
        "items": items[:SUSPECTS],
        "examples": [f"{item['id']}: {item['chosen']!r} rather than {item['key']!r}" for item in items[:EXAMPLES]],
    }


def power(
    items: Sequence[AuditedItem], answers: Sequence[ModelAnswers], *, points: float, accuracy: float | None = None
) -> Facts:
    """The number of source videos that tell two models apart by some points, and whether this set has them.

    With the scores of at least two models their paired differences are the pilot (of all pairs the one that needs
    most). Without, two models that err independently of each other are assumed, which is the worst case of unrelated
    models, and the items of one video count as all alike; `..._at_best` are those of unrelated items. `accuracy`: of
    both models, 0..1; half way between chance and 1 where None.
    """
    clusters = {item.id: item.cluster for item in items}
    difference = points / 100
    pilots: list[tuple[str, PairedPower]] = []
    for first, second in combinations(answers, 2):
        ids = [name for name in first.hits if name in second.hits and name in clusters]
        if len({clusters[name] for name in ids}) > 1:
            change = [second.hits[name] - first.hits[name] for name in ids]
            facts = paired_power(change, [clusters[name] for name in ids], difference=difference)
            pilots.append((f"{first.model} and {second.model}", facts))
    n, n_clusters = len(items), len(set(clusters.values()))
    if pilots:
        models, most = max(pilots, key=lambda pilot: pilot[1]["clusters_needed"])
        return {**most, "from": models, "points": points, "enough": n_clusters >= most["clusters_needed"]}
    chance = float(np.mean([1 / len(item.texts) for item in items]))
    rate = accuracy if accuracy is not None else (1 + chance) / 2
    variance = 2 * rate * (1 - rate)
    sizes = np.array(list(Counter(clusters[item.id] for item in items).values()))
    effective = float(n**2 / (sizes**2).sum())  # items, where those of one video are all alike
    best, worst = (clusters_for(variance * n_clusters / size, difference=difference) for size in (n, effective))
    return {
        "points": points,
        "difference": difference,
        "from": f"no scores: two models that are right on {rate:.0%} of the items, independently of each other",
        "items_needed": math.ceil(worst * n / n_clusters),
        "clusters_needed": worst,
        "clusters_needed_at_best": best,
        "n_items": n,
        "n_clusters": n_clusters,
        "detectable": detectable(variance / effective, n_clusters),
        "detectable_at_best": detectable(variance / n, n_clusters),
        "enough": n_clusters >= worst,
    }
