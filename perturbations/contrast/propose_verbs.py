"""Verb proposals: units of the action lexicon and the counts, or of a model, in the place of a caption's verb."""

from collections.abc import Iterable, Iterator

import numpy as np

from video_contrast.perturbations.contrast.evidence import RESTS, Evidence, UnitFacts, largest
from video_contrast.perturbations.contrast.judge import MOST_CHANGE, Judge, Logits, VerbFeatures, both, brings_place
from video_contrast.perturbations.contrast.lexicon import Swap
from video_contrast.perturbations.contrast.proposal import ClipProposals, Proposal, Trial
from video_contrast.perturbations.contrast.slots import (
    LIGHT,
    PLACES,
    CaptionReading,
    ClipReading,
    Frame,
    Tail,
    VerbChoice,
    VerbKey,
    VerbSlot,
    with_antecedent,
    with_object,
    with_particle,
)
from video_contrast.perturbations.english import Sentence
from video_contrast.perturbations.english.forms import inflect, lemma, verb_tags
from video_contrast.perturbations.english.lexicon import words_of
from video_contrast.seeds import Streams

_MOST_CHOICES = 30  # proposals a verb that are judged
_MOST_SWAPS = 26  # written swaps among these
_UNITS = 30  # other units a verb that are looked at
_MIN_VIDEOS = 5  # videos that a unit of the counts needs, if the lexicon does not have it
# Prepositions behind which anything may have been done.
_ANYWHERE = PLACES - words_of("path_preposition")
_TELLS = words_of("topic")  # verbs that "about" may follow
# Results of which a thing has one: nobody peels what is chopped.
_PIECES = frozenset({"broken", "cut", "mashed", "melted", "peeled"})
_COMPANY = ("people", "animal")
_COOKED_IN = frozenset({"appliance", "cookware", "tableware"})  # things in which hardly anything else can be done
_JOINS = frozenset({"and", "then", ",", "."})  # between two clauses
_WAYS = words_of("says_which_way")  # as an adverb, or behind "to"
_streams = Streams()


def propose_verbs(proposals: ClipProposals, evidence: Evidence, judge: Judge) -> None:
    """Adds the eligible edits of every verb of a clip's captions."""
    clip = proposals.clip
    groups = {unit: evidence.groups(unit) for unit in clip.units}
    for index, reading in enumerate(clip.readings):
        if not reading.verbs:
            proposals.leave_out("no verb")
        for slot in replaceable(reading, whole=proposals.replacements is None):
            if slot.rejection_reason not in (None, "light verb"):
                proposals.leave_out(str(slot.rejection_reason), index, slot)
                continue
            others = frozenset(group for unit in clip.units if unit != slot.unit for group in groups[unit])
            choices = _eligible(proposals, index, slot, others, evidence)
            if choices:
                verb_features = VerbFeatures(reading, slot, choices, evidence)
                slot_logits = judge.logits(verb_features.slot_features)
                for choice in choices:
                    add_verb(proposals, index, slot, choice, verb_features, judge, slot_logits)


def replaceable(reading: CaptionReading, *, whole: bool) -> Iterator[VerbSlot]:
    """The verbs of a caption, and those with their objects, which written swaps replace together."""
    for slot in reading.verbs:
        slot = with_antecedent(reading.sentence, slot)
        yield (with_particle(reading.sentence, slot) or slot) if whole else slot
        together = with_object(reading.sentence, slot) if whole else None
        if together is not None and together.rejection_reason is None:
            yield together


