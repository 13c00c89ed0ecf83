"""How the models behave: sensitivity to the contrast, position bias, the words they miss, scores under controls and
over the steps of a training run; and which verbs a set's contrasts bring in (the contrast-set paper's figure 3).
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

import numpy as np

from video_contrast.perturbations.english.forms import main_verb
from video_contrast.reports.figures import FAINT, MUTED, colour, drawing, finish, shape
from video_contrast.reports.layout import DASH, Cell, Plot, Section, Table, columns, signed
from video_contrast.reports.runs import ConfigRun, by_set, hit
from video_contrast.reports.summary import figure_cell, model_cell
from video_contrast.rows import Row, contrast_places
from video_contrast.storage.run_figures import RunFigure, leading

_WORDS = 14  # words of the verb plot


def behaviour(runs: Sequence[ConfigRun]) -> Section:
    """Plots from the scores of the multiple-choice runs, set by set."""
    section = Section.of("behaviour")
    for of_set in by_set(run for run in runs if run.layout != "retrieval"):
        of_set = [run for run in of_set if not run.is_baseline] or of_set
        figures = sensitivity_figures(of_set) + position_figures(of_set) + verb_figures(of_set)
        section.add(figures, of_set[0].key.short)
    section.add(verb_distributions(runs), "verb distributions")
    return section


def sensitivity_figures(runs: Sequence[ConfigRun]) -> list[Plot]:
    """The histogram of true minus contrast score; scores of different models are scaled by their own spread."""
    changes = {}
    for run in runs:
        items = ((i["scores"], i["label"], contrast_places(i["kinds"])) for i in run.choices.get(run.main, {}).values())
        values = np.array([scores[label] - scores[other[0]] for scores, label, other in items if len(other) == 1])
        if len(values) > 1 and values.std() > 0:
            changes[run.model] = values
    if not changes:
        return []
    lines: list[list[object]] = [["model", "from", "to", "share of items"]]
    edges = np.linspace(-3, 3, 31)
    colours = {run.model: colour(run.number) for run in runs}
    with drawing(height=2.7, grid="y") as (canvas, axes):
        for model, values in changes.items():
            deviations = np.clip(values / values.std(), -3, 3)
            share = 100 * np.histogram(deviations, edges)[0] / len(deviations)
            below = 100 * float((values < 0).mean() + 0.5 * (values == 0).mean())
            axes.stairs(share, edges, color=colours[model], linewidth=1.6, label=f"{model}, {below:.0f} % < 0")
            axes.stairs(share, edges, color=colours[model], fill=True, alpha=0.1)
            bins = zip(edges[:-1].tolist(), edges[1:].tolist(), share.tolist(), strict=True)
            lines += [[model, *of_bin] for of_bin in bins]
        axes.axvline(0, color=MUTED, linewidth=1, linestyle=(0, (2, 2)))
        axes.set(xlabel="true minus contrast score, in standard deviations", ylabel="items, %")
        return [finish(canvas, f"sensitivity-{runs[0].key.stem}", "Sensitivity to the contrast", lines)]


def verb_figures(runs: Sequence[ConfigRun]) -> list[Plot]:
    """The commonest replaced words, and the error rate of each model on them; for configs whose edits name words."""
    rows = runs[0].set_rows
    words: Counter[str] = Counter()
    hard: dict[str, str] = {}
    for name, row in rows.items():
        edits = [] if "captions" in row else [edit for edit in row["edits"] if edit and edit["old"]]
        if edits:
            hard[name] = edits[0]["old"].lower()
            words[hard[name]] += 1
    common = [word for word, n in words.most_common(_WORDS) if n > 1]
    if len(common) < 3:
        return []
    lines: list[list[object]] = [["word", "items", *[f"{run.model} wrong, %" for run in runs]]]
    wrong: dict[tuple[str, str], list[float]] = defaultdict(list)  # model and word -> 1 for each wrong item
    for run in runs:
        for name in hard.keys() & run.choices[run.main].keys():
            wrong[run.model, hard[name]].append(1 - hit(run.choices[run.main][name]))
    tall = 0.9 + 0.25 * len(common)
    with drawing(height=tall, columns=2, sharey=True, width_ratios=(1, 2)) as (canvas, (left, right)):
        positions = range(len(common))
        left.barh(positions, [words[word] for word in common], 0.62, color=FAINT)
        left.set(xlabel="items", yticks=positions, yticklabels=common, ylim=(len(common) - 0.4, -0.6))
        shares_of = [[100 * float(np.mean(wrong[run.model, word] or [np.nan])) for word in common] for run in runs]
        for number, (run, shares) in enumerate(zip(runs, shares_of, strict=True)):
            # models that are equally wrong stand below each other, not on each other
            beside = [place + (number - (len(runs) - 1) / 2) * min(0.26, 0.8 / len(runs)) for place in positions]
            right.plot(shares, beside, shape(run.number), color=colour(run.number), markersize=4.5, label=run.model)
        right.set(xlabel="wrong, %", xlim=(-3, 103))
        right.grid(True, axis="x")
        lines += [[word, words[word], *shares] for word, *shares in zip(common, *shares_of, strict=True)]
        return [finish(canvas, f"words-{runs[0].key.stem}", "Replaced words and errors on them", lines)]


def position_figures(runs: Sequence[ConfigRun]) -> list[Plot]:
    """The shares in which each position is picked and is right; none where items differ in their options."""
    from video_contrast.metrics import position_bias

    lines: list[list[object]] = [["model", "position", "picked, %", "accuracy where it is true, %"]]
    biases = []
    for run in runs:
        items = list(run.choices[run.main].values())
        if len({len(item["scores"]) for item in items}) == 1:
            biases.append((run, position_bias([i["scores"] for i in items], [i["label"] for i in items])))
    if not biases:
        return []
    count = max(len(bias["picked"]) for _, bias in biases)
    with drawing(height=2.7, columns=2, sharex=True, grid="y") as (canvas, (left, right)):
        for run, bias in biases:
            positions = list(range(1, len(bias["picked"]) + 1))
            shares = [100 * share for share in bias["picked"]]
            right_at = [np.nan if share is None else 100 * share for share in bias["accuracy_by_position"]]
            line = f"{shape(run.number)}-"
            left.plot(positions, shares, line, color=colour(run.number), markersize=4, label=run.model)
            right.plot(positions, right_at, line, color=colour(run.number), markersize=4)
            lines += [[run.model, *biases] for biases in zip(positions, shares, right_at, strict=True)]
        left.axhline(100 / count, color=MUTED, linewidth=1, linestyle=(0, (2, 2)))
        top = max(50.0, 1.1 * left.get_ylim()[1])
        left.set(ylabel="picked, %", ylim=(-0.03 * top, top))
        right.set(ylabel="right where it is true, %", ylim=(-3, 103))
        for axes in (left, right):
            axes.set(xticks=range(1, count + 1), xlim=(0.7, count + 0.3), xlabel="position of the candidate")
        return [finish(canvas, f"positions-{runs[0].key.stem}", "Position bias (dashed: none)", lines)]


CONTROLS = {
    "clean": "full video",
    "control:one_frame": "one frame",
    "control:shuffled": "shuffled frames",
    "control:reversed": "reversed frames",
    "control:blind": "no video",
}
_SHUFFLED = "control:shuffled"


def controls(runs: Sequence[ConfigRun]) -> Section:
    """Score without the video, with one frame, with shuffled and reversed frames, and what time is worth."""
    section = Section.of("controls")
    for of_set in by_set(run for run in runs if any(name.startswith("control:") for name in run.conditions)):
        key, score = of_set[0].key, leading(of_set[0].layout)
        names = [name for name in CONTROLS if any(name in run.conditions for run in of_set)]
        has_shuffled = _SHUFFLED in names
        rows = []
        for run in of_set:
            cells = [model_cell(run), *(figure_cell(run.figure(score, name)) for name in names)]
            rows.append([*cells, _worth_of_time(run)] if has_shuffled else cells)
        heads = columns("model", *(CONTROLS[name] for name in names), *["full minus shuffled"] * has_shuffled)
        caption = f"{score.words[:1].upper()}{score.words[1:]}, %, {key.name}"
        section.add([Table(f"controls-{key.stem}", caption, heads, rows)], key.short)
    return section


def _worth_of_time(run: ConfigRun) -> Cell:
    """Full minus shuffled on the same items, with the interval of a paired bootstrap over videos."""
    from video_contrast.metrics.paired import paired_difference

    full, of_shuffled = run.hits("clean"), run.hits(_SHUFFLED)
    here, there = full.common(of_shuffled)
    if not len(here):
        return DASH
    gain = paired_difference(of_shuffled.values[there], full.values[here], full.clusters.take(here))
    low, high = gain["low"], gain["high"]
    spread = "" if low is None or high is None else f"{signed(100 * low)} to {signed(100 * high)}"
    difference = 100 * float(gain["difference"] or 0)
    return Cell(signed(difference), difference, note=spread, tone="good" if low is not None and low > 0 else "")


def training(runs: Sequence[ConfigRun]) -> Section:
    """A curve a set: its score against the step, a line a training run; empty without two checkpoints of one."""
    section = Section("training", "Over training")
    figures = map(curve, by_set(run for run in runs if run.record["model"].get("step") is not None))
    section.parts += [figure for figure in figures if figure is not None]
    return section


def curve(runs: Sequence[ConfigRun]) -> Plot | None:
    """The score of checkpoints on one set against their steps, with 95 % intervals."""
    key, score = runs[0].key, leading(runs[0].layout)
    points: dict[str, list[tuple[int, RunFigure]]] = {}  # folder of a training run -> its checkpoints
    for run in runs:
        if figure := run.figure(score):
            name = str(Path(run.folder.model).parent)
            points.setdefault(name, []).append((int(run.record["model"]["step"]), figure))
    points = {name: sorted(of, key=lambda point: point[0]) for name, of in points.items() if len(of) > 1}
    if not points:
        return None
    first = next(iter(points.values()))[0][1]
    lines: list[list[object]] = [["training", "step", score.words, "low", "high"]]
    with drawing(height=2.9, grid="y") as (canvas, axes):
        for number, (name, of) in enumerate(points.items()):
            steps = [at for at, _ in of]
            # the ends are the score itself where there is no interval (fewer than five videos)
            ends = [(f.value, f.value if f.low is None else f.low, f.value if f.high is None else f.high)
                    for _, f in of]  # fmt: skip
            values, low, high = ([100 * share for share in shares] for shares in zip(*ends, strict=True))
            axes.fill_between(steps, low, high, color=colour(number), alpha=0.12, linewidth=0)
            axes.plot(steps, values, f"{shape(number)}-", color=colour(number), markersize=4, label=Path(name).name)
            lines += [[name, *line] for line in zip(steps, values, low, high, strict=True)]
        if first.chance is not None:
            axes.axhline(100 * first.chance, color=MUTED, linewidth=1, linestyle=(0, (2, 2)))
        axes.set_xlabel("step   (band: 95 % interval" + ("" if first.chance is None else "; dashed: chance") + ")")
        axes.set_ylabel(f"{score.words}, %")
        return finish(canvas, f"training-{key.stem}", f"{key.name} over training", lines)


_SHOWN = 24
_VERB_KINDS = ("verb", "antonym", "counterfactual")  # how they begin


def verb_counts(rows: Iterable[Row], side: Literal["new", "old"] = "new") -> Counter[str]:
    """Dictionary forms of the verbs that a set's verb contrasts put in ("old": replace), with how often each occurs."""
    edits = (pair for row in rows if "captions" not in row for pair in zip(row["kinds"], row["edits"], strict=True))
    return Counter(main_verb(e[side]) for kind, e in edits if e and e["new"] and kind.startswith(_VERB_KINDS))


