"""The first section: one picture and one table of every model on every config, with chance, people and the papers."""

from collections.abc import Mapping, Sequence
from itertools import chain

from video_contrast.console import counted
from video_contrast.reports.dots import DotLine, dot_plot
from video_contrast.reports.hits import best_of, differing
from video_contrast.reports.layout import DASH, Cell, Column, Plot, Section, Table, Tone, columns, share_cell
from video_contrast.reports.reference import human, published
from video_contrast.reports.runs import ConfigRun, SetKey
from video_contrast.storage.run_figures import PAIR_SCORES, WAYS, RunFigure, in_words


def summary(runs: Sequence[ConfigRun]) -> Section:
    """One picture of the fall from random candidates to contrasts, accuracy and retrieval tables, published figures."""
    section = Section("summary", "Summary", leads=True)
    choice = [run for run in runs if run.layout != "retrieval"]
    if choice:
        section.parts += [dots(choice), accuracy_table(choice, models_of(runs))]
        section.lead = "Share of items on which the true caption scores highest; ties count as a random choice."
    pairs = [run for run in runs if run.layout == "pairs" and run.figure("text_score")]
    if pairs:
        section.parts.append(pairs_table(pairs))
    retrieval = [run for run in runs if run.layout == "retrieval"]
    if retrieval:
        section.parts.append(retrieval_table(retrieval))
    section.parts += published(list(dict.fromkeys(run.key for run in runs)))
    return section


def models_of(runs: Sequence[ConfigRun]) -> list[str]:
    """The models, in the order in which they come first."""
    return list(dict.fromkeys(run.model for run in runs))


def by_difficulty(runs: Sequence[ConfigRun]) -> list[SetKey]:
    """The sets of multiple-choice runs: random candidates first, then from the easiest to the hardest."""

    def order(key: SetKey) -> tuple[bool, float]:
        of_set = [run for run in runs if run.key == key and not run.is_baseline]
        heights = [run.accuracy.above_chance for run in of_set]
        return not key.config.startswith("random"), -sum(heights) / max(1, len(heights))

    return sorted(dict.fromkeys(run.key for run in runs), key=order)


def in_order(runs: Sequence[ConfigRun]) -> list[ConfigRun]:
    """The runs as the page shows them: models as they came, baselines last, the hardest set of each first."""
    choice = by_difficulty([run for run in runs if run.layout != "retrieval"])
    keys = [*reversed(choice), *(run.key for run in runs if run.layout == "retrieval")]
    place = {key: number for number, key in enumerate(keys)}
    order = models_of(runs)
    return sorted(runs, key=lambda run: (run.is_baseline, order.index(run.model), place[run.key]))


def accuracy_table(runs: Sequence[ConfigRun], models: Sequence[str]) -> Table:
    """Of multiple-choice runs: a row a model, a column a config, a row for chance, and for people where known."""
    keys = by_difficulty(runs)
    people = [human(key) for key in keys]
    quiet = {run.model for run in runs if run.is_baseline}
    rows = [[Cell(model, tone="quiet" if model in quiet else "")] for model in models]
    rows += [[Cell("chance", tone="quiet")], [Cell("people", tone="quiet")]]
    sizes: dict[SetKey, int] = {}
    for key, right in zip(keys, people, strict=True):
        of_set = {run.model: run for run in runs if run.key == key}
        first = next(iter(of_set.values())).accuracy
        sizes[key] = max(run.accuracy.n or 0 for run in of_set.values())
        ends = [share_cell(first.chance), DASH if right is None else Cell(f"{right:.1f}", right)]
        for row, cell in zip(rows, [*_accuracy_cells(of_set, models, right), *ends], strict=True):
            row.append(cell)
    heads = columns("model", *(Column(k.short, hint=f"{k.name}: {counted(n, 'item')}") for k, n in sizes.items()))
    note = "Items: " + ", ".join(f"{key.short} {n:,}" for key, n in sizes.items()) + "."
    note += _accuracy_note(sum(run.n_ties for run in runs), len(models) > 1, any(people))
    return Table("accuracy", "Accuracy, %", heads, rows=rows if any(people) else rows[:-1], note=note)


