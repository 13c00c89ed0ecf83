"""Dots on lines: a line a config or a kind of contrast, a dot a model with its interval, chance as a tick."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from video_contrast.reports.figures import FAINT, INK, MUTED, colour, drawing, finish, legend, shape, tidy
from video_contrast.reports.layout import Plot
from video_contrast.reports.runs import ConfigRun
from video_contrast.storage.run_figures import RunFigure

_BASELINE_MARKERS = ("s", "D", "^")
Setting = str | float


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
    wide = _drawn(lines, runs, 10.8, name, (caption, heading, what))
    return replace(wide, narrow=_drawn(lines, runs, 4.1, f"{name}-narrow", (caption, heading, what)).svg)


def _drawn(
    lines: Sequence[DotLine], runs: Sequence[ConfigRun], width: float, name: str, texts: tuple[str, str, str]
) -> Plot:
    caption, heading, what = texts
    looks = _looks(runs)
    models = list(looks)
    step = min(0.16, 0.7 / len(models))
    table: list[list[object]] = [[heading, "model", "accuracy", "low", "high", "chance", "people", "items"]]
    labelled: set[str] = set()
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
                label = None if model in labelled else model
                axes.plot(100 * figure.value, y, linestyle="", markeredgewidth=0, clip_on=False, label=label,
                          **looks[model])  # fmt: skip
                labelled.add(model)
                people = "" if line.people is None else line.people / 100
                table.append([line.name, model, figure.value, figure.low, figure.high, figure.chance, people, figure.n])
        narrow = width < 5
        axes.set_yticks(range(len(lines)), [e.label.replace(" (", "\n(") if narrow else e.label for e in lines])
        axes.tick_params(axis="y", labelsize=10, labelcolor=INK)
        axes.set_ylim(len(lines) - 0.45, -0.55)
        axes.set_xlim(-1, 102)
        axes.set_xlabel(f"{what}, %   (dashed: chance{', solid: people' * any(e.people for e in lines)})")
        tidy(axes, grid="")
        legend(canvas)
        return finish(canvas, name, caption, table, wide=True)


def _looks(runs: Sequence[ConfigRun]) -> dict[str, dict[str, Setting]]:
    """Model -> colour, marker and size, in the order of the runs; baselines are grey and small."""
    looks: dict[str, dict[str, Setting]] = {}
    baselines = list(dict.fromkeys(run.model for run in runs if run.is_baseline))
    for run in runs:
        if run.is_baseline:
            marker = _BASELINE_MARKERS[baselines.index(run.model) % len(_BASELINE_MARKERS)]
            looks[run.model] = {"color": MUTED, "marker": marker, "markersize": 4.5}
        else:
            looks[run.model] = {"color": colour(run.number), "marker": shape(run.number), "markersize": 6.5}
    return looks
