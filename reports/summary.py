"""The first section: every model on every config, with its interval, chance and people beside it."""

from collections.abc import Sequence

from video_contrast.reports.figures import FAINT, INK, MUTED, colour, drawing, finish, tidy
from video_contrast.reports.layout import Cell, Column, Figure, Section, Table
from video_contrast.reports.reference import human
from video_contrast.reports.runs import Numbers, Run, SetKey

_WAYS = (("t2v", "text to video"), ("v2t", "video to text"))


def summary(runs: Sequence[Run]) -> Section:
    """Accuracy of each model on each multiple-choice config, retrieval both ways, and one picture of both."""
    section = Section("summary", "Summary")
    models = list(dict.fromkeys(run.model for run in runs))
    choice = [run for run in runs if run.layout == "multiple_choice"]
    if choice:
        keys = list(dict.fromkeys(run.key for run in choice))
        section.parts += [accuracy_table(choice, models, keys), dots(choice, models, keys)]
        section.lead = (
            "Share of items on which the true caption scores highest; a tie counts its share. Bars show the 95 % "
            "interval on a scale from 0 to 100, the dashed tick is chance"
            + (", the solid one people." if any(human(key) for key in keys) else ".")
        )
    retrieval = [run for run in runs if run.layout == "retrieval"]
    if retrieval:
        section.parts.append(retrieval_table(retrieval))
    return section


def finding(runs: Sequence[Run]) -> str:
    """The report's first sentence: how far each model falls from random options to the hardest contrasts."""
    drops = []
    for model in dict.fromkeys(run.model for run in runs if not run.is_baseline):
        mine = [run for run in runs if run.model == model and run.layout == "multiple_choice"]
        easy = [run for run in mine if run.key.config.startswith("random")]
        hard = [run for run in mine if run not in easy]
        if easy and hard:
            # How far above chance: configs differ in their number of options.
            worst = min(hard, key=lambda run: _above_chance(run.metrics[run.main]))
            drops.append((model, easy[0].metrics[easy[0].main], worst))
    if not drops:
        return ""
    model, easy_numbers, worst = min(drops, key=lambda drop: _above_chance(drop[2].metrics[drop[2].main]))
    numbers = worst.metrics[worst.main]
    return (
        f"{model} picks the true caption in {100 * easy_numbers['accuracy']:.0f} % of items with random options, and "
        f"in {100 * numbers['accuracy']:.0f} % of {worst.key.config}, where chance is {100 * numbers['chance']:.0f} %."
    )


def accuracy_table(runs: Sequence[Run], models: Sequence[str], keys: Sequence[SetKey]) -> Table:
    """A row a model, a column a config, and a row each for chance and for people where they are known."""
    found = {(run.model, run.key): run.metrics[run.main] for run in runs}
    best = {key: max((found[m, key]["accuracy"] for m in models if (m, key) in found), default=None) for key in keys}
    rows: list[list[Cell]] = []
    for model in models:
        quiet = all(run.is_baseline for run in runs if run.model == model)
        cells = [
            accuracy_cell(found.get((model, key)), human=human(key), best=best[key], crowd=len(models)) for key in keys
        ]
        rows.append([Cell(model, tone="quiet" if quiet else ""), *cells])
    chance = [next(n["chance"] for (_, k), n in found.items() if k == key) for key in keys]
    rows.append([Cell("chance", tone="quiet"), *[Cell(f"{100 * c:.1f}", 100 * c) for c in chance]])
    people = [human(key) for key in keys]
    if any(people):
        rows.append([Cell("people", tone="quiet"), *[Cell(f"{p:.1f}", p) if p else Cell("–") for p in people]])
    items = {key: next(n["n"] for (_, k), n in found.items() if k == key) for key in keys}
    columns = [
        Column("model", numeric=False),
        *[Column(key.config, hint=f"{key.name}: {items[key]} items") for key in keys],
    ]
    note = "Items: " + ", ".join(f"{key.config} {items[key]:,}" for key in keys) + "."
    ties = sum(int(numbers["n_ties"]) for numbers in found.values())
    if ties:
        note += f" {ties:,} ties in all, each counted as its share."
    return Table("accuracy", "Accuracy, %", columns, rows, note)


