"""The action lexicon: nouns with their classes, verb units with what they select, and which units exclude each other.

`README.md` beside this file says what the tables hold, how they were written and how a row is corrected.
"""

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import product

from video_contrast.perturbations.english.tables import both_ways

_PREPOSITIONS = frozenset(
    {"at", "behind", "by", "for", "from", "in", "inside", "near", "on", "outside", "under", "with"}
)


@dataclass(frozen=True)
class Thing:
    """A noun in one of its meanings: its class, size ("t", "h", "a", "b" or "-") and tag of what looks like it."""

    noun: str
    category: str
    size: str
    looks: str


@dataclass(frozen=True)
class Selection:
    """Which nouns a verb takes: those of some classes and those that are listed, less those that are excepted."""

    classes: frozenset[str]
    nouns: frozenset[str]
    excepted: frozenset[str]

    @classmethod
    def parse(cls, text: str) -> "Selection":
        """Reads "class,class:noun,-excepted noun"; "-" selects nothing.

        >>> Selection.parse("fruit:potato,-grape").excepted
        frozenset({'grape'})
        """
        classes, _, nouns = text.partition(":")
        listed = [noun for noun in nouns.split(",") if noun]
        return cls(
            frozenset(name for name in classes.split(",") if name not in ("", "-")),
            frozenset(noun for noun in listed if not noun.startswith("-")),
            frozenset(noun[1:] for noun in listed if noun.startswith("-")),
        )


@dataclass(frozen=True)
class Action:
    """A verb unit in one meaning and frame: "i" (no object), "t" (object) or "p" (object of the unit's preposition).

    `subject` and `object` say who does it to what; `seen` whether it shows without sound; exclusion is derived from
    `posture`, `hands` ("busy", "free", "any"), `motion`, `result`, `span` ("s" or "m") and `scenes`.
    """

    unit: str
    group: str
    frame: str
    subject: Selection
    object: Selection
    seen: bool
    posture: str
    hands: str
    motion: str
    result: str
    span: str
    scenes: frozenset[str]


