"""The judge: the probability that a reader calls an edit natural and surely false, and what it reads of an edit.

It is two logistic regressions on features, plain numbers between about -1 and 1, each with a name. `judge.tsv` holds
the coefficients (target, question, feature, weight): is the edit natural, and is it surely false if it is?
`benchmarks/judge.py` trains them on votes of readers.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from math import exp, log1p

from video_contrast.errors import UsageError
from video_contrast.perturbations.contrast.evidence import WELL_KNOWN, Evidence
from video_contrast.perturbations.contrast.lexicon import Swap
from video_contrast.perturbations.contrast.proposal import Target
from video_contrast.perturbations.contrast.slots import CaptionReading, Gap, ThingKey, ThingSlot, VerbChoice, VerbSlot
from video_contrast.perturbations.english.forms import verb_word
from video_contrast.perturbations.english.lexicon import lines, words_of

# Least probabilities. At the default a set as a whole is to stay twenty points above a released one in the eyes of
# every reader, with a contrast for as many captions as that allows (docs/measurements/contrasts.md).
QUALITIES: dict[str, dict[Target, float]] = {
    "high": {"verb": 0.6, "object": 0.7},
    "balanced": {"verb": 0.3, "object": 0.3},
    "all": {"verb": 0.15, "object": 0.2},
}
QUESTIONS = ("natural", "surely false")
INTERCEPT = "(intercept)"
_NOTHING = (0.0, 0.0)
_CACHED_PAIRS = 100_000
Logits = tuple[float, float]  # of "natural" and "surely false"
# Before the words that an edit puts in and replaces: features that tell which they are, "-raise +lift" for both.
PUTS_IN, REPLACES = "+", "-"
_SPEECH = words_of("speech")
PUTS, TAKES = words_of("puts_in"), words_of("takes_out")
_INTO, _OUT = frozenset({"in", "into", "on", "onto", "over", "to"}), frozenset({"from", "off", "out of"})
_WIDE_CLASSES = ("food", "place", "kitchen", "animal", "vehicle", "instrument", "activity")
_BESIDE = ("advcl", "xcomp", "conj", "acl")  # how a participle hangs on what is done at the same time
_SIZES = "thab"
MOST_CHANGE = 1.5  # of "run change"
_NONE: dict[str, int] = {}
_LIFTS = ("topic", "other verb with", "lift")


@dataclass(frozen=True)
class Judge:
    """Coefficients of one target: feature -> weights of "natural" and "surely false". Others weigh nothing."""

    weights: Mapping[str, tuple[float, float]]
    votes: int = 0  # of the user, by which it was trained further
    good_votes: int = 0  # votes that a contrast is natural and surely false

    def probability(self, features: Mapping[str, float]) -> float:
        """The probability, 0..1."""
        return both(*self.logits(features))

    def falsity(self, features: Mapping[str, float]) -> float:
        """The probability that an edit is surely false if it is natural, 0..1."""
        return _logistic(self.logits(features)[1])

    def most(self, base: Logits, name: str, limit: float) -> float:
        """The highest probability if a feature that is not in the `base` logits lies between -`limit` and `limit`."""
        natural, false = self.weights.get(name, _NOTHING)
        return both(base[0] + abs(natural) * limit, base[1] + abs(false) * limit)

    def logits(self, features: Mapping[str, float], base: Logits | None = None, *, puts_in: str = "") -> Logits:
        """The logits of "natural" and "surely false"; `base`: those of further features, which edits share."""
        weights = self.weights
        natural, false = base or weights[INTERCEPT]
        for name, value in features.items():
            if value and (weight := weights.get(name)):
                natural += weight[0] * value
                false += weight[1] * value
        return natural, false


def both(natural: float, false: float) -> float:
    """The probability, 0..1, that an edit is natural and surely false, of its logits."""
    return _logistic(natural) * _logistic(false)


def _logistic(logit: float) -> float:
    return 1.0 / (1.0 + exp(-logit if -30.0 < logit < 30.0 else -max(-30.0, min(30.0, logit))))


@cache
def load_judge(target: Target) -> Judge:
    """The judge of verb or object edits that the package ships."""
    rows = [line.split("\t") for line in lines("video_contrast.perturbations.contrast", "judge.tsv")[1:]]
    return Judge({name: (float(natural), float(false)) for of, name, natural, false in rows if of == target})


def threshold(quality: str | float, target: Target) -> float:
    """The least probability of a quality for a target: "high", "balanced", "all", or a number between 0 and 1.

    Raises UsageError: it is neither.

    >>> threshold("balanced", "verb"), threshold("balanced", "object"), threshold("0.9", "verb")
    (0.3, 0.3, 0.9)
    """
    if quality in QUALITIES:
        return QUALITIES[str(quality)][target]
    try:
        least = float(quality)
    except ValueError:
        least = -1.0
    if not 0.0 <= least < 1.0:
        raise UsageError(f"quality must be {', '.join(QUALITIES)} or a probability from 0 to 1, not {quality!r}")
    return least


class VerbFeatures:
    """The features of what may replace one verb of a caption; what all choices share is computed once.

    Features that a choice does not name are 0. `choices`: all of them. `slot_features`: those of what is replaced.
    """

    def __init__(
        self, reading: CaptionReading, slot: VerbSlot, choices: Sequence[VerbChoice], evidence: Evidence
    ) -> None:
        self._reading, self._slot, self._evidence = reading, slot, evidence
        units_of, totals = evidence.units_of, evidence.noun_total
        self._gap, self._doer = _gap(reading, slot, evidence), slot.subject or "person"
        self._uses = frozenset(evidence.uses(slot.noun)) if slot.noun else frozenset()
        self._counts_of = [(units_of.get(noun, _NONE), totals.get(noun, 0)) for noun in (slot.noun, "")]
        others = [other for other in reading.verbs if other.place != slot.place]
        beside = ("topic", evidence.well_known(reading.nouns)), ("verbs", [other.verb for other in others])
        verbs = list(dict.fromkeys(evidence.facts(choice.unit).verb for choice in choices))
        lifts = evidence.verb_lifts([*beside, ("verbs", [slot.verb])], verbs)
        self._lifts = {
            verb: dict(zip(_LIFTS, of_verb, strict=True)) for verb, of_verb in zip(verbs, lifts, strict=True)
        }
        self._knows_unit = float(evidence.knows(slot.unit))
        self._changes = evidence.facts(slot.unit).features.get("changes something", 1.0)
        self._size = len(reading.caption[slot.start : slot.end].split())
        self.slot_features = self._slot_features(others)

    def _slot_features(self, others: list[VerbSlot]) -> dict[str, float]:
        reading, slot, evidence = self._reading, self._slot, self._evidence
        beside = [other for other in others if _together(reading, slot, other)]
        later = [other for other in others if other.subject == slot.subject and other.place > slot.place]
        behind = {word.text for word in reading.sentence.words[slot.place + 1 :]}
        return {
            "acts later": float(any(other not in beside for other in later)),
            "at once": float(bool(beside)),
            "animal or thing acts": float(slot.subject not in ("", "person")),
            "subject unknown": float(not slot.subject),
            "tails": float(len(slot.tails)),
            "tails that are no place": float(sum(not evidence.lexicon.is_place(tail.noun) for tail in slot.tails)),
            "adverbs": float(len(slot.adverbs)),
            "other verbs": float(min(len(others), 2)),
            "same clause verb": float(any(other.subject_place == slot.subject_place for other in others)),
            "worn beside other verbs": float(slot.verb == "wear" and bool(others)),
            "words": _length(reading),
            "old speech": float(slot.verb in _SPEECH),
            "old unit known": log1p(evidence.unit_total.get(slot.unit, 0)) / 5,
            "order": float(slot.imperative),
            "first verb": float(all(other.place > slot.place for other in others)),
            "it behind": float("it" in behind),
            "into behind": float("into" in behind),
        }

    def of(self, choice: VerbChoice) -> dict[str, float]:
        """The features of a choice that are not shared, but for how usual words become."""
        evidence, slot = self._evidence, self._slot
        unit, frame, keeps, swap, _ = choice
        alone = frame == "i" and not keeps
        videos_of, noun_total = self._counts_of[alone]
        whole = f"{unit} {keeps}" if keeps else unit
        total = evidence.unit_total.get(whole, 0)
        facts = evidence.facts(unit)
        unit_features = facts.features
        features = {
            **unit_features,
            **self._lifts[facts.verb],
            **self._reason(choice),
            "goes with noun": evidence.surprise("object", videos_of.get(whole, 0), total, noun_total),
            "unit known": log1p(total) / 5,
            "longer": float(max(-1, min(1, choice.words.count(" ") + 1 - self._size))),
            "listed use": float(unit in self._uses),
            "fits": float(evidence.fits(unit, self._doer, slot.noun if frame != "i" else "")),
            "keeps a place": float(bool(keeps)),
            "intransitive": float(alone),
            "only it changes something": unit_features.get("changes something", 0.0) * (1.0 - self._changes),
            "at once, rests": unit_features.get("rests", 0.0) * self.slot_features["at once"],
        }
        features |= word_features(slot.unit, choice.words, evidence.category(slot.noun))
        return features if swap is None else features | self._swap_features(choice, swap)

    def run_change(self, new: str) -> float:
        """The gain in usualness of the words around the verb, from -`MOST_CHANGE` to `MOST_CHANGE`."""
        return _run_change(self._gap, new, self._evidence)

    def _reason(self, choice: VerbChoice) -> dict[str, float]:
        """The lexicon's reason why two units exclude each other."""
        slot, evidence = self._slot, self._evidence
        reason = evidence.excludes(slot.unit, choice.unit, slot.noun)
        if not reason and slot.frame == "p" and choice.keeps:
            reason = evidence.excludes(slot.unit.rpartition(" ")[0], choice.unit)
        reasons = {"any reason": 1.0, f"reason {reason}": 1.0} if reason else {"no reason": self._knows_unit}
        if choice.tail is not None and goes_back(choice):
            opposite = slot.verb in (PUTS if choice.verb in TAKES else TAKES)
            reasons |= {"any reason": 1.0, f"reason {'opposites' if opposite else 'listed'}": 1.0, "no reason": 0.0}
        return reasons

    def _swap_features(self, choice: VerbChoice, swap: Swap) -> dict[str, float]:
        """Features of the way in which a written swap was proposed."""
        slot = self._slot
        of_noun = float(swap.match == "noun")
        return {
            "written swap": 1.0,
            "swap of this unit": float(not swap.of_other_unit),
            "exchange": float(swap.is_exchange),
            "exchange with the noun": of_noun * swap.is_exchange,
            "swap with the noun": of_noun,
            "exchange beside other verbs": float(swap.is_exchange and len(self._reading.verbs) > 1),
            "swap of a light verb": float(slot.rejection_reason is not None),
            f"swap {_swap_frame(choice, swap)}{' in a step' if slot.imperative else ''}": 1.0,
        }


