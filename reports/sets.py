"""What is known about the sets themselves: the blind audit, and the similarity matrices of retrieval sets."""

import re
from collections.abc import Sequence

import numpy as np

from video_contrast.reports.figures import drawing, finish, shaded, tidy
from video_contrast.reports.layout import DASH, Cell, Plot, Section, Table, columns, row, share_cell
from video_contrast.reports.reference import config_facts
from video_contrast.reports.runs import ConfigRun
from video_contrast.storage.set_records import BLIND_NAMES

_SHOWN = 60  # clips of a similarity matrix, at most: sections.tsv says so
_POINTS = 400  # of the map of embeddings


def audits(runs: Sequence[ConfigRun]) -> Section:
    """How far text alone goes on each multiple-choice config; a set without audit says so."""
    section = Section.of("audit")
    rows = []
    for key in dict.fromkeys(run.key for run in runs if run.layout != "retrieval"):
        audit = config_facts(key).get("audit")
        if not audit:
            rows.append([Cell(key.name), Cell("not audited", tone="quiet"), *[DASH] * len(BLIND_NAMES)])
            continue
        scorers = [audit.get(name) or {} for name in BLIND_NAMES]
        cells = (share_cell(s.get("accuracy"), s.get("low"), s.get("high"), chance=audit["chance"]) for s in scorers)
        rows.append(row(key.name, share_cell(audit["chance"]), *cells))
    if rows:
        heads = columns("set", "chance", *BLIND_NAMES.values())
        note = "Small: the 95 % interval over videos; none below five videos."
        section.parts.append(Table("audit", "Accuracy without the video, %", heads, rows, note=note))
    return section


def similarities(runs: Sequence[ConfigRun]) -> Section:
    """Similarity matrices of retrieval runs, clean and perturbed, and a map of their embeddings."""
    from video_contrast.reports.embeddings import embedding_map

    section = Section.of("similarity")
    for run in runs:
        if run.layout != "retrieval" or run.is_baseline or not run.has_matrix(run.main):
            continue
        perturbed = (name for name in run.conditions if name.startswith(("visual:", "text:")) and run.has_matrix(name))
        shown = dict.fromkeys([run.main, run.hardest(perturbed) or run.main])
        figures = [_picture(run, condition) for condition in shown if run.matrix(condition).all_values is not None]
        map_figure = embedding_map(run, _POINTS)
        section.add([*figures, *([] if map_figure is None else [map_figure])], run.key.short)
    return section


def _picture(run: ConfigRun, condition: str) -> Plot:
    matrix = run.matrix(condition)
    first = {owner: column for column, owner in reversed(list(enumerate(matrix.relevant)))}
    rows = [row for row in range(len(matrix.rows)) if row in first][:_SHOWN]
    values = np.asarray(matrix.values[np.ix_(rows, [first[row] for row in rows])], np.float64)
    low, high = values.min(axis=1, keepdims=True), values.max(axis=1, keepdims=True)
    scaled = (values - low) / np.where(high > low, high - low, 1)
    name = re.sub(r"[^\w.-]+", "-", f"similarity-{run.key.stem}-{run.model}-{condition}")
    with drawing(3.6, 3.5) as (canvas, axes):
        axes.imshow(shaded(scaled), interpolation="nearest")
        axes.set_xlabel("captions")
        axes.set_ylabel("clips")
        axes.set_xticks([])
        axes.set_yticks([])
        tidy(axes, grid="")
        ids = [matrix.rows[row] for row in rows]
        lines = [["clip", *ids], *[[clip_id, *line] for clip_id, line in zip(ids, values.tolist(), strict=True)]]
        return finish(canvas, name, f"{run.model}, {condition}", lines, small=True)
