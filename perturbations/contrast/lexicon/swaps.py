"""Written swaps: what else the same doer could do with the same thing, surely not at the same time (`swaps.tsv`), and
sets of actions that replace each other (`exchanges.tsv`)."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import count
from typing import Literal, NamedTuple

Match = Literal["noun", "class", "any"]
_ANY = frozenset("*-")
_NONE = frozenset("-")


class Swap(NamedTuple):
    """A written replacement of a verb unit."""

    unit: str  # verb with particle or preposition
    phrase: str = ""  # an object that comes with it ("a horse" of "ride a horse"), or ""
    preposition: str = ""  # what stands behind the object instead of the caption's preposition; else ""
    place: str = ""  # what stands behind that preposition ("the pan" of "add _ to !the pan"); "" what the caption has
    keeps: bool = False  # whether the caption's preposition and what stands behind it stay
    match: Match = "any"  # what of the object the row names: the noun, its class, or anything
    carried: bool = False  # whether the row is of another unit, near to the one that is replaced
    exchanged: bool = False  # whether either of the two may replace the other
    behind: frozenset[str] = frozenset()  # of an exchange: prepositions before which both may stand


class Rows(defaultdict[tuple[str, str, str, str], list[tuple[int, Sequence[Swap]]]]):
    """The swaps of each row, with its number, by unit, frame, subject, and an object that it names."""

    def __init__(self) -> None:
        super().__init__(list)
        self._number = count()

    def put(self, unit: str, frame: str, doer: str, objects: Iterable[str], swaps: Sequence[Swap]) -> None:
        """Adds a row."""
        row = next(self._number), swaps
        for name in objects:
            self[unit, frame, doer, name].append(row)

    def matching(self, unit: str, frame: str, doer: str, names: Iterable[str], match: Match) -> list[Swap]:
        """The swaps of the rows that name one of the objects; equal ones as one, which stands before what any does."""
        listed = dict(row for name in names for row in self.get((unit, frame, doer, name), ()))
        found: dict[tuple[object, ...], Swap] = {}
        for swap in (swap for number in sorted(listed) for swap in listed[number]):
            equal = found.get(swap[:-1], swap)
            found[swap[:-1]] = equal._replace(match=match, behind=equal.behind | swap.behind)
        return list(found.values())


class SwapTable:
    """The rows of `swaps.tsv`: units, frame, subject, objects, replacements; and of `exchanges.tsv`: frame, subject,
    objects, prepositions behind, actions."""

    def __init__(self, rows: Iterable[Sequence[str]], exchanges: Iterable[Sequence[str]], units: Iterable[str]) -> None:
        known = frozenset(units)
        self._rows, self._exchanges = Rows(), Rows()
        for units, frame, subject, objects, replacements in rows:
            listed = tuple(_swap(text, known) for text in replacements.split(", "))
            for unit in units.split("|"):
                self._rows.put(unit, frame, subject, objects.split(","), listed)
        for frame, subjects, objects, behind, actions in exchanges:
            prepositions = frozenset(behind.split(",")) - _NONE
            parts = [part.split(", ") for part in actions.split("; ")]
            for part in parts:
                others = [unit for other in parts if other is not part for unit in other]
                for subject in subjects.split(","):
                    self._exchange(part, frame, subject, frozenset(objects.split(",")), prepositions, others)

    def _exchange(
        self,
        part: Sequence[str],
        frame: str,
        subject: str,
        objects: frozenset[str],
        behind: frozenset[str],
        others: Sequence[str],
    ) -> None:
        alone = tuple(Swap(unit, exchanged=True, behind=behind) for unit in others)
        staying = tuple(swap._replace(keeps=True) for swap in alone)
        if frame == "t":  # what is done to a thing replaces also what no row has
            own = tuple(Swap(unit, exchanged=True, carried=True, behind=behind) for unit in part)
            self._exchanges.put("", "t", subject, objects - {"*"}, own)
        for unit in part:
            if frame == "t" or objects & {"*", "-"}:
                self._exchanges.put(unit, frame, subject, objects, alone)
            if frame == "t" and " " in unit:
                self._exchanges.put(unit, "p", subject, objects, alone)
            for preposition in behind if frame == "i" else ():
                self._exchanges.put(f"{unit} {preposition}", "p", subject, objects, staying)

    def find(
        self, unit: str, frame: str, doers: Sequence[str], nouns: frozenset[str], classes: frozenset[str]
    ) -> list[Swap]:
        """The exchanges of the rows that name the object or its class, else of any object; then the swaps of the rows
        that name it most closely.

        `doers`: narrow classes first. `nouns, classes`: names of the object, and its classes with those above them.
        """
        exchanged: dict[str, Swap] = {}
        exchanges = self._exchanges
        of: tuple[tuple[frozenset[str], Match], ...] = (nouns, "noun"), (classes, "class"), (_ANY, "any")
        for doer in doers:
            near = [*exchanges.matching(unit, frame, doer, *of[0]), *exchanges.matching(unit, frame, doer, *of[1])]
            if not (near or (frame == "t" and classes)):
                near = exchanges.matching(unit, frame, doer, *of[2])
            if not near and frame == "t":
                near = exchanges.matching("", "t", doer, *of[0]) or exchanges.matching("", "t", doer, *of[1])
            exchanged = {swap.unit: swap for swap in reversed(near)}
            if exchanged:
                break
        written = next(filter(None, (self._rows.matching(unit, frame, doers[-1], *names) for names in of)), [])
        return [
            *reversed(exchanged.values()),
            *(swap for swap in written if swap.preposition or swap.unit not in exchanged),
        ]


def _swap(text: str, known: frozenset[str]) -> Swap:
    """Reads "juggle", "~juggle" (what follows stays), "!ride a horse" (with its object), "scoop _ out of" or
    "add _ to !the pan" (with its place)."""
    keeps, text = text.startswith("~"), text.removeprefix("~")
    if text.startswith("!"):
        words = text[1:].split(" ")
        size = next((n for n in (3, 2) if n < len(words) and " ".join(words[:n]) in known), 1)
        return Swap(" ".join(words[:size]), phrase=" ".join(words[size:]), keeps=keeps)
    unit, _, behind = text.partition(" _ ")
    preposition, _, place = behind.partition(" !")
    return Swap(unit, preposition=preposition, place=place, keeps=keeps)
