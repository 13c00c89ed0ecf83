"""Scores over the steps of a training run, from the runs of its checkpoints."""

from collections.abc import Sequence
from pathlib import Path

from video_contrast.reports.figures import MUTED, colour, drawing, finish, legend, shape, tidy
from video_contrast.reports.layout import Plot, Section
from video_contrast.reports.runs import ConfigRun, by_set
from video_contrast.storage.run_figures import RunFigure


def training(runs: Sequence[ConfigRun]) -> Section:
    """A curve a set: its score against the step, a line a training run; empty without two checkpoints of one."""
    section = Section("training", "Over training")
    figures = map(curve, by_set(run for run in runs if run.record["model"].get("step") is not None))
    section.parts += [figure for figure in figures if figure is not None]
    return section


def curve(runs: Sequence[ConfigRun]) -> Plot | None:
    """The score of checkpoints on one set against their steps, with 95 % intervals."""
    key, score = runs[0].key, ("R@1", "t2v") if runs[0].layout == "retrieval" else ("accuracy", "")
    points: dict[str, list[tuple[int, RunFigure]]] = {}  # folder of a training run -> its checkpoints
    for run in runs:
        if figure := run.figure(*score):
            name = str(Path(run.folder.model).parent)
            points.setdefault(name, []).append((int(run.record["model"]["step"]), figure))
    points = {name: sorted(of, key=lambda point: point[0]) for name, of in points.items() if len(of) > 1}
    if not points:
        return None
    first = next(iter(points.values()))[0][1]
    lines: list[list[object]] = [["training", "step", first.words, "low", "high"]]
    with drawing(height=2.9) as (canvas, axes):
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
        axes.set_ylabel(f"{first.words}, %")
        tidy(axes, grid="y")
        legend(canvas)
        return finish(canvas, f"training-{key.stem}", f"{key.name} over training", lines)