def _eligible(
    proposals: ClipProposals, index: int, slot: VerbSlot, others: frozenset[str], evidence: Evidence
) -> list[VerbChoice]:
    """The choices for a verb that no rule rejects. `others` are the groups of the clip's other units."""
    clip, reading = proposals.clip, proposals.clip.readings[index]
    swaps = _written_swaps(slot, reading, evidence) if proposals.replacements is None else []
    if slot.frame == "o" and not swaps:
        return []
    rules = _Rules(clip, reading, slot, others, evidence)

    def rejection_of_model(choice: VerbChoice) -> str | None:
        reason = rules.rejection(choice)
        return _misuse(slot, choice, evidence) if choice.swap is None and reason is None else reason

    rejection = rules.rejection if proposals.replacements is None else rejection_of_model
    trial = Trial[VerbChoice](proposals, index, slot, rejection)
    if proposals.replacements is None:
        trial.take(swaps, most=_MOST_SWAPS)
        if slot.frame == "o":
            return trial.choices
        if slot.rejection_reason is None and (slot.imperative or slot.verb not in LIGHT):
            words = {choice.words for choice in swaps if choice.tail is None}
            likely = _likely(slot, reading, evidence)
            trial.take((choice for choice in likely if choice.words not in words), most=_MOST_CHOICES)
    elif slot.rejection_reason is None:
        trial.read(lambda words: verb_choice(words, slot, reading, evidence), most=_MOST_CHOICES)
    return trial.end(slot.rejection_reason)


def verb_choice(words: str, slot: VerbSlot, reading: CaptionReading, evidence: Evidence) -> VerbChoice | None:
    """The choice that some words make in the place of a verb; None where they do not begin with a verb in its form.

    `words`: such as "jumping over". `slot, reading`: what they replace, and the caption.
    """
    words = words.lower()
    first, _, rest = words.partition(" ")
    if slot.tag not in verb_tags(first) or inflect(lemma(first, slot.tag), slot.tag) != first:
        return None
    for choice in _swaps(slot, reading, evidence):
        if choice.tail is None and inflect(choice.words, slot.tag) == words:
            return choice
    if slot.frame == "o":
        return None
    unit = f"{lemma(first, slot.tag)} {rest}".strip()
    if slot.frame == "i":
        return VerbChoice(unit, "i")
    bare, _, preposition = unit.rpartition(" ")
    keeps = slot.unit.rpartition(" ")[2] if slot.frame == "p" else ""
    stays = bare and preposition == keeps and _keeps(bare, keeps, slot.noun, evidence)
    if stays and bare in evidence.units_for(slot.subject or "person"):
        return VerbChoice(bare, "i", keeps)
    frame = _frame(evidence, unit)
    return None if slot.passive and frame != "t" else VerbChoice(unit, frame)


def _misuse(slot: VerbSlot, choice: VerbChoice, evidence: Evidence) -> str | None:
    """Why a unit of a model cannot have the slot's object, or none; None if it can.

    Units of the lexicon take what the lexicon says or captions show; others must often be seen with objects (alone).
    """
    actions = evidence.lexicon.actions(choice.unit)
    if choice.frame == "i":
        alone = evidence.units_of.get("", {}).get(choice.unit, 0) >= _MIN_VIDEOS
        return None if any(action.frame == "i" for action in actions) or (alone and not actions) else "needs an object"
    is_said = evidence.units_of.get(slot.noun, {}).get(choice.unit, 0) > 1 or choice.unit in evidence.uses(slot.noun)
    if is_said or evidence.fits(choice.unit, slot.subject or "person", slot.noun):
        return None
    if actions and evidence.category(slot.noun):
        return "does not take this object"
    if len(evidence.nouns_of.get(choice.unit, {})) >= _MIN_VIDEOS or any(action.frame != "i" for action in actions):
        return None
    return "does not take an object"


def _written_swaps(slot: VerbSlot, reading: CaptionReading, evidence: Evidence) -> list[VerbChoice]:
    """The lexicon's written swaps of a verb, in a seeded order that prefers the first ones."""
    choices = list(_swaps(slot, reading, evidence))
    jitter = _streams.at("written swaps", reading.caption, slot.place).random(len(choices))
    return [choices[n] for n in np.argsort(jitter + np.arange(len(choices)) / 40).tolist()]


