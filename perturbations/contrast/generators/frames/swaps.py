"""Actions that cannot be true of the same doing and take the same words around them: general English, no corpus.

A clip with one or two captions says little of what else is true of it, and its noun was perhaps never counted. These
pairs need neither: "light" and "blow out" a candle, "wash" and "drive" a car, "fry" and "boil" an egg.
"""

from collections.abc import Collection
from functools import cache

from video_contrast.perturbations.contrast.generators.frames.groups import MOTION, exclusive
from video_contrast.perturbations.english.tables import both_ways, lines

DOERS = ("person", "animal", "vehicle")  # each has a table, swaps_DOER.txt
# Where a body moves or rests, it may do one of these instead.
_BODY = ("sit", "stand", "lie", "run")
_RESTING = ("in", "on", "near", "by", "beside")
_MOVING = frozenset("slide step march stroll rush sprint gallop".split())  # noqa: SIM905
_UP_DOWN = {"up": "down", "down": "up", "into": "out of", "towards": "away from"}


@cache
def _table(doer: str) -> dict[str, list[tuple[frozenset[str], tuple[str, ...]]]]:
    table: dict[str, list[tuple[frozenset[str], tuple[str, ...]]]] = {}
    for line in lines(__package__, f"swaps_{doer}.txt"):
        both = "<>" in line
        left, _, right = line.partition("<>" if both else ">")
        unit, _, nouns = left.strip().rstrip("]").partition("[")
        others = tuple(part.strip() for part in right.split(","))
        table.setdefault(unit, []).append((frozenset(nouns.split()), others))
        if both:
            for other in others:
                back = unit + "+" * other.endswith("+")
                table.setdefault(other.rstrip("+"), []).append((frozenset(nouns.split()), (back,)))
    return table


def swaps(doer: str, unit: str, *, noun: str, kinds: Collection[str]) -> dict[str, bool]:
    """What replaces a unit for sure, and whether it takes whatever else follows in the caption.

    Args:
        doer: "person", "animal" or "vehicle"; anything else has none.
        unit: verb, particle and preposition.
        noun: its noun, "" where it has none.
        kinds: classes of that noun.

    >>> swaps("person", "light", noun="candle", kinds=[])
    {'blow out': False}
    """
    if doer not in DOERS:
        return {}
    for nouns, others in _table(doer).get(unit, []):
        if not nouns or noun in nouns or nouns & set(kinds):
            return {other.rstrip("+"): other.endswith("+") for other in others}
    return {}


def bodies(unit: str, kind: str) -> list[str]:
    """What a body does in the same place, of a kind, instead: "swim in" -> "sit in"; see `exclusive`."""
    verb, _, rest = unit.partition(" ")
    fitting = {"furniture": ("sit", "stand", "lie"), "vehicle": ("sit", "lie")}.get(kind, _BODY)
    others = [body for body in fitting if exclusive(verb, body)]
    return [f"{body} {rest}" for body in others] if rest in _RESTING else []


def other_way(unit: str) -> str:
    """The same way of moving in the other direction, or "": "ride up" -> "ride down"."""
    verb, _, rest = unit.partition(" ")
    return f"{verb} {_UP_DOWN[rest]}" if rest in _UP_DOWN and (verb in MOTION or verb in _MOVING) else ""


@cache
def _steps() -> dict[str, frozenset[str]]:
    sides = [[side.split() for side in line.split("|")] for line in lines(__package__, "steps.txt")]
    return both_ways((a, b) for first, second in sides for a in first for b in second)


def steps_exclude(first: str, second: str) -> bool:
    """Whether nobody does the two to one thing at a time, as steps of a recipe.

    >>> steps_exclude("fry", "boil"), steps_exclude("chop", "dice")
    (True, False)
    """
    return second in _steps().get(first, frozenset())
