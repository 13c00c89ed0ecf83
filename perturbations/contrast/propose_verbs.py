"""Verb proposals: units of the action lexicon (and of the counts) that can stand in the place of a caption's verb."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from video_contrast.perturbations.contrast.clip import CaptionReading, ClipReading, farthest
from video_contrast.perturbations.contrast.evidence import Evidence
from video_contrast.perturbations.contrast.features import verb_choice_features, verb_slot_features
from video_contrast.perturbations.contrast.lexicon import Swap
from video_contrast.perturbations.contrast.proposal import Proposal
from video_contrast.perturbations.contrast.slots import LIGHT, PLACES, VerbChoice, VerbSlot
from video_contrast.perturbations.english.forms import inflect, replaced
from video_contrast.seeds import stream as stream_of_parts

_READ = 60  # units a verb that are looked at
KEPT = 16  # of which are judged
_ENOUGH = 8  # written swaps beside which no others are looked for
_LEAST = 5  # videos that a unit of the counts needs, if the lexicon does not have it
# Prepositions behind which anything may have been done.
_ANYWHERE = PLACES - frozenset(
    """into onto towards toward from over through across between with""".split()  # noqa: SIM905
)


def propose_verbs(clip: ClipReading, evidence: Evidence) -> tuple[list[Proposal], list[tuple[str, str]]]:
    """Every eligible edit of every caption of a clip, not judged yet, and (reason, words) of the verbs without any."""
    proposals: list[Proposal] = []
    refused: list[tuple[str, str]] = []
    groups = {unit: evidence.groups(unit) for unit in clip.units}
    for index, reading in enumerate(clip.readings):
        if not reading.verbs:
            refused.append(("no verb", ""))
        for slot in reading.verbs:
            shown = reading.caption[slot.start : slot.end]
            if slot.rejection_reason not in (None, "light verb"):
                refused.append((slot.rejection_reason, shown))
                continue
            others = frozenset(group for unit in clip.units if unit != slot.unit for group in groups[unit])
            reasons, choices = [], []
            for choice in _written(slot, reading, evidence):
                reason = _unwritten(clip, reading, slot, choice, others, evidence)
                if reason is None:
                    choices.append(choice)
                else:
                    reasons.append(reason)
                if len(choices) == KEPT:
                    break
            if slot.rejection_reason is None and len(choices) < _ENOUGH:
                for choice in _likely(slot, reading, evidence):
                    reason = _rejection(clip, reading, slot, choice, others, evidence)
                    if reason is None:
                        choices.append(choice)
                    else:
                        reasons.append(reason)
            if not choices:
                refused.append((slot.rejection_reason or farthest(reasons) or "no other verb known here", shown))
                continue
            shared = verb_slot_features(reading, slot, evidence)
            proposals += [
                _proposal(clip, index, slot, choice, shared, evidence) for choice in _spread(choices, slot, evidence)
            ]
    return proposals, refused


def _written(slot: VerbSlot, reading: CaptionReading, evidence: Evidence) -> list[VerbChoice]:
    """The lexicon's written swaps of a verb, in a seeded order that prefers the first ones."""
    choices = list(_swaps(slot, reading, evidence))
    jitter = stream_of_parts("written swaps", reading.caption, slot.place).random(len(choices)).tolist()
    order = sorted(range(len(choices)), key=lambda n: jitter[n] + n / 40)
    return [choices[n] for n in order]


def _swaps(slot: VerbSlot, reading: CaptionReading, evidence: Evidence) -> Iterator[VerbChoice]:
    words, light = reading.sentence.words, slot.rejection_reason is not None
    for tail in slot.tails if slot.frame == "t" else ():
        if slot.place < tail.place and words[tail.place].head in (slot.place, slot.noun_place):
            for swap in _listed(f"{slot.unit} _ {tail.preposition}", "t+p", slot, reading, evidence):
                yield VerbChoice(swap.unit, "t+p", swap=swap, tail=tail)
            break
    keeps = slot.unit.rpartition(" ")[2] if slot.frame == "p" else ""
    rows = [swap for swap in _listed(slot.unit, slot.frame, slot, reading, evidence) if not (light and swap.carried)]
    for swap in rows:
        if slot.frame == "i" or swap.keeps:
            yield VerbChoice(swap.unit, "i", keeps if swap.keeps else "", swap=swap)
        else:
            for choice in _with_object([swap.unit], slot, evidence):
                yield replace(choice, swap=swap)
    if not rows and not light and keeps in _ANYWHERE:
        for swap in evidence.swaps(slot.unit.rpartition(" ")[0], "i", slot.subject):
            yield VerbChoice(swap.unit, "i", keeps, swap=replace(swap, keeps=True, carried=True))


