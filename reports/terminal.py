"""Tables for a terminal: one line a measure, one column a model, from the metrics that runs wrote."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from video_contrast.reports.hits import Hits, best_of, caption_hits, differing, hit
from video_contrast.storage import RunFolder
from video_contrast.storage.missing_clips import missing_clips
from video_contrast.storage.run_folder import CLEAN
from video_contrast.storage.run_records import ConfigMetrics, Numbers, unparseable_mark

BEST = "*"  # behind a cell
UNPARSEABLE = "unparseable: the share of items with an answer that cannot be read, the lowest of its item (! above 2 %)"
# Figures beside the accuracy, and what they are called.
STRICTER = {"accuracy_with_proficiency": "with proficiency", "right_in_all_of_clip": "all questions of a clip"}
PAIR_SCORES = ("text_score", "video_score", "group_score")
Place = tuple[str, str, str]  # config, condition, key of the measure


@dataclass(frozen=True)
class TableLine:
    """A line of a table.

    Attributes:
        name: of the measure.
        chance: the level of chance; None where there is none.
        cells: one a model.
        n: items that all models were scored on; None where these differ, and each cell has its own.
    """

    name: str
    chance: float | None
    cells: list[str]
    n: int | None = None


def side_columns(lines: Sequence[TableLine]) -> list[tuple[str, list[str]]]:
    """The columns between the names and the models, each with its title: chance and n, where any line has them."""
    columns = [
        ("chance", ["" if line.chance is None else f"{line.chance:.2f}" for line in lines]),
        ("n", ["" if line.n is None else f"{line.n:,}" for line in lines]),
    ]
    return [(title, cells) for title, cells in columns if any(cells)]


def interval(numbers: Numbers | None, key: str) -> str:
    """`0.81 [0.76, 0.86]`, or a dash where it was not measured.

    >>> interval({"accuracy": 0.8125, "accuracy_low": 0.76, "accuracy_high": 0.86}, "accuracy")
    '0.81 [0.76, 0.86]'
    """
    if numbers is None or key not in numbers:
        return "-"
    if numbers.get(f"{key}_low") is None:  # not asked for, or fewer than five videos
        return f"{numbers[key]:.2f}"
    return f"{numbers[key]:.2f} [{numbers[f'{key}_low']:.2f}, {numbers[f'{key}_high']:.2f}]"


def kinds_of(numbers: Numbers) -> list[str]:
    """The kinds of candidates that a condition has an accuracy of."""
    names = (key.removeprefix("accuracy_") for key in numbers)
    return [name for name in names if f"n_{name}" in numbers and f"accuracy_{name}" in numbers]


def contrast_kind(numbers: Numbers) -> str | None:
    """The kind of the hard negatives of a multiple-choice config; None where all are random or of several kinds."""
    hard = [kind for kind in kinds_of(numbers) if kind != "random"]
    return hard[0] if len(hard) == 1 else None


def lines_of(
    runs: Mapping[str, Mapping[str, ConfigMetrics]], best: Mapping[Place, str] | None = None
) -> list[TableLine]:
    """The lines for runs' metrics: every config and condition that any of them has.

    Args:
        runs: model -> metrics["configs"].
        best: of `best_models`; those cells end in `BEST`.
    """
    lines = []
    places = {(config, c): e for m in runs.values() for config, of in m.items() for c, e in of["conditions"].items()}
    for (config, condition), first in places.items():
        by_model = [m[config]["conditions"].get(condition) if config in m else None for m in runs.values()]
        for label, key, chance in _measures(first):
            counts = [_count(numbers, key) for numbers in by_model]
            marks = differing(counts)
            leads = [model == (best or {}).get((config, condition, key)) for model in runs]
            cells = [
                " ".join(filter(None, (interval(numbers, key), mark, unparseable_mark(numbers), BEST if lead else "")))
                for numbers, mark, lead in zip(by_model, marks, leads, strict=True)
            ]
            name = config if condition == CLEAN else f"{config}, {condition}"
            same = {count for count in counts if count is not None}
            lines.append(TableLine(name + label, first.get(chance), cells, n=min(same) if len(same) == 1 else None))
    return lines


def _count(numbers: Numbers | None, key: str) -> int | None:
    """The number of items, or of groups, that a measure is over; None where it is not known."""
    n = (numbers or {}).get("groups" if key in PAIR_SCORES else "n") or (numbers or {}).get("n_captions")
    return None if n is None else int(n)


def _measures(numbers: Numbers) -> list[tuple[str, str, str]]:
    """The measures that a condition's lines show: ending of the name, key, key of chance."""
    if "t2v_R@1" in numbers:
        return [
            (": text to video R@1", "t2v_R@1", "t2v_chance_R@1"),
            (": video to text R@1", "v2t_R@1", "v2t_chance_R@1"),
        ]
    measures, kind = [("", "accuracy", "chance")], contrast_kind(numbers)
    if kind is not None and numbers.get(f"chance_{kind}") != numbers.get("chance"):
        measures.append((f": against {kind}", f"accuracy_{kind}", f"chance_{kind}"))
    measures += [(f": {name.replace('_', ' ')}", name, f"chance_{name}") for name in PAIR_SCORES if name in numbers]
    return measures + [(f": {words}", key, f"chance_{key}") for key, words in STRICTER.items() if key in numbers]