def _swaps(slot: VerbSlot, reading: CaptionReading, evidence: Evidence) -> Iterator[VerbChoice]:
    sentence = reading.sentence
    places = sentence.joined(slot.noun_place) if slot.noun_place is not None else []
    nouns = frozenset(sentence.noun_key(place) for place in places) - {"", slot.noun}
    own = VerbKey(slot.unit, slot.frame, slot.noun, slot.subject, slot.passive)
    for tail in slot.tails if slot.frame == "t" and slot.apart is None else ():
        if slot.place < tail.place and sentence.words[tail.place].head in (slot.place, slot.noun_place):
            key = own._replace(unit=f"{slot.unit} _ {tail.phrase}", frame="t+p")
            for choice in evidence.result_of(_swaps_of, key, nouns):
                yield choice._replace(tail=tail)
            break
    if slot.frame == "i" and slot.tails:  # behind an adverb: "walks slowly through the park"
        tail = slot.tails[0]
        key = own._replace(unit=f"{slot.unit} {tail.phrase}", frame="p", noun=tail.noun)
        for choice in evidence.result_of(_swaps_of, key, frozenset()):
            if choice.swap.is_exchange and choice.keeps:
                yield choice._replace(keeps="")
    yield from _swaps_in_place(slot, own, nouns, evidence)


def _swaps_in_place(slot: VerbSlot, key: VerbKey, nouns: frozenset[str], evidence: Evidence) -> Iterator[VerbChoice]:
    """The swaps that leave the words behind the object; an exchange takes its tool: "cleans a window with a cloth"."""
    behind = slot.tails or slot.apart is not None
    tool = _tool(slot, evidence) if slot.frame in ("t", "p") and slot.apart is None else None
    for choice in evidence.result_of(_swaps_of, key, nouns):
        if not (choice.swap.of_other_unit and slot.rejection_reason) and not (choice.swap.place and behind):
            goes = choice.swap.is_exchange or not choice.swap.keeps
            yield choice._replace(tail=tool) if tool is not None and goes else choice


def _tool(slot: VerbSlot, evidence: Evidence) -> Tail | None:
    """The tool that goes away with the action; in a step no food, which is part of the dish."""
    for tail in slot.tails:
        food = slot.imperative and evidence.lexicon.is_a(evidence.category(tail.noun), "food")
        if tail.place > slot.place and not food and _is_used(tail, slot, evidence):
            return tail
    return None


def _swaps_of(evidence: Evidence, key: VerbKey, other_nouns: frozenset[str]) -> list[VerbChoice]:
    keeps = key.unit.rpartition(" ")[2] if key.frame == "p" else ""
    choices: list[VerbChoice] = []
    for swap in _swaps_of_unit(evidence, key, other_nouns):
        if swap.place or key.frame == "t+p":
            choices.append(VerbChoice(swap.unit, "t" if key.frame == "p" else key.frame, swap=swap))
        elif key.frame in "io" or swap.keeps:
            choices.append(evidence.choice(swap.unit, "i", keeps if swap.keeps else "", swap))
        else:
            choices += _with_object([swap.unit], evidence, swap, passive=key.passive)
    return choices


def _swaps_of_unit(evidence: Evidence, key: VerbKey, other_nouns: frozenset[str]) -> list[Swap]:
    """The swaps of a unit that go with its object and with the `other_nouns` that are joined to it."""
    swaps = list(evidence.lexicon.swaps(key.unit, key.frame, key.subject, key.noun))
    for noun in other_nouns if swaps else ():
        others = {
            (swap.unit, swap.preposition) for swap in evidence.lexicon.swaps(key.unit, key.frame, key.subject, noun)
        }
        swaps = [swap for swap in swaps if (swap.unit, swap.preposition) in others]
    return swaps


