"""The lines of a table of results: one line a measure, one column a model, from the metrics of runs."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import cast

from video_contrast.reports.runs import best_of, differing, run_hits
from video_contrast.reports.table_formats import BEST, TableLine, side_columns
from video_contrast.storage import RunFolder
from video_contrast.storage.run_figures import ACCURACY, MAIN, OTHERS, ROBUST, FigureKey, RunFigure, RunNumbers, leading
from video_contrast.storage.run_file_fields import ConfigMetrics, RunRecord
from video_contrast.storage.run_folder import CLEAN

MANY = 40  # conditions of a config, from which on perturbations are shown by their means


def interval(figure: RunFigure | None, digits: int = 2) -> str:
    """`0.81 [0.76, 0.86]`, or a dash where it was not measured.

    >>> interval(RunFigure("verb_mc", "clean", ACCURACY, 0.8125, low=0.76, high=0.86))
    '0.81 [0.76, 0.86]'
    """
    if figure is None:
        return "-"
    if figure.low is None or figure.high is None:  # not asked for, or fewer than five videos
        return f"{figure.value:.{digits}f}"
    return f"{figure.value:.{digits}f} [{figure.low:.{digits}f}, {figure.high:.{digits}f}]"


def contrast_kind(figures: Sequence[RunFigure]) -> str:
    """The kind of the hard negatives of a multiple-choice config; "" where all are random or of several kinds."""
    hard = [figure.score.kind for figure in _against_kinds(figures) if figure.score.kind != "random"]
    return hard[0] if len(hard) == 1 else ""


def _against_kinds(figures: Sequence[RunFigure]) -> list[RunFigure]:
    return [figure for figure in figures if figure.score.name == ACCURACY.name and figure.score.kind]


def lines_of(
    runs: Mapping[str, RunNumbers], best: Mapping[FigureKey, str] | None = None, *, detailed: bool = False
) -> list[TableLine]:
    """The lines for the numbers of models: every config and condition that any of them has.

    Cells of `best` (of `best_models`) end in `BEST`. `detailed`: add the accuracy against each of several kinds of
    contrast and the mean gammas, and show three digits; of more than `MANY` conditions the gammas by category stand for
    the perturbed ones.
    """
    digits = 3 if detailed else 2
    tables: dict[tuple[str, str], list[RunFigure]] = {}  # of the first model that has it
    for numbers in runs.values():
        for table, own in groupby(numbers.figures.values(), lambda figure: (figure.config, figure.condition)):
            tables.setdefault(table, list(own))
    often = Counter(config for config, _ in tables)
    many = {config for config, n in often.items() if detailed and n > MANY}
    lines = []
    for (config, condition), figures in tables.items():
        if config not in many or condition == CLEAN or condition.startswith("control:"):
            for figure in _measures(figures, every_kind=detailed):
                lines.append(_line(figure, runs, best or {}, digits))
    for numbers in runs.values() if detailed else ():
        lines += _gamma_lines(numbers, many)
    if any(n for numbers in runs.values() for n, _ in numbers.missing):
        lines.append(TableLine("clips missing (figures are over the others)", None, list(map(_missing, runs.values()))))
    return lines


def _missing(numbers: RunNumbers) -> str:
    """The number of clips that a model misses; "-" where that is not known (logs of other harnesses)."""
    return ", ".join(f"{n:,}" if whole is None else f"{n:,} of {whole:,}" for n, whole in numbers.missing) or "-"


def _line(first: RunFigure, runs: Mapping[str, RunNumbers], best: Mapping[FigureKey, str], digits: int) -> TableLine:
    place = FigureKey(first.config, first.condition, first.score)
    figures = [numbers.figures.get(place) for numbers in runs.values()]
    cells = []
    for model, figure, mark in zip(runs, figures, differing(figures), strict=True):
        star = BEST if model == best.get(place) else ""
        cells.append(" ".join(filter(None, (interval(figure, digits), mark, figure.mark if figure else "", star))))
    label = "" if first.score == ACCURACY else f": {first.score.words}"
    condition = "" if first.condition == CLEAN else f", {first.condition}"
    counts = {figure.n for figure in figures if figure} - {None}
    n = counts.pop() if len(counts) == 1 else None
    return TableLine(f"{first.config}{condition}{label}", first.chance, cells, n=n, digits=digits)


def _measures(figures: Sequence[RunFigure], *, every_kind: bool) -> list[RunFigure]:
    kinds = _against_kinds(figures)
    if not every_kind:
        kinds = [figure for figure in kinds if figure.score.kind == contrast_kind(figures)]
    kinds = [figure for figure in kinds if len(kinds) > 1 or figure.chance != figures[0].chance]
    whole = [figure for figure in figures if figure.score in (*ROBUST["pairs"], *OTHERS)]
    return [*whole[:1], *kinds, *whole[1:], *(figure for figure in figures if figure.score in MAIN["retrieval"])]


def _gamma_lines(numbers: RunNumbers, many: Collection[str]) -> Iterator[TableLine]:
    """The mean gammas of a run, by category for configs of many conditions."""
    for gamma in numbers.gammas:
        is_shown = gamma.group in ("visual", "text", "pairs") or (gamma.config in many and gamma.group)
        if is_shown and gamma.score in (*ROBUST["pairs"], *MAIN["retrieval"]):
            means = [("absolute", gamma.absolute, gamma.absolute_sd), ("relative", gamma.relative, gamma.relative_sd)]
            cell = ", ".join(f"{name} {'undefined' if v is None else f'{v:.3f} ± {sd:.3f}'}" for name, v, sd in means)
            note = ", clean at chance" if gamma.at_chance else ""
            yield TableLine(f"{gamma.config}: gamma {gamma.group}, {gamma.score.words}{note}", None, [cell], n=gamma.n)


def metrics_of(runs: Sequence[RunFolder], columns: Sequence[str] | None = None) -> dict[str, dict[str, ConfigMetrics]]:
    """Column -> config -> its metrics, with the number of missing clips of its run and of all.

    `columns`: that of each run; `columns_of` where None.
    """
    configs: dict[str, dict[str, ConfigMetrics]] = {}
    for run, column in zip(runs, columns_of(runs) if columns is None else columns, strict=True):
        configs.setdefault(column, {}).update(with_missing(run.metrics["configs"], run.record))
    return configs


def with_missing(configs: Mapping[str, ConfigMetrics], record: RunRecord) -> dict[str, ConfigMetrics]:
    """The metrics of a run's configs with the number of its missing clips and of all."""
    counts = {"n_missing": record.get("n_missing", 0)} | ({"n_clips": record["n_clips"]} if "n_clips" in record else {})
    return {config: cast(ConfigMetrics, {**entry, **counts}) for config, entry in configs.items()}