def accuracy_cell(
    numbers: Numbers | None,
    name: str = "accuracy",
    *,
    chance: str = "chance",
    human: float | None = None,
    best: float | None = None,
    crowd: int = 1,
) -> Cell:
    """A share as a cell in percent, with its interval and chance; a dash where it was not measured."""
    if numbers is None or numbers.get(name) is None:
        return Cell("–", tone="quiet")
    value, low, high = (numbers.get(key) for key in (name, f"{name}_low", f"{name}_high"))
    assert value is not None
    leads = crowd > 1 and best is not None and value == best
    return Cell(
        f"{100 * value:.1f}",
        100 * value,
        None if low is None else 100 * low,
        None if high is None else 100 * high,
        chance=None if numbers.get(chance) is None else 100 * numbers[chance],
        human=human,
        tone="best" if leads else "",
    )


def retrieval_table(runs: Sequence[Run]) -> Table:
    """R@K both ways and the median rank."""
    first = runs[0].metrics[runs[0].main]
    ks = [k for k in (1, 5, 10) if f"t2v_R@{k}" in first]
    columns = [Column("model", numeric=False)]
    for way, words in _WAYS:
        columns += [Column(f"{words} R@{k}") for k in ks] + [Column(f"median rank, {way}")]
    several = len({run.key for run in runs}) > 1
    rows = []
    for run in runs:
        numbers = run.metrics[run.main]
        cells = [Cell(run.model, note=run.key.name if several else "", tone="quiet" if run.is_baseline else "")]
        for way, _ in _WAYS:
            cells += [accuracy_cell(numbers, f"{way}_R@{k}", chance=f"{way}_chance_R@{k}") for k in ks]
            median = numbers[f"{way}_median_rank"]
            cells.append(Cell(f"{median:g}", float(median)))
        rows.append(cells)
    note = f"{first['n_videos']:,} videos, {first['n_captions']:,} captions." if not several else ""
    return Table("retrieval", "Retrieval, %", columns, rows, note)


def dots(runs: Sequence[Run], models: Sequence[str], keys: Sequence[SetKey]) -> Figure:
    """One line a config, one dot a model with its interval, chance as a tick: the drop at a glance."""
    found = {(run.model, run.key): run.metrics[run.main] for run in runs}
    step = 0.16
    paints = {run.model: colour(run.number) for run in runs}
    with drawing(7.2, 0.9 + len(keys) * max(0.42, 0.17 * len(models))) as (canvas, axes):
        lines: list[list[object]] = [["config", "model", "accuracy", "low", "high", "chance"]]
        for place, key in enumerate(keys):
            axes.axhline(place, color=FAINT, linewidth=0.8, zorder=0)
            for number, model in enumerate(models):
                numbers = found.get((model, key))
                if numbers is None:
                    continue
                paint = paints[model]
                y = place + (number - (len(models) - 1) / 2) * step
                x, low, high = (numbers.get(name) for name in ("accuracy", "accuracy_low", "accuracy_high"))
                lines.append([key.name, model, x, low, high, numbers["chance"]])
                if low is not None and high is not None:
                    axes.plot([100 * low, 100 * high], [y, y], color=paint, alpha=0.45, linewidth=2.2)
                assert x is not None
                axes.plot(100 * x, y, "o", color=paint, markersize=5.5, label=model if place == 0 else None)
            chance = next(n["chance"] for (_, k), n in found.items() if k == key)
            axes.plot([100 * chance] * 2, [place - 0.4, place + 0.4], color=MUTED, linestyle=(0, (2, 2)), linewidth=1.2)
            people = human(key)
            if people:
                axes.plot([people] * 2, [place - 0.4, place + 0.4], color=INK, linewidth=1.2)
        axes.set_yticks(range(len(keys)), [key.config for key in keys])
        axes.set_ylim(len(keys) - 0.5, -0.5)
        axes.set_xlim(0, 101)
        axes.set_xlabel("accuracy, %   (dashed: chance)")
        tidy(axes, grid="")
        canvas.legend(loc="outside upper left", ncols=4, handletextpad=0.2, columnspacing=1.2)
        return finish(canvas, "accuracy-dots", "From random options to contrasts", lines, wide=True)


def _above_chance(numbers: Numbers) -> float:
    return (numbers["accuracy"] - numbers["chance"]) / (1 - numbers["chance"])
