"""Object proposals: nouns of the lexicon, or of a model, that the verb or preposition takes and that look different."""

from dataclasses import replace

import numpy as np

from video_contrast.perturbations.contrast.evidence import Evidence, largest
from video_contrast.perturbations.contrast.judge import (
    Judge,
    object_caption_features,
    object_choice_features,
    object_slot_features,
    word_features,
)
from video_contrast.perturbations.contrast.proposal import ClipProposals, Features, Proposal, Trial
from video_contrast.perturbations.contrast.slots import (
    PERSON,
    SAYS_LITTLE,
    CaptionReading,
    ClipReading,
    ThingKey,
    ThingSlot,
)
from video_contrast.perturbations.english.forms import inflect_name, is_noun, lemma
from video_contrast.perturbations.english.lexicon import words_of
from video_contrast.seeds import Streams

_JITTER = 0.8
# The worth beside the counts of a noun that is written for a thing, in its place or in another.
_WORTH_HERE, _WORTH_ELSEWHERE = 2.0, 0.5
_NOUNS = 60  # nouns a thing that are looked at
_MOST_CHOICES = 12  # candidates a thing that are judged
_COMMON = 8  # videos that name a noun which the lexicon's class alone proposes
_MIN_VIDEOS = 2  # videos that say a noun in this frame
_WIDE = words_of("wide_noun")
_NEVER = ("intangible", "people")
_UNSEEN = "a noun that cannot be seen"
_BY_GROUPS = (PERSON, SAYS_LITTLE, _UNSEEN)
_PLAIN = ("compound", "det", "nummod", "punct")  # stand beside a person of whom nothing is told
_SHOWN = frozenset(["be", "begin", "continue", "see", "show", "start"])  # say nothing of a person
_streams = Streams()


def propose_objects(proposals: ClipProposals, evidence: Evidence, judge: Judge) -> None:
    """Adds the eligible edits of every thing of a clip's captions."""
    clip, replacements = proposals.clip, proposals.replacements
    looks = frozenset(evidence.looks(name) for name in clip.nouns)
    for index, reading in enumerate(clip.readings):
        if not reading.things:
            proposals.leave_out("no thing")
        for slot in reading.things:
            reason = slot.rejection_reason
            if reason is None and any(evidence.lexicon.is_a(slot.category, parent) for parent in _NEVER):
                reason = _UNSEEN
            in_groups = replacements is None and _stands_in_groups(reading, slot, reason, evidence)
            if reason is not None and not in_groups:
                proposals.leave_out(reason, index, slot)
                continue
            nouns = _eligible(proposals, index, slot, looks, evidence, in_groups=in_groups)
            slot_features = object_slot_features(reading, slot, evidence) if nouns else {}
            for noun in nouns:
                add_object(proposals, index, slot, noun, slot_features, evidence, judge)


def _stands_in_groups(reading: CaptionReading, slot: ThingSlot, reason: str | None, evidence: Evidence) -> bool:
    """Whether only what groups of peers name here replaces a thing: a person, where just one verb tells of it."""
    if reason not in _BY_GROUPS or not any(evidence.result_of(Evidence.peers, slot.key).values()):
        return False
    sentence = reading.sentence
    is_described = any(n not in sentence.children_with(slot.place, *_PLAIN) for n in sentence.children[slot.place])
    verbs = [word for word in sentence.words if word.is_verb and word.lemma not in _SHOWN]
    if reason == SAYS_LITTLE:
        return slot.noun in ("camera", "screen") or " " in slot.noun  # a parking lot is more than a lot
    return not is_described and len(verbs) < 2


def _eligible(
    proposals: ClipProposals, index: int, slot: ThingSlot, looks: frozenset[str], evidence: Evidence, *, in_groups: bool
) -> list[str]:
    """The nouns for a thing that no rule rejects. `looks`: of the clip's nouns. `in_groups`: only what groups name."""
    peers = evidence.result_of(Evidence.peers, slot.key)

    def rejection(noun: str) -> str | None:
        if in_groups and not peers.get(noun):
            return "of another kind"
        return evidence.result_of(_misfit, slot.key, noun) or _said_elsewhere(proposals.clip, noun, looks, evidence)

    trial = Trial[str](proposals, index, slot, rejection)
    if proposals.replacements is None:
        trial.take(_likely(slot, proposals.clip.readings[index].caption, evidence), most=_MOST_CHOICES)
    else:
        trial.read(lambda words: noun_of(words, slot), most=_MOST_CHOICES)
    return trial.end()


def noun_of(words: str, slot: ThingSlot) -> str | None:
    """The dictionary form of words in the place of a thing; None where they are no noun in its number.

    `words`: such as "table tennis".
    """
    lead, space, head = words.lower().rpartition(" ")
    noun = lead + space + lemma(head, slot.tag)
    return noun if is_noun(head) and inflect_name(noun, slot.tag) == words.lower() else None