def _likely(slot: VerbSlot, reading: CaptionReading, evidence: Evidence) -> list[VerbChoice]:
    """The `_UNITS` choices that a quick look finds likeliest, with a seeded jitter so that sets do not repeat a few."""
    keeps = slot.unit.rpartition(" ")[2] if slot.frame == "p" else ""
    key = slot.frame, keeps, slot.subject, slot.noun, slot.passive
    scores, choices, places = evidence.result_of(_score_choices, *key)
    own = places.get(slot.unit)
    jitter = _streams.at("verb choices", reading.caption, slot.place).random(len(scores) - (own is not None))
    if own is not None:
        jitter = np.concatenate((jitter[:own], [-np.inf], jitter[own:]))
    return [choices[n] for n in largest(scores + 1.5 * jitter, _UNITS) if n != own]


def _score_choices(
    evidence: Evidence, frame: Frame, keeps: str, doer: str, noun: str, passive: bool
) -> tuple[np.ndarray, list[VerbChoice], dict[str, int]]:
    """How usual of the object each possible unit is, by uses and counts; the units; the place of each by its words."""
    # A doer by the parser that does nothing by itself hides people: "a video with people dancing".
    subject = doer if doer and evidence.units_for(doer) else "person"
    videos_of = evidence.units_of.get(noun, {})
    uses = evidence.uses(noun) if noun and subject == "person" else ()
    choices: dict[str, VerbChoice] = {}
    if frame != "t":
        choices |= evidence.result_of(_without_object, subject, keeps, noun if keeps not in _ANYWHERE else "")
    if frame != "i" and noun:
        for choice in _with_object(uses, evidence, passive=passive):
            choices.setdefault(choice.unit, choice)
        choices |= evidence.units_for(subject, noun, passive=passive) | choices
    places = dict(zip(choices, range(len(choices)), strict=True))
    scores = np.zeros(len(places))
    for unit in places.keys() & set(uses):
        scores[places[unit]] += 1.0
    for unit in places.keys() & videos_of.keys():
        scores[places[unit]] += min(videos_of[unit], 20) ** 0.5 / 3
    return scores, list(choices.values()), places


def _without_object(evidence: Evidence, subject: str, keeps: str, noun: str) -> dict[str, VerbChoice]:
    units = [unit for unit in evidence.units_for(subject) if not keeps or _keeps(unit, keeps, noun, evidence)]
    return {f"{unit} {keeps}".strip(): evidence.choice(unit, "i", keeps) for unit in units}


def _keeps(unit: str, preposition: str, noun: str, evidence: Evidence) -> bool:
    """Whether a unit may stand before the preposition that stays: one that says where, or one that it is seen with."""
    if preposition == "about":
        return unit in _TELLS
    if preposition in _ANYWHERE:
        return " " not in unit or unit.rpartition(" ")[2] not in PLACES
    whole = f"{unit} {preposition}"
    if " " in unit:
        return bool(evidence.units_of.get(noun, {}).get(whole))
    return evidence.unit_total.get(whole, 0) >= _MIN_VIDEOS or bool(evidence.lexicon.actions(whole))


def _with_object(
    units: Iterable[str], evidence: Evidence, swap: Swap | None = None, *, passive: bool
) -> Iterator[VerbChoice]:
    for unit in units:
        frame = evidence.result_of(_frame, unit)
        if frame == "t" or (" " in unit and not passive):
            yield evidence.choice(unit, frame, "", swap)


def _frame(evidence: Evidence, unit: str) -> Frame:
    """The frame in which a unit takes its object: by the lexicon, else by whether it ends in a preposition."""
    frames = {action.frame for action in evidence.lexicon.actions(unit)}
    return "t" if "t" in frames or (not frames and " " not in unit) else "p"


