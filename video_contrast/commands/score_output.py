"""What `score` prints of a run as JSON, and of a plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from video_contrast.files import JsonObject

if TYPE_CHECKING:
    from video_contrast.runner.job import RunResult


def summary(result: RunResult) -> JsonObject:
    """What `--json` prints: the metrics, and what has to be known about them."""
    shown = ("model", "missing", "n_missing", "skipped", "notes", "counters")
    record = {name: value for name, value in result.record.items() if name in shown}
    return {"configs": result.metrics["configs"], "output": str(result.output), **record}


def print_plan(result: RunResult) -> None:
    """Prints what a dry run returns."""
    skipped = result.record["skipped"]
    for name, value in result.record.items():
        if name == "skipped":
            continue
        shown = value
        if isinstance(value, list):
            first = ", ".join(value[:3])
            shown = ", ".join(value) if len(value) <= 8 else f"{len(value)}: {first} ... {value[-1]} (all: --json)"
        print(f"{name:34} {shown}")
    for name, why in skipped.items():
        print(f"left out: {name}: {why}")
