"""Robustness: gamma by category as table and bars, severity curves, the text x video map, and the scatter."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from video_contrast.console import counted
from video_contrast.perturbations.video import PAIR_SEVERITY
from video_contrast.reports.figures import MUTED, PAPER, SERIES, colour, drawing, finish, hatch, legend, shape
from video_contrast.reports.human_and_published import published_gammas
from video_contrast.reports.layout import Cell, Column, Plot, Section, Table, columns, row
from video_contrast.reports.runs import ConfigRun, by_set
from video_contrast.storage.run_figures import ACCURACY, RELATIVE, ROBUST, FigureKey, Gamma, Score

if TYPE_CHECKING:
    from matplotlib.container import BarContainer

# The paper's score is R@5; plots show R@1, which is further from 100 %.
SCORES = (ACCURACY, *ROBUST["retrieval"])
MODALITIES = {"visual": "o", "text": "s", "pairs": "^"}
_MAPS = 4  # heat maps a set, at most


def robustness(runs: Sequence[ConfigRun]) -> Section:
    """Everything about perturbed conditions, set by set; empty where there are none."""
    section = Section.of("robustness")
    for of_set in by_set(run for run in runs if _scores(run)):
        key = of_set[0].key
        score = _scores(of_set[0])[0]
        section.add(gamma_tables(of_set), key.short)
        # A model at chance has nothing to lose: its gammas are no robustness.
        able = [run for run in of_set if score in _scores(run) and not at_chance(run, score)]
        if able:
            maps = (pair_map(run, score) for run in able[:_MAPS])
            plots = (gamma_bars(able, score), severity_curves(able, score), scatter(able, score), *maps)
            section.add([plot for plot in plots if plot is not None], key.short)
        section.add(published_gammas(key), key.short)
    return section


def gamma_tables(runs: Sequence[ConfigRun]) -> list[Table]:
    """Relative gamma, its spread and the absolute gamma of runs on one set.

    Returns a table with a row a model and score and a column a modality; then, for each score, a table (folded) with a
    row a category and a column a model. The first names the models whose clean score leaves nothing to keep.
    """
    key = runs[0].key
    scores = [score for score in SCORES if any(score in _scores(run) for run in runs)]
    several, words = len(scores) > 1, scores[0].words
    groups = {group: n for group, n in _groups(runs, scores[0]).items() if ":" not in group}
    names = ["model", "score", "clean, %"] if several else ["model", f"clean {words}, %"]
    hints = (Column(group, hint=counted(n, "perturbation")) for group, n in groups.items())
    heads = columns(*names, *hints, words=len(names) - 1)
    rows, left_out, by_category = [], [], []
    for score in scores:
        able = []
        for run in runs:
            gammas = _gammas(run, score)
            if gammas and not at_chance(run, score):
                able.append(run)
                clean = 100 * next(iter(gammas.values())).clean
                cells = (_gamma_cell(gammas.get(group)) for group in groups)
                rows.append(row(*[run.model, score.words][: 1 + several], Cell(f"{clean:.1f}", clean), *cells))
            elif gammas:
                figure = run.figures[FigureKey(run.key.config, "clean", score)]
                why = "at chance" if run.is_baseline or figure.low is not None else "too few videos"
                left_out.append(f"{run.model} ({score.words} {100 * figure.value:.1f} %, {why})")
        by_category += _by_category(able, score)
    note = "Small: standard deviation over perturbations, and the absolute gamma. A dash: not scored."
    if left_out:
        note += f" No gamma, as the clean score is not shown to be above chance: {'; '.join(left_out)}."
    caption = f"Relative gamma{'' if several else f' of {words}'}, {key.name}"
    return [Table(f"gamma-{key.stem}", caption, heads, rows, note=note), *by_category]


def _by_category(runs: Sequence[ConfigRun], score: Score) -> list[Table]:
    """A row a category of perturbations, a column a model; no table without any."""
    rows = []
    for group, n in _groups(runs, score).items():
        if ":" not in group:
            continue
        gammas = [_gammas(run, score).get(group) for run in runs]
        rows.append(row(Cell(group.replace(":", ": "), note=counted(n, "perturbation")), *map(_gamma_cell, gammas)))
    if not rows:
        return []
    key, heads = runs[0].key, columns("category", *(run.model for run in runs))
    caption = f"Relative gamma of {score.words} by category, {key.name}"
    return [Table(f"gamma-by-category-{key.stem}-{score.key}", caption, heads, rows, folded="Gamma by category")]


def gamma_bars(runs: Sequence[ConfigRun], score: Score) -> Plot:
    """Relative gamma by category, a bar a model, of runs on one set."""
    every = list(_groups(runs, score))
    groups = [group for group in every if ":" in group] or every
    lines: list[list[object]] = [["group", "model", RELATIVE, "sd", "n"]]
    wide = 0.8 / len(runs)
    bars: dict[str, BarContainer] = {}
    with drawing(height=0.9 + len(groups) * max(0.3, 0.13 * len(runs)), grid="x") as (canvas, axes):
        for number, run in enumerate(runs):
            own = _gammas(run, score)
            for place, group in enumerate(groups):
                gamma = own.get(group)
                if gamma is None or gamma.relative is None:
                    continue
                at = place + (number - (len(runs) - 1) / 2) * wide
                bar = axes.barh(at, gamma.relative, wide * 0.82, color=colour(run.number), hatch=hatch(run.number),
                                edgecolor=PAPER, linewidth=0)  # fmt: skip
                bars.setdefault(run.model, bar)
                if gamma.n > 1 and gamma.relative_sd is not None:
                    low, high = max(0, gamma.relative - gamma.relative_sd), gamma.relative + gamma.relative_sd
                    axes.plot([low, high], [at, at], color=MUTED, linewidth=0.9)
                lines.append([gamma.group, run.model, gamma.relative, gamma.relative_sd, gamma.n])
        axes.axvline(1, color=MUTED, linewidth=0.9, linestyle=(0, (2, 2)))
        axes.set_yticks(range(len(groups)), [group.replace(":", ": ") for group in groups])
        axes.set(ylim=(len(groups) - 0.5, -0.5), xlim=(0, None), xlabel="relative gamma")
        for model, bar in bars.items():
            bar.set_label(model)
        caption = f"Relative gamma of {score.words} by category"
        return finish(canvas, f"gamma-bars-{runs[0].key.stem}", caption, lines)


def severity_curves(runs: Sequence[ConfigRun], score: Score) -> Plot | None:
    """The score by severity, the mean over the visual perturbations that have it; severity 0 is the clean score."""
    curves = []
    for run in runs:
        curve: dict[int, list[float]] = {}
        for name, condition in run.in_groups("clean", "visual").items():
            if figure := run.figure(score, name):
                curve.setdefault(condition["visual"]["severity"], []).append(figure.value)  # 0 of the clean one
        curves.append((run, curve))
    if not any(len(curve) > 2 for _, curve in curves):
        return None
    words = score.words
    lines: list[list[object]] = [["model", "severity", words, "lowest perturbation", "highest perturbation"]]
    clean = runs[0].figure(score, "clean")
    chance = clean.chance if clean and score == ACCURACY else None
    with drawing(height=2.9, grid="y") as (canvas, axes):
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
        axes.set(xlabel=f"severity   (band: worst to best perturbation{dashed})", ylabel=f"{words}, %", ylim=(0, None))
        return finish(canvas, f"severity-{runs[0].key.stem}", f"{words[:1].upper()}{words[1:]} by severity", lines)


def scatter(runs: Sequence[ConfigRun], score: Score) -> Plot | None:
    """Relative gamma against the clean score: is the better model the more robust one?"""
    if len(runs) < 2:
        return None
    lines: list[list[object]] = [["model", "modality", "clean", RELATIVE]]
    with drawing(height=3.0, grid="both") as (canvas, axes):
        handles = []
        for group, marker in MODALITIES.items():
            for run in runs:
                gamma = _gammas(run, score).get(group)
                if gamma is not None and gamma.relative is not None:
                    clean = 100 * gamma.clean
                    axes.plot(clean, gamma.relative, marker, markersize=7, alpha=0.85, **_filled(run))
                    lines.append([run.model, group, clean, gamma.relative])
            if lines[-1][1] == group:
                handles += axes.plot([], [], marker, color=MUTED, markersize=6, label=group)
        for run in runs:
            handles += axes.plot([], [], "o", markersize=6, label=run.model, **_filled(run))
        legend(canvas, handles)
        axes.set(xlabel=f"clean {score.words}, %", ylabel="relative gamma")
        axes.margins(0.08)
        return finish(canvas, f"scatter-{runs[0].key.stem}", "Robustness against performance", lines)


def _filled(run: ConfigRun) -> dict[str, str]:
    """The colour of a model's points, hollow where an earlier model has the same."""
    return {"color": colour(run.number), "fillstyle": "none" if run.number >= len(SERIES) else "full"}


