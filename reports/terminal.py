"""Tables for a terminal: one line a measure, one column a model, from the metrics that runs wrote."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from video_contrast.storage import RunFolder
from video_contrast.storage.run_records import ConfigMetrics


@dataclass(frozen=True)
class Line:
    """A line of a table: a name, the level of chance (None where there is none), and a cell a model."""

    name: str
    chance: float | None
    cells: list[str]


def interval(numbers: Mapping[str, Any] | None, key: str) -> str:
    """`0.81 [0.76, 0.86]`, or a dash where it was not measured.

    >>> interval({"accuracy": 0.8125, "accuracy_low": 0.76, "accuracy_high": 0.86}, "accuracy")
    '0.81 [0.76, 0.86]'
    """
    if numbers is None or key not in numbers:
        return "-"
    if numbers.get(f"{key}_low") is None:  # not asked for, or fewer than five videos
        return f"{numbers[key]:.2f}"
    return f"{numbers[key]:.2f} [{numbers[f'{key}_low']:.2f}, {numbers[f'{key}_high']:.2f}]"


def contrast_kind(numbers: Mapping[str, Any]) -> str | None:
    """The kind of the hard negatives of a multiple-choice config; None where all are random or of several kinds."""
    kinds = [key.removeprefix("accuracy_") for key in numbers if f"n_{key.removeprefix('accuracy_')}" in numbers]
    hard = [kind for kind in kinds if kind != "random"]
    return hard[0] if len(hard) == 1 else None


def lines_of(runs: Mapping[str, Mapping[str, Any]]) -> list[Line]:
    """The lines for runs' metrics, `model -> metrics["configs"]`: every config and condition that any of them has."""
    lines = []
    cells = {
        (config, c): entry for m in runs.values() for config, e in m.items() for c, entry in e["conditions"].items()
    }
    for (config, condition), first in cells.items():
        by_model = [m.get(config, {}).get("conditions", {}).get(condition) for m in runs.values()]
        name = config if condition == "clean" else f"{config}, {condition}"
        if "t2v_R@1" in first:
            for way, label in (("t2v", "text to video"), ("v2t", "video to text")):
                cells_of_line = [interval(numbers, f"{way}_R@1") for numbers in by_model]
                lines.append(Line(f"{name}: {label} R@1", first.get(f"{way}_chance_R@1"), cells_of_line))
            continue
        lines.append(Line(name, first.get("chance"), [interval(numbers, "accuracy") for numbers in by_model]))
        kind = contrast_kind(first)
        if kind is not None and first.get(f"chance_{kind}") != first.get("chance"):
            cells_of_line = [interval(numbers, f"accuracy_{kind}") for numbers in by_model]
            lines.append(Line(f"{name}: against {kind}", first.get(f"chance_{kind}"), cells_of_line))
    return lines


def read_metrics(folders: Sequence[Path]) -> dict[str, dict[str, ConfigMetrics]]:
    """Metrics by model name from run directories; several runs of one model are put together.

    Raises:
        UsageError: a folder holds no finished run.
    """
    configs: dict[str, dict[str, ConfigMetrics]] = {}
    for folder in folders:
        run = RunFolder.open(folder)
        configs.setdefault(Path(run.model).name, {}).update(run.metrics["configs"])
    return configs


def show(lines: Sequence[Line], models: Sequence[str], title: str = "") -> None:
    """Prints the table; it is wider than 80 columns where it must be, rather than broken."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column(title, no_wrap=True)
    table.add_column("chance", justify="right")
    for model in models:
        table.add_column(Text(model), justify="right", no_wrap=True)
    for line in lines:
        chance = "" if line.chance is None else f"{line.chance:.2f}"
        table.add_row(*(Text(cell) for cell in (line.name, chance, *line.cells)))
    console = Console()
    needed = Console(width=1000).measure(table).maximum
    if console.width < needed:
        console = Console(width=needed)
    console.print(table)
