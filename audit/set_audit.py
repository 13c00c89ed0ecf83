"""Audits and refines a set on disk: results go into its record and card, refined configs beside the ungated ones."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from video_contrast.audit.blind_audit import audit, refine
from video_contrast.builders.writing import RECORD, parquet_bytes, write_card
from video_contrast.errors import UsageError, VideoContrastError, unknown_name
from video_contrast.files import read_json, write_bytes, write_json
from video_contrast.rows import validate_rows

SUFFIX = "_refined"


def audit_set(
    folder: str | Path,
    configs: Sequence[str] | None = None,
    *,
    split: str | None = None,
    refine: bool = False,
    language_model: str | None = None,
    seed: int = 0,
    device: str = "auto",
) -> dict[str, dict[str, Any]]:
    """Audits configs of a set on disk and writes what it finds into `set.json` and the card.

    Args:
        folder: of the set.
        configs: which; all multiple-choice ones by default (refined ones are left alone).
        split: which split is audited; `test` if there is one, else the first.
        refine: also write `CONFIG_refined`, with every split of the config refined by itself.
        language_model, seed, device: as of `builders.audit.audit`.

    Returns:
        The audit of each config; with `refine` the refined configs' own audits stand under their names.

    Raises:
        UsageError: no set there, no such config or split, or too few items to refine.
    """
    root = Path(folder)
    if not (root / RECORD).is_file():
        raise UsageError(f"{root} holds no {RECORD}: not a set that `video-contrast build` wrote")
    record = read_json(root / RECORD)
    results: dict[str, dict[str, Any]] = {}
    for config in _chosen(record, configs):
        entry = record["configs"][config]
        rows = {name: read_rows(root, config, name) for name in entry["splits"]}
        facts = _audited(rows, split, config, seed=seed, language_model=language_model, device=device)
        if refine:
            name, refined = _refined(root, record, config, rows, seed)
            facts["refined"] = refined["refined"]
            results[name] = refined["audit"]
        entry["facts"]["audit"] = facts
        results[config] = facts
    write_json(root / RECORD, record)
    write_card(root)
    return {config: results[config] for config in sorted(results)}


def read_rows(root: str | Path, config: str, split: str) -> list[dict[str, Any]]:
    """The rows of one split of a set on disk.

    Raises:
        VideoContrastError: there is no such table.
    """
    import pyarrow.parquet as pq

    files = sorted((Path(root) / config).glob(f"{split}-*.parquet"))
    if not files:
        raise VideoContrastError(f"{root}: no table {config}/{split}-*.parquet")
    return [row for path in files for row in pq.ParquetFile(path).read().to_pylist()]


def _audited(rows: dict[str, list[dict[str, Any]]], split: str | None, config: str, **options: Any) -> dict[str, Any]:
    name = split or ("test" if "test" in rows else next(iter(rows)))
    if name not in rows:
        raise unknown_name(f"split of {config}", name, list(rows))
    return {"split": name, **audit(rows[name], **options)}


def _chosen(record: dict[str, Any], configs: Sequence[str] | None) -> list[str]:
    known = [name for name, entry in record["configs"].items() if entry["layout"] == "multiple_choice"]
    for config in configs or ():
        if config not in known:
            raise unknown_name("multiple-choice config", config, known)
    chosen = [name for name in known if (name in configs if configs else not name.endswith(SUFFIX))]
    if not chosen:
        raise UsageError("the set has no multiple-choice config to audit")
    return chosen


def _refined(
    root: Path, record: dict[str, Any], config: str, rows: dict[str, list[dict[str, Any]]], seed: int
) -> tuple[str, dict[str, Any]]:
    """Writes CONFIG_refined and its record; splits that are too small to refine, or empty after it, are left out."""
    name = config + SUFFIX
    entry = record["configs"][config]
    new: dict[str, Any] = {"layout": entry["layout"], "perturbed": entry["perturbed"], "splits": {}}
    facts: dict[str, Any] = {
        key: value for key, value in entry["facts"].items() if key not in ("audit", "splits", "paper")
    }
    facts |= {"refined_from": config, "splits": {}, "left_out": {}}
    kept_rows: dict[str, list[Any]] = {}
    for split, all_rows in rows.items():
        try:
            kept, counts = refine(all_rows, seed=seed)
        except UsageError as error:
            facts["left_out"][split] = str(error)
            continue
        facts["splits"][split] = counts | {"items": len(kept)}
        if kept:
            kept_rows[split] = list(kept)
    if not kept_rows:
        raise UsageError(f"{config} cannot be refined: {facts['left_out'] or 'no item stays'}")
    for split, kept in kept_rows.items():
        validate_rows(kept, f"{name}, split {split}")
        data = parquet_bytes(kept)
        write_bytes(root / name / f"{split}-00000-of-00001.parquet", data)
        new["splits"][split] = {"num_examples": len(kept), "num_bytes": len(data)}
    first = "test" if "test" in kept_rows else next(iter(kept_rows))
    facts["audit"] = {"split": first, **audit(kept_rows[first], seed=seed)}
    record["configs"][name] = new | {"facts": facts}
    return name, {"audit": facts["audit"], "refined": facts["splits"][first]}