def _likely(slot: ThingSlot, caption: str, evidence: Evidence) -> list[str]:
    """The `_NOUNS` nouns that a quick look finds likeliest, with a seeded jitter so that sets do not repeat a few."""
    scores, nouns = evidence.result_of(_score_nouns, replace(slot.key, introduction="", subject=""))
    jitter = _streams.at("object choices", caption, slot.place).random(len(nouns))
    return [nouns[n] for n in largest(scores + _JITTER * jitter, _NOUNS)]


def _score_nouns(evidence: Evidence, key: ThingKey) -> tuple[np.ndarray, list[str]]:
    """Nouns of a thing's class, of classes beside it, and those that captions say here."""
    scores = dict(evidence.classmates(key.noun, key.category))
    row = replace(key, noun="", subject="", introduction="")
    row = replace(row, behind="", unit="") if key.relation == "place" else replace(row, behind="", preposition="")
    for noun, score in evidence.result_of(_said_here, row):
        scores[noun] = scores.get(noun, 0.0) + score
    for noun, here in evidence.result_of(Evidence.peers, key).items():
        scores[noun] = scores.get(noun, 0.0) + (_WORTH_HERE if here else _WORTH_ELSEWHERE)
    scores.pop(key.noun, None)
    nouns = sorted(scores)
    return np.array([scores[noun] for noun in nouns]), nouns


def _said_here(evidence: Evidence, key: ThingKey) -> list[tuple[str, float]]:
    """Nouns of classes near to a thing's that captions say in its frame, with how usual each is."""
    near = set(evidence.neighbour_classes(key.category))
    common = [(noun, n) for noun, n in evidence.said_here(key).items() if n >= _MIN_VIDEOS]
    return [(noun, min(n, 20) ** 0.5 / 3) for noun, n in common if evidence.category(noun) in near]


def _misfit(evidence: Evidence, slot: ThingKey, noun: str) -> str | None:
    """Why a noun cannot take the place of another in any caption; None if it can."""
    lexicon = evidence.lexicon
    things = lexicon.things(noun)
    if not things:
        return "unknown"
    category = things[0].category
    peer_groups = evidence.result_of(Evidence.peers, replace(slot, subject="", introduction="")).get(noun, 0)
    if not peer_groups and any(lexicon.is_a(category, parent) for parent in _NEVER):
        return "of another kind"
    is_rare = evidence.counts.get("noun", noun) < _COMMON and evidence.said_here(slot).get(noun, 0) < _MIN_VIDEOS
    if is_rare and not peer_groups:
        return "rare"
    if not evidence.takes(noun, slot.introduction):
        return "not said in this number"
    if not peer_groups and evidence.parents(category) != evidence.parents(slot.category):
        return "of another kind"
    head, own_head = noun.rpartition(" ")[2], slot.noun.rpartition(" ")[2]
    if lexicon.may_name_one(slot.noun, noun):
        return "may name the same"
    if evidence.looks(noun) == evidence.looks(slot.noun):
        return "looks the same"
    if not peer_groups and (_covers(head, slot.category, evidence) or _covers(own_head, category, evidence)):
        return "may name the same"
    features = evidence.result_of(object_choice_features, slot, noun)
    odd = not peer_groups and (features["no longer fits"] or features["sizes apart"])
    return "does not go with its verb" if odd else None


def _said_elsewhere(clip: ClipReading, noun: str, looks: frozenset[str], evidence: Evidence) -> str | None:
    """Whether the clip's captions say a noun, or what looks like it; None if they do not."""
    if noun in clip.nouns or noun.rpartition(" ")[2] in clip.nouns:
        return "another caption says it"
    if evidence.looks(noun) in looks:
        return "near to what another caption says"
    return None


def _covers(noun: str, category: str, evidence: Evidence) -> bool:
    """Whether a noun is the name of a class or of a class above it: an onion is a vegetable."""
    return noun in _WIDE or noun == category or noun in evidence.parents(category)


def add_object(
    proposals: ClipProposals,
    index: int,
    slot: ThingSlot,
    noun: str,
    slot_features: Features,
    evidence: Evidence,
    judge: Judge,
) -> Proposal | None:
    """Adds the edit that puts a noun in the place of a thing, if it is wanted.

    `slot, noun`: what is replaced, and by what, in dictionary form.
    """
    new = inflect_name(noun, slot.tag)
    choice_features = evidence.result_of(object_choice_features, slot.key, noun)
    here = object_caption_features(proposals.clip.readings[index], slot, noun, new, evidence)
    features = {**slot_features, **choice_features, **here, **word_features(slot.noun, noun)}
    probability = judge.probability(features)
    if not proposals.wants(index, probability):
        return None
    return proposals.add(index, slot.start, slot.end, slot.noun, new, noun, features=features, probability=probability)
