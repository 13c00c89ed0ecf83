"""The blind audit of a multiple-choice set.

A model that never sees the video must not win. The audit reports how far texts alone go: the blind models of
`blind_models`, the form of the candidates, the places of the true ones, length, and a language model if one is given
(the caption that it finds likelier wins).
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from video_contrast.audit import blind_models
from video_contrast.audit.blind_models import BLIND_MODELS, FOLDS, SUMMARY, Scores, audited_negatives, too_few, wins
from video_contrast.audit.records import AccuracyFacts, AuditFacts, BlindModelFacts
from video_contrast.console import counted
from video_contrast.errors import UsageError
from video_contrast.language_model import LanguageModel
from video_contrast.metrics import share_interval
from video_contrast.metrics.group_score import group_chance
from video_contrast.rows import MultipleChoiceRow, Row
from video_contrast.storage.set_folder import BLIND_NAMES, BlindModelKey, Facts


@dataclass(frozen=True)
class AuditedItem:
    """The candidates of an item that are audited: the true one, then the negatives that the item was built for."""

    id: str
    cluster: str
    texts: tuple[str, ...]
    kind: str
    positions: tuple[int, ...] = ()  # of the texts among the item's candidates
    question: str = ""


@dataclass(frozen=True)
class BlindResult:
    """The scores of one blind model for every item."""

    key: BlindModelKey  # in an audit's record
    description: str  # the model in words
    scores: Scores  # float64[k] for each item, the true candidate first, higher for what looks true


def audited_items(rows: Sequence[Row]) -> list[AuditedItem]:
    """Returns the audited candidates of each row: the true one, and its contrasts, or all others if it has none.

    Raises UsageError: the rows are not of a multiple-choice set.
    """
    items = []
    for row in rows:
        if "candidates" not in row:
            raise UsageError("only multiple-choice sets are audited; this table has no candidates")
        places = (row["label"], *audited_negatives(row["label"], row["kinds"]))
        texts = tuple(row["candidates"][n] for n in places)
        kind = "+".join(sorted({row["kinds"][n] for n in places[1:]}))
        question = str(row.get("question") or "")
        items.append(AuditedItem(row["id"], row["cluster"], texts, kind, positions=places, question=question))
    return items


def blind_results(
    items: Sequence[AuditedItem], *, seed: int = 0, language_model: LanguageModel | None = None
) -> list[BlindResult]:
    """Scores every item by every blind model; those that learn are left out where there are too few items.

    `language_model`: a causal language model; it joins the others.
    """
    lengths = [np.array([float(len(text.split())) for text in item.texts]) for item in items]
    results = [
        BlindResult("shorter_wins", "fewest words", [-own for own in lengths]),
        BlindResult("longer_wins", "most words", lengths),
    ]
    clusters = [item.cluster for item in items]
    if not too_few(clusters):
        fold = blind_models.folds_of(clusters, FOLDS, seed)
        position = blind_models.common_position_scores([item.positions for item in items], fold)
        results.append(BlindResult("common_position", "the place that holds most true candidates elsewhere", position))
        tables = [blind_models.features(item.texts, item.question) for item in items]
        results.append(BlindResult("text_features", SUMMARY, blind_models.cross_fitted_features(tables, fold)))
        for scores, (key, model) in zip(learned_scores(items, seed), BLIND_MODELS.items(), strict=True):
            results.append(BlindResult(key, model.summary, scores))
    if language_model is not None:
        likely = -np.log(np.array(language_model.perplexity([text for item in items for text in item.texts])))
        ends = np.cumsum([len(item.texts) for item in items])
        results.append(BlindResult("large_language_model", language_model.name, np.split(likely, ends[:-1])))
    return results


def audit(rows: Sequence[Row], *, seed: int = 0, language_model: LanguageModel | None = None) -> AuditFacts:
    """Measures how well the true caption is told from the contrasts of its item without the video.

    `language_model`: a causal language model; its accuracy is added to those of the built-in models. Raises UsageError:
    the rows are not of a multiple-choice set.
    """
    items = audited_items(rows)
    return audit_facts(items, blind_results(items, seed=seed, language_model=language_model))


def audit_facts(items: Sequence[AuditedItem], results: Sequence[BlindResult]) -> AuditFacts:
    """Returns the record of an audit: what the blind models say of the audited candidates."""
    clusters = [item.cluster for item in items]
    chance = float(np.mean([1.0 / len(item.texts) for item in items]))
    models = {r.key: {**accuracy_facts(wins(r.scores), clusters), "description": r.description} for r in results}
    low = best_of(results, clusters)[1]["low"]
    facts = {"items": len(items), "against": sorted({item.kind for item in items}), "chance": round(chance, 4)}
    facts["solvable"] = None if low is None else bool(low > round(chance, 4))
    if too_few(clusters):
        facts["note"] = f"{size_in_words(items, clusters)}: too few to cross-validate a classifier"
    else:
        facts["folds"] = FOLDS
    return cast(AuditFacts, {**facts, **models})  # the keys of blind models are those of `BLIND_NAMES`


def best_of(results: Sequence[BlindResult], clusters: Sequence[str]) -> tuple[BlindResult, AccuracyFacts]:
    """Returns the most accurate of blind models and its accuracy.

    The best of several is good by chance too: its interval is that of all of them at once (Bonferroni).
    """
    best = max(results, key=lambda result: accuracy_facts(wins(result.scores), clusters)["accuracy"])
    return best, accuracy_facts(wins(best.scores), clusters, level=1 - 0.05 / len(results))


def audited_split(splits: Mapping[str, Sequence[Row]]) -> str:
    """Returns the split that is audited unless another is named: `test`, or the first if there is none."""
    return "test" if "test" in splits else next(iter(splits))


def audit_splits(splits: Mapping[str, Sequence[Row]], seed: int = 0) -> AuditFacts:
    """Returns the audit that a card shows; `split` names what was audited."""
    split = audited_split(splits)
    return {**audit(splits[split], seed=seed), "split": split}


def strongest_first(facts: AuditFacts) -> list[tuple[str, BlindModelFacts]]:
    """Returns name and accuracy of every blind model of an audit, the most accurate first.

    >>> [name for name, _ in strongest_first({"blind": {"accuracy": 0.5}, "shorter_wins": {"accuracy": 0.6}})]
    ['shorter wins', 'blind classifier']
    """
    results = [(name, facts[key]) for key, name in BLIND_NAMES.items() if key in facts]
    return sorted(results, key=lambda result: -result[1]["accuracy"])


def in_percent(facts: AccuracyFacts) -> str:
    """Returns an accuracy in percent with its 95 % interval, where the set has enough videos for one.

    >>> in_percent({"accuracy": 0.676, "standard_error": 0.009, "low": 0.658, "high": 0.694})
    '67.6 % [65.8, 69.4]'
    """
    low, high = facts["low"], facts["high"]
    interval = "" if low is None or high is None else f" [{100 * low:.1f}, {100 * high:.1f}]"
    return f"{100 * facts['accuracy']:.1f} %{interval}"


def learned_scores(items: Sequence[AuditedItem], seed: int) -> list[Scores]:
    """Returns the cross-fitted scores of every blind model that learns, in the order of `BLIND_MODELS`."""
    texts, clusters = [item.texts for item in items], [item.cluster for item in items]
    answers = any(item.question for item in items)
    return [blind_models.blind_scores(texts, clusters, model, answers=answers, seed=seed) for model in BLIND_MODELS]


def accuracy_facts(won: NDArray[np.float64], clusters: Sequence[str], *, level: float = 0.95) -> AccuracyFacts:
    """Returns the record of an accuracy. `won`: float64[n], 0..1."""
    interval = share_interval(won, clusters, level=level)
    low, high = (round(float(end), 4) if np.isfinite(end) else None for end in (interval.low, interval.high))
    error = round(float(interval.standard_error), 4) if np.isfinite(interval.standard_error) else None
    return {"accuracy": round(float(interval.estimate), 4), "standard_error": error, "low": low, "high": high}


def size_in_words(items: Sequence[AuditedItem], clusters: Sequence[str]) -> str:
    """Returns how many items of how many videos a set has, in words."""
    return f"{counted(len(items), 'item')} of {counted(len(set(clusters)), 'video')}"


def whole_groups(rows: Sequence[MultipleChoiceRow]) -> list[MultipleChoiceRow]:
    """Returns the rows without those of groups of which a row is missing; rows of no group stay."""
    sizes = Counter(row.get("group") for row in rows)
    return [row for row in rows if not row.get("group") or sizes[row.get("group")] == len(row["candidates"])]


def pair_facts(rows: Sequence[MultipleChoiceRow], results: Sequence[BlindResult]) -> Facts | None:
    """The text score of the strongest blind model on the pairs of a split; None where there are no groups."""
    members: dict[str, list[int]] = defaultdict(list)
    whole = {row["id"] for row in whole_groups(rows) if row.get("group")}
    for at, row in enumerate(rows):
        if row["id"] in whole:
            members[str(row.get("group"))].append(at)
    groups = list(members.values())
    if not groups:
        return None
    clusters = [rows[places[0]]["cluster"] for places in groups]
    level = 1 - 0.05 / len(results)
    scores_of = {}
    for result in results:
        won = wins(result.scores)
        shares = np.array([np.prod(won[places]) for places in groups])
        scores_of[BLIND_NAMES[result.key]] = accuracy_facts(shares, clusters, level=level)
    name, best = max(scores_of.items(), key=lambda model: model[1]["accuracy"])
    chance = float(np.mean([group_chance(len(places))["text_score"] for places in groups]))
    same = sum(len({rows[n].get("question") for n in places}) == 1 for places in groups)
    facts: Facts = {"groups": len(groups), "same_texts": same, "chance": round(chance, 4), "name": name}
    facts |= {"accuracy": best["accuracy"], "low": best["low"], "high": best["high"]}
    return facts | {"solvable": None if best["low"] is None else bool(best["low"] > chance)}
