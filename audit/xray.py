"""The X-ray of a multiple-choice set: what is won without the video, what is wrong with its items, what it can show.

It needs rows only, and says more where there are scores of models or a language model. `certificate` is its short form
for a card.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from video_contrast.audit.blind_audit import (
    AuditedItem,
    BlindResult,
    PerplexityModel,
    audit_facts,
    audited_items,
    audited_split,
    best_of,
    blind_results,
    in_percent,
)
from video_contrast.audit.item_checks import TokenCount, copy_facts, leak_facts, position_facts, text_facts
from video_contrast.audit.language_model import exchangeability
from video_contrast.audit.model_answers import ModelAnswers, explained, power, suspects
from video_contrast.audit.pair_groups import pair_facts
from video_contrast.audit.records import BlindFacts, Certificate, ConfigAudit, NamedScorer, XrayRecord
from video_contrast.audit.tells import blind_wins, task_facts, tells
from video_contrast.errors import unknown_name
from video_contrast.rows import MultipleChoiceRow
from video_contrast.storage.set_records import BLIND_NAMES
from video_contrast.version import __version__

POINTS = 5.0  # the difference of two models that a set should show, percentage points


def xray(
    splits: Mapping[str, Sequence[MultipleChoiceRow]],
    *,
    split: str | None = None,
    answers: Sequence[ModelAnswers] = (),
    language_model: PerplexityModel | None = None,
    tokens: TokenCount = TokenCount(),  # noqa: B008  frozen
    points: float = POINTS,
    seed: int = 0,
) -> XrayRecord:
    """X-rays a split of a set; the others serve to find what stands in several.

    Raises UsageError: no such split, or rows that are not of a multiple-choice set; VideoContrastError: a model has no
    item of the set.

    Args:
        splits: split -> rows, in the published order.
        split: which; `test` if there is one, else the first.
        language_model: joins the blind models, and is asked whether it knows the published order.
        tokens: how they are counted, and how many a model reads.
        points: the difference of two models that the set should show, in percentage points.
    """
    name = split or audited_split(splits)
    if name not in splits:
        raise unknown_name("split", name, list(splits))
    rows = splits[name]
    items = audited_items(rows)
    results = blind_results(items, seed=seed, language_model=language_model)
    blind = _blind(items, results)
    pairs = pair_facts(rows, results)
    if pairs and pairs["solvable"]:
        blind["solvable"] = True
    best, _ = best_of(results, [item.cluster for item in items])
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


def _blind(items: Sequence[AuditedItem], results: Sequence[BlindResult]) -> BlindFacts:
    clusters = [item.cluster for item in items]
    facts = audit_facts(items, results)
    models: list[NamedScorer] = [{"key": r.key, "name": BLIND_NAMES[r.key], **facts[r.key]} for r in results]
    models.sort(key=lambda model: -model["accuracy"])
    _, corrected = best_of(results, clusters)
    return {
        "chance": facts["chance"],
        "against": facts["against"],
        "models": models,
        "best": {**models[0], "low": corrected["low"], "high": corrected["high"]},
        "solvable": facts["solvable"],
        "note": facts.get("note"),
        "audit": facts,
    }


def certificate(record: XrayRecord) -> Certificate:
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
    """What the record of a set says of a config: what is won blind, its certificate, and pairs if it has any."""
    audit: ConfigAudit = {**record["blind"]["audit"], "split": record["split"], "certificate": certificate(record)}
    return {**audit, "pairs": record["pairs"]} if record["pairs"] else audit


def certificate_text(record: XrayRecord) -> str:
    """The certificate as a block of Markdown, to stand in a data set's card."""
    facts = certificate(record)
    verdict = {True: "solvable blind", False: "not shown to be solvable blind", None: "too small to tell"}
    made = f"Made by `video-contrast xray` {facts['version']}"
    return f"""## X-ray

| what | {record["split"]} |
|---|---|
| items, source videos | {record["items"]:,}, {record["clusters"]:,} |
| without the video | {verdict[facts["solvable_blind"]]} |
| best blind model ({facts["best_blind"]}) | {in_percent(record["blind"]["best"])}, \
chance {100 * facts["chance"]:.1f} % |
| copies of items; with another key | {facts["copies"]}; {facts["key_differs"]} |
| candidates equal up to case and punctuation | {facts["equal_candidates"]} |
| source videos that tell two models {facts["points"]:g} points apart | {facts["videos_needed"]:,}: \
{"enough" if facts["enough_items"] else "too few"} |

{made}. The interval is over source videos, 95 % for all {len(record["blind"]["models"])} blind models at once.
"""
