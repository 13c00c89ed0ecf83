"""The report's first sentence: what the runs show, with items and intervals, and nothing that a test does not support.

A share is called above or below chance only where its interval leaves chance out. The intervals of shares invert an
exact binomial test at the effective number of items (`metrics.interval`), so this is that test. One model is said to
be better than another only where the sign-flip test on their common items says so.
"""

from collections.abc import Sequence
from operator import attrgetter

from video_contrast.console import counted
from video_contrast.metrics import robustness
from video_contrast.reports.layout import ends, percent
from video_contrast.reports.robustness import at_chance
from video_contrast.reports.runs import ConfigRun, is_better
from video_contrast.storage.run_figures import ACCURACY, RANDOM_OPTIONS, RECALLS, Gamma, RunFigure, kind_in_words
from video_contrast.storage.run_folder import CLEAN

_above_chance = attrgetter("accuracy.above_chance")  # of a run
WIDE = 0.3  # an interval wider than this does not tell a coin from a good model: more items are needed


def finding(runs: Sequence[ConfigRun]) -> str:
    """How far models fall from random candidates to the hardest contrasts; else robustness, retrieval or accuracy."""
    models = [run for run in runs if not run.is_baseline]
    if sentence := _fall(models) or _robustness(models):
        return sentence
    if retrieval := [(figure, run) for run in models if (figure := run.figure(RECALLS["t2v"][0]))]:
        figure, run = max(retrieval, key=lambda entry: entry[0].value)
        share, chance = _share(figure), against_chance(figure)
        return f"{run.model} puts the right clip first for {share} of captions of {run.key.short}, {chance}."
    choice = [run for run in models if run.layout != "retrieval"]
    if not choice:
        return ""
    run = max(choice, key=_above_chance)
    sentence = f"{run.model} picks the true caption in {_share(run.accuracy)} of {_contrasts(run)}"
    return _too_few(run) or f"{sentence}, {against_chance(run.accuracy)}."


def against_chance(figure: RunFigure) -> str:
    """The verdict of a share's interval on chance, as the end of a sentence.

    >>> from dataclasses import replace
    >>> figure = RunFigure("verb_mc", "clean", ACCURACY, 0.51, low=0.44, high=0.58, chance=0.5, n=200)
    >>> against_chance(figure)
    'which cannot be told from chance (50 %)'
    >>> against_chance(replace(figure, low=0.05, high=0.85, n=5))
    'too few items to tell from chance (50 %)'
    >>> against_chance(replace(figure, value=0.8, low=0.74, high=0.85))
    'above chance (50 %)'
    """
    low, high, level = figure.low, figure.high, figure.chance or 0.0
    at = f"chance ({100 * level:.3g} %)"
    if low is None or high is None:
        return f"too few items to tell from {at}"
    if low > level:
        return f"above {at}"
    if high < level:
        return f"below {at}"
    return f"too few items to tell from {at}" if high - low > WIDE else f"which cannot be told from {at}"


def _fall(runs: Sequence[ConfigRun]) -> str:
    """A sentence on the fall from random candidates to the set on which a model is nearest to chance."""
    easy: dict[str, RunFigure] = {}  # model -> its accuracy with random candidates
    hardest: dict[str, ConfigRun] = {}  # model -> its run nearest to chance
    for run in (run for run in runs if run.layout != "retrieval"):
        if run.key.config.startswith("random"):
            easy.setdefault(run.model, run.accuracy)
        elif run.model not in hardest or run.accuracy.above_chance < hardest[run.model].accuracy.above_chance:
            hardest[run.model] = run
    for run in hardest.values():  # without such a config: the same items with the contrast exchanged for one
        if replaced := run.figure(RANDOM_OPTIONS):
            easy.setdefault(run.model, replaced)
    worst = min((run for run in hardest.values() if run.model in easy), key=_above_chance, default=None)
    if worst is None:
        return ""
    if few := _too_few(worst):
        return few
    sentence = (
        f"{worst.model} picks the true caption in {_share(easy[worst.model])} of items with random candidates, "
        f"and in {_share(worst.accuracy)} of {_contrasts(worst)}, {against_chance(worst.accuracy)}"
    )
    rivals = [run for run in runs if run.key == worst.key and run.model in easy and run.model != worst.model]
    best = max(rivals, key=lambda run: run.accuracy.value, default=None)
    if best is not None and is_better(best.hits(best.main), worst.hits(worst.main)):
        sentence += f", while {best.model} keeps {_share(best.accuracy)}"
    return f"{sentence}."