@lru_cache(_CACHED_PAIRS)
def word_features(old: str, new: str, category: str = "") -> dict[str, float]:
    """Features of the words that an edit replaces and puts in, of their pair, and of the new verb before a class of
    noun (`category`); of verb units also of the verbs alone."""
    pairs = dict.fromkeys([(old, new), (verb_word(old), verb_word(new))])  # in one order, so that sums are the same
    names = [f"{PUTS_IN}{verb_word(new)} _{category}"] if category else []
    for replaced, other in pairs:
        names += f"{REPLACES}{replaced}", f"{PUTS_IN}{other}", f"{REPLACES}{replaced} {PUTS_IN}{other}"
    return dict.fromkeys(names, 1.0)


def brings_place(choice: VerbChoice) -> bool:
    """Whether another place, or none, stands behind the object: "add onions to the pan", "slice onions"."""
    swap = choice.swap
    return swap is not None and bool(swap.place or (choice.tail is not None and not swap.preposition))


def goes_back(choice: VerbChoice) -> bool:
    """Whether a thing is taken from where the caption has it or puts it, or is put where the caption takes it from."""
    if choice.tail is None or choice.swap is None:
        return False
    old, new = choice.tail.phrase, choice.swap.preposition
    return (old in _INTO and new in _OUT and choice.verb in TAKES) or (
        old in _OUT and new in _INTO and choice.verb in PUTS
    )


