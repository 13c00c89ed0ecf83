"""What `score` prints of a run as JSON, and of a plan."""

from __future__ import annotations

from typing import Any


def summary(result: Any) -> dict[str, Any]:
    """What `--json` prints: the metrics, and what has to be known about them."""
    record = {name: result.record[name] for name in ("model", "missing", "n_missing", "skipped", "notes", "counters")}
    return {"configs": result.metrics["configs"], "output": str(result.output), **record}


def print_plan(plan: dict[str, Any]) -> None:
    """Prints what a dry run returns."""
    skipped = plan.pop("skipped")
    for name, value in plan.items():
        shown = value
        if isinstance(value, list):
            first = ", ".join(value[:3])
            shown = ", ".join(value) if len(value) <= 8 else f"{len(value)}: {first} ... {value[-1]} (all: --json)"
        print(f"{name:34} {shown}")
    for name, why in skipped.items():
        print(f"left out: {name}: {why}")