def _robustness(runs: Sequence[ConfigRun]) -> str:
    """The group of perturbations that costs a model most; nothing of models at chance, which have nothing to lose."""
    words = {"visual": "visual perturbations", "text": "text perturbations", "pairs": "pairs of both"}
    gammas = []
    for run in runs:
        for score in (ACCURACY, RECALLS["t2v"][1], RECALLS["t2v"][0]):
            own = [gamma for gamma in run.gammas if gamma.score == score]
            if own and not at_chance(run, score):
                gammas += [(g.relative, g, run) for g in own if g.group in words and g.relative is not None]
                break
    if not gammas:
        return ""
    kept, gamma, run = min(gammas, key=lambda entry: entry[0])
    clean = run.figure(gamma.score)
    interval = ends(*_gamma_ends(run, gamma), "{:.1f} to {:.1f}") or "no interval"
    return (
        f"{run.model} keeps {percent(kept)} ({interval}, n = {clean.n if clean else 0:,}) of its {gamma.score.name} on "
        f"{run.key.short} under {words[gamma.group]}, on average."
    )


def _gamma_ends(run: ConfigRun, gamma: Gamma) -> tuple[float | None, float | None]:
    """The 95 % interval of the mean relative gamma of a group of perturbations, by bootstrap over videos.

    None below five videos, where nothing changes, and where the scores of a condition were not kept.
    """
    k = int(gamma.score.name.partition("@")[2] or 1)
    clean = run.hits(CLEAN, k)
    before, after, names, severities, clusters = [], [], [], [], []
    for condition, own in run.in_groups(gamma.group).items():
        hits = run.hits(condition, k)
        _, there = hits.common(clean)
        if not len(there) == len(hits.names) == len(clean.names) > 0:
            return None, None
        before += clean.values[there].tolist()
        after += hits.values.tolist()
        clusters += hits.clusters.to_pylist()
        is_visual = gamma.group == "visual"
        names += [own["visual"]["name"] if is_visual else condition] * len(there)
        severities += [own["visual"]["severity"] if is_visual else None] * len(there)
    figures = robustness(before, after, names, severities=severities, clusters=clusters)
    return figures["gamma_r_low"], figures["gamma_r_high"]


def _contrasts(run: ConfigRun) -> str:
    """The contents of a config in words: "the verb contrasts"; its name where that does not tell."""
    kind, mc, _ = run.key.config.partition("_mc")
    if run.layout != "multiple_choice" or not mc:
        return run.key.short
    words = "items with random candidates" if kind.startswith("random") else f"the {kind_in_words(kind)} contrasts"
    return f"{words} ({run.key.mark})" if run.key.mark else words


def _too_few(run: ConfigRun) -> str:
    """The sentence where a set is too small for an interval; "" where it is not."""
    figure = run.accuracy
    if figure.low is not None:
        return ""
    items, chance = counted(figure.n or 0, "item"), 100 * (figure.chance or 0.0)
    return f"{items} of {_contrasts(run)}: too few to tell {run.model} from chance ({chance:.3g} %)."


def _share(figure: RunFigure) -> str:
    """A share with its interval and the number of items: "51.0 % (44.2 to 57.8, n = 200)"."""
    return f"{percent(figure.value)} ({ends(figure.low, figure.high, '{:.1f} to {:.1f}, ')}n = {figure.n:,})"