def _accuracy_cells(of_set: Mapping[str, ConfigRun], models: Sequence[str], people: float | None) -> list[Cell]:
    """A column of the table: the accuracy of each model on one set, the best of them marked."""
    figures = [of_set[model].accuracy if model in of_set else None for model in models]
    best = best_of({model: run.hits(run.main) for model, run in of_set.items()})
    marks = differing([figure.n if figure else None for figure in figures])
    return [
        figure_cell(figure, human=people, tone="best" if model == best else "", note=mark)
        for model, figure, mark in zip(models, figures, marks, strict=True)
    ]


def _accuracy_note(ties: int, several: bool, people: bool) -> str:
    note = f" {counted(ties, 'tie')} in all, each counted as its share." if ties else ""
    note += " Small: the 95 % interval; the line under it runs from 0 to 100, the dashed tick is chance"
    note += ", the solid one people." if people else "."
    bold = " Bold: better than every other model on the items of both (paired sign-flip test, p < .05)."
    return note + bold * several


def model_cell(run: ConfigRun, note: str = "") -> Cell:
    """The first cell of a run's row: its model; `note` is shown small under it."""
    return Cell(run.model, note=note, tone="quiet" if run.is_baseline else "")


def figure_cell(figure: RunFigure | None, *, human: float | None = None, tone: Tone = "", note: str = "") -> Cell:
    """A share as a cell in percent, with its interval and chance; a dash where it was not measured."""
    if figure is None:
        return DASH
    note = ", ".join(filter(None, (note, figure.mark)))
    return share_cell(figure.value, figure.low, figure.high, chance=figure.chance, human=human, tone=tone, note=note)


def pairs_table(runs: Sequence[ConfigRun]) -> Table:
    """Text, video and group score; a dash where scores of different clips cannot be compared."""
    several = len({run.key for run in runs}) > 1
    hints = ("each clip prefers its caption", "each caption prefers its clip", "both")
    named = zip(PAIR_SCORES, hints, strict=True)
    heads = columns("model", *(Column(in_words(name), hint=hint) for name, hint in named))
    rows = []
    groups: dict[SetKey, int | None] = {}
    for run in runs:
        figures = [run.figure(name) for name in PAIR_SCORES]
        groups[run.key] = figures[0].n if figures[0] else None
        rows.append([model_cell(run, run.key.name if several else ""), *map(figure_cell, figures)])
    note = "Groups: " + ", ".join(f"{key.short} {n:,}" for key, n in groups.items()) + ". All of a group must be right."
    return Table("pairs", "Pairs of clips and captions, %", heads, rows, note=note)


def retrieval_table(runs: Sequence[ConfigRun]) -> Table:
    """R@K both ways and the median rank."""
    recalls = [name for name in ("R@1", "R@5", "R@10") if runs[0].figure(name, "t2v")]
    names = [[*(in_words(name, way) for name in recalls), f"median rank, {way}"] for way in WAYS]
    several = len({run.key for run in runs}) > 1
    rows = []
    for run in runs:
        cells = [model_cell(run, run.key.name if several else "")]
        of_set = [other for other in runs if other.key == run.key]
        for way in WAYS:
            figures = [run.figure(name, way) for name in recalls]
            marks = differing([_count(other, way) for other in of_set])
            cells += [figure_cell(figure, note=marks[of_set.index(run)]) for figure in figures]
            median = run.figure("median_rank", way)
            cells.append(Cell(f"{median.value:g}", float(median.value)) if median else DASH)
        rows.append(cells)
    sizes = [counted(_count(runs[0], way) or 0, noun) for way, noun in (("v2t", "video"), ("t2v", "caption"))]
    note = f"{', '.join(sizes)}." if not several else ""
    return Table("retrieval", "Retrieval, %", columns("model", *chain(*names)), rows, note=note)


def _count(run: ConfigRun, way: str) -> int | None:
    """The captions or videos that look for each other."""
    figure = run.figure("R@1", way)
    return figure.n if figure else None


def dots(runs: Sequence[ConfigRun]) -> Plot:
    """One line a config, one dot a model with its interval, chance as a tick: the drop at a glance."""
    keys = by_difficulty(runs)
    lines = [
        DotLine(key.name, key.short, {run.model: run.accuracy for run in runs if run.key == key}, human(key))
        for key in keys
    ]
    falls = keys[0].config.startswith("random") and len(keys) > 1
    caption = "From random candidates to contrasts" if falls else "Accuracy"
    return dot_plot(lines, runs, name="accuracy-dots", caption=caption, heading="config", what="accuracy")
