"""The profile of models over kinds of contrast: which differences they see, one row a kind."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from video_contrast.reports.figures import FAINT, INK, MUTED, colour, drawing, finish, legend, shape, tidy
from video_contrast.reports.layout import Plot
from video_contrast.reports.runs import ConfigRun
from video_contrast.storage.run_records import Numbers

LEAST = 3  # kinds that make a profile
_OTHERS = ("ties", "random")  # figures `n_...` that are no contrast


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
        numbers_of = _by_kind(members)
        kinds = {kind for of_model in numbers_of.values() for kind in of_model}
        if len(kinds) >= LEAST:
            wide, narrow = (_drawn(numbers_of, members, width, name, split, number) for width in (10.8, 4.1))
            plots.append(replace(wide, narrow=narrow.svg))
    return plots


def _by_kind(runs: Sequence[ConfigRun]) -> dict[str, dict[str, Numbers]]:
    """Model -> kind -> the numbers of the run with most items of it."""
    numbers_of: dict[str, dict[str, Numbers]] = {}
    for run in runs:
        of_model = numbers_of.setdefault(run.model, {})
        for name in run.numbers:
            kind = name.removeprefix("n_")
            if kind == name or kind in _OTHERS or f"accuracy_{kind}" not in run.numbers:
                continue
            if kind not in of_model or of_model[kind][name] < run.numbers[name]:
                of_model[kind] = run.numbers
    return numbers_of


def _drawn(
    numbers_of: Mapping[str, Mapping[str, Numbers]],
    runs: Sequence[ConfigRun],
    width: float,
    name: str,
    split: str,
    number: int,
) -> Plot:
    models = list(numbers_of)
    paint = {run.model: MUTED if run.is_baseline else colour(run.number) for run in runs}
    sign = {run.model: shape(run.number) for run in runs}
    mean = {
        kind: sum(shares) / len(shares)
        for kind in {kind for of_model in numbers_of.values() for kind in of_model}
        if (shares := [of_model[kind][f"accuracy_{kind}"] for of_model in numbers_of.values() if kind in of_model])
    }
    kinds = sorted(mean, key=lambda kind: (-mean[kind], kind))
    step = min(0.22, 0.7 / len(models))
    lines: list[list[object]] = [["kind", "model", "accuracy", "low", "high", "chance", "items"]]
    labelled: set[str] = set()
    with drawing(width, 0.95 + len(kinds) * max(0.36, 0.13 * len(models))) as (canvas, axes):
        for place, kind in enumerate(kinds):
            axes.axhline(place, color=FAINT, linewidth=0.8, zorder=0)
            for model in models:
                numbers = numbers_of[model].get(kind)
                if numbers is None:
                    continue
                key = f"accuracy_{kind}"
                share, low, high = numbers[key], numbers.get(f"{key}_low"), numbers.get(f"{key}_high")
                chance = numbers[f"chance_{kind}"]
                y = place + (models.index(model) - (len(models) - 1) / 2) * step
                tick = [place - 0.4, place + 0.4]
                axes.plot([100 * chance] * 2, tick, color=MUTED, linestyle=(0, (2, 2)), linewidth=1)
                axes.plot([100 * chance, 100 * share], [y, y], color=paint[model], linewidth=1.2, alpha=0.6)
                if low is not None and high is not None:
                    axes.plot([100 * low, 100 * high], [y, y], color=paint[model], alpha=0.35, linewidth=4.0)
                named = None if model in labelled else model
                axes.plot(100 * share, y, sign[model], color=paint[model], markersize=6, markeredgewidth=0, label=named)
                labelled.add(model)
                lines.append([kind, model, share, low, high, chance, numbers[f"n_{kind}"]])
        axes.set_yticks(range(len(kinds)), [kind.replace("_", " ") for kind in kinds])
        axes.tick_params(axis="y", labelsize=10, labelcolor=INK)
        axes.set_ylim(len(kinds) - 0.45, -0.55)
        axes.set_xlim(-1, 102)
        axes.set_xlabel("true caption above the contrast, %   (dashed: chance)")
        tidy(axes, grid="")
        legend(canvas)
        stem = f"profile-{number}" if width > 5 else f"profile-{number}-narrow"
        where = name if split == "test" else f"{name} ({split})"
        return finish(canvas, stem, f"Profile over kinds of contrast, {where}", lines, wide=True)
