"""The first sections: every model on every config, with chance, people and the papers; and by kind of contrast.

A plot has a line a config or kind, a dot a model with its interval, and chance as a tick.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from video_contrast.console import counted
from video_contrast.reports.figures import FAINT, INK, MUTED, colour, drawing, finish, shape
from video_contrast.reports.human_and_published import human, published
from video_contrast.reports.layout import DASH, Cell, Column, Plot, Section, Table, Tone, columns, share_cell, signed
from video_contrast.reports.runs import ConfigRun, SetKey, best_of, by_set, differing
from video_contrast.storage.run_figures import (
    MEDIAN_RANKS,
    OVER_VERBS,
    PAIR_SCORES,
    RANDOM_OPTIONS,
    RECALLS,
    TIES,
    RunFigure,
    against,
    kind_in_words,
)


def summary(runs: Sequence[ConfigRun]) -> Section:
    """One picture of the fall from random candidates to contrasts, accuracy and retrieval tables, published figures."""
    section = Section("summary", "Summary", leads=True)
    choice = [run for run in runs if run.layout != "retrieval"]
    if choice:
        section.parts += [dots(choice), accuracy_table(choice, list(dict.fromkeys(run.model for run in runs)))]
        section.lead = "Share of items on which the true caption scores highest; ties count as a random choice."
    pairs = [run for run in runs if run.layout == "pairs" and run.figure(PAIR_SCORES[0])]
    if pairs:
        section.parts.append(pairs_table(pairs))
    retrieval = [run for run in runs if run.layout == "retrieval"]
    if retrieval:
        section.parts.append(retrieval_table(retrieval))
    section.parts += published(list(dict.fromkeys(run.key for run in runs)))
    return section


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
    order = list(dict.fromkeys(run.model for run in runs))
    return sorted(runs, key=lambda run: (run.is_baseline, order.index(run.model), place[run.key]))


def accuracy_table(runs: Sequence[ConfigRun], models: Sequence[str]) -> Table:
    """The table of multiple-choice runs: a row a model, a column a config, rows for chance and, where known, people."""
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
    if ties := sum(own.value for run in runs if (own := run.figure(TIES))):
        note += f" {counted(int(ties), 'tie')} in all, each counted as its share."
    note += " Small: the 95 % interval; the line under it runs from 0 to 100, the dashed tick is chance"
    if any(people):
        note += ", the solid one people."
    else:
        note += "."
        rows.pop()
    if len(models) > 1:
        note += " Bold: better than every other model on the items of both (paired sign-flip test, p < .05)."
    return Table("accuracy", "Accuracy, %", heads, rows, note=note)


def _accuracy_cells(of_set: Mapping[str, ConfigRun], models: Sequence[str], people: float | None) -> list[Cell]:
    """A column of the table: the accuracy of each model on one set, the best of them marked."""
    figures = [of_set[model].accuracy if model in of_set else None for model in models]
    best = best_of({model: run.hits(run.main) for model, run in of_set.items()})
    return [
        figure_cell(figure, human=people, tone="best" if model == best else "", note=mark)
        for model, figure, mark in zip(models, figures, differing(figures), strict=True)
    ]


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
    pairs = zip(PAIR_SCORES, hints, strict=True)
    heads = columns("model", *(Column(score.words, hint=hint) for score, hint in pairs))
    rows = []
    groups: dict[SetKey, int | None] = {}
    for run in runs:
        figures = [run.figure(score) for score in PAIR_SCORES]
        groups[run.key] = figures[0].n if figures[0] else None
        rows.append([model_cell(run, run.key.name if several else ""), *map(figure_cell, figures)])
    note = "Groups: " + ", ".join(f"{key.short} {n:,}" for key, n in groups.items()) + ". All of a group must be right."
    return Table("pairs", "Pairs of clips and captions, %", heads, rows, note=note)


def retrieval_table(runs: Sequence[ConfigRun]) -> Table:
    """R@K both ways and the median rank."""
    recalls = {way: [score for score in scores if runs[0].figure(score)] for way, scores in RECALLS.items()}
    names = [[*(score.words for score in scores), f"median rank, {way}"] for way, scores in recalls.items()]
    several = len({run.key for run in runs}) > 1
    rows = []
    for run in runs:
        cells = [model_cell(run, run.key.name if several else "")]
        of_set = [other for other in runs if other.key == run.key]
        for way, scores in recalls.items():
            mark = differing([other.figure(RECALLS[way][0]) for other in of_set])[of_set.index(run)]
            cells += [figure_cell(run.figure(score), note=mark) for score in scores]
            median = run.figure(MEDIAN_RANKS[way])
            cells.append(Cell(f"{median.value:g}", float(median.value)) if median else DASH)
        rows.append(cells)
    note = ""
    if not several:
        videos, captions = (figure.n if (figure := runs[0].figure(RECALLS[way][0])) else 0 for way in ("v2t", "t2v"))
        note = f"{counted(videos or 0, 'video')}, {counted(captions or 0, 'caption')}."
    return Table("retrieval", "Retrieval, %", columns("model", *chain(*names)), rows, note=note)


def dots(runs: Sequence[ConfigRun]) -> Plot:
    """One line a config, one dot a model with its interval, chance as a tick: the drop at a glance."""
    keys = by_difficulty(runs)
    figures = {key: {run.model: run.accuracy for run in runs if run.key == key} for key in keys}
    lines = [DotLine(key.name, key.short, figures[key], human(key)) for key in keys]
    falls = keys[0].config.startswith("random") and len(keys) > 1
    caption = "From random candidates to contrasts" if falls else "Accuracy"
    return dot_plot(lines, runs, name="accuracy-dots", caption=caption, heading="config", what="accuracy")


Looks = dict[str, dict[str, str | float]]  # of each model, what draws its dots
_BASELINE_MARKERS = ("s", "D", "^")  # baselines are grey and small


@dataclass(frozen=True)
class DotLine:
    """A line of the plot."""

    name: str  # in the plot's table
    label: str  # beside the line
    figures: Mapping[str, RunFigure]  # model -> its share
    people: float | None = None  # the share of people, in percent; None where nobody measured it


def dot_plot(
    lines: Sequence[DotLine], runs: Sequence[ConfigRun], *, name: str, caption: str, heading: str, what: str
) -> Plot:
    """The plot, and a narrow one for phones: of `what` is measured, a line under the `heading` of the plot's table."""
    looks: Looks = {}  # in the order of the runs
    baselines = list(dict.fromkeys(run.model for run in runs if run.is_baseline))
    for run in runs:
        looks[run.model] = {"color": colour(run.number), "marker": shape(run.number), "markersize": 6.5}
        if run.is_baseline:
            marker = _BASELINE_MARKERS[baselines.index(run.model) % len(_BASELINE_MARKERS)]
            looks[run.model] = {"color": MUTED, "marker": marker, "markersize": 4.5}
    wide, narrow = (_drawn(lines, looks, width, name, (caption, heading, what)) for width in (10.8, 4.1))
    return replace(wide, narrow=narrow.svg)