def _swap_frame(choice: VerbChoice, swap: Swap) -> str:
    """The frame in which the words of a written swap stand in the caption."""
    if brings_place(choice):
        return "with its place" if swap.place else "without its place"
    if swap.preposition:
        return "of two places"
    if swap.keeps:
        return "with an object that stays" if swap.phrase else "that stays"
    if swap.phrase:
        return "with an object"
    return {"i": "alone", "t": "of an object"}.get(choice.frame, "with a preposition")


def _together(reading: CaptionReading, slot: VerbSlot, other: VerbSlot) -> bool:
    """Whether one of two verbs is a participle beside the other, of one doer (on a chair, reading: who sits there)."""
    words = reading.sentence.words
    first, last = sorted((slot, other), key=lambda verb: verb.place)
    word, noun = words[last.place], words[words[last.place].head].is_noun
    if word.tag != "VBG" or word.dep not in _BESIDE:
        return False
    if word.head == first.place:
        return first.subject == last.subject
    return noun and first.place < word.head < last.place and last.subject not in ("", "person")


def _run_change(gap: Gap, new: str, evidence: Evidence) -> float:
    """The gain in usualness of the words around a replacement."""
    return max(-MOST_CHANGE, min(MOST_CHANGE, evidence.run_change(gap, new.lower().split())))