def pair_map(run: ConfigRun, score: Score) -> Plot | None:
    """Relative gamma of every pair of a text and a visual perturbation."""
    pairs, gammas = run.in_groups("pairs"), {}
    for gamma in run.gammas:
        if gamma.condition in pairs and gamma.score == score and gamma.relative is not None:
            visual, text = pairs[gamma.condition]["visual"], pairs[gamma.condition]["text"]
            level = "" if visual["severity"] == PAIR_SEVERITY else f"@{visual['severity']}"
            gammas[f"{visual['name']}{level}", text["name"]] = gamma.relative
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
        axes.set(xlim=(-0.5, len(columns_of) - 0.5), ylim=(len(lines_of) - 0.5, -0.5))
        axes.set_xticks(range(len(columns_of)), columns_of, rotation=35, ha="right", rotation_mode="anchor")
        axes.set_yticks(range(len(lines_of)), lines_of)
        lines = [["pair", *columns_of], *[[name, *row] for name, row in zip(lines_of, values.tolist(), strict=True)]]
        return finish(canvas, name, f"Pairs, relative gamma, {run.model}", lines)


def _scores(run: ConfigRun) -> list[Score]:
    """The scores that a run has gammas of, as in `SCORES`."""
    return [score for score in SCORES if _gammas(run, score)]


