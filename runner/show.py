"""A run's numbers as lines of text."""

from __future__ import annotations

from typing import Any

from video_contrast.runner.engine import RunResult


def table(result: RunResult) -> str:
    """One line a config and condition, then one a mean gamma.

    Gammas and accuracies are shares; an interval is 95 %, by bootstrap over videos.
    """
    lines = []
    for config, entry in result.metrics["configs"].items():
        for condition, found in entry["conditions"].items():
            lines.append(f"{config:20} {condition:34} {_headline(entry['layout'], found)}")
        for score, robust in entry.get("robustness", {}).items():
            if score.endswith("R@5"):
                continue
            for group in ("visual", "text", "pairs"):
                if group in robust:
                    lines.append(f"{config:20} {'gamma ' + group:34} {_gammas(score, robust[group])}")
    record = result.record
    for name, why in record.get("skipped", {}).items():
        lines.append(f"left out: {name}: {why}")
    for note in record.get("notes", ()):
        lines.append(f"note: {note}")
    if record.get("n_missing"):
        lines.append(
            f"{record['n_missing']} clips are missing; every figure is over the clips that all conditions have:"
        )
        lines.extend(f"  {path}: {why}" for path, why in list(record["missing"].items())[:5])
    return "\n".join(lines)


def _headline(layout: str, found: dict[str, Any]) -> str:
    if layout == "retrieval":
        return (
            "  ".join(f"{way} {_share(found, f'{way}_R@1')}" for way in ("t2v", "v2t")) + f"  n {found['n_captions']}"
        )
    kinds = [name.removeprefix("n_") for name in found if name.startswith("n_") and name != "n_ties"]
    parts = [f"accuracy {_share(found, 'accuracy')} (chance {found['chance']:.3f})"]
    if len(kinds) > 1:
        parts += [f"{kind} {found[f'accuracy_{kind}']:.3f}" for kind in kinds]
    return "  ".join([*parts, f"n {found['n']}"])


def _share(found: dict[str, Any], key: str) -> str:
    low, high = found.get(f"{key}_low"), found.get(f"{key}_high")
    interval = f" [{low:.3f}, {high:.3f}]" if low is not None and high is not None else ""
    name = "" if key == "accuracy" else key.partition("_")[2] + " "
    return f"{name}{found[key]:.3f}{interval}"


def _gammas(score: str, found: dict[str, Any]) -> str:
    def shown(name: str) -> str:
        value, spread = found[name], found[f"{name}_sd"]
        return "undefined" if value is None else f"{value:.3f} (sd {spread:.3f})"

    return f"{score}: absolute {shown('gamma_absolute')}, relative {shown('gamma_relative')}, n {found['n']}"
