"""Writing a built set: tables and record, the blind audit of multiple-choice configs, the card, what is said of it."""

from collections.abc import Sequence
from pathlib import Path

from video_contrast.audit.blind_audit import audit_splits, in_percent, strongest_first
from video_contrast.audit.records import AuditFacts
from video_contrast.builders.assembly.reasons import counts_in_words
from video_contrast.builders.registry import BuiltSet
from video_contrast.console import counted
from video_contrast.hub_cards import write_card
from video_contrast.storage import SetDraft
from video_contrast.storage.set_folder import ConfigRecord, SetRecord


def write_set(built: BuiltSet, output: str | Path) -> Path:
    """Writes a built set into the folder `output`, beside the configs that a former build of the same builder left.

    Plain `datasets.load_dataset(output, config)` then works. Equal inputs give equal bytes. Raises VideoContrastError:
    a row is invalid (the message names config, split, row and column), or the folder holds another builder's set or
    other files.
    """
    draft = SetDraft(output, built.name)
    for config, splits in built.tables.items():
        entry = draft.add(config, splits, facts=dict(built.facts.get("configs", {}).get(config, {})))
        if entry["layout"] == "multiple_choice" and not entry["perturbed"] and "audit" not in entry["facts"]:
            entry["facts"]["audit"] = audit_splits(splits, built.facts.get("seed", 0))
    draft.record["facts"] = {key: value for key, value in built.facts.items() if key != "configs"}
    folder = draft.save(built.files)
    if built.video_root is not None:
        folder.remember_video_root(built.video_root)
    write_card(folder)
    return folder.path


MARGIN = 0.05  # above chance, from which on a blind model is said to win, if a test says so too
_COVERAGE = {"base": "on the base caption", "eligible": "on any caption"}


def build_report(record: SetRecord, configs: Sequence[str]) -> list[str]:
    """Returns the lines that a build prints of its configs: counts of what was read, then a line a table."""
    lines = []
    counts = record.get("facts", {}).get("counts", {})
    read = [f"{name.replace('_', ' ')} {n:,}" for name, n in counts.items() if isinstance(n, int) and n]
    if read:
        lines.append(f"read: {'; '.join(read)}")
    for config, entry in _built(record, configs):
        if "read" in entry["facts"]:
            lines.append(f"{config}: {entry['facts']['read']}")
        for split, size in entry["splits"].items():
            of_split = entry["facts"].get("splits", {}).get(split, {})
            parts = [f"{share} % of videos {_COVERAGE[on]}" for on, share in of_split.get("coverage", {}).items()]
            words = counts_in_words(of_split.get("counts", {}))
            details = "; ".join([", ".join(parts)] * bool(parts) + [words] * bool(words))
            rows = counted(size["num_examples"], "row")
            lines.append(f"{config} {split}: {rows}" + (f" ({details})" if details else ""))
    return lines


def blind_report(record: SetRecord, configs: Sequence[str]) -> list[str]:
    """Returns a line a multiple-choice config: the strongest model that never sees the video, beside chance."""
    lines = []
    for config, audit in _audits(record, configs):
        name, best = strongest_first(audit)[0]
        few = ["a classifier"] if "note" in audit else []
        few += ["an interval"] if best["low"] is None else []
        note = f" (too few items for {' or '.join(few)})" if few else ""
        if "sampled_of" in audit:
            note = f" ({audit['items']:,} of {audit['sampled_of']:,} items){note}"
        lines.append(f"  {config}: {in_percent(best)} by {name}, chance {100 * audit['chance']:.1f} %{note}")
    return ["without the video, the strongest text-only model:", *lines] if lines else []


def blind_warnings(record: SetRecord, configs: Sequence[str], folder: object) -> list[str]:
    """Returns a sentence for each config that a text-only model wins well above chance.

    The interval of the best model, corrected for the choice among them, must lie above chance, as in an X-ray.
    `folder`: of the set, for the command that refines it.
    """
    warnings = []
    for config, audit in _audits(record, configs):
        name, best = strongest_first(audit)[0]
        if audit.get("solvable") and best["accuracy"] > audit["chance"] + MARGIN:
            cut = f", or cut the set: video-contrast audit {folder} --config {config} --refine"
            warnings.append(
                f"{config} can be won without the video: {name} reaches {100 * best['accuracy']:.1f} % where chance is "
                f"{100 * audit['chance']:.1f} %. Report scores beside it{'.' if 'note' in audit else cut}"
            )
    return warnings


def _built(record: SetRecord, configs: Sequence[str]) -> list[tuple[str, ConfigRecord]]:
    return [(config, record["configs"][config]) for config in configs if config in record["configs"]]


def _audits(record: SetRecord, configs: Sequence[str]) -> list[tuple[str, AuditFacts]]:
    return [(name, entry["facts"]["audit"]) for name, entry in _built(record, configs) if entry["facts"].get("audit")]