def _listed(unit: str, frame: str, slot: VerbSlot, reading: CaptionReading, evidence: Evidence) -> list[Swap]:
    """The swaps of a unit that go with its object and with all that is joined to it."""
    swaps = list(evidence.swaps(unit, frame, slot.subject, slot.noun))
    joined = reading.sentence.joined(slot.noun_place) if slot.noun_place is not None and swaps else []
    for noun in {reading.sentence.noun_key(place) for place in joined} - {""}:
        units = {(swap.unit, swap.preposition) for swap in evidence.swaps(unit, frame, slot.subject, noun)}
        swaps = [swap for swap in swaps if (swap.unit, swap.preposition) in units]
    return swaps


def _unwritten(
    clip: ClipReading,
    reading: CaptionReading,
    slot: VerbSlot,
    choice: VerbChoice,
    others: frozenset[str],
    evidence: Evidence,
) -> str | None:
    """Why a written swap cannot stand in this caption; None if it can."""
    if choice.verb == slot.verb and choice.unit not in evidence.opposites(slot.unit):
        return "same verb"
    if choice.swap is not None and clip.nouns & set(choice.swap.phrase.split(" ")):
        return "another caption says it"
    if _formless(slot, choice):
        return "form not known"
    return _said_elsewhere(clip, slot, choice, others, evidence) or _misfit(reading, slot, choice, evidence)


def _formless(slot: VerbSlot, choice: VerbChoice) -> bool:
    return slot.tag in ("VBG", "VBZ") and inflect(choice.verb, slot.tag) == choice.verb


def _likely(slot: VerbSlot, reading: CaptionReading, evidence: Evidence) -> list[VerbChoice]:
    """The `_READ` choices that a quick look finds likeliest, with a seeded jitter so that sets do not repeat a few."""
    key = (slot.unit, slot.frame, slot.noun, slot.subject, slot.passive)
    scored = evidence.kept.get(key)
    if scored is None:
        scored = evidence.kept[key] = _scored(slot, evidence)
    jitter = stream_of_parts("verb choices", reading.caption, slot.place).random(len(scored)).tolist()
    ranked = sorted(
        (-(score + 1.5 * random), n) for n, ((score, _), random) in enumerate(zip(scored, jitter, strict=True))
    )
    return [scored[n][1] for _, n in ranked[:_READ]]


def _scored(slot: VerbSlot, evidence: Evidence) -> list[tuple[float, VerbChoice]]:
    """Every choice once, with how usual it is of the object: by the lexicon's uses and by the counts."""
    uses = frozenset(evidence.uses(slot.noun)) if slot.noun else frozenset()
    seen, alone = evidence.units_of.get(slot.noun, {}), evidence.units_of.get("", {})
    scores: dict[VerbChoice, float] = {}
    for choice in _all_choices(slot, evidence):
        if choice in scores or choice.unit == slot.unit:
            continue
        counted = alone if choice.frame == "i" and not choice.keeps else seen
        times = counted.get(f"{choice.unit} {choice.keeps}".strip(), 0)
        scores[choice] = (choice.unit in uses) + min(times, 20) ** 0.5 / 3
    return [(score, choice) for choice, score in scores.items()]


def _all_choices(slot: VerbSlot, evidence: Evidence) -> Iterator[VerbChoice]:
    # What the parser takes for the doer but that does nothing by itself hides people: "a video with people dancing".
    subject = slot.subject if slot.subject and evidence.units_for(slot.subject) else "person"
    person = subject == "person"
    if slot.frame != "i" and slot.noun:
        if person:
            yield from _with_object(evidence.uses(slot.noun), slot, evidence)
        yield from _with_object(
            (unit for unit, n in evidence.units_of.get(slot.noun, {}).items() if n >= 2), slot, evidence
        )
        for unit, frame in evidence.units_for(subject, slot.noun):
            if frame == "t" or not slot.passive:
                yield VerbChoice(unit, frame)
    keeps = slot.unit.rpartition(" ")[2] if slot.frame == "p" else ""
    if slot.frame in ("i", "p"):
        for unit, _ in evidence.units_for(subject):
            if not keeps or _keeps(unit, keeps, slot, evidence):
                yield VerbChoice(unit, "i", keeps)


def _keeps(unit: str, preposition: str, slot: VerbSlot, evidence: Evidence) -> bool:
    """Whether a unit may stand before the preposition that stays: one that says where, or one that it is seen with."""
    if preposition in _ANYWHERE:
        return " " not in unit or unit.rpartition(" ")[2] not in PLACES
    whole = f"{unit} {preposition}"
    if " " in unit:
        return bool(evidence.units_of.get(slot.noun, {}).get(whole))
    return evidence.unit_total[whole] >= _LEAST or bool(evidence.lexicon.actions(whole))


