"""Whether a unit can stand in an action's place: with its noun, its doer, what follows, the other verbs."""

from math import log
from typing import NamedTuple

from video_contrast.perturbations.contrast.generators.frames.actions import ELASTIC, LIGHT, Action
from video_contrast.perturbations.contrast.generators.frames.groups import ASIDE, POSTURE, VAGUE, exclusive, opposite
from video_contrast.perturbations.contrast.generators.frames.noun_groups import kind_of
from video_contrast.perturbations.contrast.generators.frames.together import Together
from video_contrast.perturbations.contrast.generators.frames.verb_index import ORDERED, VerbIndex

SEEN = 2  # videos in which the unit was said of that very noun (rarer entries are not counted)
SUBJECTS = 4  # videos in which such a subject did it without an object
KNOWN_UNIT = 5  # uses of a unit with anything
ALONE = (10, 0.25)  # uses of a unit without a noun: how many, and which share of its uses
COMPANY = (4, 0.95)  # captions' videos that say both verbs of one caption, and their lift
COMPANY_POSTURE = 0.55  # the lift, where a posture or walking goes with the other verb
VESSELS = frozenset({"container", "device", "furniture"})  # what one holds as well as another of its kind
KIND_TAILS = 6  # videos of such a tail with anything of that kind
SCENE = 12  # verbs that a tail is said with, to be a scene that fits any of them
PLACES = frozenset("in on at near by outside inside behind under beside along around front next across".split())  # noqa: SIM905
IDIOMS = frozenset("make do have show look work play come hang find figure".split())  # noqa: SIM905
_RARE_SUBJECT = -1.2
FIRST = 2  # marks the class of a noun's first sense
_COMPARES = frozenset("as while like than so until".split())  # noqa: SIM905
_AGENTS = ("er", "or", "ist", "ian", "man", "woman")
_KIN = frozenset("grandma grandpa granny mum mom mommy dad daddy auntie nephew niece cousin".split())  # noqa: SIM905
_PARTICLES = frozenset("up out over off down around away back on".split())  # noqa: SIM905


class VerbSwap(NamedTuple):
    """A unit that could stand in place of an action's own, with its parts."""

    unit: str
    verb: str
    phrase: str
    seen: int
    seen_total: int
    antonym: bool
    sure: bool = False  # of `swaps`: it cannot be true as well, and goes with such a noun
    anyway: bool = False  # and with whatever else follows


def says_little(unit: str, verb: str, phrase: str) -> bool:
    """Returns whether a unit may only be proposed as an opposite: light, vague, or done beside anything else.

    Args:
        unit: verb, particle and preposition.
        verb, phrase: its verb alone, and with the particle.
    """
    idiom = verb in IDIOMS and unit.split(" ")[1:2] != [] and unit.split(" ")[1] in _PARTICLES
    return idiom or verb in LIGHT or verb in ELASTIC or verb in VAGUE or phrase in VAGUE or verb in ASIDE


