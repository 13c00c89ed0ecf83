"""The action lexicon: who is seen doing what to which things, and which two actions cannot both be true of a clip."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from itertools import chain
from typing import Any, Literal, NamedTuple

from video_contrast.perturbations.english.lexicon import both_ways

__all__ = ["Action", "Attribute", "Lexicon", "Place", "Selection", "Swap", "Thing", "load_lexicon"]

Names = frozenset[str]
Match = Literal["noun", "class", "any"]
_ANY = frozenset("*-")
_NONE = frozenset("-")
_CACHED = 1 << 18
MASS = ("mixture", "drink", "sauce", "dry_ingredient", "herb", "grain", "dairy", "meat")  # classes of "a little salt"


class Swap(NamedTuple):
    """A written replacement of a verb unit."""

    unit: str  # verb with particle or preposition
    phrase: str = ""  # an object that comes with it ("a horse" of "ride a horse"), or ""
    preposition: str = ""  # replaces the caption's preposition behind the object; else ""
    place: str = ""  # phrase behind that preposition ("the pan" of "add _ to !the pan"); "" leaves the caption's
    keeps: bool = False  # whether the caption's preposition and what stands behind it stay
    match: Match = "any"  # how the row names the object: by noun, by class, or any
    of_other_unit: bool = False  # whether the row is of another unit, near to the one that is replaced
    is_exchange: bool = False  # whether either of the two may replace the other
    behind: frozenset[str] = frozenset()  # of an exchange: prepositions before which both may stand


_one_swap = cache(Swap)  # one object for equal ones: there are many


class Rows(defaultdict[tuple[str, str, str], dict[str, tuple[int, ...]]]):
    """The numbers of rows by unit, frame and subject, and by an object that they name; and the swaps of each row."""

    def __init__(self) -> None:
        super().__init__(dict)
        self._swaps: list[Sequence[Swap]] = []
        self._merged_swaps = lru_cache(_CACHED)(self._merge_swaps)

    def put(self, unit: str, frame: str, doer: str, objects: Iterable[str], swaps: Sequence[Swap]) -> None:
        """Adds a row."""
        for name in objects:
            rows = self[unit, frame, doer]
            rows[name] = (*rows.get(name, ()), len(self._swaps))
        self._swaps.append(swaps)

    def matching(self, unit: str, frame: str, doer: str, names: Iterable[str], match: Match) -> Sequence[Swap]:
        """The swaps of the rows that name one of the objects; equal ones as one, which stands before what any does."""
        rows = self.get((unit, frame, doer), {})
        matching = frozenset(chain.from_iterable(rows[name] for name in names if name in rows)) if rows else None
        return self._merged_swaps(matching, match) if matching else ()

    def _merge_swaps(self, rows: frozenset[int], match: Match) -> Sequence[Swap]:
        behind_of: dict[tuple[Any, ...], Names] = {}
        for row in sorted(rows):
            for *fields, _, of_other_unit, is_exchange, behind in self._swaps[row]:
                key = (*fields, match, of_other_unit, is_exchange)
                prepositions = behind_of.get(key, behind)
                behind_of[key] = prepositions if prepositions is behind else prepositions | behind
        return tuple(Swap._make((*key, behind)) for key, behind in behind_of.items())


class SwapTable:
    """The rows of `swaps.tsv`: units, frame, subject, objects, replacements; and of `exchanges.tsv`: frame, subject,
    objects, prepositions behind, actions."""

    def __init__(self, rows: Iterable[Sequence[str]], exchanges: Iterable[Sequence[str]], units: Iterable[str]) -> None:
        unit_names = frozenset(units)
        self._rows, self._exchanges = Rows(), Rows()
        for units, frame, subject, objects, replacements in rows:
            swaps = tuple(_swap(text, unit_names) for text in replacements.split(", "))
            for unit in units.split("|"):
                self._rows.put(unit, frame, subject, objects.split(","), swaps)
        for frame, subjects, objects, behind, actions in exchanges:
            prepositions = frozenset(behind.split(",")) - _NONE
            parts = [part.split(", ") for part in actions.split("; ")]
            for part in parts:
                others = [unit for other in parts if other is not part for unit in other]
                for subject in subjects.split(","):
                    self._exchange(part, frame, subject, frozenset(objects.split(",")), prepositions, others)

    def _exchange(
        self, part: Sequence[str], frame: str, subject: str, objects: Names, behind: Names, others: Sequence[str]
    ) -> None:
        alone = tuple(_one_swap(unit, is_exchange=True, behind=behind) for unit in others)
        staying = tuple(_one_swap(unit, keeps=True, is_exchange=True, behind=behind) for unit in others)
        if frame == "t":  # an action on a thing replaces units without a row, too
            own = tuple(_one_swap(unit, is_exchange=True, of_other_unit=True, behind=behind) for unit in part)
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
        exchange_of: dict[str, Swap] = {}
        exchanges = self._exchanges
        of: tuple[tuple[frozenset[str], Match], ...] = (nouns, "noun"), (classes, "class"), (_ANY, "any")
        for doer in doers:
            near: Sequence[Swap] = [swap for n in (0, 1) for swap in exchanges.matching(unit, frame, doer, *of[n])]
            if not (near or (frame == "t" and classes)):
                near = exchanges.matching(unit, frame, doer, *of[2])
            if not near and frame == "t":
                near = exchanges.matching("", "t", doer, *of[0]) or exchanges.matching("", "t", doer, *of[1])
            exchange_of = {swap.unit: swap for swap in reversed(near)}
            if exchange_of:
                break
        swaps = next(filter(None, (self._rows.matching(unit, frame, doers[-1], *names) for names in of)), ())
        others = [swap for swap in swaps if swap.preposition or swap.unit not in exchange_of]
        return [*reversed(exchange_of.values()), *others]


def _swap(text: str, unit_names: frozenset[str]) -> Swap:
    """Reads "juggle", "~juggle" (what follows stays), "!ride a horse" (with its object), "scoop _ out of" or
    "add _ to !the pan" (with its place)."""
    keeps, text = text.startswith("~"), text.removeprefix("~")
    if text.startswith("!"):
        words = text[1:].split(" ")
        size = next((n for n in (3, 2) if n < len(words) and " ".join(words[:n]) in unit_names), 1)
        return Swap(" ".join(words[:size]), phrase=" ".join(words[size:]), keeps=keeps)
    unit, _, behind = text.partition(" _ ")
    preposition, _, place = behind.partition(" !")
    return Swap(unit, preposition=preposition, place=place, keeps=keeps)


_PREPOSITIONS = ("at", "behind", "by", "for", "from", "in", "inside", "near", "on", "outside", "under", "with")


@dataclass(frozen=True)
class Thing:
    """A noun in one of its meanings: its class, size ("t", "h", "a", "b" or "-") and tag of what looks like it."""

    noun: str
    category: str
    size: str
    looks: str


@dataclass(frozen=True, eq=False)  # equal texts are one selection: compared as such, it is quick to look up
class Selection:
    """The nouns that a verb takes: those of some classes and those that are listed, less some that are excepted."""

    classes: frozenset[str]
    nouns: frozenset[str]
    exceptions: frozenset[str]


@dataclass(frozen=True, eq=False)
class Action:
    """A verb unit in one meaning and frame: "i" (no object), "t" (object) or "p" (object of the unit's preposition).

    `is_visible`: without sound. Exclusion is derived from `posture`, `hands`, `motion`, `result`, `span`
    ("s" or "m") and `scenes`; their values are those of the table.
    """

    unit: str
    group: str
    frame: str
    subject: Selection
    object: Selection
    is_visible: bool
    posture: str
    hands: str
    motion: str
    result: str
    span: str
    scenes: frozenset[str]


@dataclass(frozen=True)
class Attribute:
    """An adjective that a viewer can check.

    `dimension` is "colour", "size" ...; `group` names near synonyms; `classes` (or parents) are of what it describes.
    """

    adjective: str
    dimension: str
    group: str
    opposites: frozenset[str]
    classes: frozenset[str]


@dataclass(frozen=True)
class Place:
    """A place where actions happen: its setting ("indoor", "outdoor", "either") and the preposition that it takes."""

    noun: str
    setting: str
    preposition: str


class Peers(NamedTuple):
    """Nouns that stand for each other and exclude each other: as "object" or "subject" of some verbs, or behind some
    prepositions ("place"); `role`, `heads`: "*" are all."""

    role: str
    heads: frozenset[str]
    nouns: tuple[str, ...]


class Lexicon:
    """The tables of this package; `load_lexicon` reads them once."""

    def __init__(self) -> None:
        self._parents = {name: parent for name, parent, _ in _rows("classes.tsv")}
        self._things: dict[str, tuple[Thing, ...]] = {}
        self._uses: dict[str, tuple[str, ...]] = {}
        self._actions: dict[str, tuple[Action, ...]] = {}
        for row in (*_rows("things_a.tsv"), *_rows("things_b.tsv")):
            self._things[row[0]] = (*self.things(row[0]), Thing(*row))
        for noun, units in (*_rows("uses_a.tsv"), *_rows("uses_b.tsv")):
            self._uses[noun] = tuple(dict.fromkeys((*self.uses(noun), *units.split(", "))))
        for row in _rows("actions.tsv"):
            unit, group, frame, subject, target, visible, posture, hands, motion, result, span, scenes = row
            sides, scene_set = (_selection(subject), _selection(target)), frozenset(scenes.split(","))
            action = Action(unit, group, frame, *sides, visible == "1", posture, hands, motion, result, span, scene_set)
            self._actions[unit] = (*self.actions(unit), action)
        self._group_units: dict[tuple[str, str], list[str]] = {}
        for unit, actions in self._actions.items():
            for action in actions:
                self._group_units.setdefault((action.group, action.frame), []).append(unit)
        self._swaps = SwapTable(_rows("swaps.tsv"), _rows("exchanges.tsv"), self._actions)
        self.attributes = {
            word: Attribute(word, dimension, group, _names(opposites), _names(classes))
            for word, dimension, group, opposites, classes in _rows("attributes.tsv")
        }
        self.places = {row[0]: Place(*row) for row in _rows("places.tsv")}
        self._wider = {noun: frozenset(names.split(",")) for noun, names in _rows("wider.tsv")}
        self._peers: dict[str, list[Peers]] = {}
        for role, heads, nouns in _rows("peers.tsv"):
            peers = Peers(role, _names(heads), tuple(nouns.split(",")))
            for look in {self._look(noun) for noun in peers.nouns}:
                self._peers.setdefault(look, []).append(peers)
        self._mixes = {scene: frozenset(mixes.split(",")) for scene, mixes, _ in _rows("scenes.tsv")}
        unlike = _rows("unlike.tsv")
        columns = {column for column, _, _ in unlike}
        self._unlike = {name: both_ways((a, b) for column, a, b in unlike if column == name) for name in columns}
        self._kin = lru_cache(_CACHED)(self._find_kin)
        self.admits = lru_cache(_CACHED)(self._selects)
        self._meanings = lru_cache(_CACHED)(self._find_meanings)
        self._relations = lru_cache(_CACHED)(self._find_relations)
        tables = ("opposites", "together", "excludes", "alike")
        self._pairs = {name: both_ways(tuple(row) for row in _rows(f"{name}.tsv")) for name in tables}

    def things(self, noun: str) -> tuple[Thing, ...]:
        """The meanings of a noun, commonest first; none of an unknown noun."""
        return self._things.get(noun) or self._things.get(self._name(noun), ())

    def _name(self, noun: str) -> str:
        """A noun as the tables have it: "pants", of which a parser tells the singular."""
        plurals = (noun + ending for ending in ("s", "es") if noun not in self._things)
        return next((plural for plural in plurals if plural in self._things), noun)

    def opposites(self, unit: str) -> frozenset[str]:
        """The units (and groups of units) that are opposites of a unit."""
        names = {unit, *(action.group for action in self.actions(unit))}
        return frozenset(other for name in names for other in self._pairs["opposites"].get(name, ()))

    def wider(self, noun: str) -> frozenset[str]:
        """The nouns that name all that a noun (else a compound's head) names: "beverage" of "beer"; synonyms too."""
        return self._wider.get(noun) or self._wider.get(noun.rpartition(" ")[2], frozenset())

    def may_name_one(self, noun: str, other: str) -> bool:
        """Whether two nouns share a word, one (or its head) names all that the other names, or viewers mix them up."""
        head, other_head = noun.rpartition(" ")[2], other.rpartition(" ")[2]
        # A whiteboard is a board.
        if head.endswith(other_head) or other_head.endswith(head) or set(noun.split(" ")) & set(other.split(" ")):
            return True
        wider = self.wider(noun) | {alike for name in (noun, head) for alike in self._pairs["alike"].get(name, ())}
        return bool(wider & {other, other_head} or self.wider(other) & {noun, head})

    def peers(self, noun: str) -> Sequence[Peers]:
        """The nouns that can stand for a noun, for its look or a compound's head, and are surely something else.

        A compound of another class than its head ("toy car") has what is written for it alone, if anything is.
        """
        head = noun.rpartition(" ")[2]
        own, of_head = (self._peers.get(self._look(name), []) for name in (noun, head))
        classes = {thing.category for name in (noun, head) for thing in self.things(name)[:1]}
        return tuple(own if head == noun or (own and len(classes) > 1) else own + of_head)

    def _look(self, noun: str) -> str:
        """The tag of what looks like a noun in its commonest meaning; itself if nothing does."""
        things = self.things(noun)
        return (things[0].looks.strip("*") if things else "") or noun

    def nouns(self) -> tuple[str, ...]:
        """Every noun, sorted."""
        return tuple(sorted(self._things))

    def parents(self, category: str) -> tuple[str, ...]:
        """The class above a class; none of an unknown one."""
        parent = self._parents.get(category)
        return (parent,) if parent else ()

    def actions(self, unit: str) -> tuple[Action, ...]:
        """The meanings and frames of a verb unit ("chop", "sit on"); none of an unknown unit."""
        return self._actions.get(unit, ())

    @property
    def units(self) -> tuple[str, ...]:
        """Every verb unit of the table of actions, sorted."""
        return tuple(sorted(self._actions))

    def uses(self, noun: str) -> tuple[str, ...]:
        """The verb units of the actions that people are filmed doing to a thing."""
        return self._uses.get(self._name(noun), ())

    def swaps(self, unit: str, frame: str, subject: str = "person", noun: str = "") -> tuple[Swap, ...]:
        """The swaps that are written for a unit, best first; for a unit without a row, those of its near synonyms.

        Args:
            unit, frame: in dictionary form; of frame "t+p" with the preposition behind the object: "pour _ into";
                frame "o" is of what replaces a verb with its object.
            subject: who does it, a class ("person") or a noun ("dog").
            noun: the object; "" without one.
        """
        noun, head = self._name(noun), self._name(noun.rpartition(" ")[2])
        things = self.things(noun)
        same = {thing.category for thing in things} & {thing.category for thing in self.things(head)}
        names = frozenset({noun, head} if same or not things else {noun}) - {""}
        categories = {thing.category for thing in things or self.things(head)} | ({noun} & self._parents.keys())
        classes = frozenset(name for category in categories for name in (category, *self.parents(category)))
        doers = self._doers(subject)
        if swaps := self._swaps.find(unit, frame, doers, names, classes):
            return tuple(swaps)
        groups = {action.group for action in self.actions(unit) if action.frame == frame}
        for other in sorted({other for group in groups for other in self._group_units.get((group, frame), ())}):
            if swaps := self._swaps.find(other, frame, doers, names, classes):
                return tuple(
                    s._replace(of_other_unit=True) for s in swaps if not (s.keeps or (noun and s.match == "any"))
                )
        return ()

    def _doers(self, subject: str) -> tuple[str, ...]:
        """The classes of a doer; the last is "person", "animal" or "thing". What is unknown is taken for a person."""
        things = self.things(subject) or self.things(subject.rpartition(" ")[2])
        categories = tuple(dict.fromkeys(thing.category for thing in things))
        people = any(self.is_a(category, name) for category in categories for name in ("people", "body"))
        if not categories or subject == "person" or people:
            return ("person",)
        return (*categories, "animal" if any(self.is_a(category, "animal") for category in categories) else "thing")

    def is_a(self, category: str, parent: str) -> bool:
        """Whether a class is another one, or lies below it ("vegetable" below "food")."""
        return category == parent or self._parents.get(category) == parent

    def is_place(self, noun: str) -> bool:
        """Whether a noun, or the last of its words, names a place."""
        return noun in self.places or noun.rpartition(" ")[2] in self.places

    def fits(self, unit: str, subject: str, noun: str = "") -> bool:
        """Whether "subject unit noun" reads naturally.

        Args:
            unit, subject: a verb unit and who does it, a class ("person") or a noun ("dog").
            noun: the object; empty for a unit without one.

        >>> lexicon = load_lexicon()
        >>> lexicon.fits("peel", "person", "potato"), lexicon.fits("peel", "person", "rice")
        (True, False)
        """
        is_listed_use = self.is_a(subject, "people") and unit in self.uses(noun)
        return is_listed_use or any(
            self.admits(action.subject, subject) and (self.admits(action.object, noun) if noun else action.frame == "i")
            for action in self.actions(unit)
        )

    def excludes(self, first: str, second: str, noun: str = "", subject: str = "person") -> str | None:
        """Why two units cannot both be true of one doer (and object) in a clip; None where they may be.

        Every meaning of one has to exclude every meaning of the other that, like it, has an object or has none.

        Args:
            first, second: verb units.
            noun, subject: only the meanings that take this object and this doer count, where there are any.

        >>> lexicon = load_lexicon()
        >>> lexicon.excludes("open", "close"), lexicon.excludes("wakeboard", "sew")
        ('opposites', 'different activities: water, craft')
        >>> lexicon.excludes("chop", "slice"), lexicon.excludes("sing", "dance")
        (None, None)
        """
        one, other = self.actions(first), self.actions(second)
        if len(one) != 1:  # else it has one meaning, whatever the object
            one = self._meanings(first, noun, subject)
        if len(other) != 1:
            other = self._meanings(second, noun, subject)
        pairs = [(a, b) for a in one for b in other]
        if any(a.group == b.group or not (a.is_visible and b.is_visible) for a, b in pairs):
            return None
        if len(pairs) > 1:
            pairs = [(a, b) for a, b in pairs if (a.frame == "i") == (b.frame == "i")] or pairs
        reasons = [self._reason(a, b) for a, b in pairs]
        return reasons[0] if reasons and all(reasons) else None

    def _find_meanings(self, unit: str, noun: str, subject: str) -> tuple[Action, ...]:
        """The meanings of a unit that take subject and noun; those of its verb where no row has it ("stir with")."""
        actions = self.actions(unit)
        if not actions:
            verb, _, preposition = unit.rpartition(" ")
            actions = self.actions(verb) if preposition in _PREPOSITIONS else ()
        if len(actions) < 2:
            return actions
        actions = tuple(action for action in actions if self.admits(action.subject, subject)) or actions
        return tuple(action for action in actions if noun and self.admits(action.object, noun)) or actions

    def _selects(self, selection: Selection, name: str) -> bool:
        """Whether a selection takes a class or noun: by name, then what it ends in or looks like, then its class."""
        if name in selection.nouns or name in selection.exceptions:
            return name in selection.nouns
        kin, classes = self._kin(name)
        if not (kin.isdisjoint(selection.nouns) and kin.isdisjoint(selection.exceptions)):
            return not kin.isdisjoint(selection.nouns)
        return not classes.isdisjoint(selection.classes)

    def _find_kin(self, name: str) -> tuple[frozenset[str], frozenset[str]]:
        """The nouns that a noun ends in or looks like, and its classes with those above them."""
        categories = {thing.category for thing in self.things(name)} | ({name} & self._parents.keys())
        names = {name.rpartition(" ")[2], *(thing.looks for thing in self.things(name))} - {""}
        alike = (n for n in names if not categories or categories & {thing.category for thing in self.things(n)})
        wide = (wider for category in categories for wider in (category, *self.parents(category)))
        return frozenset(alike), frozenset(wide)

    def _find_relations(self, action: Action) -> list[tuple[frozenset[str], str | None]]:
        """The units and groups that are its opposites, go together with it, or exclude it; each with the reason."""
        tables = (("opposites", "opposites"), ("together", None), ("excludes", "listed"))
        pairs = [(self._pairs[name], reason) for name, reason in tables]
        return [(frozenset((*of.get(action.unit, ()), *of.get(action.group, ()))), reason) for of, reason in pairs]

    def _reason(self, first: Action, other: Action) -> str | None:
        for names, reason in self._relations(first):
            if other.unit in names or other.group in names:
                return reason
        if first.posture == other.posture != "jump" and other.motion in self._unlike["motion"].get(first.motion, ()):
            return f"opposite directions: {first.motion}, {other.motion}"
        if first.frame == other.frame == "t" and other.result in self._unlike["result"].get(first.result, ()):
            return f"different results: {first.result}, {other.result}"
        if other.posture in self._unlike["posture"].get(first.posture, ()):
            return f"different postures: {first.posture}, {other.posture}"
        if "any" in first.scenes | other.scenes or first.scenes & other.scenes:
            return None
        may_mix = any(not self._mixes[scene].isdisjoint(first.scenes) for scene in other.scenes)
        both = (first.hands, first.span) == (other.hands, other.span) == ("busy", "m")
        if may_mix and not (both and "i" not in first.frame + other.frame):
            return None
        reason = "hands are busy with different things" if may_mix else "different activities"
        return f"{reason}: {min(first.scenes)}, {min(other.scenes)}"


def _names(text: str) -> frozenset[str]:
    return frozenset(name for name in text.split(",") if name)


def _rows(name: str) -> list[list[str]]:
    text = files("video_contrast.perturbations.contrast.lexicon").joinpath(name).read_text(encoding="utf-8")
    return [line.split("\t") for line in text.splitlines()[1:]]


@cache
def _selection(text: str) -> Selection:
    """Reads "class,class:noun,-excepted noun"; "-" selects nothing."""
    classes, _, nouns = text.removeprefix("-").partition(":")
    names = _names(nouns)
    exceptions = frozenset(noun for noun in names if noun.startswith("-"))
    return Selection(_names(classes), names - exceptions, frozenset(noun[1:] for noun in exceptions))


@cache
def load_lexicon() -> Lexicon:
    """The lexicon of this package, read on the first call."""
    return Lexicon()