def verb_distributions(runs: Sequence[ConfigRun]) -> list[Plot]:
    """Share of each verb among the contrasts of every verb config; none where the edits name no verbs."""
    set_rows = {run.key: run.set_rows.values() for run in runs if run.layout != "retrieval"}
    new_verbs = {key: of_set for key, rows in set_rows.items() if (of_set := verb_counts(rows))}
    true = sum((verb_counts(set_rows[key], "old") for key in new_verbs), Counter[str]())
    counts = list(new_verbs.values())
    means = {verb: sum(n[verb] / n.total() for n in counts) / len(counts) for verb in set().union(*counts)}
    common = sorted(means, key=lambda verb: (-means[verb], verb))[:_SHOWN]
    if len(common) < 3:
        return []
    counts_of = [(key.short, new) for key, new in new_verbs.items()]
    return [verb_plot(counts_of, common, before=true, name="verb-distributions", size=(10, 2.9))]


def verb_plot(
    counts: Sequence[tuple[str, Counter[str]]], verbs: Sequence[str], *, name: str, before: Counter[str] | None = None,
    size: tuple[float, float],
) -> Plot:  # fmt: skip
    """The share of each verb in several sets, a bar a set.

    `counts`: of each set its name and how often it has each verb. `before`: how often the true captions have them,
    drawn behind the bars.
    """
    shares = [(label, [100 * own[verb] / own.total() for verb in verbs]) for label, own in counts]
    heights = [100 * before[verb] / before.total() for verb in verbs] if before else []
    wide = 0.8 / len(shares)
    with drawing(*size, grid="y") as (canvas, axes):
        if before:
            axes.bar(range(len(verbs)), heights, 0.92, color=FAINT, label="replaced, in true captions")
        for number, (label, values) in enumerate(shares):
            at = np.arange(len(verbs)) + (number - (len(shares) - 1) / 2) * wide
            axes.bar(at, values, wide * 0.85, color=colour(number), label=label)
        axes.set_xticks(range(len(verbs)), verbs, rotation=35, ha="right", color=MUTED)
        axes.set(ylabel="of the set's verbs, %", xlim=(-0.7, len(verbs) - 0.3))
        columns = [("true captions", heights)] * bool(before) + shares
        lines = [["verb", *(f"{label}, %" for label, _ in columns)], *zip(verbs, *(v for _, v in columns), strict=True)]
        return finish(canvas, name, "Verbs of the contrasts", lines, wide=True)