def _with_object(units: Iterable[str], slot: VerbSlot, evidence: Evidence) -> Iterator[VerbChoice]:
    for unit in units:
        frames = {action.frame for action in evidence.lexicon.actions(unit)}
        words = unit.split(" ")
        frame = "t" if "t" in frames or (not frames and len(words) == 1) else "p"
        if len(words) > 1 and not frames:
            frame = "p"
        if slot.passive and frame != "t":
            continue
        yield VerbChoice(unit, frame)


def _rejection(
    clip: ClipReading,
    reading: CaptionReading,
    slot: VerbSlot,
    choice: VerbChoice,
    others: frozenset[str],
    evidence: Evidence,
) -> str | None:
    """Why a unit cannot stand in a slot; None if it can. `others` are the groups of the clip's other units."""
    own, new = slot.unit, choice.unit
    opposite = new in evidence.opposites(own)
    actions = evidence.lexicon.actions(new)
    if choice.verb == slot.verb and not opposite:
        return "same verb"
    if choice.verb in LIGHT and not actions:
        return "says little"
    if not actions and evidence.unit_total[new] < _LEAST and new not in evidence.uses(slot.noun):
        return "unit not known"
    if actions and not any(action.seen for action in actions):
        return "cannot be seen"
    if evidence.groups(own) & evidence.groups(new) and not opposite:
        return "near to what it replaces"
    if _formless(slot, choice):
        return "form not known"
    return _said_elsewhere(clip, slot, choice, others, evidence) or _misfit(reading, slot, choice, evidence)


def _said_elsewhere(
    clip: ClipReading, slot: VerbSlot, choice: VerbChoice, others: frozenset[str], evidence: Evidence
) -> str | None:
    """Whether another caption of the clip says a unit, or nearly; None if none does."""
    new = choice.unit
    forms = {choice.verb, *(inflect(choice.verb, tag) for tag in ("VBG", "VBZ"))}  # also where a parser reads a noun
    if new in clip.units or (choice.verb != slot.verb and (choice.verb in clip.verbs or forms & clip.words)):
        return "another caption says it"
    if new not in evidence.opposites(slot.unit) and evidence.groups(new) & others:
        return "near to what another caption says"
    return None


def _misfit(reading: CaptionReading, slot: VerbSlot, choice: VerbChoice, evidence: Evidence) -> str | None:
    """What in the rest of the caption speaks against a unit; None if nothing does."""
    if slot.order and choice.frame == "p" and choice.swap is None:
        return "not done in a step"
    for tail in slot.tails:
        if tail == choice.tail or tail.preposition in _ANYWHERE:
            continue
        own_object = choice.swap is not None and choice.swap.phrase
        if own_object or not evidence.counts.get("tail", choice.verb, tail.preposition):
            return "does not go with what follows"
    for other in reading.verbs:
        if other.place != slot.place and other.subject == slot.subject:
            clash = evidence.excludes(other.unit, choice.unit)
            if clash and not evidence.excludes(other.unit, slot.unit):
                return "clashes with another verb of the caption"
    return None


def _spread(choices: list[VerbChoice], slot: VerbSlot, evidence: Evidence) -> list[VerbChoice]:
    """At most `KEPT` choices, written swaps and those that the lexicon says exclude what they replace before others."""
    if len(choices) <= KEPT:
        return choices
    excluding = [choice.swap or evidence.excludes(slot.unit, choice.unit, slot.noun) is not None for choice in choices]
    order = sorted(range(len(choices)), key=lambda n: (not excluding[n], n))
    return [choices[n] for n in sorted(order[:KEPT])]


def _proposal(
    clip: ClipReading,
    index: int,
    slot: VerbSlot,
    choice: VerbChoice,
    shared: Mapping[str, float],
    evidence: Evidence,
) -> Proposal:
    reading, swap = clip.readings[index], choice.swap
    verb, _, rest = f"{choice.unit} {choice.keeps}".strip().partition(" ")
    if swap is not None and swap.phrase:
        rest = " ".join(filter(None, (choice.unit.partition(" ")[2], swap.phrase, choice.keeps)))
    new = f"{inflect(verb, slot.tag)} {rest}".strip()
    features, reason = verb_choice_features(reading, slot, choice, new, evidence)
    unit, other, end = slot.unit, f"{verb} {rest}".strip(), slot.end
    if choice.tail is not None and swap is not None:
        end = reading.sentence.words[choice.tail.place].end
        between = reading.caption[slot.end : reading.sentence.words[choice.tail.place].start]
        unit, other = f"{unit} _ {choice.tail.preposition}", f"{other} _ {swap.preposition}"
        new = f"{new}{between}{swap.preposition}"
    text, start, old, shown = replaced(reading.caption, slot.start, end, new)
    return Proposal(
        clip.id,
        index,
        reading.caption,
        text,
        start=start,
        old=old,
        new=shown,
        unit=unit,
        other=other,
        antonym=reason == "opposites",
        features={**shared, **features},
    )
