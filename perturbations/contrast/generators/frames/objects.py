"""Object contrasts: a thing replaced by one that people name in the same frame, with the same determiner and number."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import lru_cache
from math import log
from typing import NamedTuple

from video_contrast.perturbations.contrast.generators.frames.counts import FrameCounts
from video_contrast.perturbations.contrast.generators.frames.fluency import Fluency, without_marks
from video_contrast.perturbations.contrast.generators.frames.noun_groups import alike, kind_of, names_a_thing, same_kind
from video_contrast.perturbations.contrast.generators.frames.proposal import Proposal, Refusals, article
from video_contrast.perturbations.contrast.generators.frames.reading import ReadClip, Reading
from video_contrast.perturbations.contrast.generators.frames.things import Thing
from video_contrast.perturbations.contrast.generators.frames.together import Together
from video_contrast.perturbations.contrast.generators.frames.verb_fits import PLACES
from video_contrast.perturbations.contrast.generators.frames.verbs import farthest
from video_contrast.perturbations.english.forms import inflect_name, replaced

SEEN = 3
LIFT = 1.0  # above, the two go together; below, the score weighs it
KNOWN = 15  # videos that must name a thing before what is said with it counts
_GENERAL_ADJECTIVE = 60  # nouns with which an adjective is seen, to fit any of the class


class NounSwap(NamedTuple):
    """A thing that could stand in place of a caption's own."""

    name: str
    seen: int
    total: int


