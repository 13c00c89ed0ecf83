"""The report's first sentence: what the runs show, with items and intervals, and nothing that a test does not support.

A share is called above or below chance only where its interval leaves chance out. The intervals of shares invert an
exact binomial test at the effective number of items (`metrics.interval`), so this is that test. One model is said to
be better than another only where the sign-flip test on their common items says so.
"""

from collections.abc import Sequence

from video_contrast.reports.gamma_interval import gamma_ends
from video_contrast.reports.hits import choice_hits, is_better
from video_contrast.reports.layout import percent
from video_contrast.reports.robustness import at_chance
from video_contrast.reports.runs import ConfigRun
from video_contrast.reports.summary import above_chance
from video_contrast.storage.run_records import Numbers

WIDE = 0.3  # an interval wider than this does not tell a coin from a good model: more items are needed


def finding(runs: Sequence[ConfigRun]) -> str:
    """How far models fall from random candidates to the hardest contrasts; else robustness, retrieval or accuracy."""
    models = [run for run in runs if not run.is_baseline]
    return _fall(models) or _robustness(models) or _retrieval(models) or _accuracy(models)


def against_chance(numbers: Numbers, name: str = "accuracy", chance: str = "chance") -> str:
    """What the interval of a share says about chance, as the end of a sentence.

    Args:
        numbers: metrics of a condition.
        name: the share's key; its interval stands under `<name>_low` and `<name>_high`.
        chance: the key of the level of chance.

    >>> numbers = {"n": 200, "chance": 0.5, "accuracy": 0.51, "accuracy_low": 0.44, "accuracy_high": 0.58}
    >>> against_chance(numbers)
    'which cannot be told from chance (50 %)'
    >>> against_chance(numbers | {"n": 5, "accuracy_low": 0.05, "accuracy_high": 0.85})
    'too few items to tell from chance (50 %)'
    >>> against_chance(numbers | {"accuracy": 0.8, "accuracy_low": 0.74, "accuracy_high": 0.85})
    'above chance (50 %)'
    """
    low, high, level = numbers.get(f"{name}_low"), numbers.get(f"{name}_high"), numbers[chance]
    at = f"chance ({100 * level:.3g} %)"
    if low is None or high is None:
        return f"too few items to tell from {at}"
    if low > level:
        return f"above {at}"
    if high < level:
        return f"below {at}"
    return f"too few items to tell from {at}" if high - low > WIDE else f"which cannot be told from {at}"


def _fall(runs: Sequence[ConfigRun]) -> str:
    """From random candidates to the set on which a model is nearest to chance."""
    drops = _drops(runs)
    if not drops:
        return ""
    model = min(drops, key=lambda name: above_chance(drops[name][2].numbers))
    start, name, worst = drops[model]
    if few := _too_few(worst):
        return few
    numbers = worst.numbers
    sentence = (
        f"{model} picks the true caption in {_share(start, name)} of items with random candidates, "
        f"and in {_share(numbers)} of {_contrasts(worst)}, {against_chance(numbers)}"
    )
    rivals = [run for run in runs if run.key == worst.key and run.model in drops and run.model != model]
    best = max(rivals, key=lambda run: run.numbers["accuracy"], default=None)
    if best is not None and is_better(*(choice_hits(run.choices.get(run.main, {})) for run in (best, worst))):
        sentence += f", while {best.model} keeps {_share(best.numbers)}"
    return f"{sentence}."


def _drops(runs: Sequence[ConfigRun]) -> dict[str, tuple[Numbers, str, ConfigRun]]:
    """Model -> the numbers and the name of its accuracy with random candidates, and its run nearest to chance."""
    drops: dict[str, tuple[Numbers, str, ConfigRun]] = {}
    for model in dict.fromkeys(run.model for run in runs):
        scored = [run for run in runs if run.model == model and run.layout != "retrieval"]
        easy = [run for run in scored if run.key.config.startswith("random")]
        hard = [run for run in scored if run not in easy]
        worst = min(hard, key=lambda run: above_chance(run.numbers), default=None)
        if worst is None:
            continue
        # without a config of random candidates: the same items with the contrast exchanged for one
        if easy:
            drops[model] = (easy[0].numbers, "accuracy", worst)
        elif "random_option_accuracy" in worst.numbers:
            drops[model] = (worst.numbers, "random_option_accuracy", worst)
    return drops


