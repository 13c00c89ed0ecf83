"""The counts turned round: which units were said of a noun, and how a unit is used."""

from collections import Counter, defaultdict
from functools import cached_property

from video_contrast.perturbations.contrast.generators.frames.counts import FrameCounts

PREPOSITIONS = frozenset(
    """on in at to with into onto from about around over through by near under behind along across down up off for of
    against between beside above towards toward inside outside after like as past among before within upon below
    without during next""".split()  # noqa: SIM905
)


def phrase_of(unit: str, phrases: frozenset[str]) -> str:
    """The verb and its particle in a unit: "talk" of "talk about", "pick up" of "pick up"."""
    parts = unit.split(" ")
    two = " ".join(parts[:2])
    return two if len(parts) > 1 and (parts[1] not in PREPOSITIONS or (len(parts) > 2 and two in phrases)) else parts[0]


class VerbIndex:
    """Units by noun and by subject."""

    def __init__(self, counts: FrameCounts) -> None:
        self.counts = counts
        self.by_noun: dict[str, dict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
        self.uses: Counter[str] = Counter()  # unit -> uses with any noun or none
        self.alone: Counter[str] = Counter()  # unit -> uses without a noun
        for key, n in counts.tables["unit"].items():
            unit, noun, determiner = key.split("\t")
            self.by_noun[noun][unit][determiner] += n
            self.uses[unit] += n
            if not noun:
                self.alone[unit] += n
        self.noun_total: Counter[str] = Counter(
            {noun: sum(sum(c.values()) for c in units.values()) for noun, units in self.by_noun.items()}
        )
        # What many verbs are said with is a scene: "in kitchen", "on stage".
        self.scenes: Counter[str] = Counter(key.split("\t")[1] for key in counts.tables["tail"])
        self.subjects: Counter[str] = Counter()
        self.verbs: Counter[str] = Counter()
        self.all_uses = sum(self.uses.values())
        for key, n in counts.tables["subject"].items():
            subject, unit = key.split("\t")
            if not unit.endswith("."):
                self.subjects[subject] += n
                self.verbs[unit] += n
        self.all_subjects = sum(self.subjects.values())

    @cached_property
    def phrases(self) -> frozenset[str]:
        """Every verb, with its particle if it has one."""
        return frozenset(key.split("\t")[0] for key in self.counts.tables["context"])

    def seen(self, unit: str, noun: str, determiner: str) -> tuple[int, int]:
        """Returns in how many videos the unit was said of the noun: introduced so, and in any way.

        Args:
            unit: verb, particle and preposition.
            noun: in dictionary form, or "".
            determiner: how the noun is introduced ("det", "bare" ...), or "passive".
        """
        by = self.by_noun.get(noun, {}).get(unit)
        if by is None:
            return 0, 0
        if determiner == "passive":
            return by["passive"], sum(by.values())
        total = sum(by.values()) - by["passive"]
        return (by["bare"] if determiner == "bare" else total - by["bare"]), total