class Lexicon:
    """The tables of this package; `load_lexicon` reads them once."""

    def __init__(self) -> None:
        self._parents = {name: parent for name, parent, _ in _rows("classes.tsv")}
        self._things: dict[str, tuple[Thing, ...]] = {}
        self._uses: dict[str, tuple[str, ...]] = {}
        self._actions: dict[str, tuple[Action, ...]] = {}
        for part in "ab":
            for noun, category, size, looks in _rows(f"things_{part}.tsv"):
                self._things[noun] = (*self._things.get(noun, ()), Thing(noun, category, size, looks))
            for noun, units in _rows(f"uses_{part}.tsv"):
                self._uses[noun] = tuple(dict.fromkeys((*self._uses.get(noun, ()), *units.split(", "))))
        for row in _rows("actions.tsv"):
            self._actions[row[0]] = (*self._actions.get(row[0], ()), _action(row))
        self._mixes = {scene: frozenset(mixes.split(",")) for scene, mixes, _ in _rows("scenes.tsv")}
        unlike = _rows("unlike.tsv")
        self._unlike = {
            column: both_ways((value, other) for name, value, other in unlike if name == column)
            for column in ("motion", "posture", "result")
        }
        self._pairs = {
            name: both_ways(tuple(row) for row in _rows(f"{name}.tsv"))
            for name in ("opposites", "together", "excludes")
        }

    def things(self, noun: str) -> tuple[Thing, ...]:
        """The meanings of a noun, commonest first; none of an unknown noun."""
        return self._things.get(noun, ())

    def actions(self, unit: str) -> tuple[Action, ...]:
        """The meanings and frames of a verb unit ("chop", "sit on"); none of an unknown unit."""
        return self._actions.get(unit, ())

    @property
    def units(self) -> tuple[str, ...]:
        """Every verb unit of the table of actions, sorted."""
        return tuple(sorted(self._actions))

    def uses(self, noun: str) -> tuple[str, ...]:
        """What people are filmed doing to a thing, as verb units."""
        return self._uses.get(noun, ())

    def is_a(self, category: str, parent: str) -> bool:
        """Whether a class is another one, or lies below it.

        >>> load_lexicon().is_a("vegetable", "food"), load_lexicon().is_a("food", "vegetable")
        (True, False)
        """
        return category == parent or self._parents.get(category) == parent

    def fits(self, unit: str, subject: str, noun: str = "") -> bool:
        """Whether "subject unit noun" reads naturally.

        Args:
            unit: a verb unit.
            subject: a class ("person") or a noun ("dog").
            noun: the object; empty for a unit without one.

        >>> lexicon = load_lexicon()
        >>> lexicon.fits("peel", "person", "potato"), lexicon.fits("peel", "person", "rice")
        (True, False)
        """
        if noun and self.is_a(subject, "people") and unit in self.uses(noun):
            return True
        return any(
            self._admits(action.subject, subject)
            and (self._admits(action.object, noun) if noun else action.frame == "i")
            for action in self.actions(unit)
        )

    def excludes(self, first: str, second: str, noun: str = "") -> str | None:
        """Why two units cannot both be true of one doer (and object) in a clip; None where they may be.

        Every meaning of one has to exclude every meaning of the other that, like it, has an object or has none.

        Args:
            first, second: verb units.
            noun: the object of both; meanings that do not take it are passed over.

        >>> lexicon = load_lexicon()
        >>> lexicon.excludes("open", "close"), lexicon.excludes("wakeboard", "sew")
        ('opposites', 'different activities: water, craft')
        >>> lexicon.excludes("chop", "slice"), lexicon.excludes("sing", "dance")
        (None, None)
        """
        pairs = list(product(self._meanings(first, noun), self._meanings(second, noun)))
        if any(a.group == b.group for a, b in pairs):
            return None
        alike = [(a, b) for a, b in pairs if (a.frame == "i") == (b.frame == "i")]
        reasons = [self._reason(a, b) for a, b in alike or pairs]
        return reasons[0] if reasons and all(reasons) else None

    def _meanings(self, unit: str, noun: str) -> tuple[Action, ...]:
        verb, _, preposition = unit.rpartition(" ")
        actions = self.actions(unit) or (self.actions(verb) if preposition in _PREPOSITIONS else ())
        return tuple(action for action in actions if noun and self._admits(action.object, noun)) or actions

    def _admits(self, selection: Selection, name: str) -> bool:
        """By the noun, then what it ends in or looks like within its class ("police car" as "car"), then its class."""
        categories = {thing.category for thing in self.things(name)} | ({name} & self._parents.keys())
        kin = {name.rpartition(" ")[2], *(thing.looks for thing in self.things(name))} - {""}
        kin = {noun for noun in kin if not categories or categories & {thing.category for thing in self.things(noun)}}
        for names in ({name}, kin):
            if names & (selection.nouns | selection.excepted):
                return bool(names & selection.nouns)
        return any(self.is_a(category, wide) for category in categories for wide in selection.classes)

    def _reason(self, a: Action, b: Action) -> str | None:
        if not (a.seen and b.seen):
            return None
        names = list(product({a.unit, a.group}, {b.unit, b.group}))
        for table, reason in (("opposites", "opposites"), ("together", None), ("excludes", "listed")):
            if any(y in self._pairs[table].get(x, ()) for x, y in names):
                return reason
        return self._of_columns(a, b) or self._of_scenes(a, b)

    def _of_columns(self, a: Action, b: Action) -> str | None:
        """The first of motion, result and posture that keeps two meanings apart."""
        if a.posture == b.posture != "jump" and b.motion in self._unlike["motion"].get(a.motion, ()):
            return f"opposite directions: {a.motion}, {b.motion}"
        if a.frame == b.frame == "t" and b.result in self._unlike["result"].get(a.result, ()):
            return f"different results: {a.result}, {b.result}"
        if b.posture in self._unlike["posture"].get(a.posture, ()):
            return f"different postures: {a.posture}, {b.posture}"
        return None

    def _of_scenes(self, a: Action, b: Action) -> str | None:
        """Scenes that do not mix in one clip; or that mix, but each keeps both hands busy for minutes."""
        if "any" in a.scenes | b.scenes or a.scenes & b.scenes:
            return None
        names = f"{min(a.scenes)}, {min(b.scenes)}"
        if not any(scene in self._mixes[other] for scene, other in product(a.scenes, b.scenes)):
            return f"different activities: {names}"
        if a.hands == b.hands == "busy" and a.span == b.span == "m" and "i" not in a.frame + b.frame:
            return f"hands are busy with different things: {names}"
        return None


def _rows(name: str) -> list[list[str]]:
    text = files("video_contrast.perturbations.contrast.lexicon").joinpath(name).read_text(encoding="utf-8")
    return [line.split("\t") for line in text.splitlines()[1:]]


def _action(row: list[str]) -> Action:
    unit, group, frame, subject, target, seen, posture, hands, motion, result, span, scenes = row
    sides = Selection.parse(subject), Selection.parse(target)
    return Action(
        unit, group, frame, *sides, seen == "1", posture, hands, motion, result, span, frozenset(scenes.split(","))
    )


@cache
def load_lexicon() -> Lexicon:
    """The lexicon of this package, read on the first call."""
    return Lexicon()