def _gap(reading: CaptionReading, slot: VerbSlot | ThingSlot, evidence: Evidence) -> Gap:
    """The words around a slot, kept for its caption."""
    span = slot.start, slot.end
    gap = reading.gaps.get(span)
    if gap is None:
        size = len(reading.caption[slot.start : slot.end].split())
        marks = sum(word.text in (".", ",") for word in reading.sentence.words[: slot.place])  # which are no words
        first = slot.place - marks - (size - 1 if isinstance(slot, ThingSlot) else 0)
        gap = reading.gaps[span] = evidence.gap(reading.words, first, size)
    return gap


def _length(reading: CaptionReading) -> float:
    """The words of a caption, 1 from ten on: readers of longer ones find no more faults, and few were read."""
    return min(len(reading.words) / 10, 1.0)


def _mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def object_slot_features(reading: CaptionReading, slot: ThingSlot, evidence: Evidence) -> dict[str, float]:
    """Features of the words to replace, which all proposals of a thing share."""
    return {
        **{f"a {name}": float(evidence.lexicon.is_a(slot.category, name)) for name in _WIDE_CLASSES},
        "words": _length(reading),
        "with an adjective": float(bool(slot.adjectives)),
        "animal or thing acts": float(slot.subject not in ("", "person")),
        **evidence.style(reading.words),
    }


def object_choice_features(evidence: Evidence, key: ThingKey, noun: str) -> dict[str, float]:
    """Features of a noun in the place of a thing, whatever else the caption says.

    `key, noun`: what is replaced, and by what, in dictionary form.
    """
    counts, lexicon = evidence.counts, evidence.lexicon
    mine, other = (things[0] if (things := lexicon.things(name)) else None for name in (key.noun, noun))
    sizes = [_SIZES.find(thing.size) if thing is not None else 0 for thing in (mine, other)]
    behind = evidence.nouns_behind.get(key.preposition, _NONE).get(noun, 0)
    fits = _fits(key, noun, evidence)
    peers = evidence.result_of(Evidence.peers, key)
    return {
        "peer": peers.get(noun, 0) / max([1, *peers.values()]),
        "alike in use": evidence.alike_in_use(key.noun, noun),
        "alike by head": evidence.similarity(key.noun.split(" ")[-1], noun.rpartition(" ")[2]),
        "same class": float(evidence.category(noun) == key.category),
        "sizes apart": float(mine is not None and other is not None and abs(sizes[0] - sizes[1]) > 1),
        "goes with preposition": (
            evidence.surprise("place", behind, evidence.behind_total[key.preposition], counts.get("noun", noun))
            if key.preposition in evidence.behind_total
            else 0.0
        ),
        "listed use": float(key.unit in evidence.uses(noun)),
        "fits": float(fits),
        "no longer fits": float(key.relation != "subject" and not fits and _fits(key, key.noun, evidence)),
        "lift": evidence.lift("nouns", key.noun, noun),
        "wider": float(noun in lexicon.wider(key.noun)),
        "said again": evidence.said_again(noun),
    }


def _fits(key: ThingKey, noun: str, evidence: Evidence) -> bool:
    """Whether the lexicon lets a noun stand in a thing's frame."""
    doer_and_object = (noun,) if key.relation == "subject" else (key.subject or "person", noun)
    return bool(key.unit) and evidence.fits(key.unit, *doer_and_object)


def object_caption_features(
    reading: CaptionReading, slot: ThingSlot, noun: str, new: str, evidence: Evidence
) -> dict[str, float]:
    """Features of a noun in the place of a thing that depend on the rest of the caption.

    `reading, slot, noun`: the caption, what is replaced, and by what, in dictionary form. `new`: the words as they will
    stand there.
    """
    counts, own = evidence.counts, slot.noun.split(" ")
    others = [name for name in evidence.well_known(reading.nouns) if name != slot.noun and name not in own]
    lift = evidence.lift
    verbs = [verb.verb for verb in reading.verbs if counts.get("verb", verb.verb) > WELL_KNOWN]
    governor = reading.governor(slot)
    gap = _gap(reading, slot, evidence)
    left, right = evidence.familiarity(gap, new.lower().split())
    return {
        "company": _mean([lift("nouns", name, noun) for name in others]),
        "verbs lost": _mean([lift("topic", verb, noun) - lift("topic", verb, slot.noun) for verb in verbs]),
        "own verb": lift("topic", governor.verb, noun) if governor is not None else 0.0,
        "left run": left,
        "right run": right,
        "run change": _run_change(gap, new, evidence),
    }
