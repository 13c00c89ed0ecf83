"""Robustness: gamma of every perturbed condition, and its means as the robustness paper takes them.

Visual: the mean over severities, then over perturbations. Text: over the perturbations, and by origin (natural,
machine, synthetic). Pairs: over the pairs. Always with the standard deviation over what the last mean runs over.
The score is accuracy for multiple choice and R@1 each way for retrieval.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from video_contrast.metrics import gamma_absolute, gamma_corrected, gamma_relative
from video_contrast.runner.conditions import Condition

SCORES = {"multiple_choice": ("accuracy",), "retrieval": ("t2v_R@1", "v2t_R@1")}
CHANCE = {"accuracy": "chance", "t2v_R@1": "t2v_chance_R@1", "v2t_R@1": "v2t_chance_R@1"}


def robustness_of(
    layout: str, conditions: Mapping[str, Condition], metrics: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    """Gammas of the conditions of one config against its clean one; {} where there is none to compare.

    Returns:
        score -> {"conditions": name -> {gamma_absolute, gamma_relative, gamma_corrected}, and for each of
        "visual", "text", "pairs", "visual:<category>", "text:<origin>" that has conditions: {gamma_*: mean,
        gamma_*_sd, n}}. Undefined values (a clean score of 0) are null, and left out of means.
    """
    perturbed = [name for name, condition in conditions.items() if condition.group in ("visual", "text", "pairs")]
    if "clean" not in metrics or not perturbed:
        return {}
    found: dict[str, Any] = {}
    for score in SCORES[layout]:
        clean = metrics["clean"][score]
        chance = metrics["clean"][CHANCE[score]]
        each = {name: _gammas(clean, metrics[name][score], chance) for name in perturbed}
        entry: dict[str, Any] = {"clean": clean, "conditions": each}
        for group, names in _groups(perturbed, conditions).items():
            entry[group] = _means(_by_perturbation(names, conditions, each))
        found[score] = entry
    return found


def _gammas(clean: float, score: float, chance: float) -> dict[str, float | None]:
    values = {
        "gamma_absolute": gamma_absolute(clean, score),
        "gamma_relative": gamma_relative(clean, score),
        "gamma_corrected": gamma_corrected(clean, score, chance=chance),
    }
    return {name: None if math.isnan(float(value)) else float(value) for name, value in values.items()}


def _groups(names: Sequence[str], conditions: Mapping[str, Condition]) -> dict[str, list[str]]:
    from video_contrast.perturbations.registry import text_spec, video_spec

    found: dict[str, list[str]] = {}
    for name in names:
        condition = conditions[name]
        found.setdefault(condition.group, []).append(name)
        if condition.group == "visual":
            found.setdefault(f"visual:{video_spec(condition.visual.name or '').category}", []).append(name)
        elif condition.group == "text":
            spec = text_spec(condition.text.name or "")
            found.setdefault(f"text:{spec.origin}", []).append(name)
            found.setdefault(f"text:{spec.category}", []).append(name)
    return found


def _by_perturbation(
    names: Sequence[str], conditions: Mapping[str, Condition], each: Mapping[str, Mapping[str, float | None]]
) -> dict[str, list[Mapping[str, float | None]]]:
    """The gammas of each perturbation: one a severity for visual ones, one otherwise."""
    found: dict[str, list[Mapping[str, float | None]]] = {}
    for name in names:
        condition = conditions[name]
        key = str(condition.visual.name) if condition.group == "visual" else name
        found.setdefault(key, []).append(each[name])
    return found


def _means(table: Mapping[str, Sequence[Mapping[str, float | None]]]) -> dict[str, Any]:
    result: dict[str, Any] = {"n": len(table)}
    for measure in ("gamma_absolute", "gamma_relative", "gamma_corrected"):
        inner = []
        for severities in table.values():
            defined = [value for one in severities if (value := one[measure]) is not None]
            if defined:
                inner.append(float(np.mean(defined)))
        result[measure] = float(np.mean(inner)) if inner else None
        result[f"{measure}_sd"] = float(np.std(inner)) if inner else None
    return result