class _Rules:
    """The rules that reject units for a verb, in view of `others`, the groups of the clip's other units."""

    def __init__(
        self, clip: ClipReading, reading: CaptionReading, slot: VerbSlot, others: frozenset[str], evidence: Evidence
    ) -> None:
        self._clip, self._slot, self._others, self._evidence = clip, slot, others, evidence
        self._opposites, self._groups = evidence.opposites(slot.unit), evidence.groups(slot.unit)
        self._sentence = sentence = reading.sentence
        at = slot.noun_place
        self._of_noun = at is None or sentence.words[at].is_noun  # whether the object, if there is one, is a noun
        # A word behind the verb may say which way, not where: "walks by", "swings to the left".
        ways = [tail for tail in slot.tails if tail.preposition != "until"]
        bare = any(sentence.child(tail.place + tail.phrase.count(" "), "pobj") is None for tail in ways)
        self._goes_a_way = bare or not _WAYS.isdisjoint((*slot.adverbs, slot.noun if slot.frame == "p" else ""))
        self._states = frozenset[str]() if at is None else _states(sentence, at, evidence)
        # Units of the same doer that the verb's own does not exclude.
        beside = (v.unit for v in reading.verbs if v.place != slot.place and v.subject == slot.subject)
        self._beside = tuple(unit for unit in beside if not evidence.excludes(unit, slot.unit))
        # The doer does something else, too, which nobody does asleep.
        self._acts = any(v.place != slot.place and v.subject_place == slot.subject_place for v in reading.verbs)
        # "picks up a bag, then opens it"
        self._taken_up = at is not None and _is_taken_up(sentence, at, max(at, slot.place) + 1)
        self._tools = [tail for tail in slot.tails if _is_used(tail, slot, evidence)]

    def rejection(self, choice: VerbChoice) -> str | None:
        """Why a unit cannot take the verb's place; None if it can."""
        facts = self._evidence.facts(choice.unit)
        return self._misfit(choice, facts) or self._said_elsewhere(choice, facts) or self._clash(choice, facts)

    def _misfit(self, choice: VerbChoice, facts: UnitFacts) -> str | None:
        """Why a unit cannot take the place of the verb in any caption; None if it can."""
        slot, new, actions = self._slot, choice.unit, facts.actions
        if facts.verb == slot.verb and new not in self._opposites:
            return "same verb"
        if slot.tag in ("VBG", "VBZ") and inflect(facts.verb, slot.tag) == facts.verb:
            return "form not known"
        if choice.swap is not None and not (choice.swap.is_exchange and choice.swap.of_other_unit):
            return None
        if not actions:
            if facts.verb in LIGHT:
                return "says little"
            if self._evidence.unit_total.get(new, 0) < _MIN_VIDEOS and new not in self._evidence.uses(slot.noun):
                return "unit not known"
        elif not any(action.is_visible for action in actions):
            return "cannot be seen"
        if not self._groups.isdisjoint(facts.groups) and new not in self._opposites:
            return "near to what it replaces"
        return None

    def _said_elsewhere(self, choice: VerbChoice, facts: UnitFacts) -> str | None:
        """Whether another caption of the clip says a unit, or nearly; None if none does."""
        clip, new, verb, swap = self._clip, choice.unit, facts.verb, choice.swap
        swap_words = f"{swap.phrase} {swap.place}".split() if swap is not None and (swap.phrase or swap.place) else ()
        verb_is_said = verb != self._slot.verb and (verb in clip.verbs or not clip.words.isdisjoint(facts.forms))
        if new in clip.units or verb_is_said or not clip.nouns.isdisjoint(swap_words):
            return "another caption says it"
        if not self._others.isdisjoint(facts.groups) and new not in self._opposites:
            return "near to what another caption says"
        return None

    def _clash(self, choice: VerbChoice, facts: UnitFacts) -> str | None:
        """The reason by which the rest of the caption speaks against a unit; None if nothing does."""
        slot, evidence = self._slot, self._evidence
        if slot.imperative and not _in_a_step(choice, evidence):
            return "not done in a step"
        if choice.frame == "t" and not self._of_noun and slot.apart is None and " " in choice.unit:
            return "particle before a pronoun"
        if not self._goes_with_what_follows(choice):
            return "does not go with what follows"
        if self._states and choice.frame != "i" and _makes(self._states, facts):
            return "it is so already"
        if (self._taken_up and choice.unit not in self._opposites) or any(tail != choice.tail for tail in self._tools):
            return "does not go with what follows"
        sleeps = self._acts and "sleep" in facts.groups
        if sleeps or (self._beside and any(evidence.excludes(other, choice.unit) for other in self._beside)):
            return "clashes with another verb of the caption"
        return None

    def _goes_with_what_follows(self, choice: VerbChoice) -> bool:
        """Whether a unit may stand before all that hangs on a verb."""
        slot, evidence = self._slot, self._evidence
        if brings_place(choice) and not _ends_a_clause(self._sentence, slot, choice):
            return False
        if self._goes_a_way and not _moves(choice, evidence):
            return False
        return all([tail == choice.tail or _goes_before(tail, slot, choice, evidence) for tail in slot.tails])