class VerbFits:
    """The rules of wording for verbs. Args: the index of the counts, and what can be true together."""

    def __init__(self, index: VerbIndex, together: Together) -> None:
        self.counts = index.counts
        self.index = index
        self.together = together

    def fault(self, action: Action, other: VerbSwap) -> str:
        """Why a person would not write it; "" if one would."""
        if other.sure:
            return self._swap_fault(action, other)
        counts, index = self.counts, self.index
        if other.verb in LIGHT or other.verb in ELASTIC:
            return "says little"
        if not other.antonym and says_little(other.unit, other.verb, other.phrase):
            return "says little"
        if other.seen < SEEN or index.uses[other.unit] < KNOWN_UNIT:
            return "not seen with this noun"
        step = action.step
        if step and index.order_share(other.phrase) < ORDERED:
            return "not seen in such a clause"
        if not action.noun:
            alone = index.alone[other.unit]
            if alone < ALONE[0] or alone < ALONE[1] * index.uses[other.unit]:
                return "needs an object"
            if not step and self._subject(action, f"{other.unit}.") < SUBJECTS:
                return "not seen with this subject"
        if other.verb in POSTURE and counts.get("class", action.subject, "+vehicle"):
            return "not seen with this subject"  # captions say that cars stand; people rather say that they are parked
        if action.context == "passive" and other.unit != other.verb:
            return "needs an object"
        if action.subject != "-" and not step and not self._does(action, other.phrase):
            return "not seen with this subject"
        if (
            action.context in ("infinitive", "order", "noun", "passive")
            and counts.get("context", other.phrase, action.context) < 2
        ):
            return "not seen in such a clause"
        if not all(self._tail_fits(other.phrase, tail) for tail in action.tails):
            return "does not go with what follows"
        fits = self._tail_fits if step else self._loosely_fits  # what is put somewhere was not there before
        if not all(fits(other.phrase, tail) for tail in action.loose):
            return "does not go with what follows"
        return self._company_fault(action, other)

    def _swap_fault(self, action: Action, other: VerbSwap) -> str:
        """The same of what `swaps` names: places may follow, and where it says so, anything."""
        for tail in (*action.tails, *action.loose):
            first = tail.split(" ")[0]
            if first in _COMPARES or tail == "to do":
                return "does not go with what follows"
            if not (other.anyway or first in PLACES or self._tail_fits(other.phrase, tail)):
                return "does not go with what follows"
        return self._company_fault(action, other)

    def _company_fault(self, action: Action, other: VerbSwap) -> str:
        for verb in action.company:
            if verb == other.verb:
                return "said in this caption"
            if exclusive(verb, other.verb) or opposite(verb, other.verb):
                return "does not go with the caption's other verb"
            if action.step and self.counts.get("company", other.verb, verb) >= SEEN:
                continue  # steps follow each other: that people join them is enough
            if verb not in LIGHT and not self._goes_along(other.verb, verb):
                return "does not go with the caption's other verb"
        return ""

    def doer(self, action: Action) -> str:
        """What acts: "person", "animal", "vehicle", or "" where that is not known."""
        subject = action.subject
        if subject == "-":
            return ""
        if subject in ("person", "people") or self._is_person(subject):
            return "person"
        if self.counts.get("class", subject, "animal") == FIRST:
            return "animal"
        return "vehicle" if self.counts.get("class", subject, "+vehicle") or subject in ("bus", "train") else ""

    def _is_person(self, noun: str) -> bool:
        """Whether a noun names a person: by the counts, or by its ending where they do not know it."""
        counts = self.counts
        if counts.get("class", noun, "person"):
            return counts.get("class", noun, "animal") != FIRST
        return not self.index.subjects[noun] and (noun in _KIN or noun.endswith(_AGENTS))

    def _does(self, action: Action, phrase: str) -> bool:
        """Whether such a subject was seen to do it: often enough, and not by a mistake of the parser now and then."""
        if action.context == "passive":
            return True
        n = self._subject(action, phrase)
        key = action.subject if self.counts.get("subject", action.subject, phrase) == n else self.subject_key(action)
        share = self.subject_share(key, phrase)
        if key not in ("person", "people") and n < SUBJECTS and share < 0:
            return False
        return n >= SEEN and share > _RARE_SUBJECT

    def subject_share(self, key: str, phrase: str) -> float:
        """How much more often a subject does something than subjects do on average (a logarithm)."""
        index = self.index
        n = self.counts.get("subject", key, phrase)
        return log((n + 0.5) / (index.subjects[key] + 20) * index.all_subjects / (index.verbs[phrase] + 5))

    def subject_key(self, action: Action) -> str:
        """A person's own noun if it is well known, else any person."""
        subject = action.subject
        if subject in ("-", "person", "people") or not self._is_person(subject):
            return subject
        return "people" if self.index.subjects[subject] < 40 and action.plural else "person"

    def _subject(self, action: Action, unit: str) -> int:
        own = self.counts.get("subject", action.subject, unit)
        return max(own, self.counts.get("subject", self.subject_key(action), unit) if own < SEEN else own)

    def _tail_fits(self, phrase: str, tail: str) -> bool:
        first = tail.split(" ")[0]
        if first in _COMPARES or tail == "to do":
            return False
        exact = self.counts.get("tail", phrase, tail)
        if exact >= 3 or (exact == 2 and self.index.verbs[phrase] < 150):
            return True
        known = self.counts.get("tail", phrase, first)
        kind = kind_of(self.counts, tail.split(" ")[-1])
        if kind in VESSELS and self.index.kind_tails[phrase, first, kind] >= KIND_TAILS:
            return True
        if first not in PLACES or not known:
            return False
        if known >= 2 and self.counts.get("class", tail.split(" ")[-1], "+place"):
            return True
        return self.index.scenes[tail] >= SCENE and self.counts.get("tail", phrase, first) >= 5

    def _loosely_fits(self, phrase: str, tail: str) -> bool:
        """As `_tail_fits`, for what hangs on the noun and rather stays true of it ("a song by a band")."""
        first = tail.split(" ")[0]
        if first in ("with", "from", "about", "by", "of"):
            return True
        return self._tail_fits(phrase, tail) or (first in PLACES and self.counts.get("tail", phrase, first) >= 3)

    def _goes_along(self, verb: str, company: str) -> bool:
        """Whether people say the two of one doer in one caption, and not by chance."""
        least = COMPANY_POSTURE if verb in POSTURE or verb in ("walk", "run") else COMPANY[1]
        return self.counts.get("company", verb, company) >= COMPANY[0] and self.together.lift(verb, company) >= least