class ObjectProposals:
    """Proposes object contrasts by counts.

    Args:
        counts: of frames (`FrameCounts`).
    """

    def __init__(self, counts: FrameCounts) -> None:
        self.counts = counts
        self.together = Together(counts, "noun")
        self.fluency = Fluency(counts)
        # governor -> thing -> determiner -> videos
        self.by_governor: dict[str, dict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
        self.uses: Counter[str] = Counter()
        for table, mark in (("unit", ""), ("place", "@"), ("agent", "^")):
            for key, n in counts.tables[table].items():
                parts = key.split("\t")
                if table == "agent":
                    parts = [parts[1], parts[0], parts[2]]
                governor, noun = mark + parts[0], parts[1]
                if noun and parts[2] != "passive":
                    self.by_governor[governor][noun][parts[2]] += n
                    self.uses[noun] += n
        self._said_with: dict[str, Counter[str]] = defaultdict(Counter)  # thing -> preposition -> videos
        for governor, nouns in self.by_governor.items():
            for noun, by in nouns.items():
                self._said_with[noun][_preposition_of(governor)] += sum(by.values())
        self.governor_total = {g: sum(sum(c.values()) for c in nouns.values()) for g, nouns in self.by_governor.items()}
        self.all_uses = sum(self.governor_total.values())
        self.adjective_nouns = Counter(key.split("\t")[0] for key in counts.tables["adjective"])
        self._thing = lru_cache(1 << 16)(lambda name: names_a_thing(counts, name))
        self._alike = lru_cache(1 << 18)(lambda a, b: alike(counts, a, b))
        self._kind = lru_cache(1 << 16)(lambda name: kind_of(counts, name))

    def propose(self, clip: ReadClip) -> tuple[list[Proposal], Refusals]:
        """Every eligible edit of every caption (unranked, without a score), and why the rest fell out."""
        proposals: list[Proposal] = []
        refused = Refusals()
        for index, reading in enumerate(clip.readings):
            if not reading.things:
                refused.add("no thing")
            for thing in reading.things:
                fault = thing.fault or self._unfit(reading, thing)
                shown = reading.caption[thing.start : thing.end]
                if fault:
                    refused.add(fault, shown)
                    continue
                why: Counter[str] = Counter()
                before = len(proposals)
                for other in self._others(thing):
                    reason = self._unnatural(reading, thing, other) or self._perhaps_true(clip, thing, other)
                    if reason:
                        why[reason] += 1
                    else:
                        proposals.append(self._proposal(clip, index, reading, thing=thing, other=other))
                if len(proposals) == before:
                    refused.add(farthest(why) or "no other thing known here", shown, of_all=True)
        return proposals, refused

    def _unfit(self, reading: Reading, thing: Thing) -> str:
        if not self._thing(thing.name):
            return "a noun that says nothing, or a person"
        if self._kind(thing.name) == "clothing":
            return "clothing, which is worn beside other clothing"
        shown = reading.caption[thing.start : thing.end].lower()
        if " ".join(shown.split()) != inflect_name(thing.name, thing.tag):
            return "form not known"
        return ""

    def _others(self, thing: Thing) -> Iterator[NounSwap]:
        for name, by in self.by_governor.get(thing.governor, {}).items():
            if name not in (thing.noun, thing.name, "*"):
                yield NounSwap(name, by[thing.determiner], sum(by.values()))

    def _unnatural(self, reading: Reading, thing: Thing, other: NounSwap) -> str:
        if other.seen < (SEEN if thing.governor.startswith(("@", "^")) else SEEN - 1):
            return "not seen in this frame"
        if not self._thing(other.name) or self.together.totals.get(other.name, 0) < KNOWN:
            return "a noun that says nothing, or a person"
        if not same_kind(self._kind(thing.name), self._kind(other.name)):
            return "of another kind"
        for adjective in thing.adjectives:
            if self.counts.get("adjective", adjective, other.name) < 2 and (
                self.adjective_nouns[adjective] < _GENERAL_ADJECTIVE
            ):
                return "does not go with its adjective"
        for item in thing.after:
            if self.counts.get("after", other.name, item.split(" ")[0]) < 3:
                return "does not go with what follows"
        if other.name in reading.nouns or other.name.split(" ")[-1] in reading.nouns:
            return "said in this caption"
        for noun in reading.nouns - {thing.noun, thing.name, thing.compound}:
            lift = self.together.lift(noun, other.name)
            if self.together.expected(noun, other.name) >= 2 and lift < 0.45:
                return "does not go with the caption's other things"
        return ""

    def _perhaps_true(self, clip: ReadClip, thing: Thing, other: NounSwap) -> str:
        head = other.name.split(" ")[-1]
        if other.name in clip.nouns or head in clip.nouns or head in clip.verbs:
            return "another caption says it"
        if self._alike(thing.name, other.name):
            return "may name the same"
        if any(self._alike(noun, other.name) for noun in clip.nouns):
            return "near to what another caption says"
        if self.together.lift(thing.noun, other.name) > LIFT or self.together.lift(thing.name, other.name) > LIFT:
            return "goes with what it replaces"
        return ""

    def _proposal(self, clip: ReadClip, index: int, reading: Reading, thing: Thing, other: NounSwap) -> Proposal:
        new = inflect_name(other.name, thing.tag)
        text, start, old, shown = replaced(reading.caption, thing.start, thing.end, new, article_of=article)
        parts = self._parts(clip, reading, thing, other, new=new)
        return Proposal(
            clip.id,
            index,
            reading.caption,
            text,
            start=start,
            old=old,
            new=shown,
            unit=thing.name,
            other=other.name,
            parts=parts,
        )

    def _preposition(self, governor: str, name: str) -> float:
        """How usual the preposition is before a noun, against the one that is said most (a logarithm, at most 0)."""
        preposition = _preposition_of(governor)
        if preposition not in PLACES:
            return 0.0
        uses = self._said_with[name]
        return log((uses[preposition] + 1) / (max(uses.values(), default=0) + 1))

    def _goes_with_verbs(self, reading: Reading, thing: Thing, other: NounSwap) -> float:
        """How many of the caption's other verbs nobody says of such a place (negative)."""
        preposition = _preposition_of(thing.governor)
        if preposition not in PLACES:
            return 0.0
        governors = [f"{act.phrase} {preposition}" for act in reading.actions if act.verb != "be"]
        other_governors = [governor for governor in governors if governor != thing.governor]
        seen = [governor for governor in other_governors if self.by_governor.get(governor, {}).get(other.name)]
        return float(len(seen) - len(other_governors))

    def _parts(self, clip: ReadClip, reading: Reading, thing: Thing, other: NounSwap, new: str) -> dict[str, float]:
        """What the score is made of; logarithms, the higher the better."""
        lifts = self.together
        words = without_marks(reading.words)
        size = len(thing.name.split(" "))
        first = thing.place - (size - 1)
        second, before = ["<", "<", *without_marks(reading.words[:first])][-2:]
        new_words = new.split(" ")
        others = [noun for noun in reading.nouns - {thing.noun, thing.name, thing.compound} if noun in lifts.totals]
        return {
            "seen": log(other.seen),
            "pmi": log(
                other.total * self.all_uses / (self.governor_total[thing.governor] * max(self.uses[other.name], 1))
            ),
            **self.fluency.change(reading.words, first, size, new_words),
            "lift": -lifts.log_lift(thing.noun, other.name),
            "siblings": -lifts.mean_log_lift(clip.nouns, other.name, len(clip.readings)),
            "hidden": -log(lifts.hidden(other.name)),
            "own_hidden": -log(lifts.hidden(thing.noun)),
            "said": log((clip.nouns[thing.noun] + 1) / (len(clip.readings) + 1)),
            "lead": self.fluency.gain(second, before, new_words[0]),
            "run": self.fluency.attested(second, before, new_words[0]),
            "goes": self._goes_with_verbs(reading, thing, other),
            "preposition": self._preposition(thing.governor, other.name),
            "company": min((lifts.log_lift(noun, other.name) for noun in others), default=0.0),
            "adjectives": -float(len(thing.adjectives)),
            "plain": self.fluency.plain(tuple(words)),
            "same_class": float(self._kind(thing.name) == self._kind(other.name)),
            "others": -float(len(others)),
            "place": float(thing.governor.startswith("@")),
            "agent": float(thing.governor.startswith("^")),
            "words": float(len(words)),
            "step": float(any(act.step for act in reading.actions)),
        }


def _preposition_of(governor: str) -> str:
    """The preposition of a governor, or "": "@in person" -> "in", "sit on" -> "on"."""
    if governor.startswith("@"):
        return governor[1:].split(" ")[0]
    return "" if governor.startswith("^") or " " not in governor else governor.rsplit(" ", 1)[1]