def _drawn(lines: Sequence[DotLine], looks: Looks, width: float, name: str, texts: tuple[str, str, str]) -> Plot:
    (caption, heading, what), narrow = texts, width < 5
    models = list(looks)
    step = min(0.16, 0.7 / len(models))
    table: list[list[object]] = [[heading, "model", "accuracy", "low", "high", "chance", "people", "items"]]
    with_label: set[str] = set()
    with drawing(width, 0.95 + len(lines) * max(0.5, 0.13 * len(models))) as (canvas, axes):
        for place, line in enumerate(lines):
            axes.axhline(place, color=FAINT, linewidth=0.8, zorder=0)
            tick = [place - 0.4, place + 0.4]
            for chance in {figure.chance for figure in line.figures.values() if figure.chance is not None}:
                axes.plot([100 * chance] * 2, tick, color=MUTED, linestyle=(0, (2, 2)), linewidth=1.2)
            if line.people is not None:
                axes.plot([line.people] * 2, tick, color=INK, linewidth=1.2)
            for model, figure in line.figures.items():
                y = place + (models.index(model) - (len(models) - 1) / 2) * step
                if figure.low is not None and figure.high is not None:
                    ends = [100 * figure.low, 100 * figure.high]
                    axes.plot(ends, [y, y], color=looks[model]["color"], alpha=0.45, linewidth=2.4)
                label = None if model in with_label else model
                axes.plot(100 * figure.value, y, linestyle="", markeredgewidth=0, clip_on=False, label=label,
                          **looks[model])  # fmt: skip
                with_label.add(model)
                people = "" if line.people is None else line.people / 100
                table.append([line.name, model, figure.value, figure.low, figure.high, figure.chance, people, figure.n])
        axes.set_yticks(range(len(lines)), [e.label.replace(" (", "\n(") if narrow else e.label for e in lines])
        axes.tick_params(axis="y", labelsize=10, labelcolor=INK)
        axes.set(ylim=(len(lines) - 0.45, -0.55), xlim=(-1, 102))
        axes.set_xlabel(f"{what}, %   (dashed: chance{', solid: people' * any(e.people for e in lines)})")
        return finish(canvas, f"{name}-narrow" if narrow else name, caption, table, wide=True)


