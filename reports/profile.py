"""The profile of models over kinds of contrast: which differences they see, one line a kind."""

from collections.abc import Sequence
from pathlib import Path

from video_contrast.reports.dots import DotLine, dot_plot
from video_contrast.reports.layout import Plot
from video_contrast.reports.runs import ConfigRun
from video_contrast.storage.run_figures import RunFigure

LEAST = 3  # kinds that make a profile


def profiles(runs: Sequence[ConfigRun]) -> list[Plot]:
    """One plot a set with several kinds of contrast, whether one config holds them all or each has a config.

    Args:
        runs: multiple-choice runs; of a kind that two configs of a model have, the one with more items counts.
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
            lines = [DotLine(kind, kind.replace("_", " "), by_kind[kind]) for kind in kinds]
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
