"""Controls: what is left when the video, or its order, is taken away, and what time is worth."""

from collections.abc import Sequence
from typing import Literal

from video_contrast.metrics.checks import Values
from video_contrast.reports.hits import caption_hits, hit
from video_contrast.reports.layout import Cell, Column, Section, Table, signed
from video_contrast.reports.runs import ConfigRun, by_set
from video_contrast.reports.summary import accuracy_cell, model_cell

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
    section = Section(
        "controls",
        "Controls",
        "What is left without the video, or without the order of its frames. Only a model that scores lower on "
        "shuffled frames uses time: the last column is full minus shuffled, with its paired 95 % interval.",
    )
    for of_set in by_set(run for run in runs if any(name.startswith("control:") for name in run.metrics)):
        section.add([_control_table(of_set)], of_set[0].key.short)
    return section


def _control_table(runs: Sequence[ConfigRun]) -> Table:
    key = runs[0].key
    names = [name for name in CONTROLS if any(name in run.metrics for run in runs)]
    score, chance = ("accuracy", "chance") if runs[0].layout != "retrieval" else ("t2v_R@1", "t2v_chance_R@1")
    paired = _SHUFFLED in names
    rows = []
    for run in runs:
        cells = [model_cell(run)]
        cells += [accuracy_cell(run.metrics.get(name), score, chance=chance) for name in names]
        if paired:
            cells.append(_worth_of_time(run))
        rows.append(cells)
    columns = [Column("model", numeric=False), *[Column(CONTROLS[name]) for name in names]]
    if paired:
        columns.append(Column("full minus shuffled"))
    what = "Accuracy" if score == "accuracy" else "Text to video R@1"
    return Table(f"controls-{key.stem}", f"{what}, %, {key.name}", columns, rows)


def _worth_of_time(run: ConfigRun) -> Cell:
    """Full minus shuffled on the same items, with the interval of a paired bootstrap over videos."""
    from video_contrast.metrics.paired import paired_difference

    pairs = _paired_hits(run)
    if pairs is None:
        return Cell("–", tone="quiet")
    paired = paired_difference(*pairs)
    low, high = paired["low"], paired["high"]
    spread = "" if low is None or high is None else f"{signed(100 * low)} to {signed(100 * high)}"
    tone: Literal["", "good"] = "good" if low is not None and low > 0 else ""
    difference = 100 * float(paired["difference"] or 0)
    return Cell(signed(difference), difference, note=spread, tone=tone)


def _paired_hits(run: ConfigRun) -> tuple[Values, Values, list[str]] | None:
    """Hits with shuffled frames, hits with the full video, and the video of each; None where one was not scored."""
    if run.layout != "retrieval":
        full, shuffled = run.choices.get("clean", {}), run.choices.get(_SHUFFLED, {})
        ids = [name for name in full if name in shuffled]
        if not ids:
            return None
        clusters = [full[name]["cluster"] for name in ids]
        return [hit(shuffled[name]) for name in ids], [hit(full[name]) for name in ids], clusters
    if not (run.has_matrix("clean") and run.has_matrix(_SHUFFLED)):
        return None
    first, second = run.matrix("clean"), run.matrix(_SHUFFLED)
    if list(first.rows) != list(second.rows) or list(first.relevant) != list(second.relevant):
        return None
    clusters = [str(run.set_rows[first.rows[owner]]["video_id"]) for owner in first.relevant]
    return caption_hits(second), caption_hits(first), clusters
