"""Audits and refines a set on disk: results go into its record, refined configs beside the ungated ones."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from video_contrast.audit.blind_audit import PerplexityModel, audit_splits, audited_split, refine
from video_contrast.audit.records import ConfigAudit, RefinedCounts
from video_contrast.audit.xray import config_audit, xray
from video_contrast.errors import UsageError, unknown_name
from video_contrast.rows import MultipleChoiceRow
from video_contrast.storage import SetDraft, SetFolder
from video_contrast.storage.set_records import Facts

SUFFIX = "_refined"
Splits = Mapping[str, Sequence[MultipleChoiceRow]]


def audit_set(
    folder: str | Path,
    configs: Sequence[str] | None = None,
    *,
    split: str | None = None,
    refine: bool = False,
    language_model: PerplexityModel | None = None,
    seed: int = 0,
) -> dict[str, ConfigAudit]:
    """Audits configs of a set on disk and writes the results into its record.

    `hub_cards.write_card` then renders the card with them. Returns the audit of each config with the certificate of its
    X-ray (`audit.xray`); with `refine` the refined configs' own audits stand under their names. Raises UsageError: no
    set there, no such config or split, or too few items to refine.

    Args:
        configs: which; all of multiple choice and pairs by default (refined ones are left alone).
        split: which split is audited; `test` if there is one, else the first.
        refine: also write `CONFIG_refined`, with every split of a multiple-choice config refined by itself.
        language_model: joins the blind models, and is asked whether it knows the set.
    """
    set_folder = SetFolder.built(folder)
    draft = SetDraft(folder)
    results: dict[str, ConfigAudit] = {}
    for config in _with_candidates(set_folder, configs):
        splits = {name: set_folder.choice_rows(config, name) for name in set_folder.splits(config)}
        audited = split or audited_split(splits)
        if audited not in splits:
            raise unknown_name(f"split of {config}", audited, list(splits))
        record = xray(splits, split=audited, seed=seed, language_model=language_model)
        results[config] = config_audit(record)
        if refine and set_folder.layout(config) == "multiple_choice":  # single rows cannot leave a group of pairs
            counts, results[config + SUFFIX] = _add_refined(draft, config, splits, seed)
            results[config]["refined"] = counts
        draft.record["configs"][config]["facts"]["audit"] = results[config]
    draft.save()
    return {config: results[config] for config in sorted(results)}


def _with_candidates(folder: SetFolder, configs: Sequence[str] | None) -> list[str]:
    known = [name for name in folder.configs if folder.layout(name) != "retrieval"]
    for config in configs or ():
        if config not in known:
            raise unknown_name("config of candidates", config, known)
    names = [name for name in known if (name in configs if configs else not name.endswith(SUFFIX))]
    if not names:
        raise UsageError("the set has no config of multiple choice or pairs to audit")
    return names


def _add_refined(draft: SetDraft, config: str, splits: Splits, seed: int) -> tuple[RefinedCounts, ConfigAudit]:
    """Adds CONFIG_refined without the splits that are too small to refine or empty after it.

    Returns the counts of its first split, and its audit.
    """
    former = draft.record["configs"][config]["facts"]
    facts: Facts = {key: value for key, value in former.items() if key not in ("audit", "splits", "paper")}
    counts: dict[str, RefinedCounts] = {}
    facts |= {"refined_from": config, "splits": counts, "left_out": {}}
    refined: dict[str, list[MultipleChoiceRow]] = {}
    for split, rows in splits.items():
        try:
            part, counts[split] = refine(rows, seed=seed)
        except UsageError as error:
            facts["left_out"][split] = str(error)
            continue
        counts[split]["items"] = len(part)
        if part:
            refined[split] = part
    if not refined:
        reasons = "; ".join(f"split {split}: {why}" for split, why in facts["left_out"].items())
        raise UsageError(f"{config} cannot be refined: {reasons or 'no item stays'}")
    audit = audit_splits(refined, seed)
    draft.add(config + SUFFIX, refined, facts | {"audit": audit})
    return counts[audit["split"]], {**audit}
