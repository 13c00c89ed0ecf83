"""Which verbs a set's contrasts bring in, beside those of its true captions (the contrast-set paper's figure 3)."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from video_contrast.perturbations.english.forms import main_verb
from video_contrast.reports.figures import FAINT, MUTED, colour, drawing, finish, legend, tidy
from video_contrast.reports.layout import Plot
from video_contrast.reports.runs import ConfigRun, SetKey

_SHOWN = 24
_KINDS = ("verb", "antonym", "counterfactual")


def verb_distributions(runs: Sequence[ConfigRun]) -> list[Plot]:
    """Share of each verb among the contrasts of every verb config; none where the edits name no verbs."""
    new_verbs: dict[SetKey, Counter[str]] = {}
    true: Counter[str] = Counter()
    for run in {run.key: run for run in runs if run.layout != "retrieval"}.values():
        new: Counter[str] = Counter()
        for row in run.set_rows.values():
            for kind, edit in () if "captions" in row else zip(row["kinds"], row["edits"], strict=True):
                if edit and edit["new"] and kind.startswith(_KINDS):
                    new[main_verb(edit["new"])] += 1
                    true[main_verb(edit["old"])] += 1
        if new:
            new_verbs[run.key] = new
    counts = list(new_verbs.values())
    means = {verb: sum(n[verb] / n.total() for n in counts) / len(counts) for verb in set().union(*counts)}
    common = sorted(means, key=lambda verb: (-means[verb], verb))[:_SHOWN]
    if len(common) < 3:
        return []
    named = [(key.short, counter) for key, counter in new_verbs.items()]
    return [verb_plot(named, common, before=true, name="verb-distributions", size=(10, 2.9))]


def verb_plot(
    counts: Sequence[tuple[str, Counter[str]]], verbs: Sequence[str], *, name: str, before: Counter[str] | None = None,
    size: tuple[float, float],
) -> Plot:  # fmt: skip
    """The share of each verb in several sets, a bar a set.

    `counts`: of each set its name and how often it has each verb. `before`: how often the true captions have them,
    drawn behind the bars.
    """
    shares = [(label, [100 * own[verb] / own.total() for verb in verbs]) for label, own in counts]
    replaced = [100 * before[verb] / before.total() for verb in verbs] if before else []
    wide = 0.8 / len(shares)
    with drawing(*size) as (canvas, axes):
        if before:
            axes.bar(range(len(verbs)), replaced, 0.92, color=FAINT, label="replaced, in true captions")
        for number, (label, values) in enumerate(shares):
            at = np.arange(len(verbs)) + (number - (len(shares) - 1) / 2) * wide
            axes.bar(at, values, wide * 0.85, color=colour(number), label=label)
        axes.set_xticks(range(len(verbs)), verbs, rotation=35, ha="right", color=MUTED)
        axes.set_ylabel("of the set's verbs, %")
        axes.set_xlim(-0.7, len(verbs) - 0.3)
        tidy(axes, grid="y")
        legend(canvas)
        columns = [("true captions", replaced)] * bool(before) + shares
        lines = [["verb", *(f"{label}, %" for label, _ in columns)], *zip(verbs, *(v for _, v in columns), strict=True)]
        return finish(canvas, name, "Verbs of the contrasts", lines, wide=True)
