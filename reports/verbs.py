"""Which verbs a set's contrasts bring in, beside those of its true captions (the contrast-set paper's figure 3)."""

from collections import Counter
from collections.abc import Sequence
from functools import cache

import numpy as np

from video_contrast.reports.figures import FAINT, MUTED, colour, drawing, finish, legend, tidy
from video_contrast.reports.layout import Plot
from video_contrast.reports.runs import ConfigRun, SetKey

_SHOWN = 24
_KINDS = ("verb", "antonym", "counterfactual")
_AUXILIARIES = frozenset({"is", "are", "was", "were", "be", "been", "being", "has", "have", "had", "am"})


def verb_distributions(runs: Sequence[ConfigRun]) -> list[Plot]:
    """Share of each verb among the contrasts of every verb config; none where the edits name no verbs."""
    new_verbs: dict[SetKey, Counter[str]] = {}
    true: Counter[str] = Counter()
    for run in {run.key: run for run in runs if run.layout != "retrieval"}.values():
        new: Counter[str] = Counter()
        for row in run.set_rows.values():
            for kind, edit in () if "captions" in row else zip(row["kinds"], row["edits"], strict=True):
                if edit and edit["new"] and kind.startswith(_KINDS):
                    new[_verb(edit["new"])] += 1
                    true[_verb(edit["old"])] += 1
        if new:
            new_verbs[run.key] = new
    common = _most_common(list(new_verbs.values()))
    if len(common) < 3:
        return []
    lines: list[list[object]] = [["verb", "true captions, %", *[f"{key.short}, %" for key in new_verbs]]]
    shares = {key: [100 * counts[verb] / counts.total() for verb in common] for key, counts in new_verbs.items()}
    before = [100 * true[verb] / true.total() for verb in common]
    wide = 0.8 / len(new_verbs)
    with drawing(10, 2.9) as (canvas, axes):
        axes.bar(range(len(common)), before, 0.92, color=FAINT, label="replaced, in true captions")
        for number, (key, values) in enumerate(shares.items()):
            at = np.arange(len(common)) + (number - (len(new_verbs) - 1) / 2) * wide
            axes.bar(at, values, wide * 0.85, color=colour(number), label=key.short)
        axes.set_xticks(range(len(common)), common, rotation=35, ha="right", color=MUTED)
        axes.set_ylabel("of the set's verbs, %")
        axes.set_xlim(-0.7, len(common) - 0.3)
        tidy(axes, grid="y")
        legend(canvas)
        lines += [[verb, before[n], *[values[n] for values in shares.values()]] for n, verb in enumerate(common)]
        return [finish(canvas, "verb-distributions", "Verbs of the contrasts", lines, wide=True)]


def _most_common(counts: Sequence[Counter[str]]) -> list[str]:
    """The verbs with the largest mean share over the sets, the largest first."""
    means: dict[str, float] = {}
    for counter in counts:
        for verb, n in counter.items():
            means[verb] = means.get(verb, 0.0) + n / counter.total() / len(counts)
    return [verb for verb, _ in sorted(means.items(), key=lambda pair: (-pair[1], pair[0]))[:_SHOWN]]


@cache
def _verb(phrase: str) -> str:
    """The lemma of a phrase's main verb: the first word that is no auxiliary."""
    from video_contrast.perturbations.english.forms import lemma

    words = without_auxiliaries(phrase.lower())
    return lemma(words[0], "VB") if words else ""


def without_auxiliaries(phrase: str) -> list[str]:
    """The words of a verb phrase from its main verb on.

    >>> without_auxiliaries("has been sitting down")
    ['sitting', 'down']
    """
    words = phrase.split()
    while len(words) > 1 and words[0] in _AUXILIARIES:
        words = words[1:]
    return words
