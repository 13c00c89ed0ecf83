"""The report's first sentence: what the runs say, in words that a reader may quote."""

from collections.abc import Sequence

from video_contrast.reports.runs import Numbers, Run
from video_contrast.reports.summary import above_chance


def finding(runs: Sequence[Run]) -> str:
    """How far models fall from random options to the hardest contrasts; else robustness, retrieval, accuracy; or ""."""
    models = [run for run in runs if not run.is_baseline]
    return _fall(models) or _robustness(models) or _retrieval(models) or _accuracy(models)


def _fall(runs: Sequence[Run]) -> str:
    drops: dict[str, tuple[float, Run]] = {}
    for model in dict.fromkeys(run.model for run in runs):
        mine = [run for run in runs if run.model == model and run.layout == "multiple_choice"]
        easy = [run for run in mine if run.key.config.startswith("random")]
        hard = [run for run in mine if run not in easy]
        worst = min(hard, key=lambda run: above_chance(_numbers(run)), default=None)
        if worst is None:
            continue
        # without a config of random options: the same items with the contrast exchanged for one
        start = _numbers(easy[0])["accuracy"] if easy else _numbers(worst).get("random_option_accuracy")
        if start is not None:
            drops[model] = (start, worst)
    if not drops:
        return ""
    model = min(drops, key=lambda name: above_chance(_numbers(drops[name][1])))
    start, worst = drops[model]
    numbers = _numbers(worst)
    said = (
        f"{model} picks the true caption in {_percent(start)} of items with random options, "
        f"and in {_percent(numbers['accuracy'])} of {worst.key.short}"
    )
    low, high = numbers.get("accuracy_low"), numbers.get("accuracy_high")
    at_chance = low is not None and high is not None and low <= numbers["chance"] <= high
    said += ", no more than chance" if at_chance else f", where chance is {_percent(numbers['chance'])}"
    # the best of the others on the same items
    others = {run.model: _numbers(run)["accuracy"] for run in runs if run.key == worst.key and run.model in drops}
    best = max(others, key=lambda name: others[name])
    if others[best] > numbers["accuracy"]:
        said += f", while {best} keeps {_percent(others[best])}"
    return f"{said}."


def _robustness(runs: Sequence[Run]) -> str:
    """The group of perturbations that costs a model most."""
    found = []
    for run in runs:
        score = next((name for name in ("accuracy", "t2v_R@5", "t2v_R@1") if name in run.robustness), "")
        for group in ("visual", "text", "pairs"):
            gamma = (run.robustness.get(score, {}).get(group) or {}).get("gamma_relative")
            if gamma is not None:
                found.append((gamma, run.model, group, {"accuracy": "accuracy"}.get(score, score[4:]), run.key.short))
    if not found:
        return ""
    gamma, model, group, score, config = min(found)
    words = {"visual": "visual perturbations", "text": "text perturbations", "pairs": "pairs of both"}[group]
    return f"{model} keeps {_percent(gamma)} of its {score} on {config} under {words}, on average."


def _retrieval(runs: Sequence[Run]) -> str:
    mine = [run for run in runs if run.layout == "retrieval"]
    if not mine:
        return ""
    run = max(mine, key=lambda one: _numbers(one)["t2v_R@1"])
    numbers = _numbers(run)
    return (
        f"{run.model} puts the right clip first for {_percent(numbers['t2v_R@1'])} of captions of {run.key.short}, "
        f"where chance is {_percent(numbers['t2v_chance_R@1'])}."
    )


def _accuracy(runs: Sequence[Run]) -> str:
    mine = [run for run in runs if run.layout == "multiple_choice"]
    if not mine:
        return ""
    run = max(mine, key=lambda one: above_chance(_numbers(one)))
    numbers = _numbers(run)
    return (
        f"{run.model} picks the true caption in {_percent(numbers['accuracy'])} of {run.key.short}, "
        f"where chance is {_percent(numbers['chance'])}."
    )


def _numbers(run: Run) -> Numbers:
    return run.metrics[run.main]


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.01 or share == 0 else f"{100 * share:.1g} %"
