"""The blind audit of a multiple-choice set, and its refinement.

A model that never sees the video must not win. The audit reports how far texts alone go: the blind models of
`blind_models`, the form of the candidates, the places of the true ones, length, and a language model if one is given
(the caption that it finds likelier wins). Refinement cuts a set until two blind scores are symmetric about zero, as
SugarCrepe does.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from video_contrast.audit import blind_models
from video_contrast.audit.blind_models import BLIND_MODELS, FOLDS, SUMMARY, Scores, audited_negatives, too_few, wins
from video_contrast.audit.language_model import LanguageModel
from video_contrast.audit.records import AccuracyFacts, AuditFacts, ScorerFacts
from video_contrast.console import counted
from video_contrast.errors import UsageError
from video_contrast.metrics import share_interval
from video_contrast.metrics.group_score import group_chance
from video_contrast.rows import MultipleChoiceRow, Row
from video_contrast.seeds import digest
from video_contrast.storage.set_folder import BLIND_NAMES, Facts, ScorerKey

GRID = 10  # cells a side of zero and score


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
    """What a blind model says of every item."""

    key: ScorerKey  # in an audit's record
    scorer: str  # what the model is
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
    results = [
        BlindResult("shorter_wins", "fewest words", _lengths(items, -1.0)),
        BlindResult("longer_wins", "most words", _lengths(items, 1.0)),
    ]
    clusters = [item.cluster for item in items]
    if not too_few(clusters):
        fold = blind_models.folds_of(clusters, FOLDS, seed)
        position = blind_models.common_position_scores([item.positions for item in items], fold)
        results.append(BlindResult("common_position", "the place that holds most true candidates elsewhere", position))
        tables = [blind_models.features(item.texts, item.question) for item in items]
        results.append(BlindResult("text_features", SUMMARY, blind_models.cross_fitted_features(tables, fold)))
        for scores, model in zip(_learned(items, seed), BLIND_MODELS.values(), strict=True):
            results.append(BlindResult(model.key, model.summary, scores))
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
    scorers = {r.key: {**accuracy_facts(wins(r.scores), clusters), "scorer": r.scorer} for r in results}
    low = best_of(results, clusters)[1]["low"]
    facts = {"items": len(items), "against": sorted({item.kind for item in items}), "chance": round(chance, 4)}
    facts["solvable"] = None if low is None else bool(low > round(chance, 4))
    if too_few(clusters):
        facts["note"] = f"{_size(items, clusters)}: too few to cross-validate a classifier"
    else:
        facts["folds"] = FOLDS
    return cast(AuditFacts, {**facts, **scorers})  # the keys of blind models are those of `BLIND_NAMES`


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


def strongest_first(facts: AuditFacts) -> list[tuple[str, ScorerFacts]]:
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


def refine(
    rows: Sequence[MultipleChoiceRow], *, seed: int = 0, by: tuple[ScorerKey, ScorerKey] | None = None
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
        raise UsageError(f"{_size(items, clusters)}: too few to refine")
    names = ["word n-grams (1-3) and length", "word trigrams of the set's true captions"]
    if by is None:
        learned_scores = _learned(items, seed)
    else:
        results = {result.key: result for result in blind_results(items, seed=seed)}
        learned_scores, names = [results[key].scores for key in by], [results[key].scorer for key in by]
    gaps = [np.array([score[0] - score[1:].mean() for score in scores]) for scores in learned_scores]
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
    after = [accuracy_facts(wins([s[n] for n in staying]), of_staying)["accuracy"] for s in learned_scores if staying]
    facts: Facts = {"items_before": len(rows), "items_after": len(staying), "grid": GRID, "scores": names}
    return [rows[number] for number in staying], facts | {"accuracy_after": after}


def _learned(items: Sequence[AuditedItem], seed: int) -> list[Scores]:
    """The cross-fitted scores of every blind model that learns, in the order of `BLIND_MODELS`."""
    texts, clusters = [item.texts for item in items], [item.cluster for item in items]
    answers = any(item.question for item in items)
    return [blind_models.blind_scores(texts, clusters, model, answers=answers, seed=seed) for model in BLIND_MODELS]


def _lengths(items: Sequence[AuditedItem], sign: float) -> Scores:
    return [np.array([sign * len(text.split()) for text in item.texts]) for item in items]


def accuracy_facts(won: NDArray[np.float64], clusters: Sequence[str], *, level: float = 0.95) -> AccuracyFacts:
    """Returns the record of an accuracy. `won`: float64[n], 0..1."""
    interval = share_interval(won, clusters, level=level)
    low, high = (round(float(end), 4) if np.isfinite(end) else None for end in (interval.low, interval.high))
    error = round(float(interval.standard_error), 4) if np.isfinite(interval.standard_error) else None
    return {"accuracy": round(float(interval.estimate), 4), "standard_error": error, "low": low, "high": high}


def _size(items: Sequence[AuditedItem], clusters: Sequence[str]) -> str:
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
