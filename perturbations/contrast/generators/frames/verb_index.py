"""The counts turned round: which units were said of a noun, and how a unit is used."""

from collections import Counter, defaultdict
from functools import cached_property

from video_contrast.perturbations.contrast.generators.frames.counts import FrameCounts
from video_contrast.perturbations.contrast.generators.frames.noun_groups import kind_of

ORDERED = 0.1  # share of a verb's uses that are orders, to be one of those that steps tell ("add", not "sing")
STEP_PRIOR = 1.5  # videos by which observed and expected are smoothed

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
        self.kind_tails: Counter[tuple[str, str, str]] = Counter()  # verb, preposition, class of the noun
        kinds: dict[str, str] = {}
        for key, n in counts.tables["tail"].items():
            phrase, tail = key.split("\t")
            preposition, _, noun = tail.partition(" ")
            if noun:
                if noun not in kinds:
                    kinds[noun] = kind_of(counts, noun)
                if kinds[noun]:
                    self.kind_tails[phrase, preposition, kinds[noun]] += n
        self.contexts: Counter[str] = Counter()  # verb with its particle -> videos, in whichever clause
        for key, n in counts.tables["context"].items():
            self.contexts[key.split("\t")[0]] += n
        self.subjects: Counter[str] = Counter()
        self.verbs: Counter[str] = Counter()
        self.all_uses = sum(self.uses.values())
        for key, n in counts.tables["subject"].items():
            subject, unit = key.split("\t")
            if not unit.endswith("."):
                self.subjects[subject] += n
                self.verbs[unit] += n
        self.all_subjects = sum(self.subjects.values())

    def order_share(self, phrase: str) -> float:
        """Which share of a verb's uses are orders."""
        return self.counts.get("context", phrase, "order") / max(1, self.contexts[phrase])

    @cached_property
    def _joined(self) -> tuple[Counter[str], int]:
        """How often each verb of orders stands beside another one in a caption, and all of them."""
        totals: Counter[str] = Counter()
        for key, n in self.counts.tables["company"].items():
            first, second = key.split("\t")
            if self.order_share(first) >= ORDERED and self.order_share(second) >= ORDERED:
                totals[first] += n
        return totals, sum(totals.values())

    def step_lift(self, first: str, second: str) -> float:
        """How much oftener than by chance one caption orders both: what is done at one moment stands in one caption."""
        joined, total = self._joined
        both = max(self.counts.get("company", first, second), self.counts.get("company", second, first))
        expected = joined[first] * joined[second] / max(1, total)
        return (both + STEP_PRIOR) / (expected + STEP_PRIOR)

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
