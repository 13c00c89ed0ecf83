"""The X-ray of a multiple-choice set: what is won without the video, what is wrong with its items, what it can show.

It needs rows only, and says more where there are scores of models or a language model. `certificate` is its short form
for a card.

A word tells where it stands in some candidates of an item and not in the others: how often is the true one among those
that have it? A feature of form tells where the candidates differ in it: how often is the true one that with the most?
"""

import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from video_contrast.audit import blind_audit
from video_contrast.audit.blind_audit import AuditedItem, BlindResult, accuracy_facts, audited_split
from video_contrast.audit.blind_models import named_features, ngrams, wins
from video_contrast.audit.exchangeability import exchangeability
from video_contrast.audit.item_checks import Rows, TokenCount, copy_facts, leak_facts, position_facts, text_facts
from video_contrast.audit.model_answers import ModelAnswers, explained, power, suspects
from video_contrast.audit.records import BlindFacts, ConfigAudit, NamedBlindModel, XrayRecord
from video_contrast.audit.refined_cut import refine as refined_cut
from video_contrast.errors import UsageError, check_names
from video_contrast.language_model import LanguageModel
from video_contrast.rows import MultipleChoiceRow
from video_contrast.storage import SetDraft, SetFolder
from video_contrast.storage.set_folder import BLIND_NAMES, Facts
from video_contrast.version import __version__

POINTS = 5.0  # the difference of two models that a set should show, percentage points
Splits = Mapping[str, Rows]  # split -> its rows, in the published order


def xray(
    splits: Splits,
    *,
    split: str | None = None,
    answers: Sequence[ModelAnswers] = (),
    language_model: LanguageModel | None = None,
    tokens: TokenCount = TokenCount(),  # noqa: B008  frozen
    points: float = POINTS,
    seed: int = 0,
) -> XrayRecord:
    """X-rays a split of a set; the others serve to find what stands in several.

    `splits`: split -> rows, in the published order. `split`: which; `test` if there is one, else the first.
    `language_model`: joins the blind models, and is asked whether it knows the published order. `tokens`: how they are
    counted, and how many a model reads. `points`: the difference of two models that the set should show, in percentage
    points. Raises UsageError: no such split, or rows that are not of a multiple-choice set; VideoContrastError: a model
    has no item of the set.
    """
    name = split or audited_split(splits)
    check_names("split", [name], splits)
    rows = splits[name]
    items = blind_audit.audited_items(rows)
    results = blind_audit.blind_results(items, seed=seed, language_model=language_model)
    facts = blind_audit.audit_facts(items, results)
    best, interval = blind_audit.best_of(results, [item.cluster for item in items])
    models: list[NamedBlindModel] = [{"key": r.key, "name": BLIND_NAMES[r.key], **facts[r.key]} for r in results]
    models.sort(key=lambda model: -model["accuracy"])
    pairs = blind_audit.pair_facts(rows, results)
    blind: BlindFacts = {
        "chance": facts["chance"],
        "against": facts["against"],
        "models": models,
        "best": {**models[0], "low": interval["low"], "high": interval["high"]},
        "solvable": True if pairs and pairs["solvable"] else facts["solvable"],
        "note": facts.get("note"),
        "audit": facts,
    }
    whole = sum(1 / len(row["candidates"]) for row in rows) / len(rows)
    rate = None if not answers else sum(answers[0].hits.values()) / max(1, len(answers[0].hits))
    return {
        "version": __version__,
        "split": name,
        "items": len(rows),
        "clusters": len({row["cluster"] for row in rows}),
        "groups": len({row["group"] for row in rows if "group" in row}),
        "candidates": {str(size): n for size, n in sorted(Counter(len(row["candidates"]) for row in rows).items())},
        "chance": round(whole, 4),
        "sample": rows[0],
        "blind": blind,
        "tells": tells(items),
        "blind_wins": blind_wins(items, best),
        "tasks": task_facts(rows, items, best),
        "pairs": pairs,
        "explained": explained(items, results, blind["best"]["key"], answers) if answers else None,
        "position": position_facts(rows),
        "texts": text_facts(rows, tokens),
        "copies": copy_facts(rows),
        "leaks": leak_facts(splits),
        "suspects": suspects(rows, answers),
        "order": exchangeability(rows, language_model, seed=seed) if language_model is not None else None,
        "power": power(items, answers, points=points, accuracy=rate),
    }


