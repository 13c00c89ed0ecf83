"""Controls: what is left when the video, or its order, is taken away, and what time is worth."""

from collections.abc import Sequence

from video_contrast.reports.layout import DASH, Cell, Section, Table, columns, signed
from video_contrast.reports.runs import ConfigRun, by_set
from video_contrast.reports.summary import figure_cell, model_cell

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
    is_retrieval = runs[0].layout == "retrieval"
    score = ("R@1", "t2v") if is_retrieval else ("accuracy", "")
    paired = _SHUFFLED in names
    rows = []
    for run in runs:
        cells = [model_cell(run), *(figure_cell(run.figure(*score, name)) for name in names)]
        rows.append([*cells, _worth_of_time(run)] if paired else cells)
    heads = columns("model", *(CONTROLS[name] for name in names), *["full minus shuffled"] * paired)
    what = "Text to video R@1" if is_retrieval else "Accuracy"
    return Table(f"controls-{key.stem}", f"{what}, %, {key.name}", heads, rows)


def _worth_of_time(run: ConfigRun) -> Cell:
    """Full minus shuffled on the same items, with the interval of a paired bootstrap over videos."""
    from video_contrast.metrics.paired import paired_difference

    full, shuffled = run.hits("clean"), run.hits(_SHUFFLED)
    names = [name for name in full if name in shuffled]
    if not names:
        return DASH
    before, after = ([hits[name][0] for name in names] for hits in (shuffled, full))
    paired = paired_difference(before, after, [full[name][1] for name in names])
    low, high = paired["low"], paired["high"]
    spread = "" if low is None or high is None else f"{signed(100 * low)} to {signed(100 * high)}"
    difference = 100 * float(paired["difference"] or 0)
    return Cell(signed(difference), difference, note=spread, tone="good" if low is not None and low > 0 else "")
