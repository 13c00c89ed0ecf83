"""Accuracy by kind of negative, and the profile of models over kinds: which differences they see."""

from collections.abc import Sequence
from pathlib import Path

from video_contrast.reports.dots import DotLine, dot_plot
from video_contrast.reports.hits import differing
from video_contrast.reports.layout import DASH, Cell, Column, Plot, Section, Table, columns, share_cell, signed
from video_contrast.reports.runs import ConfigRun, by_set
from video_contrast.reports.summary import figure_cell, model_cell
from video_contrast.storage.run_figures import RunFigure, in_words, kind_in_words

LEAST = 3  # kinds that make a profile


def kinds(runs: Sequence[ConfigRun]) -> Section:
    """One table a config that has several kinds."""
    section = Section.of("kinds")
    choice = [run for run in runs if run.layout != "retrieval"]
    section.parts += profiles(choice)
    for of_set in by_set(choice):
        key = of_set[0].key
        names = sorted({name for run in of_set for name in run.kinds})
        replaced = any(run.figure("random_option_accuracy") for run in of_set)
        over_verbs = [run.figure("accuracy_over_verbs") for run in of_set]
        if len(names) < 2 and not replaced and not any(over_verbs):
            continue
        heads, rows = _columns(of_set, names, over_verbs, replaced=replaced)
        section.add([Table(f"kinds-{key.stem}", f"Accuracy, %, {key.name}", heads, rows)], key.short)
    return section


def _columns(
    runs: Sequence[ConfigRun], names: Sequence[str], over_verbs: Sequence[RunFigure | None], *, replaced: bool
) -> tuple[list[Column], list[list[Cell]]]:
    heads = columns("model", *(in_words("accuracy", name) for name in names))
    rows = [[model_cell(run)] for run in runs]
    for name in names:
        figures = [run.figure("accuracy", name) for run in runs]
        marks = differing([figure.n if figure else None for figure in figures])
        for row, figure, mark in zip(rows, figures, marks, strict=True):
            row.append(figure_cell(figure, note=mark))
    if any(over_verbs):
        heads.append(
            Column("averaged over verbs", hint="of all candidates; every verb of the true captions counts alike")
        )
        for row, figure in zip(rows, over_verbs, strict=True):
            row.append(figure_cell(figure))
    if replaced:
        heads += [
            Column("random candidates", hint="the same captions, the contrast exchanged for a random distractor"),
            Column("drop", hint="random candidates minus accuracy, on the same captions"),
        ]
        for row, run in zip(rows, runs, strict=True):
            easy = run.figure("random_option_accuracy")
            drop = 100 * (easy.value - run.accuracy.value) if easy else 0.0
            row += [share_cell(easy.value), Cell(signed(drop), drop)] if easy else [DASH] * 2
    return heads, rows


def profiles(runs: Sequence[ConfigRun]) -> list[Plot]:
    """One plot a set with several kinds of contrast, whether one config holds them all or each has a config.

    `runs`: multiple-choice runs; of a kind that two configs of a model have, the one with more items counts.
    """
    of_set: dict[tuple[str, str], list[ConfigRun]] = {}
    for run in runs:
        of_set.setdefault((Path(run.key.dataset).name, run.key.split), []).append(run)
    plots = []
    for number, ((name, split), members) in enumerate(of_set.items()):
        by_kind = _by_kind(members)
        means = {kind: sum(f.value for f in own.values()) / len(own) for kind, own in by_kind.items()}
        if len(means) >= LEAST:
            kinds = sorted(means, key=lambda kind: (-means[kind], kind))
            lines = [DotLine(kind, kind_in_words(kind), by_kind[kind]) for kind in kinds]
            caption = f"Profile over kinds of contrast, {name}" + ("" if split == "test" else f" ({split})")
            what = "true caption above the contrast"
            plots.append(dot_plot(lines, members, name=f"profile-{number}", caption=caption, heading="kind", what=what))
    return plots


def _by_kind(runs: Sequence[ConfigRun]) -> dict[str, dict[str, RunFigure]]:
    """Kind -> model -> its accuracy, of the run with most items of the kind."""
    by_kind: dict[str, dict[str, RunFigure]] = {}
    for run in runs:
        for kind in run.kinds:
            figure = run.figure("accuracy", kind)
            if figure is not None and kind != "random":
                known = by_kind.setdefault(kind, {}).get(run.model)
                if known is None or (known.n or 0) < (figure.n or 0):
                    by_kind[kind][run.model] = figure
    return by_kind