def certificate(record: XrayRecord) -> Facts:
    """Returns the short form of an X-ray."""
    best = record["blind"]["best"]
    return {
        "solvable_blind": record["blind"]["solvable"],
        "best_blind": best["name"],
        "best_blind_accuracy": best["accuracy"],
        "best_blind_low": best["low"],
        "best_blind_high": best["high"],
        "chance": record["blind"]["chance"],
        "copies": record["copies"]["copies"]["count"],
        "key_differs": record["copies"]["key_differs"]["count"],
        "equal_candidates": record["texts"]["equal_candidates"]["count"],
        "leaked_videos": record["leaks"]["videos"]["count"] if record["leaks"] else None,
        "points": record["power"]["points"],
        "videos_needed": record["power"]["clusters_needed"],
        "enough_items": record["power"]["enough"],
        "version": record["version"],
    }


def config_audit(record: XrayRecord) -> ConfigAudit:
    """The entry of a config in the record of a set: the items won blind, its certificate, and pairs if it has any."""
    audit: ConfigAudit = {**record["blind"]["audit"], "split": record["split"], "certificate": certificate(record)}
    return {**audit, "pairs": record["pairs"]} if record["pairs"] else audit


def certificate_text(record: XrayRecord) -> str:
    """The certificate as a block of Markdown, to stand in a data set's card."""
    facts = certificate(record)
    verdict = {True: "solvable blind", False: "not shown to be solvable blind", None: "too small to tell"}
    producer = f"Made by `video-contrast xray` {facts['version']}"
    return f"""## X-ray

| what | {record["split"]} |
|---|---|
| items, source videos | {record["items"]:,}, {record["clusters"]:,} |
| without the video | {verdict[facts["solvable_blind"]]} |
| best blind model ({facts["best_blind"]}) | {blind_audit.in_percent(record["blind"]["best"])}, \
chance {100 * facts["chance"]:.1f} % |
| copies of items; with another key | {facts["copies"]}; {facts["key_differs"]} |
| candidates equal up to case and punctuation | {facts["equal_candidates"]} |
| source videos that tell two models {facts["points"]:g} points apart | {facts["videos_needed"]:,}: \
{"enough" if facts["enough_items"] else "too few"} |

{producer}. The interval is over source videos, 95 % for all {len(record["blind"]["models"])} blind models at once.
"""


SHOWN = 10
LEAST_VIDEOS = 10  # that a word must tell items of apart
TASKS = 50  # more groups are no tasks
_MARK = "'"  # around words


def tells(items: Sequence[AuditedItem]) -> list[Facts]:
    """The words and the features of form that give most answers away, the strongest first.

    Returns of each what it is, the items in which it sets candidates apart, in how many of these the true one has it,
    how many that would be by chance, and the standard score of the difference. Of words within a stronger run of words
    and of runs that hold a stronger one, only the stronger is taken. `items`: the audited candidates, the true first.
    """
    sums: dict[str, np.ndarray] = defaultdict(lambda: np.zeros(4))  # items, true, expected, variance
    videos: dict[str, set[str]] = defaultdict(set)
    for item in items:
        for what, true, share in _distinguishing_marks(item):
            sums[what] += (1, true, share, share * (1 - share))
            if len(videos[what]) < LEAST_VIDEOS:
                videos[what].add(item.cluster)
    entries = [
        (float((true - expected) / math.sqrt(variance)), what, int(count), float(true), float(expected))
        for what, (count, true, expected, variance) in sums.items()
        if len(videos[what]) >= LEAST_VIDEOS
    ]
    strongest: list[Facts] = []
    for score, what, count, true, expected in sorted(entries, key=lambda entry: (-abs(entry[0]), entry[1])):
        run = f" {what.strip(_MARK)} "
        others = [f" {other['what'].strip(_MARK)} " for other in strongest]
        if not any(run in other or other in run for other in others):
            strongest.append({"what": what, "items": count, "true": round(true, 1), "expected": round(expected, 1),
                              "score": round(score, 1)})  # fmt: skip
        if len(strongest) == SHOWN:
            break
    return strongest


def _distinguishing_marks(item: AuditedItem) -> Iterator[tuple[str, float, float]]:
    """The marks that some candidates of an item have: name, whether the true one has it, and the share that has."""
    ngrams_of = [set(ngrams(text)) for text in item.texts]
    counts = Counter(gram for grams in ngrams_of for gram in grams)
    for gram, count in counts.items():
        if count < len(ngrams_of):
            yield f"{_MARK}{gram}{_MARK}", float(gram in ngrams_of[0]), count / len(ngrams_of)
    table = named_features(item.texts, item.question)
    for name in table[0]:
        values = np.array([of_text[name] for of_text in table])
        most = values == values.max()
        if not most.all():
            yield name, float(most[0]), float(most.mean())