def _states(sentence: Sentence, at: int, evidence: Evidence) -> frozenset[str]:
    """Results that the caption says of a noun: "peel chopped onions"."""
    adjectives = [sentence.words[n].text for n in sentence.children_with(at, "amod")]
    meanings = (evidence.lexicon.actions(lemma(text, "VBN")) for text in adjectives if text.endswith("ed"))
    return frozenset(action.result for actions in meanings for action in actions) - {"-"}


def _is_taken_up(sentence: Sentence, at: int, behind: int) -> bool:
    """Whether "it" or "them" from a place on may stand for a noun: for the last object of its number before them."""
    for word in sentence.words[behind:]:
        if word.tag in ("NN", "NNS") and word.dep == "dobj" and word.tag == sentence.words[at].tag:
            return False
        if word.text == ("them" if sentence.words[at].tag == "NNS" else "it"):
            return True
    return False


def _is_used(tail: Tail, slot: VerbSlot, evidence: Evidence) -> bool:
    """Whether a thing is the tool of an action, and of little else: "cleans a glass with a towel"; no thing that
    somebody has who moves or rests: "runs along a street with a bag"."""
    actions = evidence.lexicon.actions(slot.unit) if slot.frame != "t" else ()
    if any(action.motion != "-" or action.posture in RESTS for action in actions):
        return False
    category = evidence.category(tail.noun)
    others = _COMPANY if slot.frame == "t" else (*_COMPANY, "body_part", "garment")  # "lines up with a hat on"
    return tail.preposition == "with" and not any(evidence.lexicon.is_a(category, name) for name in others)


def _moves(choice: VerbChoice, evidence: Evidence) -> bool:
    """Whether a unit is a way to move; of exchanges, one that is written to stand before "past"."""
    if choice.swap is not None and choice.swap.is_exchange:
        return "past" in choice.swap.behind or choice.frame != "i"
    return any(action.motion != "-" for action in evidence.lexicon.actions(choice.unit))


def _ends_a_clause(sentence: Sentence, slot: VerbSlot, choice: VerbChoice) -> bool:
    """Whether a clause ends behind the object, or behind the place that goes."""
    words = sentence.words
    first = choice.tail.place if choice.tail is not None else slot.noun_place
    phrase = [n for n in sentence.subtree(first) if n > slot.place] if first is not None else []
    if slot.adverbs or any(words[n].is_verb for n in phrase) or (phrase and words[phrase[-1]].text in _JOINS):
        return False
    following = [word for word in words[max(phrase, default=slot.place) + 1 :] if word.text not in _JOINS]
    return not following or following[0].is_verb


def _makes(states: frozenset[str], facts: UnitFacts) -> bool:
    """Whether a unit makes of a thing what it is already."""
    results = {action.result for action in facts.actions}
    return bool(states & results or (states & _PIECES and results & _PIECES))


