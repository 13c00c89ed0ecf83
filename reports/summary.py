"""The first section: every model on every config, with its interval, chance and people beside it."""

from collections.abc import Sequence

from video_contrast.reports.layout import Cell, Column, Section, Table
from video_contrast.reports.runs import CLEAN, Run, SetKey


def summary(runs: Sequence[Run]) -> Section:
    """One table for all multiple-choice configs: a row a model, a column a config."""
    section = Section("summary", "Summary", "")
    keys = list(dict.fromkeys(run.key for run in runs if run.layout == "multiple_choice"))
    models = list(dict.fromkeys(run.model for run in runs))
    if keys:
        rows = [[Cell(model), *[_accuracy(runs, model, key) for key in keys]] for model in models]
        columns = [Column("model", numeric=False), *[Column(key.config) for key in keys]]
        section.parts.append(Table("accuracy", "Accuracy, %", columns, rows))
    return section


def _accuracy(runs: Sequence[Run], model: str, key: SetKey) -> Cell:
    for run in runs:
        if run.model == model and run.key == key:
            rows, scores = run.scored(CLEAN)
            won = 0.0
            for row, values in zip(rows, scores, strict=True):
                true = values[row["label"]]
                if (values <= true).all():
                    won += 1 / (values == true).sum()
            share = 100 * won / max(1, len(rows))
            return Cell(f"{share:.1f}", share)
    return Cell("–", tone="quiet")
