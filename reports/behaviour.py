"""How the models behave: sensitivity to the contrast, controls, position bias, the verbs they miss."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from video_contrast.reports.figures import FAINT, MUTED, colour, drawing, finish, tidy
from video_contrast.reports.layout import Cell, Column, Figure, Section, Table
from video_contrast.reports.runs import Row, Run, SetKey

CONTROLS = {
    "clean": "full video",
    "control:one_frame": "one frame",
    "control:shuffled": "shuffled frames",
    "control:reversed": "reversed frames",
    "control:blind": "no video",
}
_WORDS = 14  # words of the verb plot


def controls(runs: Sequence[Run]) -> Section:
    """Score without the video, with one frame, with shuffled and reversed frames, and what time is worth."""
    section = Section(
        "controls",
        "Controls",
        "What is left when the video, or its order, is taken away. Only a model that loses by shuffled frames uses "
        "time: the last column is full minus shuffled, with its paired 95 % interval.",
    )
    for key in dict.fromkeys(run.key for run in runs):
        mine = [run for run in runs if run.key == key and any(c.startswith("control:") for c in run.metrics)]
        if mine:
            section.parts.append(_control_table(mine, key))
    return section


def behaviour(runs: Sequence[Run]) -> Section:
    """Plots from the scores of the multiple-choice runs, set by set."""
    section = Section(
        "behaviour",
        "Behaviour",
        "Sensitivity is the score of the true caption minus that of its contrast: below zero the model prefers the "
        "false one.",
    )
    for key in dict.fromkeys(run.key for run in runs if run.layout == "multiple_choice"):
        mine = [run for run in runs if run.key == key and not run.is_baseline] or [r for r in runs if r.key == key]
        section.parts += sensitivity_figures(mine, key)
        section.parts += verb_figures(mine, key)
    positions = [run for run in runs if run.layout == "multiple_choice"]
    if positions:
        section.parts.append(position_table(positions))
    return section


def sensitivity_figures(runs: Sequence[Run], key: SetKey) -> list[Figure]:
    """The histogram of true minus contrast score; scores of different models are scaled by their own spread."""
    changes = {run.model: changes_of(run) for run in runs}
    changes = {model: values for model, values in changes.items() if len(values) > 1 and values.std() > 0}
    if not changes:
        return []
    lines: list[list[object]] = [["model", "from", "to", "share of items"]]
    edges = np.linspace(-3, 3, 31)
    colours = {run.model: colour(run.number) for run in runs}
    with drawing(6.4, 2.8) as (canvas, axes):
        for model, values in changes.items():
            scaled = np.clip(values / values.std(), -3, 3)
            share = 100 * np.histogram(scaled, edges)[0] / len(scaled)
            below = 100 * float((values < 0).mean() + 0.5 * (values == 0).mean())
            axes.stairs(share, edges, color=colours[model], linewidth=1.6, label=f"{model}, {below:.0f} % below zero")
            axes.stairs(share, edges, color=colours[model], fill=True, alpha=0.1)
            lines += [
                [model, a, b, s]
                for a, b, s in zip(edges[:-1].tolist(), edges[1:].tolist(), share.tolist(), strict=True)
            ]
        axes.axvline(0, color=MUTED, linewidth=1, linestyle=(0, (2, 2)))
        axes.set_xlabel("true minus contrast score, in standard deviations")
        axes.set_ylabel("items, %")
        tidy(axes, grid="y")
        canvas.legend(loc="outside upper left", ncols=2, handlelength=1.2, columnspacing=1.2)
        return [finish(canvas, f"sensitivity-{key.config}", f"Sensitivity to the contrast, {key.name}", lines)]


def verb_figures(runs: Sequence[Run], key: SetKey) -> list[Figure]:
    """The commonest replaced words, and the error rate of each model on them; for configs whose edits name words."""
    rows = runs[0].set_rows
    words: Counter[str] = Counter()
    hard: dict[str, str] = {}
    for name, row in rows.items():
        edits = [edit for edit in row["edits"] if edit and edit["old"]]
        if edits:
            hard[name] = edits[0]["old"].lower()
            words[hard[name]] += 1
    common = [word for word, n in words.most_common(_WORDS) if n > 1]
    if len(common) < 3:
        return []
    lines: list[list[object]] = [["word", "items", *[f"{run.model} wrong, %" for run in runs]]]
    wrong = {run.model: _wrong_by(run, hard) for run in runs}
    with drawing(6.4, 0.9 + 0.23 * len(common), 2, sharey=True, width_ratios=(1, 2)) as (canvas, (left, right)):
        places = range(len(common))
        left.barh(places, [words[word] for word in common], 0.62, color=FAINT)
        left.set_xlabel("items")
        left.set_yticks(places, common)
        left.set_ylim(len(common) - 0.4, -0.6)
        for run in runs:
            shares = [100 * float(np.mean(wrong[run.model].get(word, [np.nan]))) for word in common]
            right.plot(shares, places, "o", color=colour(run.number), markersize=5, label=run.model)
        right.set_xlabel("wrong, %")
        right.set_xlim(-3, 103)
        tidy(left, grid="")
        tidy(right)
        for word in common:
            shares = [100 * float(np.mean(wrong[run.model].get(word, [np.nan]))) for run in runs]
            lines.append([word, words[word], *shares])
        canvas.legend(loc="outside upper left", ncols=3, handletextpad=0.1, columnspacing=1.2)
        return [finish(canvas, f"words-{key.config}", f"Replaced words and errors on them, {key.name}", lines)]


def position_table(runs: Sequence[Run]) -> Table:
    """How accuracy and choice depend on where the true option stands."""
    from video_contrast.metrics import position_bias

    rows = []
    several = len({run.key for run in runs}) > 1
    for run in runs:
        lines = list(run.choices[run.main].values())
        if len({len(line["scores"]) for line in lines}) > 1:
            continue
        found = position_bias([line["scores"] for line in lines], [line["label"] for line in lines])
        by = ", ".join("–" if value is None else f"{100 * value:.0f}" for value in found["accuracy_by_position"])
        rows.append([
            Cell(run.model, note=run.key.name if several else "", tone="quiet" if run.is_baseline else ""),
            Cell(by),
            Cell(f"{100 * found['accuracy_std']:.1f}", 100 * found["accuracy_std"]),
            Cell(", ".join(f"{100 * share:.0f}" for share in found["picked"])),
        ])  # fmt: skip
    columns = [
        Column("model", numeric=False),
        Column("accuracy by position, %"),
        Column("standard deviation"),
        Column("picked, %", hint="share of items in which each position scored highest"),
    ]
    return Table("positions", "Position of the true option", columns, rows)


def changes_of(run: Run) -> Any:
    """True minus contrast score of every item that has exactly one contrast, as float64[n]."""
    changes = []
    for line in run.choices.get(run.main, {}).values():
        contrasts = [n for n, kind in enumerate(line["kinds"]) if kind not in ("true", "random")]
        if len(contrasts) == 1:
            changes.append(line["scores"][line["label"]] - line["scores"][contrasts[0]])
    return np.asarray(changes, np.float64)


def hit(line: Row) -> float:
    """1 if the true option scores highest, its share on a tie, else 0.

    >>> hit({"scores": [0.5, 0.5, 0.1], "label": 0})
    0.5
    """
    scores, true = line["scores"], line["scores"][line["label"]]
    return 0.0 if max(scores) > true else 1 / sum(score == true for score in scores)


def _control_table(runs: Sequence[Run], key: SetKey) -> Table:
    from video_contrast.reports.summary import accuracy_cell

    names = [name for name in CONTROLS if any(name in run.metrics for run in runs)]
    score, chance = ("accuracy", "chance") if runs[0].layout == "multiple_choice" else ("t2v_R@1", "t2v_chance_R@1")
    paired = score == "accuracy" and "control:shuffled" in names
    rows = []
    for run in runs:
        cells = [Cell(run.model, tone="quiet" if run.is_baseline else "")]
        cells += [accuracy_cell(run.metrics.get(name), score, chance=chance) for name in names]
        if paired:
            cells.append(_worth_of_time(run))
        rows.append(cells)
    columns = [Column("model", numeric=False), *[Column(CONTROLS[name]) for name in names]]
    if paired:
        columns.append(Column("full minus shuffled"))
    what = "Accuracy" if score == "accuracy" else "Text to video R@1"
    return Table(f"controls-{key.config}", f"{what}, %, {key.name}", columns, rows)


def _worth_of_time(run: Run) -> Cell:
    from video_contrast.metrics.paired import paired_difference

    full, shuffled = run.choices.get("clean", {}), run.choices.get("control:shuffled", {})
    ids = [name for name in full if name in shuffled]
    if not ids:
        return Cell("–", tone="quiet")
    found = paired_difference(
        [hit(shuffled[name]) for name in ids],
        [hit(full[name]) for name in ids],
        [full[name]["cluster"] for name in ids],
    )
    low, high = found["low"], found["high"]
    spread = "" if low is None or high is None else f"{100 * low:+.1f} – {100 * high:+.1f}"
    tone = "good" if low is not None and low > 0 else ""
    difference = 100 * float(found["difference"] or 0)
    return Cell(f"{difference:+.1f}", difference, note=spread, tone=tone)  # type: ignore[arg-type]


def _wrong_by(run: Run, words: dict[str, str]) -> dict[str, list[float]]:
    found: dict[str, list[float]] = defaultdict(list)
    for name, line in run.choices[run.main].items():
        if name in words:
            found[words[name]].append(1 - hit(line))
    return found