def read_metrics(folders: Sequence[Path]) -> dict[str, dict[str, ConfigMetrics]]:
    """Metrics by column from run directories, see `columns_of`.

    Raises:
        UsageError: a folder holds no finished run.
    """
    runs = [RunFolder.open(folder) for folder in folders]
    configs: dict[str, dict[str, ConfigMetrics]] = {}
    for run, column in zip(runs, columns_of(runs), strict=True):
        configs.setdefault(column, {}).update(run.metrics["configs"])
    return configs


def columns_of(runs: Sequence[RunFolder]) -> list[str]:
    """The column of each run: its model's, which runs of different configs share.

    Where several of a column have a config in common, they have the names of their folders, or else their paths.
    """
    columns = [Path(run.model).name for run in runs]
    for names in ([run.path.resolve().name for run in runs], [str(run.path) for run in runs]):
        often = Counter((column, config) for column, run in zip(columns, runs, strict=True) for config in run.configs)
        columns = [
            name if any(often[column, config] > 1 for config in run.configs) else column
            for column, run, name in zip(columns, runs, names, strict=True)
        ]
    return columns


def steps_of(folders: Sequence[Path]) -> dict[int, dict[str, ConfigMetrics]]:
    """Step -> metrics, where all runs are of checkpoints of one training run, at least two; else {}.

    Raises:
        UsageError: a folder holds no finished run.
    """
    runs = [RunFolder.open(folder) for folder in folders]
    numbered = [(int(step), run) for run in runs if (step := run.record["model"].get("step")) is not None]
    if len(runs) < 2 or len(numbered) < len(runs) or len({Path(run.model).parent for run in runs}) > 1:
        return {}
    metrics: dict[int, dict[str, ConfigMetrics]] = {}
    for number, run in sorted(numbered, key=lambda pair: pair[0]):
        metrics.setdefault(number, {}).update(run.metrics["configs"])
    return metrics


def course_of(steps: Mapping[int, Mapping[str, ConfigMetrics]]) -> tuple[list[TableLine], list[str]]:
    """The course of a training run: a line a checkpoint, and the names of the columns, one a measure."""
    lines = lines_of({str(step): metrics for step, metrics in steps.items()})
    rows = [TableLine(str(step), None, [line.cells[n] for line in lines]) for n, step in enumerate(steps)]
    sides = side_columns(lines)
    notes = [", ".join(f"{title} {cells[n]}" for title, cells in sides if cells[n]) for n in range(len(lines))]
    return rows, [f"{line.name} ({note})" if note else line.name for line, note in zip(lines, notes, strict=True)]


def best_models(folders: Sequence[Path]) -> dict[Place, str]:
    """The model that is better than every other one on the items of both, by the paired sign-flip test.

    Returns:
        (config, condition, "accuracy" or "t2v_R@1") -> model; nothing where no test says so, or where the runs scored
        different states of a config.

    Raises:
        UsageError: a folder holds no finished run.
    """
    hits: dict[Place, dict[str, Hits]] = {}
    marks: dict[str, set[str]] = {}
    runs = [RunFolder.open(folder) for folder in folders]
    for run, model in zip(runs, columns_of(runs), strict=True):
        for config, mark in run.record["set"]["fingerprints"].items():
            marks.setdefault(config, set()).add(mark)
        for row in run.score_rows():
            place = (row["config"], row["condition"], "accuracy")
            hits.setdefault(place, {}).setdefault(model, {})[row["id"]] = (hit(row), row["cluster"])
        for config in run.configs:
            for condition in run.conditions(config):
                if run.has_matrix(config, condition):
                    matrix = run.matrix(config, condition)
                    by_caption = zip(matrix.columns, caption_hits(matrix), matrix.relevant, strict=True)
                    hits.setdefault((config, condition, "t2v_R@1"), {})[model] = {
                        name: (float(value), matrix.videos[row]) for name, value, row in by_caption
                    }
    best = {place: best_of(by_model) for place, by_model in hits.items() if len(marks[place[0]]) == 1}
    return {place: model for place, model in best.items() if model is not None}


def show(lines: Sequence[TableLine], models: Sequence[str], title: str = "") -> None:
    """Prints the table; it is wider than 80 columns where it must be, rather than broken.

    Args:
        lines: of `lines_of`.
        models: names of the columns.
        title: of the first column.
    """
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column(title, no_wrap=True)
    sides = side_columns(lines)
    for head, _ in sides:
        table.add_column(head, justify="right")
    for model in models:
        table.add_column(Text(model), justify="right", no_wrap=True)
    for at, line in enumerate(lines):
        beside = [values[at] for _, values in sides]
        cells = [Text(cell, "bold" if cell.endswith(BEST) else "") for cell in line.cells]
        table.add_row(Text(line.name), *beside, *cells)
    console = Console()
    needed = Console(width=1000).measure(table).maximum
    if console.width < needed:
        console = Console(width=needed)
    console.print(table)
    if any(cell.endswith(BEST) for line in lines for cell in line.cells):
        console.print(f"{BEST} better than every other model on the items of both (paired sign-flip test, p < .05)")
    if any("unparseable" in cell for line in lines for cell in line.cells):
        console.print(UNPARSEABLE)


def missing_lines(folders: Sequence[Path]) -> list[str]:
    """Of runs that miss clips: how many, and so over which every figure of theirs is.

    Raises:
        UsageError: a folder holds no finished run.
    """
    runs = [RunFolder.open(folder) for folder in folders]
    return [
        f"{run.path.name}: {missing_clips(run.record)} missing; its figures are over the others"
        for run in runs
        if run.record.get("n_missing")
    ]
