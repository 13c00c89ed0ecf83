"""The first section: one picture and one table of every model on every config, with chance, people and the papers."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from video_contrast.console import counted
from video_contrast.reports.figures import FAINT, INK, MUTED, colour, drawing, finish, legend, shape, tidy
from video_contrast.reports.hits import best_of, choice_hits, differing
from video_contrast.reports.layout import Cell, Column, Plot, Section, Table
from video_contrast.reports.reference import human, published
from video_contrast.reports.runs import ConfigRun, SetKey
from video_contrast.storage.run_records import Numbers, unparseable_mark

_WAYS = (("t2v", "text to video"), ("v2t", "video to text"))
_BASELINE_MARKERS = ("s", "D", "^")


def summary(runs: Sequence[ConfigRun]) -> Section:
    """One picture of the fall from random candidates to contrasts, accuracy and retrieval tables, published figures."""
    section = Section("summary", "Summary", leads=True)
    choice = [run for run in runs if run.layout != "retrieval"]
    if choice:
        section.parts += [dots(choice, models_of(runs)), accuracy_table(choice, models_of(runs))]
        section.lead = "Share of items on which the true caption scores highest; ties count as a random choice."
    pairs = [run for run in runs if run.layout == "pairs" and "text_score" in run.numbers]
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
        heights = [above_chance(run.numbers) for run in of_set]
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
    run_of = {(run.model, run.key): run for run in runs}
    numbers_of = {place: run.numbers for place, run in run_of.items()}
    best = {
        key: best_of({run.model: choice_hits(run.choices.get(run.main, {})) for run in runs if run.key == key})
        for key in keys
    }
    rows = [[Cell(model, tone=_tone(runs, model))] for model in models]
    for key in keys:
        column = [numbers_of.get((model, key)) for model in models]
        marks = differing([int(numbers["n"]) if numbers else None for numbers in column])
        for row, model, numbers, mark in zip(rows, models, column, marks, strict=True):
            row.append(accuracy_cell(numbers, human=human(key), best=model == best[key], note=mark))
    chance = [next(n["chance"] for (_, k), n in numbers_of.items() if k == key) for key in keys]
    rows.append([Cell("chance", tone="quiet"), *[Cell(f"{100 * c:.1f}", 100 * c) for c in chance]])
    people = [human(key) for key in keys]
    if any(people):
        rows.append([Cell("people", tone="quiet"), *[Cell(f"{p:.1f}", p) if p else Cell("–") for p in people]])
    items = {key: max(int(n["n"]) for (_, k), n in numbers_of.items() if k == key) for key in keys}
    columns = [
        Column("model", numeric=False),
        *[Column(key.short, hint=f"{key.name}: {counted(items[key], 'item')}") for key in keys],
    ]
    note = "Items: " + ", ".join(f"{key.short} {items[key]:,}" for key in keys) + "."
    ties = sum(int(numbers["n_ties"]) for numbers in numbers_of.values())
    if ties:
        note += f" {counted(ties, 'tie')} in all, each counted as its share."
    note += " Small: the 95 % interval; the line under it runs from 0 to 100, the dashed tick is chance"
    note += ", the solid one people." if any(people) else "."
    if len(models) > 1:
        note += " Bold: better than every other model on the items of both (paired sign-flip test, p < .05)."
    return Table("accuracy", "Accuracy, %", columns, rows=rows, note=note)


def _tone(runs: Sequence[ConfigRun], model: str) -> Literal["", "quiet"]:
    return "quiet" if all(run.is_baseline for run in runs if run.model == model) else ""


def model_cell(run: ConfigRun, note: str = "") -> Cell:
    """The first cell of a run's row: its model; `note` is shown small under it."""
    return Cell(run.model, note=note, tone="quiet" if run.is_baseline else "")


def accuracy_cell(
    numbers: Numbers | None,
    name: str = "accuracy",
    *,
    chance: str = "chance",
    human: float | None = None,
    best: bool = False,
    note: str = "",
) -> Cell:
    """A share as a cell in percent, with its interval and chance; a dash where it was not measured.

    Args:
        numbers: metrics of a condition, shares from 0 to 1.
        name, chance: keys of the share and of its level of chance.
        human: accuracy of people, in percent.
        best: whether it is the best of its column, by a test.
        note: shown small under it.
    """
    if numbers is None or numbers.get(name) is None:
        return Cell("–", tone="quiet")
    low, high, level = (numbers.get(key) for key in (f"{name}_low", f"{name}_high", chance))
    return Cell(
        f"{100 * numbers[name]:.1f}",
        100 * numbers[name],
        low=None if low is None else 100 * low,
        high=None if high is None else 100 * high,
        chance=None if level is None else 100 * level,
        human=human,
        tone="best" if best else "",
        note=", ".join(filter(None, (note, unparseable_mark(numbers)))),
    )