def numbers_of(metrics: Mapping[str, Mapping[str, ConfigMetrics]]) -> dict[str, RunNumbers]:
    """Column -> its numbers as rows. `metrics`: of `metrics_of`."""
    return {column: RunNumbers.of(configs) for column, configs in metrics.items()}


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


def course_of(runs: Sequence[RunFolder]) -> tuple[list[TableLine], list[str]] | None:
    """The course of a training run: a line a checkpoint, and the names of the columns, one a measure.

    None where the runs are not all of checkpoints of one training run, at least two.
    """
    steps = [(int(step), run) for run in runs if (step := run.record["model"].get("step")) is not None]
    if len(runs) < 2 or len(steps) < len(runs) or len({Path(run.model).parent for run in runs}) > 1:
        return None
    steps.sort(key=lambda pair: pair[0])
    numbers = numbers_of(metrics_of([run for _, run in steps], [str(step) for step, _ in steps]))
    lines = lines_of(numbers)
    rows = [TableLine(step, None, [line.cells[n] for line in lines]) for n, step in enumerate(numbers)]
    sides = side_columns(lines)
    notes = [", ".join(f"{title} {cells[n]}" for title, cells in sides if cells[n]) for n in range(len(lines))]
    return rows, [f"{line.name} ({note})" if note else line.name for line, note in zip(lines, notes, strict=True)]


def best_models(runs: Sequence[RunFolder]) -> dict[FigureKey, str]:
    """The model that is better than every other one on the items of both, by the paired sign-flip test.

    Returns place of the accuracy, or of text-to-video R@1 -> model; nothing where no test says so, or where the runs
    scored different states of a config.
    """
    runs_of: dict[FigureKey, dict[str, RunFolder]] = {}
    marks: dict[str, set[str]] = {}
    for run, model in zip(runs, columns_of(runs), strict=True):
        for config, entry in run.metrics["configs"].items():
            marks.setdefault(config, set()).add(run.record["set"]["fingerprints"].get(config, ""))
            for condition in entry["conditions"]:
                runs_of.setdefault(FigureKey(config, condition, leading(entry["layout"])), {})[model] = run
    best = {}
    for place, of in runs_of.items():  # the hits of one place at a time: of all they may not fit into memory
        hits = {model: run_hits(run, *place[:2]) for model, run in of.items() if len(marks[place.config]) == 1}
        best[place] = best_of({model: own for model, own in hits.items() if own is not None})
    return {place: model for place, model in best.items() if model is not None}