LEAST = 3  # kinds that make a profile


def kinds(runs: Sequence[ConfigRun]) -> Section:
    """One table a config that has several kinds."""
    section = Section.of("kinds")
    choice = [run for run in runs if run.layout != "retrieval"]
    section.parts += profiles(choice)
    for of_set in by_set(choice):
        key = of_set[0].key
        names = sorted({name for run in of_set for name in run.kinds})
        has_random = any(run.figure(RANDOM_OPTIONS) for run in of_set)
        over_verbs = [run.figure(OVER_VERBS) for run in of_set]
        if len(names) < 2 and not has_random and not any(over_verbs):
            continue
        heads = columns("model", *(against(name).words for name in names))
        marks = {name: differing([run.figure(against(name)) for run in of_set]) for name in names}
        if any(over_verbs):
            hint = "of all candidates; each verb of true captions counts alike"
            heads.append(Column("averaged over verbs", hint=hint))
        if has_random:
            hint = "the same captions, the contrast exchanged for a random distractor"
            heads.append(Column("random candidates", hint=hint))
            heads.append(Column("drop", hint="random candidates minus accuracy, on the same captions"))
        rows = []
        for at, run in enumerate(of_set):
            row = [model_cell(run), *(figure_cell(run.figure(against(name)), note=marks[name][at]) for name in names)]
            row += [figure_cell(over_verbs[at])] if any(over_verbs) else []
            if easy := run.figure(RANDOM_OPTIONS):
                drop = 100 * (easy.value - run.accuracy.value)
                row += [share_cell(easy.value), Cell(signed(drop), drop)]
            rows.append(row + [DASH] * (len(heads) - len(row)))
        section.add([Table(f"kinds-{key.stem}", f"Accuracy, %, {key.name}", heads, rows)], key.short)
    return section


def profiles(runs: Sequence[ConfigRun]) -> list[Plot]:
    """One plot a set with several kinds of contrast, whether one config holds them all or each has a config.

    `runs`: multiple-choice runs; of a kind that two configs of a model have, the one with more items counts.
    """
    of_set: dict[tuple[str, str], list[ConfigRun]] = {}
    for run in runs:
        of_set.setdefault((Path(run.key.dataset).name, run.key.split), []).append(run)
    plots = []
    for number, ((name, split), members) in enumerate(of_set.items()):
        by_kind: dict[str, dict[str, RunFigure]] = {}  # kind -> model -> its accuracy, of the run with most items
        for run in members:
            for kind in run.kinds:
                figure, former = run.figure(against(kind)), by_kind.get(kind, {}).get(run.model)
                if figure and kind != "random" and (former is None or (former.n or 0) < (figure.n or 0)):
                    by_kind.setdefault(kind, {})[run.model] = figure
        means = {kind: sum(f.value for f in own.values()) / len(own) for kind, own in by_kind.items()}
        if len(means) >= LEAST:
            kinds = sorted(means, key=lambda kind: (-means[kind], kind))
            lines = [DotLine(kind, kind_in_words(kind), by_kind[kind]) for kind in kinds]
            caption = f"Profile over kinds of contrast, {name}" + ("" if split == "test" else f" ({split})")
            what = "true caption above the contrast"
            plots.append(dot_plot(lines, members, name=f"profile-{number}", caption=caption, heading="kind", what=what))
    return plots