def pairs_table(runs: Sequence[ConfigRun]) -> Table:
    """Text, video and group score; a dash where scores of different clips cannot be compared."""
    several = len({run.key for run in runs}) > 1
    names = ("text_score", "video_score", "group_score")
    rows = []
    for run in runs:
        numbers = run.numbers
        model = model_cell(run, run.key.name if several else "")
        rows.append([model, *(accuracy_cell(numbers, name, chance=f"chance_{name}") for name in names)])
    hints = ("each clip prefers its caption", "each caption prefers its clip", "both")
    columns = [Column("model", numeric=False)]
    columns += [Column(name.replace("_", " "), hint=hint) for name, hint in zip(names, hints, strict=True)]
    groups = {run.key: run.numbers["groups"] for run in runs}
    note = "Groups: " + ", ".join(f"{key.short} {n:,}" for key, n in groups.items()) + ". All of a group must be right."
    return Table("pairs", "Pairs of clips and captions, %", columns, rows, note=note)


def retrieval_table(runs: Sequence[ConfigRun]) -> Table:
    """R@K both ways and the median rank."""
    first = runs[0].numbers
    ks = [k for k in (1, 5, 10) if f"t2v_R@{k}" in first]
    columns = [Column("model", numeric=False)]
    for way, words in _WAYS:
        columns += [Column(f"{words} R@{k}") for k in ks] + [Column(f"median rank, {way}")]
    several = len({run.key for run in runs}) > 1
    rows = []
    for run in runs:
        numbers = run.numbers
        of_set = [other.numbers for other in runs if other.key == run.key]
        cells = [model_cell(run, run.key.name if several else "")]
        for way, noun in (("t2v", "caption"), ("v2t", "video")):
            counts = [int(other[f"n_{noun}s"]) for other in of_set]
            mark = f"n = {int(numbers[f'n_{noun}s']):,}" if any(differing(counts)) else ""
            cells += [accuracy_cell(numbers, f"{way}_R@{k}", chance=f"{way}_chance_R@{k}", note=mark) for k in ks]
            median = numbers[f"{way}_median_rank"]
            cells.append(Cell(f"{median:g}", float(median)))
        rows.append(cells)
    sizes = [counted(int(first[f"n_{noun}s"]), noun) for noun in ("video", "caption")]
    note = f"{', '.join(sizes)}." if not several else ""
    return Table("retrieval", "Retrieval, %", columns, rows, note=note)


def dots(runs: Sequence[ConfigRun], models: Sequence[str]) -> Plot:
    """One line a config, one dot a model with its interval, chance as a tick: the drop at a glance."""
    wide, narrow = (_dots(runs, models, width) for width in (10.8, 4.1))
    return replace(wide, narrow=narrow.svg)


def _dots(runs: Sequence[ConfigRun], models: Sequence[str], width: float) -> Plot:
    keys = by_difficulty(runs)
    run_of = {(run.model, run.key): run for run in runs}
    step = min(0.16, 0.7 / len(models))
    quiet = [model for model in models if all(run.is_baseline for run in runs if run.model == model)]
    with drawing(width, 0.95 + len(keys) * max(0.5, 0.13 * len(models))) as (canvas, axes):
        lines: list[list[object]] = [["config", "model", "accuracy", "low", "high", "chance", "people"]]
        labelled: set[str] = set()
        for place, key in enumerate(keys):
            axes.axhline(place, color=FAINT, linewidth=0.8, zorder=0)
            scored = [(model, run_of[model, key]) for model in models if (model, key) in run_of]
            chance, people = scored[0][1].numbers["chance"], human(key)
            tick = [place - 0.4, place + 0.4]
            axes.plot([100 * chance] * 2, tick, color=MUTED, linestyle=(0, (2, 2)), linewidth=1.2)
            if people:
                axes.plot([people] * 2, tick, color=INK, linewidth=1.2)
            for model, run in scored:
                numbers = run.numbers
                y = place + (models.index(model) - (len(models) - 1) / 2) * step
                x, low, high = (numbers.get(name) for name in ("accuracy", "accuracy_low", "accuracy_high"))
                lines.append([key.name, model, x, low, high, chance, "" if people is None else people / 100])
                paint, sign, size = colour(run.number), shape(run.number), 6.5
                if model in quiet:
                    paint, sign, size = MUTED, _BASELINE_MARKERS[quiet.index(model) % 3], 4.5
                if low is not None and high is not None:
                    axes.plot([100 * low, 100 * high], [y, y], color=paint, alpha=0.45, linewidth=2.4)
                assert x is not None
                axes.plot(100 * x, y, sign, color=paint, markersize=size, markeredgewidth=0, clip_on=False,
                          label=None if model in labelled else model)  # fmt: skip
                labelled.add(model)
        axes.set_yticks(range(len(keys)), [key.short if width > 5 else key.short.replace(" (", "\n(") for key in keys])
        axes.tick_params(axis="y", labelsize=10, labelcolor=INK)
        axes.set_ylim(len(keys) - 0.45, -0.55)
        axes.set_xlim(-1, 102)
        axes.set_xlabel("accuracy, %   (dashed: chance" + (", solid: people)" if any(map(human, keys)) else ")"))
        tidy(axes, grid="")
        legend(canvas)
        falls = keys[0].config.startswith("random") and len(keys) > 1
        return finish(
            canvas,
            "accuracy-dots" if width > 5 else "accuracy-dots-narrow",
            "From random candidates to contrasts" if falls else "Accuracy",
            lines,
            wide=True,
        )


def above_chance(numbers: Numbers) -> float:
    """Accuracy from 0 (chance) to 1, so that configs with different numbers of candidates can be compared."""
    return float((numbers["accuracy"] - numbers["chance"]) / (1 - numbers["chance"]))
