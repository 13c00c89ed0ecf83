"""The grammar of conditions: the changes of videos and texts before a model sees them.

    clean                          nothing
    visual:*                       the 90: every visual perturbation at every severity
    visual:Noise                   a category; visual:jumble a perturbation; visual:jumble@3 and visual:*@3 a severity
    text:*                         the 35; text:Bias a category; text:keyboard one
    pairs                          the 66 pairs of a visual and a text perturbation
    visual:jumble@3+text:keyboard  any pair
    controls                       control:blind, control:one_frame, control:shuffled, control:reversed

Several are separated by commas. What a wildcard names but cannot run (a checkpoint that is not there) is left out and
recorded; what is asked for by name must run.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import video_contrast.perturbations.text  # noqa: F401  fills the registry
from video_contrast.errors import UsageError, unknown_name
from video_contrast.options import names_in
from video_contrast.perturbations.registry import TEXT, VIDEO
from video_contrast.perturbations.video import PAIR_SEVERITY, PAIRS
from video_contrast.rows import TextRecipe, VideoRecipe

SEVERITIES = (1, 2, 3, 4, 5)
CONTROLS = ("blind", "one_frame", "shuffled", "reversed")


@dataclass(frozen=True)
class Visual:
    """The change of the frames: none, a perturbation at a severity, or a control."""

    name: str | None = None
    severity: int = 0
    profile: str = "paper"
    seed: int = 0
    scope: str = "clip"
    order: str = "perturb_then_sample"

    @property
    def is_control(self) -> bool:
        """Whether it is one of the controls, which act on the sampled frames."""
        return self.name in CONTROLS


@dataclass(frozen=True)
class Text:
    """The change of the captions: none or a perturbation. `stored` texts are already perturbed in the set."""

    name: str | None = None
    profile: str = "paper"
    seed: int = 0
    stored: bool = False


@dataclass(frozen=True)
class Condition:
    """One visual and one text treatment, and the name under which the scores stand."""

    name: str
    group: str  # "clean", "visual", "text", "pairs" or "controls"
    visual: Visual = Visual()
    text: Text = Text()
    wildcard: bool = False  # asked for by a wildcard, so left out (and recorded) where it cannot run


CLEAN = Condition("clean", "clean")


def parse(names: str | Sequence[str], base: Visual = CLEAN.visual) -> list[Condition]:
    """The conditions named by a list (or a comma-separated string), each once, clean first where it is among them.

    `base`: seed, profile, scope and order of all of them. Raises UsageError: a name that there is not; the message
    suggests the nearest.
    """
    words_profile = "paper" if base.profile == "monotone" else base.profile  # severities are a matter of pictures only
    conditions: dict[str, Condition] = {}
    for word in names_in(names) or ():
        for condition in _expand(word, base, Text(None, words_profile, base.seed)):
            former = conditions.get(condition.name)
            if former is None or (former.wildcard and not condition.wildcard):
                conditions[condition.name] = condition
    if not conditions:
        raise UsageError("--conditions names none; `clean` is the plain set")
    return sorted(conditions.values(), key=lambda condition: condition.group != "clean")


def _expand(word: str, visual: Visual, text: Text) -> list[Condition]:
    if word == "clean":
        return [CLEAN]
    if word in ("controls", "control:*"):
        return [_control(name, visual) for name in CONTROLS]
    if word.startswith("control:") or word in CONTROLS:
        return [_control(word.removeprefix("control:"), visual)]
    if word in ("pairs", "pairs:*"):
        both = [f"visual:{name}@{PAIR_SEVERITY}+text:{words}" for name, words in PAIRS]
        return [replace(condition, wildcard=True) for pair in both for condition in _expand(pair, visual, text)]
    if "+" in word:
        left, _, right = word.partition("+")
        if not left.startswith("visual:") or not right.startswith("text:"):
            raise UsageError(f"--conditions {word!r}: a pair is visual:NAME@SEVERITY+text:NAME")
        return [
            Condition(f"{v.name}+{t.name}", "pairs", v.visual, t.text, wildcard=v.wildcard or t.wildcard)
            for v in _visuals(left, visual)
            for t in _texts(right, text)
        ]
    if word.startswith("visual:"):
        return _visuals(word, visual)
    if word.startswith("text:"):
        return _texts(word, text)
    raise unknown_name("condition", word, ["clean", "visual:*", "text:*", "pairs", "controls"])


def _control(name: str, base: Visual) -> Condition:
    if name not in CONTROLS:
        raise unknown_name("control", name, CONTROLS)
    return Condition(f"control:{name}", "controls", Visual(name, 0, "paper", base.seed))


def _visuals(word: str, base: Visual) -> list[Condition]:
    name, at, level = word.removeprefix("visual:").partition("@")
    if at and (not level.isdigit() or int(level) not in SEVERITIES):
        raise UsageError(f"--conditions {word!r}: a severity is 1, 2, 3, 4 or 5")
    severities = (int(level),) if at else SEVERITIES
    names, wildcard = _named("visual perturbation", name, {n: spec.category for n, spec in VIDEO.items()})
    visuals = [replace(base, name=n, severity=severity) for n in names for severity in severities]
    return [Condition(f"visual:{v.name}@{v.severity}", "visual", v, wildcard=wildcard) for v in visuals]


def _texts(word: str, base: Text) -> list[Condition]:
    name = word.removeprefix("text:")
    names, wildcard = _named("text perturbation", name, {n: spec.category for n, spec in TEXT.items()})
    return [Condition(f"text:{n}", "text", text=Text(n, base.profile, base.seed), wildcard=wildcard) for n in names]


def _named(what: str, name: str, categories: Mapping[str, str]) -> tuple[list[str], bool]:
    if name in ("*", "all", ""):
        return list(categories), True
    if name in categories:
        return [name], False
    if inside := [n for n, category in categories.items() if category.lower() == name.lower()]:
        return inside, True
    raise unknown_name(what, name, [*categories, *dict.fromkeys(categories.values())])


def from_recipe(video: VideoRecipe | None, text: TextRecipe | None) -> Condition | None:
    """The condition that a perturbed set's row is in, from its two recipe columns; None where both are empty."""
    if not video and not text:
        return None
    recipes: list[tuple[Any, Any]] = [(video or {}, Visual), (text or {}, Text)]  # a recipe, and whose fields it has
    visual, words = ({f.name: recipe[f.name] for f in fields(of) if recipe.get(f.name)} for recipe, of in recipes)
    v = Visual(**visual) if "name" in visual else Visual()
    t = Text(**words, stored=True) if "name" in words else Text()
    names = [f"visual:{v.name}@{v.severity}"] if v.name else []
    names += [f"text:{t.name}"] if t.name else []
    if not names:
        return None
    return Condition("+".join(names), "pairs" if len(names) == 2 else names[0].split(":")[0], v, t)
