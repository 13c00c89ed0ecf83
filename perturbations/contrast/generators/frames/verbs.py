"""Verb contrasts: the verb with its particle and preposition replaced by one that people say of the same noun."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from video_contrast.perturbations.contrast.generators.frames.actions import Action
from video_contrast.perturbations.contrast.generators.frames.counts import FrameCounts
from video_contrast.perturbations.contrast.generators.frames.groups import (
    EMPTY,
    POSTURE,
    SPEECH,
    exclusive,
    near,
    opposite,
)
from video_contrast.perturbations.contrast.generators.frames.noun_groups import kind_of
from video_contrast.perturbations.contrast.generators.frames.proposal import Proposal, Refusals, article
from video_contrast.perturbations.contrast.generators.frames.reading import ReadClip, Reading
from video_contrast.perturbations.contrast.generators.frames.swaps import bodies, other_way, steps_exclude, swaps
from video_contrast.perturbations.contrast.generators.frames.together import Together
from video_contrast.perturbations.contrast.generators.frames.verb_fits import (
    ALONE,
    FIRST,
    IDIOMS,
    KNOWN_UNIT,
    PLACES,
    SEEN,
    VerbFits,
    VerbSwap,
    says_little,
)
from video_contrast.perturbations.contrast.generators.frames.verb_index import VerbIndex, phrase_of
from video_contrast.perturbations.contrast.generators.frames.verb_parts import VerbParts
from video_contrast.perturbations.english.forms import replaced
from video_contrast.perturbations.language import inflect

LIFT = 0.8  # above, the two verbs go together
SPEECH_LIFT = 0.6
SALIENT_SPEECH_LIFT = 0.73  # of speech that people hardly ever leave unsaid ("talk")
SALIENT = 0.7
EXCLUSIVE_LIFT = 1.0  # of what one body does not do at a time: that both are said means one after the other
FOOD, PLACE = frozenset({"food", "produce"}), frozenset({"place"})
FOODS = 40  # foods of which a unit is said, to be done with any
FEW_UNITS = 8  # verbs known of a food, under which those of any food are taken too
FEW_CAPTIONS = 3  # captions of a clip, under which opposites and `swaps` need not have been seen with this very noun
_NO_PLACES = ("act", "event", "time", "group", "cognition", "communication", "state")
SCENES = 8  # places of which a unit is said, to be done in any place


class VerbProposals:
    """Proposes verb contrasts by counts.

    Args:
        counts: of frames (`FrameCounts`).
    """

    def __init__(self, counts: FrameCounts) -> None:
        self.counts = counts
        self.index = VerbIndex(counts)
        self.together = Together(counts, "verb")
        self.fits = VerbFits(self.index, self.together)
        self._split = cache(self._split_unit)
        self._opposites = cache(self._opposites_of)
        self.measure = VerbParts(self.index, self.fits, self.together)

    def propose(self, clip: ReadClip) -> tuple[list[Proposal], Refusals]:
        """Every eligible edit of every caption (unranked, without a score), and why the rest fell out."""
        proposals: list[Proposal] = []
        refused = Refusals()
        few = clip.captions < FEW_CAPTIONS
        for index, reading in enumerate(clip.readings):
            if not reading.actions:
                refused.add("no verb")
            for action in reading.actions:
                shown = reading.caption[action.start : action.end]
                sure = self._swaps(action) if few else []
                fault = ("" if sure else action.fault) or _unfit(reading, action)
                if fault:
                    refused.add(fault, shown)
                    continue
                before = len(proposals)
                why: Counter[str] = Counter()
                for other in sure if action.fault else self._others(action, few=few, sure=sure):
                    reason = self.fits.fault(action, other) or self._perhaps_true(clip, action, other)
                    if reason:
                        why[reason] += 1
                    else:
                        proposals.append(self._proposal(clip, index, reading, action=action, other=other))
                if len(proposals) == before:
                    refused.add(farthest(why) or "no other verb known of this noun", shown, of_all=True)
        return proposals, refused

    def _swaps(self, action: Action) -> list[VerbSwap]:
        """What surely replaces an action where a clip has few captions (`swaps`), seen with this noun or not."""
        if action.step or action.context == "passive" or action.tag == "VBN":
            return []
        fault, noun, doer = action.fault, action.noun, self.fits.doer(action)
        if not doer or fault not in ("", "light verb", "object not found by the parser"):
            return []
        units: dict[str, bool] = {}
        if fault != "light verb" and other_way(action.unit):
            units[other_way(action.unit)] = True
        if fault != "object not found by the parser":
            units |= swaps(doer, action.unit, noun=noun, kinds=self._kinds(noun))
            if not fault and noun and doer != "vehicle" and not self._is_no_place(noun):
                units |= dict.fromkeys(bodies(action.unit, kind_of(self.counts, noun)), True)
        listed = []
        for unit, anyway in units.items():
            verb = unit.split(" ")[0]
            _, total = self.index.seen(unit, noun, action.determiner)
            phrase = phrase_of(unit, self.index.phrases)
            antonym = opposite(action.unit, unit)
            seen = max(total, SEEN)
            listed.append(
                VerbSwap(unit, verb, phrase, seen=seen, seen_total=seen, antonym=antonym, sure=True, anyway=anyway)
            )
        return listed

    def _kinds(self, noun: str) -> set[str]:
        """Classes of a noun, as `swaps` names them."""
        kind = kind_of(self.counts, noun) if noun else ""
        kinds = {"food"} if kind in FOOD else {kind}
        if noun in ("him", "her", "them", "person") or self.counts.get("class", noun, "person") == FIRST:
            kinds.add("person")
        return kinds

    def _is_no_place(self, noun: str) -> bool:
        """Whether a noun names something that one cannot sit in or on: a race, a day, a team."""
        return any(self.counts.get("class", noun, kind) == FIRST for kind in _NO_PLACES)

    def _others(self, action: Action, few: bool = False, sure: Sequence[VerbSwap] = ()) -> Iterator[VerbSwap]:
        """Units said of the noun (or said without one), with what they are made of.

        Args:
            action: what is replaced.
            few: whether the clip has few captions; then the opposite of its verb is taken too, since it goes with the
                same nouns.
            sure: of `_swaps`; they come first.
        """
        yield from sure
        named = {other.unit for other in sure}
        index = self.index
        if action.noun:
            noun = f"{action.compound} {action.noun}" if action.compound else action.noun
            if index.noun_total[noun] < 12:
                noun = action.noun
            units: Mapping[str, Counter[str]] = index.by_noun.get(noun, {})
        else:
            noun, units = "", index.by_noun.get("", {})
        general: Mapping[str, Counter[str]] = {}
        if action.determiner == "det" and self._is_rare_place(action):
            general = self._said_of(PLACE, SCENES)
        elif action.step and action.noun and len(units) < FEW_UNITS:
            general = self._said_of(FOOD, FOODS) if kind_of(self.counts, action.noun) in FOOD else {}
        elif few and action.noun and not action.step:
            general = self._opposites(action.unit)
        if general:
            ending = f" {action.preposition}" if action.preposition else ""
            more = {
                unit: by
                for unit, by in general.items()
                if unit not in units and (unit.endswith(ending) if ending else " " not in unit)
            }
            units = {**units, **more}
        own, own_phrase = action.unit, action.phrase
        own_rest = own.removeprefix(own_phrase)
        how = "passive" if action.context == "passive" else action.determiner
        for unit in units:
            if unit == own or unit in named:
                continue
            phrase, verb, little = self._split(unit)
            antonym = opposite(own, unit) or (unit.removeprefix(phrase) == own_rest and opposite(own_phrase, phrase))
            if (verb == action.verb or little) and not antonym:
                continue
            seen, total = index.seen(unit, noun, how)
            if unit in general and total < SEEN:
                seen = total = SEEN
            yield VerbSwap(unit, verb, phrase, seen=seen if noun else total, seen_total=total, antonym=antonym)

    def _split_unit(self, unit: str) -> tuple[str, str, bool]:
        """Its verb with the particle, its verb, and whether it may only be proposed as an opposite."""
        phrase = phrase_of(unit, self.index.phrases)
        verb = phrase.split(" ")[0]
        return phrase, verb, says_little(unit, verb, phrase) or self.index.uses[unit] < KNOWN_UNIT

    def _opposites_of(self, unit: str) -> dict[str, Counter[str]]:
        """The opposites of a unit that need an object as it does."""
        index = self.index
        return {
            other: Counter({"det": SEEN})
            for other, n in sorted(index.uses.items())
            if n >= KNOWN_UNIT and opposite(unit, other) and index.alone[other] < ALONE[1] * n
        }

    @cache  # noqa: B019  one instance a build
    def _said_of(self, kinds: frozenset[str], least: int) -> dict[str, Counter[str]]:
        """Units that are said of many nouns of some kinds: what may be done with one that is seldom named."""
        nouns: Counter[str] = Counter()
        for noun, units in self.index.by_noun.items():
            if any(self.counts.get("class", noun, f"+{kind}") for kind in kinds):
                nouns.update(units.keys())
        return {unit: Counter({"det": n}) for unit, n in nouns.items() if n >= least}

    def _is_rare_place(self, action: Action) -> bool:
        return (
            action.preposition in PLACES
            and self.index.noun_total[action.noun] < 40
            and bool(self.counts.get("class", action.noun, "+place"))
        )

    def _perhaps_true(self, clip: ReadClip, action: Action, other: VerbSwap) -> str:
        # What one caption says of "turn on" says nothing of "turn off"; what others say may.
        alone = clip.captions == 1 and other.verb == action.verb
        if (other.phrase in clip.verbs and not alone) or (other.verb in clip.verbs and not other.antonym):
            return "another caption says it"
        if other.antonym or other.sure:
            # Others may see it the other way; one that says so is enough.
            return "" if clip.verbs[action.verb] else "another caption says it"
        if action.step:
            return "" if steps_exclude(action.verb, other.verb) else "goes with what it replaces"
        if near(action.verb, other.verb) or any(near(verb, other.verb) for verb, n in clip.verbs.items() if n > 1):
            return "near to what another caption says"
        if (action.verb in POSTURE or other.verb == "stand") and not exclusive(action.verb, other.verb):
            return "goes with what it replaces"
        lifts = self.together
        # What nobody leaves out where it happens ("dance") is false where nobody says it; speech goes with the rest.
        limit = LIFT
        if other.verb in SPEECH or (action.verb in SPEECH and lifts.hidden(other.verb) > 1.0):
            limit = SALIENT_SPEECH_LIFT if lifts.hidden(other.verb) < SALIENT else SPEECH_LIFT
        if exclusive(action.verb, other.verb):
            limit = EXCLUSIVE_LIFT
        if lifts.lift(action.verb, other.verb) > limit or lifts.lift(action.phrase, other.phrase) > limit:
            return "goes with what it replaces"
        if action.noun and lifts.same_noun(action.noun, action.phrase, other.phrase) > limit + 0.2:
            return "goes with what it replaces"
        return ""

    def _proposal(self, clip: ReadClip, index: int, reading: Reading, action: Action, other: VerbSwap) -> Proposal:
        rest = other.unit.split(" ")[1:]
        new = " ".join([inflect(other.verb, action.tag), *rest])
        text, start, old, shown = replaced(reading.caption, action.start, action.end, new, article_of=article)
        parts = self.measure.parts(clip, reading, action, other, new=new)
        return Proposal(
            clip.id,
            index,
            reading.caption,
            text,
            start=start,
            old=old,
            new=shown,
            unit=action.unit,
            other=other.unit,
            antonym=other.antonym,
            parts=parts,
        )


def _unfit(reading: Reading, action: Action) -> str:
    """Why nothing can replace an action that its caption states plainly; "" if something can."""
    if inflect(action.verb, action.tag) != reading.words[action.place].text:
        return "form not known"
    if action.particle and action.verb in IDIOMS:
        return "says little"
    if action.noun in EMPTY:
        return "a noun that says nothing"
    if not action.noun and action.preposition:
        return "preposition without a noun"
    if "to do" in action.tails:
        return "clause or second object"
    return "says little" if action.verb in ("show", "display", "feature", "animate", "title", "dress") else ""


# Why most units of the language cannot stand somewhere; any other reason tells more.
_DULL = frozenset(
    {"says little", "not seen with this noun", "needs an object", "not seen in this frame", "of another kind"}
)


def farthest(why: Counter[str]) -> str:
    """The commonest reason that tells something; "" if there is none.

    >>> farthest(Counter({"says little": 9, "another caption says it": 1}))
    'another caption says it'
    """
    reasons = [reason for reason, _ in why.most_common()]
    return next((reason for reason in reasons if reason not in _DULL), reasons[0] if reasons else "")
