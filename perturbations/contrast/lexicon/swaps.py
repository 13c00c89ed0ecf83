"""Written swaps: what else the same doer could do with the same thing, surely not at the same time (`swaps.tsv`)."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

Match = Literal["noun", "class", "any"]
_MATCHES: tuple[Match, ...] = ("noun", "class", "any")


class Swap(NamedTuple):
    """A written replacement of a verb unit."""

    unit: str  # verb with particle or preposition
    phrase: str = ""  # an object that comes with it ("a horse" of "ride a horse"), or ""
    preposition: str = ""  # what takes the place of the caption's preposition, of frame "t+p"; else ""
    keeps: bool = False  # whether the caption's preposition and what stands behind it stay
    match: Match = "any"  # what of the object the row names: the noun, its class, or anything
    carried: bool = False  # whether the row is of another unit, near to the one that is replaced


class SwapTable:
    """The rows of `swaps.tsv`: units, frame, subject, objects, replacements."""

    def __init__(self, rows: Iterable[Sequence[str]], units: Iterable[str]) -> None:
        known = frozenset(units)
        self._rows: dict[tuple[str, str, str], list[tuple[frozenset[str], tuple[Swap, ...]]]] = defaultdict(list)
        for units, frame, subject, objects, replacements in rows:
            listed = tuple(_swap(text, known) for text in replacements.split(", "))
            for unit in units.split("|"):
                self._rows[unit, frame, subject].append((frozenset(objects.split(",")), listed))

    def find(
        self, unit: str, frame: str, subject: str, nouns: frozenset[str], classes: frozenset[str]
    ) -> tuple[Match, list[Swap]]:
        """The swaps of the rows that name the object most closely, and how closely.

        Args:
            unit: as it stands in the caption; of frame "t+p" with its preposition: "pour _ into".
            subject: "person", "animal" or "thing".
            nouns, classes: names of the object, and its classes with those above them; both empty without one.
        """
        rows = self._rows.get((unit, frame, subject), [])
        for match, names in zip(_MATCHES, (nouns, classes, frozenset("*-")), strict=True):
            swaps = [swap for objects, listed in rows if objects & names for swap in listed]
            if swaps:
                return match, swaps
        return "any", []


def _swap(text: str, known: frozenset[str]) -> Swap:
    """Reads "juggle", "~juggle" (what follows stays), "!ride a horse" (with its object) or "scoop _ out of"."""
    keeps, text = text.startswith("~"), text.removeprefix("~")
    if text.startswith("!"):
        words = text[1:].split(" ")
        size = next((n for n in (3, 2) if n < len(words) and " ".join(words[:n]) in known), 1)
        return Swap(" ".join(words[:size]), phrase=" ".join(words[size:]), keeps=keeps)
    unit, _, preposition = text.partition(" _ ")
    return Swap(unit, preposition=preposition, keeps=keeps)