def blind_wins(items: Sequence[AuditedItem], best: BlindResult) -> list[Facts]:
    """The items that a blind model wins by the widest margin, with the candidate that it takes for the next one.

    `items`: the audited candidates, the true one first.
    """
    margins = [float(scores[0] - scores[1:].max()) for scores in best.scores]
    order = sorted((at for at, margin in enumerate(margins) if margin > 0), key=lambda at: -margins[at])
    second = {at: items[at].texts[1 + int(np.argmax(best.scores[at][1:]))] for at in order[:SHOWN]}
    won = [(items[at], text) for at, text in second.items()]
    return [{"id": item.id, "question": item.question, "true": item.texts[0], "next": text} for item, text in won]


def task_facts(rows: Rows, items: Sequence[AuditedItem], best: BlindResult) -> list[Facts] | None:
    """The results of a blind model on each task of a set; None where it has one task, or too many to be tasks.

    `rows`: whose `meta` holds the task; where it does not, the kinds of the negatives are tasks. `items`: the audited
    candidates of the rows.
    """
    tasks = [json.loads(row["meta"] or "{}").get("task") for row in rows]
    names = [str(task or item.kind) for task, item in zip(tasks, items, strict=True)]
    if not 1 < len(set(names)) <= TASKS:
        return None
    won = wins(best.scores)
    facts: list[Facts] = []
    for name in dict.fromkeys(names):
        here = [at for at, task in enumerate(names) if task == name]
        chance = float(np.mean([1 / len(items[at].texts) for at in here]))
        accuracy = accuracy_facts(won[here], [items[at].cluster for at in here])
        facts.append({"task": name, "items": len(here), "chance": round(chance, 4), **accuracy})
    return sorted(facts, key=lambda task: task["chance"] - task["accuracy"])


SUFFIX = "_refined"


def audit_set(
    folder: str | Path,
    configs: Sequence[str] | None = None,
    *,
    split: str | None = None,
    refine: bool = False,
    language_model: LanguageModel | None = None,
    seed: int = 0,
) -> dict[str, ConfigAudit]:
    """Audits configs of a set on disk and writes the results into its record.

    `hub_cards.write_card` then renders the card with them. Returns the audit of each config with the certificate of its
    X-ray (`audit.xray`); with `refine` the refined configs' own audits stand under their names. Raises UsageError: no
    set there, no such config or split, or too few items to refine.

    `configs`: all of multiple choice and pairs by default (refined ones are left alone). `refine`: also write
    `CONFIG_refined`, with every split of a multiple-choice config refined by itself. The rest: as of `xray`.
    """
    set_folder = SetFolder.built(folder)
    draft = SetDraft(folder)
    results: dict[str, ConfigAudit] = {}
    choice_configs = [name for name in set_folder.configs if set_folder.layout(name) != "retrieval"]
    check_names("config of candidates", configs or (), choice_configs)
    config_names = [name for name in choice_configs if (name in configs if configs else not name.endswith(SUFFIX))]
    if not config_names:
        raise UsageError("the set has no config of multiple choice or pairs to audit")
    for config in config_names:
        splits = {name: set_folder.choice_rows(config, name) for name in set_folder.splits(config)}
        audit_split = split or audited_split(splits)
        check_names(f"split of {config}", [audit_split], splits)
        record = xray(splits, split=audit_split, seed=seed, language_model=language_model)
        results[config] = config_audit(record)
        if refine and set_folder.layout(config) == "multiple_choice":  # single rows cannot leave a group of pairs
            counts, results[config + SUFFIX] = _add_refined(draft, config, splits, seed)
            results[config]["refined"] = counts
        draft.record["configs"][config]["facts"]["audit"] = results[config]
    draft.save()
    return {config: results[config] for config in sorted(results)}


def _add_refined(draft: SetDraft, config: str, splits: Splits, seed: int) -> tuple[Facts, ConfigAudit]:
    """Adds CONFIG_refined without the splits that are too small to refine or empty after it.

    Returns the counts of its first split, and its audit.
    """
    former = draft.record["configs"][config]["facts"]
    facts: Facts = {key: value for key, value in former.items() if key not in ("audit", "splits", "paper")}
    counts: dict[str, Facts] = {}
    facts |= {"refined_from": config, "splits": counts, "left_out": {}}
    rows_of: dict[str, list[MultipleChoiceRow]] = {}
    for split, rows in splits.items():
        try:
            part, counts[split] = refined_cut(rows, seed=seed)
        except UsageError as error:
            facts["left_out"][split] = str(error)
            continue
        counts[split]["items"] = len(part)
        if part:
            rows_of[split] = part
    if not rows_of:
        reasons = "; ".join(f"split {split}: {why}" for split, why in facts["left_out"].items())
        raise UsageError(f"{config} cannot be refined: {reasons or 'no item stays'}")
    audit = blind_audit.audit_splits(rows_of, seed)
    draft.add(config + SUFFIX, rows_of, facts | {"audit": audit})
    return counts[audit["split"]], {**audit}