def _robustness(runs: Sequence[ConfigRun]) -> str:
    """The group of perturbations that costs a model most; nothing of models at chance, which have nothing to lose."""
    gammas = []
    for run in runs:
        known = (name for name in ("accuracy", "t2v_R@5", "t2v_R@1") if name in run.robustness)
        score = next((name for name in known if not at_chance(run, name)), "")
        for group in ("visual", "text", "pairs"):
            gamma = (run.robustness.get(score, {}).get(group) or {}).get("gamma_relative")
            if gamma is not None:
                gammas.append((gamma, group, score, run))
    if not gammas:
        return ""
    gamma, group, score, run = min(gammas, key=lambda entry: entry[0])
    words = {"visual": "visual perturbations", "text": "text perturbations", "pairs": "pairs of both"}[group]
    n = int(run.numbers.get("n") or run.numbers["n_captions"])
    ends = gamma_ends(run, group, score)
    interval = "no interval" if ends is None else f"{100 * ends[0]:.1f} to {100 * ends[1]:.1f}"
    return (
        f"{run.model} keeps {percent(gamma)} ({interval}, n = {n:,}) of its {score.removeprefix('t2v_')} on "
        f"{run.key.short} under {words}, on average."
    )


def _retrieval(runs: Sequence[ConfigRun]) -> str:
    scored = [run for run in runs if run.layout == "retrieval"]
    if not scored:
        return ""
    run = max(scored, key=lambda entry: entry.numbers["t2v_R@1"])
    numbers = run.numbers
    return (
        f"{run.model} puts the right clip first for {_share(numbers, 't2v_R@1', n='n_captions')} of captions of "
        f"{run.key.short}, {against_chance(numbers, 't2v_R@1', 't2v_chance_R@1')}."
    )


def _accuracy(runs: Sequence[ConfigRun]) -> str:
    scored = [run for run in runs if run.layout != "retrieval"]
    if not scored:
        return ""
    run = max(scored, key=lambda entry: above_chance(entry.numbers))
    numbers = run.numbers
    sentence = (
        f"{run.model} picks the true caption in {_share(numbers)} of {_contrasts(run)}, {against_chance(numbers)}."
    )
    return _too_few(run) or sentence


def _contrasts(run: ConfigRun) -> str:
    """What a config holds, in words: "the verb contrasts"; its name where that does not tell."""
    kind, mc, _ = run.key.config.partition("_mc")
    if run.layout != "multiple_choice" or not mc:
        return run.key.short
    words = "items with random candidates" if kind.startswith("random") else f"the {kind.replace('_', ' ')} contrasts"
    return f"{words} ({run.key.mark})" if run.key.mark else words


def _too_few(run: ConfigRun) -> str:
    """The sentence where a set is too small for an interval; "" where it is not."""
    numbers = run.numbers
    if numbers.get("accuracy_low") is not None:
        return ""
    items = f"{int(numbers['n']):,} item{'' if numbers['n'] == 1 else 's'}"
    return f"{items} of {_contrasts(run)}: too few to tell {run.model} from chance ({100 * numbers['chance']:.3g} %)."


def _share(numbers: Numbers, name: str = "accuracy", n: str = "n") -> str:
    """A share with its interval and the number of items: "51.0 % (44.2 to 57.8, n = 200)"."""
    low, high = numbers.get(f"{name}_low"), numbers.get(f"{name}_high")
    interval = "" if low is None or high is None else f"{100 * low:.1f} to {100 * high:.1f}, "
    return f"{percent(numbers[name])} ({interval}n = {int(numbers[n]):,})"
