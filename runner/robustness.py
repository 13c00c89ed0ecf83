"""Robustness: gamma of every perturbed condition, and its means as the robustness paper takes them.

Visual: the mean over severities, then over perturbations. Text: over the perturbations, and by origin (natural,
machine, synthetic). Pairs: over the pairs. Always with the standard deviation over what the last mean runs over.
The score is accuracy for multiple choice and R@1 and R@5 (the paper's) each way for retrieval.
"""

import math
from collections.abc import Mapping, Sequence

from video_contrast.metrics import gamma_absolute, gamma_corrected, gamma_relative, robustness
from video_contrast.perturbations.text import text_spec
from video_contrast.perturbations.video import video_spec
from video_contrast.runner.conditions import Condition
from video_contrast.storage.run_records import Gammas, Numbers, Robustness

SCORES = {
    "multiple_choice": ("accuracy",),
    "pairs": ("accuracy", "text_score", "video_score", "group_score"),
    "retrieval": ("t2v_R@1", "v2t_R@1", "t2v_R@5", "v2t_R@5"),
}
CHANCE = (
    {"accuracy": "chance"}
    | {name: f"chance_{name}" for name in SCORES["pairs"][1:]}
    | {f"{way}_R@{k}": f"{way}_chance_R@{k}" for way in ("t2v", "v2t") for k in (1, 5)}
)


def robustness_of(layout: str, conditions: Mapping[str, Condition], metrics: Mapping[str, Numbers]) -> Robustness:
    """Gammas of the conditions of one config against its clean one; {} where there is none to compare.

    `metrics`: name -> the numbers of that condition. Returns score -> {"conditions": name -> {gamma_absolute,
    gamma_relative, gamma_corrected}, and for each of "visual", "text", "pairs", "visual:<category>", "text:<origin>"
    that has conditions: {gamma_*: mean, gamma_*_sd, n, n_undefined}}. Undefined values (a clean score of 0) are null,
    and left out of means. Where the interval of the clean score holds chance, `at_chance` is true and all corrected
    gammas are null: a ratio of two noises.
    """
    perturbed = [name for name, condition in conditions.items() if condition.group in ("visual", "text", "pairs")]
    if "clean" not in metrics or not perturbed:
        return {}
    robust: Robustness = {}
    for score in SCORES[layout]:
        chance = metrics["clean"].get(CHANCE[score], 1.0)
        if score not in metrics["clean"] or chance >= 1:  # a gallery of at most five: nothing can be missed
            continue
        clean = metrics["clean"][score]
        low = metrics["clean"].get(f"{score}_low")
        at_chance = low is not None and low <= chance
        each = {name: _gammas(clean, metrics[name][score], chance) for name in perturbed}
        means = {
            group: _means(clean, [metrics[name][score] for name in names], [conditions[name] for name in names], chance)
            for group, names in _groups(perturbed, conditions).items()
        }
        if at_chance:
            for gammas in (*each.values(), *means.values()):
                gammas |= {name: None for name in gammas if name.startswith("gamma_corrected")}
        robust[score] = {"clean": clean, "at_chance": at_chance, "conditions": each, **means}
    return robust


def _gammas(clean: float, score: float, chance: float) -> Gammas:
    values = {
        "gamma_absolute": gamma_absolute(clean, score),
        "gamma_relative": gamma_relative(clean, score),
        "gamma_corrected": gamma_corrected(clean, score, chance=chance),
    }
    return {name: None if math.isnan(float(value)) else float(value) for name, value in values.items()}


def _groups(names: Sequence[str], conditions: Mapping[str, Condition]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for name in names:
        condition = conditions[name]
        groups.setdefault(condition.group, []).append(name)
        if condition.group == "visual":
            groups.setdefault(f"visual:{video_spec(condition.visual.name or '').category}", []).append(name)
        elif condition.group == "text":
            spec = text_spec(condition.text.name or "")
            groups.setdefault(f"text:{spec.origin}", []).append(name)
            groups.setdefault(f"text:{spec.category}", []).append(name)
    return groups


def _means(clean: float, scores: Sequence[float], conditions: Sequence[Condition], chance: float) -> Gammas:
    """Means over severities, then over perturbations, and the standard deviation over the latter."""
    names = [str(condition.visual.name) if condition.group == "visual" else condition.name for condition in conditions]
    means = robustness(
        [clean] * len(scores),
        scores,
        names,
        severities=[condition.visual.severity for condition in conditions],
        chance=chance,
    )
    result: Gammas = {"n": means["n_perturbations"], "n_undefined": means["n_missing"]}
    for name, key in (("gamma_absolute", "gamma_a"), ("gamma_relative", "gamma_r"), ("gamma_corrected", "gamma_c")):
        result[name], result[f"{name}_sd"] = means[key], means[f"{key}_std"]
    return result
