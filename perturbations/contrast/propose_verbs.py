"""Verb proposals: units of the action lexicon and the counts, or of a model, in the place of a caption's verb."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from video_contrast.perturbations.contrast.clip import CaptionReading, ClipReading
from video_contrast.perturbations.contrast.evidence import Evidence
from video_contrast.perturbations.contrast.features import verb_choice_features, verb_slot_features
from video_contrast.perturbations.contrast.lexicon import Swap
from video_contrast.perturbations.contrast.proposal import ClipProposals, Features, Proposal, Replacements, Trial
from video_contrast.perturbations.contrast.slots import LIGHT, PLACES, Frame, VerbChoice, VerbSlot
from video_contrast.perturbations.english.forms import inflect, lemma, verb_tags
from video_contrast.seeds import stream as stream_of_parts

_READ = 60  # units a verb that are looked at
KEPT = 16  # of which are judged
_ENOUGH = 8  # written swaps beside which no others are looked for
_LEAST = 5  # videos that a unit of the counts needs, if the lexicon does not have it
# Prepositions behind which anything may have been done.
_ANYWHERE = PLACES - frozenset(
    """into onto towards toward from over through across between with""".split()  # noqa: SIM905
)


def propose_verbs(clip: ClipReading, evidence: Evidence, replacements: Replacements | None = None) -> ClipProposals:
    """The eligible edits of every verb of a clip's captions.

    Args:
        clip: its captions, read.
        evidence: of counts and lexicon.
        replacements: what a model proposes; None: units of the lexicon and the counts.
    """
    proposed = ClipProposals(clip, replacements)
    groups = {unit: evidence.groups(unit) for unit in clip.units}
    for index, reading in enumerate(clip.readings):
        if not reading.verbs:
            proposed.leave_out("no verb")
        for slot in reading.verbs:
            if slot.rejection_reason not in (None, "light verb"):
                proposed.leave_out(str(slot.rejection_reason), index, slot)
                continue
            others = frozenset(group for unit in clip.units if unit != slot.unit for group in groups[unit])
            choices = _eligible(proposed, index, slot, others, evidence)
            shared = verb_slot_features(reading, slot, evidence) if choices else {}
            for choice in _spread(choices, slot, evidence):
                add_verb(proposed, index, slot, choice, shared, evidence)
    return proposed


def _eligible(
    proposed: ClipProposals, index: int, slot: VerbSlot, others: frozenset[str], evidence: Evidence
) -> list[VerbChoice]:
    """The choices for a verb that no rule rejects. `others` are the groups of the clip's other units."""
    clip, reading = proposed.clip, proposed.clip.readings[index]

    def rejection(choice: VerbChoice) -> str | None:
        rule = _rejection if choice.swap is None else _unwritten
        reason = rule(clip, reading, slot, choice, others, evidence)
        of_model = proposed.replacements is not None and choice.swap is None
        return _misuse(slot, choice, evidence) if of_model and reason is None else reason

    trial = Trial(proposed, index, slot, rejection)
    if proposed.replacements is None:
        trial.take(_written(slot, reading, evidence), most=KEPT)
        if slot.rejection_reason is None and len(trial.choices) < _ENOUGH:
            trial.take(_likely(slot, reading, evidence))
    elif slot.rejection_reason is None:
        trial.read(lambda words: verb_choice(words, slot, reading, evidence))
    return trial.end(slot.rejection_reason)


def verb_choice(words: str, slot: VerbSlot, reading: CaptionReading, evidence: Evidence) -> VerbChoice | None:
    """What some words are in the place of a verb; None where they do not begin with a verb in its form.

    Args:
        words: such as "jumping over".
        slot, reading: what they replace, and the caption.
        evidence: of counts and lexicon.
    """
    words = words.lower()
    first, _, rest = words.partition(" ")
    if slot.tag not in verb_tags(first) or inflect(lemma(first, slot.tag), slot.tag) != first:
        return None
    for choice in _swaps(slot, reading, evidence):
        if choice.tail is None and inflect(choice.text, slot.tag) == words:
            return choice
    unit = f"{lemma(first, slot.tag)} {rest}".strip()
    if slot.frame == "i":
        return VerbChoice(unit, "i")
    bare, _, preposition = unit.rpartition(" ")
    keeps = slot.unit.rpartition(" ")[2] if slot.frame == "p" else ""
    stays = bare and preposition == keeps and _keeps(bare, keeps, slot, evidence)
    if stays and (bare, "i") in evidence.units_for(slot.subject or "person"):
        return VerbChoice(bare, "i", keeps)
    frame = _frame(unit, evidence)
    return None if slot.passive and frame != "t" else VerbChoice(unit, frame)


def _misuse(slot: VerbSlot, choice: VerbChoice, evidence: Evidence) -> str | None:
    """Why a unit of a model cannot have the slot's object, or none; None if it can.

    Units of the lexicon take what the lexicon says or captions show; others must often be seen with objects (alone).
    """
    actions = evidence.lexicon.actions(choice.unit)
    if choice.frame == "i":
        alone = evidence.units_of.get("", {}).get(choice.unit, 0) >= _LEAST
        return None if any(action.frame == "i" for action in actions) or (alone and not actions) else "needs an object"
    seen, listed = evidence.units_of.get(slot.noun, {}).get(choice.unit, 0), choice.unit in evidence.uses(slot.noun)
    if listed or seen > 1 or evidence.fits(choice.unit, slot.subject or "person", slot.noun):
        return None
    if actions and evidence.category(slot.noun):
        return "does not take this object"
    known = any(action.frame != "i" for action in actions) or len(evidence.nouns_of.get(choice.unit, {})) >= _LEAST
    return None if known else "does not take an object"


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
        frame = _frame(unit, evidence)
        if frame == "t" or not slot.passive:
            yield VerbChoice(unit, frame)


def _frame(unit: str, evidence: Evidence) -> Frame:
    """How a unit takes its object: by the lexicon, else by whether it ends in a preposition."""
    frames = {action.frame for action in evidence.lexicon.actions(unit)}
    return "t" if "t" in frames or (not frames and " " not in unit) else "p"


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


def add_verb(
    proposed: ClipProposals, index: int, slot: VerbSlot, choice: VerbChoice, shared: Features, evidence: Evidence
) -> Proposal:
    """Adds the edit that puts a choice in the place of a verb, with its features.

    Args:
        proposed: what is added to.
        index: of the caption.
        slot, choice: what is replaced, and by what.
        shared: features of the slot.
        evidence: of counts and lexicon.
    """
    reading = proposed.clip.readings[index]
    new = inflect(choice.text, slot.tag)
    features, reason = verb_choice_features(reading, slot, choice, new, evidence)
    unit, other, end = slot.unit, choice.text, slot.end
    if choice.tail is not None and choice.swap is not None:
        end = reading.sentence.words[choice.tail.place].end
        between = reading.caption[slot.end : reading.sentence.words[choice.tail.place].start]
        unit, other = f"{unit} _ {choice.tail.preposition}", f"{other} _ {choice.swap.preposition}"
        new = f"{new}{between}{choice.swap.preposition}"
    features, antonym = {**shared, **features}, reason == "opposites"
    return proposed.add(index, slot.start, end, unit, new, other, features=features, antonym=antonym)