def _gammas(run: ConfigRun, score: Score) -> dict[str, Gamma]:
    """The gammas of a score by group of perturbations."""
    return {gamma.group: gamma for gamma in run.gammas if gamma.group and gamma.score == score}


def _groups(runs: Sequence[ConfigRun], score: Score) -> dict[str, int]:
    """The groups of perturbations of any run, in the order of the page, and how many each has in the first run."""
    groups = {group: gamma.n for run in reversed(runs) for group, gamma in _gammas(run, score).items()}
    order = list(MODALITIES)
    return dict(sorted(groups.items(), key=lambda own: (order.index(own[0].split(":")[0]), ":" in own[0], own[0])))


def at_chance(run: ConfigRun, score: Score) -> bool:
    """Whether the clean score is not shown to be above chance (its interval holds it, or there is none)."""
    clean = run.figure(score, "clean")
    if run.is_baseline or clean is None or clean.chance is None:
        return run.is_baseline
    return clean.low is None or clean.high is None or bool(clean.low <= clean.chance <= clean.high)


def _gamma_cell(gamma: Gamma | None) -> Cell | None:
    if gamma is None or gamma.relative is None:
        return None
    spread = "" if gamma.n < 2 else f"± {gamma.relative_sd:.2f}, "
    return Cell(f"{gamma.relative:.2f}", gamma.relative, note=f"{spread}abs {gamma.absolute:.2f}")
