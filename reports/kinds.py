"""Accuracy by kind of negative."""

from collections.abc import Sequence

from video_contrast.reports.hits import differing
from video_contrast.reports.layout import Cell, Column, Section, Table, signed
from video_contrast.reports.profile import profiles
from video_contrast.reports.runs import ConfigRun, by_set
from video_contrast.reports.summary import accuracy_cell, model_cell


def kinds(runs: Sequence[ConfigRun]) -> Section:
    """One table a config that has several kinds."""
    section = Section(
        "kinds",
        "By kind of negative",
        "The true caption against the candidates of one kind alone. With one contrast per item, chance is 50 %.",
    )
    section.parts += profiles([run for run in runs if run.layout != "retrieval"])
    for of_set in by_set(run for run in runs if run.layout != "retrieval"):
        key = of_set[0].key
        names = sorted({name for run in of_set for name in _kinds(run)})
        replaced = any("random_option_accuracy" in run.numbers for run in of_set)
        if len(names) < 2 and not replaced:
            continue
        columns = [Column("model", numeric=False), *[Column(f"against {name.replace('_', ' ')}") for name in names]]
        if replaced:
            columns.append(
                Column("random candidates", hint="the same captions, the contrast exchanged for a random distractor")
            )
            columns.append(Column("drop", hint="random candidates minus accuracy, on the same captions"))
        marks = {name: differing([run.numbers.get(f"n_{name}") for run in of_set]) for name in names}
        rows = []
        for place, run in enumerate(of_set):
            numbers = run.numbers
            cells = [model_cell(run)]
            cells += [
                accuracy_cell(numbers, f"accuracy_{name}", chance=f"chance_{name}", note=marks[name][place])
                for name in names
            ]
            if replaced:
                cells += _replaced(numbers.get("random_option_accuracy"), numbers["accuracy"])
            rows.append(cells)
        section.add([Table(f"kinds-{key.stem}", f"Accuracy, %, {key.name}", columns, rows)], key.short)
    return section


def _kinds(run: ConfigRun) -> list[str]:
    return [name.removeprefix("n_") for name in run.numbers if name.startswith("n_") and name != "n_ties"]


def _replaced(easy: float | None, hard: float) -> list[Cell]:
    if easy is None:
        return [Cell("–", tone="quiet")] * 2
    return [Cell(f"{100 * easy:.1f}", 100 * easy), Cell(signed(100 * (easy - hard)), 100 * (easy - hard))]
