"""What a build prints: rows, why clips fell out, and how far a model comes that never sees the video."""

from collections.abc import Sequence

from video_contrast.audit.blind_audit import strongest_first
from video_contrast.audit.records import AuditFacts
from video_contrast.builders.assembly.reasons import counts_in_words
from video_contrast.console import counted
from video_contrast.storage.set_records import ConfigRecord, SetRecord

ERRORS = 2.6  # standard errors above chance, from which on a blind model is said to win ...
MARGIN = 0.05  # ... if it is also that far above chance
_COVERAGE = {"base": "on the base caption", "eligible": "on any caption"}


def build_report(record: SetRecord, configs: Sequence[str]) -> list[str]:
    """Returns the lines that a build prints of its configs: counts of what was read, then a line a table."""
    lines = []
    counts = record.get("facts", {}).get("counts", {})
    read = [f"{name.replace('_', ' ')} {n:,}" for name, n in counts.items() if isinstance(n, int) and n]
    if read:
        lines.append(f"read: {'; '.join(read)}")
    for config, entry in _built(record, configs):
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
        name, accuracy, error = strongest_first(audit)[0]
        note = " (too few items for a classifier)" if "note" in audit else ""
        shown, chance = f"{100 * accuracy:.1f} +- {100 * error:.1f} %", f"{100 * audit['chance']:.1f} %"
        lines.append(f"  {config}: {shown} by {name}, chance {chance}{note}")
    return ["without the video, the strongest text-only model:", *lines] if lines else []


def blind_warnings(record: SetRecord, configs: Sequence[str], folder: object) -> list[str]:
    """Returns a sentence for each config that a text-only model wins well above chance.

    Args:
        record: of the set.
        configs: that were built.
        folder: of the set, for the command that refines it.
    """
    warnings = []
    for config, audit in _audits(record, configs):
        name, accuracy, error = strongest_first(audit)[0]
        if accuracy - ERRORS * error > audit["chance"] and accuracy > audit["chance"] + MARGIN:
            warnings.append(
                f"{config} can be won without the video: {name} reaches {100 * accuracy:.1f} % where chance is "
                f"{100 * audit['chance']:.1f} %. Report scores beside it, or cut the set: "
                f"video-contrast audit {folder} --config {config} --refine"
            )
    return warnings


def _built(record: SetRecord, configs: Sequence[str]) -> list[tuple[str, ConfigRecord]]:
    return [(config, record["configs"][config]) for config in configs if config in record["configs"]]


def _audits(record: SetRecord, configs: Sequence[str]) -> list[tuple[str, AuditFacts]]:
    return [(name, entry["facts"]["audit"]) for name, entry in _built(record, configs) if entry["facts"].get("audit")]
