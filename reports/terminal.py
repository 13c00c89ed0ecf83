"""Tables for a terminal: one line a measure, one column a model, from the metrics of runs; in markdown, in LaTeX."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import cast

from video_contrast.console import counted
from video_contrast.reports.runs import best_of, differing, run_hits
from video_contrast.storage import RunFolder
from video_contrast.storage.certificates import certified_lines
from video_contrast.storage.run_figures import ACCURACY, MAIN, OTHERS, ROBUST, FigureKey, RunFigure, RunNumbers, leading
from video_contrast.storage.run_file_fields import ConfigMetrics, RunRecord
from video_contrast.storage.run_folder import CLEAN
from video_contrast.storage.run_notes import missing_clips, remark_lines, self_test_lines

BEST = "*"  # behind a cell
_FILES = 5  # that are named, of those with something wrong
MANY = 40  # conditions of a config, from which on perturbations are shown by their means
UNPARSEABLE = "unparseable: the share of items with an answer that cannot be read, the lowest of its item (! above 2 %)"
Style = Callable[[str], str]  # of the text of a cell


@dataclass(frozen=True)
class TableLine:
    """A line of a table."""

    name: str  # of the measure
    chance: float | None  # the level of chance; None where there is none
    cells: list[str]  # one a model
    n: int | None = None  # items that all models were scored on; None where these differ, and each cell has its own
    digits: int = 2  # of the level of chance


def side_columns(lines: Sequence[TableLine]) -> list[tuple[str, list[str]]]:
    """The columns between the names and the models, each with its title: chance and n, where any line has them."""
    columns = [
        ("chance", ["" if line.chance is None else f"{line.chance:.{line.digits}f}" for line in lines]),
        ("n", ["" if line.n is None else f"{line.n:,}" for line in lines]),
    ]
    return [(title, cells) for title, cells in columns if any(cells)]


def table_rows(lines: Sequence[TableLine], models: Sequence[str], title: str) -> list[list[str]]:
    """The head of a table and its rows as text; chance and n only where a line has one."""
    sides = side_columns(lines)
    rows = [[line.name, *(cells[at] for _, cells in sides), *line.cells] for at, line in enumerate(lines)]
    return [[title, *(head for head, _ in sides), *models], *rows]


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
        cells = [_missing(numbers) for numbers in runs.values()]
        lines.append(TableLine("clips missing (figures are over the others)", None, cells))
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
        parts = (interval(figure, digits), mark, figure.mark if figure else "", star)
        cells.append(" ".join(filter(None, parts)))
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


def show(lines: Sequence[TableLine], models: Sequence[str], title: str = "") -> None:
    """Prints the table; it is wider than 80 columns where it must be, rather than broken. `lines`: of `lines_of`."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    head, *rows = table_rows(lines, models, title)
    for at, name in enumerate(head):
        table.add_column(Text(name), justify="right" if at else "left", no_wrap=True)
    for row in rows:
        table.add_row(*(Text(cell, "bold" if cell.endswith(BEST) else "") for cell in row))
    console = Console()
    width = Console(width=1000).measure(table).maximum
    if console.width < width:
        console = Console(width=width)
    console.print(table)
    if any(cell.endswith(BEST) for line in lines for cell in line.cells):
        print(f"{BEST} better than every other model on the items of both (paired sign-flip test, p < .05)")
    if any("unparseable" in cell for line in lines for cell in line.cells):
        print(UNPARSEABLE)


def remarks(record: RunRecord) -> list[str]:
    """The parts of a run that were left out, halved or missing; nothing where all went as asked."""
    lines = [f"left out: {name}: {why}" for name, why in record.get("skipped", {}).items()]
    lines += [f"note: {note}" for note in record.get("notes", ())]
    lines += self_test_lines(record) + certified_lines(record)
    if record.get("n_unseen"):
        clips = counted(record["n_unseen"], "edited clip")
        lines.append(f"{clips} left out: too few frames are sampled to show the edit")
    if record.get("n_missing"):
        lines.append(f"{missing_clips(record)} missing; every figure is over the clips that all conditions have:")
        lines += _files(record["missing"])
    if record.get("damaged"):
        videos = counted(len(record["damaged"]), "damaged video")
        lines.append(f"{videos} scored all the same (--accept-damaged):")
        lines += _files(record["damaged"])
    return lines + remark_lines(record.get("remarks", {}))


def _files(reasons: Mapping[str, str]) -> list[str]:
    """A line a file with what is wrong with it, the first few; a reason that names the file does so once."""
    lines = [f"  {path}: {why.removeprefix(f'{path}: ')}" for path, why in list(reasons.items())[:_FILES]]
    return lines + ([f"  and {len(reasons) - _FILES} more (run.json)"] if len(reasons) > _FILES else [])


_LATEX = str.maketrans({
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}",
    ">": r"\textgreater{}", "|": r"\textbar{}", "±": r"$\pm$", **{sign: f"\\{sign}" for sign in "&%$#_{}"},
})  # fmt: skip


def markdown(lines: Sequence[TableLine], models: Sequence[str], title: str = "") -> str:
    r"""A table of markdown of the lines of `terminal.lines_of`; what is best is bold.

    >>> print(markdown([TableLine("verb_mc", 0.5, ["0.81 *", "0.60"])], ["a|b", "c"]))
    | | chance | a\|b | c |
    |---|---|---|---|
    | verb_mc | 0.50 | **0.81** | 0.60 |
    """
    head, *rows = _cells(
        lines, models, title, written=lambda text: re.sub(r"([\\|*<`])", r"\\\1", text), bold=lambda cell: f"**{cell}**"
    )
    table_lines = ["|" + "".join(f" {cell} |" if cell else " |" for cell in row) for row in (head, *rows)]
    return "\n".join([table_lines[0], "|" + "---|" * len(head), *table_lines[1:]])


def latex(lines: Sequence[TableLine], models: Sequence[str], title: str = "") -> str:
    r"""A `tabular` of LaTeX with the rules of the package booktabs; what is best is bold.

    >>> print(latex([TableLine("verb_mc", 0.5, ["0.81 *", "0.60"])], ["a", "b"]))
    \begin{tabular}{lrrr}
    \toprule
     & chance & a & b \\
    \midrule
    verb\_mc & 0.50 & \textbf{0.81} & 0.60 \\
    \bottomrule
    \end{tabular}
    """
    cells = _cells(lines, models, title, written=lambda t: t.translate(_LATEX), bold=lambda t: rf"\textbf{{{t}}}")
    head, *rows = [" & ".join(row) + r" \\" for row in cells]
    begin = rf"\begin{{tabular}}{{l{'r' * (len(cells[0]) - 1)}}}"
    return "\n".join([begin, r"\toprule", head, r"\midrule", *rows, r"\bottomrule", r"\end{tabular}"])


def _cells(
    lines: Sequence[TableLine], models: Sequence[str], title: str, *, written: Style, bold: Style
) -> list[list[str]]:
    """The head and the rows, each text as `written` escapes it."""
    best = f" {BEST}"
    return [
        [bold(written(cell.removesuffix(best))) if cell.endswith(best) else written(cell) for cell in row]
        for row in table_rows(lines, models, title)
    ]


FORMATS = {"markdown": markdown, "latex": latex}
