"""Robustness: gamma by category as table and bars, severity curves, the text x video map, and the scatter."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from video_contrast.console import counted
from video_contrast.reports.figures import MUTED, PAPER, SERIES, colour, drawing, finish, hatch, legend, shape, tidy
from video_contrast.reports.layout import Cell, Column, Plot, Section, Table
from video_contrast.reports.reference import published_gammas
from video_contrast.reports.runs import ConfigRun, by_set
from video_contrast.storage.run_records import Numbers

if TYPE_CHECKING:
    from matplotlib.container import BarContainer

# The paper's score is R@5; plots show R@1, which is further from 100 %.
SCORES = {
    "accuracy": "accuracy",
    "t2v_R@1": "text to video R@1",
    "v2t_R@1": "video to text R@1",
    "t2v_R@5": "text to video R@5",
    "v2t_R@5": "video to text R@5",
}
_PAIR = re.compile(r"visual:(?P<visual>[^+]+)\+text:(?P<text>.+)")
_VISUAL = re.compile(r"visual:(?P<name>[^@+]+)@(?P<severity>\d)$")
_MAPS = 4  # heat maps a set, at most


def robustness(runs: Sequence[ConfigRun]) -> Section:
    """Everything about perturbed conditions, set by set; empty where there are none."""
    section = Section(
        "robustness",
        "Robustness",
        "Gamma is the share of the clean score that is left under a perturbation: 1 is robust. Visual: the mean over "
        "severities, then over perturbations; the spread is the standard deviation over perturbations.",
    )
    for of_set in by_set(run for run in runs if set(SCORES) & set(run.robustness)):
        key = of_set[0].key
        score = next(score for score in SCORES if score in of_set[0].robustness)
        section.add(gamma_tables(of_set), key.short)
        # What is at chance has nothing to lose: its gammas are no robustness.
        able = [run for run in of_set if not at_chance(run, score)]
        if able:
            maps = (pair_map(run, score) for run in able[:_MAPS])
            plots = (gamma_bars(able, score), severity_curves(able, score), scatter(able, score), *maps)
            section.add([plot for plot in plots if plot is not None], key.short)
        section.add(published_gammas(key), key.short)
    return section


def gamma_tables(runs: Sequence[ConfigRun]) -> list[Table]:
    """Relative gamma, its spread and the absolute gamma of runs on one set.

    Returns:
        A table with a row a model and score and a column a modality; then, for each score, a table (folded) with a row
        a category and a column a model. The first names the models whose clean score leaves nothing to keep.
    """
    key = runs[0].key
    scores = [score for score in SCORES if any(score in run.robustness for run in runs)]
    groups = _groups(runs, scores[0])
    modalities = [group for group in groups if ":" not in group]
    scored = [(score, run) for score in scores for run in runs if score in run.robustness]
    able = [(score, run) for score, run in scored if not at_chance(run, score)]
    left_out = "; ".join(
        f"{run.model} ({SCORES[score]} {100 * run.robustness[score]['clean']:.1f} %, {_why_none(run, score)})"
        for score, run in scored
        if (score, run) not in able
    )
    columns = [
        Column("model", numeric=False),
        *([Column("score", numeric=False)] if len(scores) > 1 else []),
        Column("clean, %" if len(scores) > 1 else f"clean {SCORES[scores[0]]}, %"),
        *[Column(group, hint=_hint(runs, scores[0], group)) for group in modalities],
    ]
    rows = [
        [
            Cell(run.model),
            *([Cell(SCORES[score])] if len(scores) > 1 else []),
            Cell(f"{100 * run.robustness[score]['clean']:.1f}", 100 * run.robustness[score]["clean"]),
            *[_gamma_cell(run.robustness[score].get(group)) for group in modalities],
        ]
        for score, run in able
    ]
    totals = Table(
        f"gamma-{key.stem}",
        f"Relative gamma{'' if len(scores) > 1 else f' of {SCORES[scores[0]]}'}, {key.name}",
        columns,
        rows,
        note="Small: standard deviation over perturbations, and the absolute gamma. A dash: not scored."
        + (f" No gamma, as the clean score is not shown to be above chance: {left_out}." if left_out else ""),
    )
    tables = [totals]
    for score in scores if len(groups) > len(modalities) else []:
        of_score = [run for of, run in able if of == score]
        lines = [
            [Cell(group.replace(":", ": "), note=_hint(runs, score, group)),
             *[_gamma_cell(run.robustness[score].get(group)) for run in of_score]]
            for group in groups if ":" in group
        ]  # fmt: skip
        heads = [Column("category", numeric=False), *[Column(run.model) for run in of_score]]
        caption = f"Relative gamma of {SCORES[score]} by category, {key.name}"
        tables += [
            Table(f"gamma-by-category-{key.stem}-{score}", caption, heads, lines, folded="Gamma by category")
        ] * bool(of_score)
    return tables


def gamma_bars(runs: Sequence[ConfigRun], score: str) -> Plot:
    """Relative gamma by category, a bar a model, of runs on one set."""
    groups = [group for group in _groups(runs, score) if ":" in group] or _groups(runs, score)
    lines: list[list[object]] = [["group", "model", "gamma_relative", "sd", "n"]]
    wide = 0.8 / len(runs)
    bars: dict[str, BarContainer] = {}
    with drawing(height=0.9 + len(groups) * max(0.3, 0.13 * len(runs))) as (canvas, axes):
        for number, run in enumerate(runs):
            for place, group in enumerate(groups):
                entry = run.robustness[score].get(group) or {}
                value = entry.get("gamma_relative")
                if value is None:
                    continue
                at = place + (number - (len(runs) - 1) / 2) * wide
                bar = axes.barh(at, value, wide * 0.82, color=colour(run.number), hatch=hatch(run.number),
                                edgecolor=PAPER, linewidth=0)  # fmt: skip
                bars.setdefault(run.model, bar)
                spread = entry["gamma_relative_sd"]
                if entry["n"] > 1:
                    axes.plot([max(0, value - spread), value + spread], [at, at], color=MUTED, linewidth=0.9)
                lines.append([group, run.model, value, spread, entry["n"]])
        axes.axvline(1, color=MUTED, linewidth=0.9, linestyle=(0, (2, 2)))
        axes.set_yticks(range(len(groups)), [group.replace(":", ": ") for group in groups])
        axes.set_ylim(len(groups) - 0.5, -0.5)
        axes.set_xlim(0)
        axes.set_xlabel("relative gamma")
        tidy(axes)
        for model, bar in bars.items():
            bar.set_label(model)
        legend(canvas, list(bars.values()))
        return finish(canvas, f"gamma-bars-{runs[0].key.stem}", f"Relative gamma of {SCORES[score]} by category", lines)


def severity_curves(runs: Sequence[ConfigRun], score: str) -> Plot | None:
    """The score by severity, the mean over the visual perturbations that have it; severity 0 is the clean score."""
    curves = [(run, _by_severity(run, score)) for run in runs]
    if not any(len(curve) > 2 for _, curve in curves):
        return None
    lines: list[list[object]] = [["model", "severity", score, "lowest perturbation", "highest perturbation"]]
    chance = runs[0].metrics["clean"].get("chance") if score == "accuracy" else None
    with drawing(height=2.9) as (canvas, axes):
        for run, curve in curves:
            levels = sorted(curve)
            means = [100 * float(np.mean(curve[level])) for level in levels]
            low, high = ([100 * edge(curve[level]) for level in levels] for edge in (min, max))
            axes.fill_between(levels, low, high, color=colour(run.number), alpha=0.1, linewidth=0)
            line = f"{shape(run.number)}-"
            axes.plot(levels, means, line, color=colour(run.number), markersize=4, label=run.model)
            lines += [[run.model, *line] for line in zip(levels, means, low, high, strict=True)]
        axes.set_xticks(range(6), ["clean", *"12345"])
        if chance is not None:
            axes.axhline(100 * chance, color=MUTED, linewidth=1, linestyle=(0, (2, 2)))
        dashed = "" if chance is None else "; dashed: chance"
        axes.set_xlabel(f"severity   (band: worst to best perturbation{dashed})")
        axes.set_ylabel(f"{SCORES[score]}, %")
        axes.set_ylim(0)
        tidy(axes, grid="y")
        legend(canvas)
        return finish(
            canvas, f"severity-{runs[0].key.stem}", f"{SCORES[score][:1].upper()}{SCORES[score][1:]} by severity", lines
        )


def scatter(runs: Sequence[ConfigRun], score: str) -> Plot | None:
    """Relative gamma against the clean score: is the better model the more robust one?"""
    if len(runs) < 2:
        return None
    lines: list[list[object]] = [["model", "modality", "clean", "gamma_relative"]]
    markers = {"visual": "o", "text": "s", "pairs": "^"}
    with drawing(height=3.0) as (canvas, axes):
        for group, marker in markers.items():
            for run in runs:
                value = (run.robustness[score].get(group) or {}).get("gamma_relative")
                if value is None:
                    continue
                clean = 100 * run.robustness[score]["clean"]
                axes.plot(clean, value, marker, color=colour(run.number), markersize=7, alpha=0.85,
                          fillstyle="none" if run.number >= len(SERIES) else "full")  # fmt: skip
                lines.append([run.model, group, clean, value])
        shown = [group for group in markers if any(line[1] == group for line in lines)]
        handles = [axes.plot([], [], markers[g], color=MUTED, markersize=6, label=g)[0] for g in shown]
        handles += [
            axes.plot([], [], "o", color=colour(run.number), markersize=6, label=run.model,
                      fillstyle="none" if run.number >= len(SERIES) else "full")[0]
            for run in runs
        ]  # fmt: skip
        legend(canvas, handles)
        axes.set_xlabel(f"clean {SCORES[score]}, %")
        axes.set_ylabel("relative gamma")
        axes.margins(0.08)
        tidy(axes, grid="both")
        return finish(canvas, f"scatter-{runs[0].key.stem}", "Robustness against performance", lines)


def pair_map(run: ConfigRun, score: str) -> Plot | None:
    """Relative gamma of every pair of a text and a visual perturbation."""
    gammas = {}
    for name, entry in run.robustness[score]["conditions"].items():
        parts = _PAIR.fullmatch(name)
        if parts and entry["gamma_relative"] is not None:
            gammas[parts["visual"].replace("@3", ""), parts["text"]] = entry["gamma_relative"]
    if not gammas:
        return None
    axis_names = [list(dict.fromkeys(pair[n] for pair in gammas)) for n in (0, 1)]
    if len(axis_names[0]) < len(axis_names[1]):  # the page is higher than it is wide
        axis_names.reverse()
        gammas = {(text, visual): gamma for (visual, text), gamma in gammas.items()}
    lines_of, columns_of = axis_names
    from matplotlib.patches import Rectangle

    values = np.array([[gammas.get((line, column), np.nan) for column in columns_of] for line in lines_of])
    name = re.sub(r"[^\w.-]+", "-", f"pairs-{run.key.stem}-{run.model}")
    with drawing(height=1.5 + 0.3 * len(lines_of)) as (canvas, axes):
        for row, column in np.ndindex(values.shape):
            if np.isfinite(values[row, column]):
                # The loss is the ink: what is kept is the page itself, light or dark.
                loss = 0.8 * float(np.clip(1 - values[row, column], 0, 1)) ** 0.8
                axes.add_patch(Rectangle((column - 0.47, row - 0.44), 0.94, 0.88, color=colour(1), alpha=loss, lw=0))
                axes.text(column, row, f"{values[row, column]:.2f}", ha="center", va="center")
        axes.set_xlim(-0.5, len(columns_of) - 0.5)
        axes.set_ylim(len(lines_of) - 0.5, -0.5)
        axes.set_xticks(range(len(columns_of)), columns_of, rotation=35, ha="right", rotation_mode="anchor")
        axes.set_yticks(range(len(lines_of)), lines_of)
        tidy(axes, grid="")
        lines = [["pair", *columns_of], *[[name, *row] for name, row in zip(lines_of, values.tolist(), strict=True)]]
        return finish(canvas, name, f"Pairs, relative gamma, {run.model}", lines)


def _groups(runs: Sequence[ConfigRun], score: str) -> list[str]:
    groups: dict[str, None] = {}
    for run in runs:
        groups.update(dict.fromkeys(g for g in run.robustness[score] if g not in ("clean", "conditions", "at_chance")))
    order = ("visual", "text", "pairs")
    return sorted(groups, key=lambda group: (order.index(group.split(":")[0]), ":" in group, group))


def _hint(runs: Sequence[ConfigRun], score: str, group: str) -> str:
    count = next((run.robustness[score][group]["n"] for run in runs if group in run.robustness[score]), 0)
    return counted(count, "perturbation")


def at_chance(run: ConfigRun, score: str) -> bool:
    """Whether the clean score is not shown to be above chance (its interval holds it, or there is none)."""
    numbers = run.metrics.get("clean", {})
    chance = numbers.get("chance" if score == "accuracy" else score.replace("_R", "_chance_R"))
    low, high = numbers.get(f"{score}_low"), numbers.get(f"{score}_high")
    if run.is_baseline or chance is None:
        return run.is_baseline
    return low is None or high is None or bool(low <= chance <= high)


def _why_none(run: ConfigRun, score: str) -> str:
    known = run.is_baseline or run.metrics["clean"].get(f"{score}_low") is not None
    return "at chance" if known else "too few videos"


def _gamma_cell(entry: Numbers | None) -> Cell:
    if entry is None or entry.get("gamma_relative") is None:
        return Cell("–", tone="quiet")
    value = entry["gamma_relative"]
    note = ("" if entry["n"] < 2 else f"± {entry['gamma_relative_sd']:.2f}, ") + f"abs {entry['gamma_absolute']:.2f}"
    return Cell(f"{value:.2f}", value, note=note)


def _by_severity(run: ConfigRun, score: str) -> dict[int, list[float]]:
    curve = {0: [run.robustness[score]["clean"]]}
    for name, numbers in run.metrics.items():
        parts = _VISUAL.fullmatch(name)
        if parts and numbers.get(score) is not None:
            curve.setdefault(int(parts["severity"]), []).append(numbers[score])
    return curve
