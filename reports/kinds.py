"""Accuracy by kind of negative."""

from collections.abc import Sequence

from video_contrast.reports.hits import differing
from video_contrast.reports.layout import DASH, Cell, Column, Section, Table, columns, share_cell, signed
from video_contrast.reports.profile import profiles
from video_contrast.reports.runs import ConfigRun, by_set
from video_contrast.reports.summary import figure_cell, model_cell
from video_contrast.storage.run_figures import in_words


def kinds(runs: Sequence[ConfigRun]) -> Section:
    """One table a config that has several kinds."""
    section = Section(
        "kinds",
        "By kind of negative",
        "The true caption against the candidates of one kind alone. With one contrast per item, chance is 50 %.",
    )
    choice = [run for run in runs if run.layout != "retrieval"]
    section.parts += profiles(choice)
    for of_set in by_set(choice):
        key = of_set[0].key
        names = sorted({name for run in of_set for name in run.kinds})
        replaced = any(run.figure("random_option_accuracy") for run in of_set)
        if len(names) < 2 and not replaced:
            continue
        heads = columns("model", *(in_words("accuracy", name) for name in names))
        rows = [[model_cell(run)] for run in of_set]
        for name in names:
            figures = [run.figure("accuracy", name) for run in of_set]
            marks = differing([figure.n if figure else None for figure in figures])
            for row, figure, mark in zip(rows, figures, marks, strict=True):
                row.append(figure_cell(figure, note=mark))
        if replaced:
            heads += [
                Column("random candidates", hint="the same captions, the contrast exchanged for a random distractor"),
                Column("drop", hint="random candidates minus accuracy, on the same captions"),
            ]
            for row, run in zip(rows, of_set, strict=True):
                row += _replaced(run)
        section.add([Table(f"kinds-{key.stem}", f"Accuracy, %, {key.name}", heads, rows)], key.short)
    return section


def _replaced(run: ConfigRun) -> list[Cell]:
    easy = run.figure("random_option_accuracy")
    if easy is None:
        return [DASH] * 2
    drop = 100 * (easy.value - run.accuracy.value)
    return [share_cell(easy.value), Cell(signed(drop), drop)]