def _goes_before(tail: Tail, slot: VerbSlot, choice: VerbChoice, evidence: Evidence) -> bool:
    """Whether a unit may stand before a preposition and its noun, which stay."""
    swap = choice.swap
    if tail.preposition == "about":
        return choice.verb in _TELLS
    if swap is not None and swap.is_exchange and (choice.frame != "i" or tail.phrase in swap.behind):
        return _exchanged_before(tail, swap, evidence)
    if slot.imperative and swap is not None and choice.frame != "i":
        return False
    if tail.preposition in _ANYWHERE or tail.preposition == "after":
        return True
    own_object = choice.frame == "p" or (swap is not None and swap.phrase)
    if slot.frame == "o" and not own_object and tail.preposition not in ("for", "without"):
        # "takes steps towards him" -> "crawls towards him"
        ways = evidence.lexicon.swaps(f"{choice.unit} {tail.phrase}", "p", slot.subject, tail.noun)
        return any(way.is_exchange and not way.of_other_unit for way in ways)
    return not own_object and bool(evidence.counts.get("tail", choice.verb, tail.preposition))


def _in_a_step(choice: VerbChoice, evidence: Evidence) -> bool:
    """Whether a unit may stand in a step of a recipe: without an object, one of the cooks."""
    if choice.frame == "i":
        return any("cook" in action.scenes for action in evidence.lexicon.actions(choice.unit))
    return choice.swap is not None or choice.frame != "p"


def _exchanged_before(tail: Tail, swap: Swap, evidence: Evidence) -> bool:
    """Whether an exchange of actions on a thing holds before a preposition and its noun."""
    if tail.preposition == "with":  # company
        return True
    if not swap.behind.isdisjoint((tail.preposition, tail.phrase)):
        return swap.match == "noun" or evidence.category(tail.noun) not in _COOKED_IN
    return tail.preposition in _ANYWHERE and evidence.lexicon.is_place(tail.noun)


def add_verb(
    proposals: ClipProposals,
    index: int,
    slot: VerbSlot,
    choice: VerbChoice,
    verb_features: VerbFeatures,
    judge: Judge,
    slot_logits: Logits | None = None,
) -> Proposal | None:
    """Adds the edit that puts a choice in the place of a verb, if it is wanted.

    `slot, choice`: what is replaced, and by what. `slot_logits`: logits of the features that all choices share.
    """
    reading, other = proposals.clip.readings[index], choice.words
    features = verb_features.of(choice)
    logits = judge.logits(features, slot_logits or judge.logits(verb_features.slot_features))
    if not proposals.wants(index, judge.most(logits, "run change", MOST_CHANGE)):
        return None
    new = inflect(other, slot.tag)
    change = {"run change": verb_features.run_change(new)}
    probability = both(*judge.logits(change, logits))
    if not proposals.wants(index, probability):
        return None
    features |= verb_features.slot_features
    features |= change
    unit, end, words = slot.unit, slot.end, reading.sentence.words
    if slot.apart is not None:  # "takes a bottle out" -> "throws a bottle away", "looks at a bottle"
        between = reading.caption[words[slot.place].end : words[slot.apart - 1].end]
        verb, _, rest = new.partition(" ")
        new = f"{verb}{between} {rest}".strip() if choice.frame == "t" else f"{new}{between}"
    if slot.frame == "o":
        unit = f"{unit} {slot.noun}".strip()
    if choice.swap is not None and (choice.tail is not None or choice.swap.place):
        behind = " ".join(part for part in (choice.swap.preposition, choice.swap.place) if part)
        at = slot.noun_place
        last = stays = max(reading.sentence.subtree(at)) if at is not None and at > slot.place else slot.place
        if choice.tail is not None:
            unit, stays = f"{unit} _ {choice.tail.phrase}", choice.tail.place - 1
            last = choice.tail.place + choice.tail.phrase.count(" ")
            if brings_place(choice):
                last = max(last, *reading.sentence.subtree(choice.tail.place))
        between = reading.caption[slot.end : max(slot.end, words[stays].end)]
        end, new = max(slot.end, words[last].end), " ".join(f"{new}{between} {behind}".split())
        other = f"{other} _ {behind}" if behind else other
    return proposals.add(index, slot.start, end, unit, new, other, features=features, probability=probability)
