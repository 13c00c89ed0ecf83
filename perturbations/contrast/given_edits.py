"""What the judge says of edits that people wrote or that a table holds; no rule rejects them."""

from collections.abc import Sequence

from video_contrast.perturbations.contrast.clip import CaptionReading, ClipReading
from video_contrast.perturbations.contrast.edit import Edit
from video_contrast.perturbations.contrast.evidence import Evidence
from video_contrast.perturbations.contrast.features import object_slot_features, verb_slot_features
from video_contrast.perturbations.contrast.generate import shipped_evidence
from video_contrast.perturbations.contrast.judge import load_judge
from video_contrast.perturbations.contrast.proposal import ClipProposals, Kind, Proposal, Slot
from video_contrast.perturbations.contrast.propose_objects import add_object, noun_of
from video_contrast.perturbations.contrast.propose_verbs import add_verb, replaceable, verb_choice
from video_contrast.perturbations.english import parse


def judged_edits(captions: Sequence[str], edits: Sequence[Edit]) -> list[dict[str, float]]:
    """The `probability` that a reader finds each edit natural and surely false, and its `falsity` if it is natural.

    Returns the two numbers of each edit that replaces a verb by a verb or a thing by a thing; nothing for others.
    """
    readings = {sentence.caption: CaptionReading(sentence) for sentence in parse(list(dict.fromkeys(captions)))}
    scores = []
    for caption, edit in zip(captions, edits, strict=True):
        judged = given_proposal(readings[caption], edit, shipped_evidence())
        scores.append({} if judged is None else _scores(*judged))
    return scores


def _scores(kind: Kind, proposal: Proposal) -> dict[str, float]:
    judge = load_judge(kind)
    numbers = {"probability": judge.probability(proposal.features), "falsity": judge.falsity(proposal.features)}
    return {name: round(number, 4) for name, number in numbers.items()}


def given_proposal(reading: CaptionReading, edit: Edit, evidence: Evidence) -> tuple[Kind, Proposal] | None:
    """An edit as a proposal; None where it is not of one verb or one thing."""
    proposed = ClipProposals(ClipReading("", [reading]))
    for verb in replaceable(reading, whole=True):
        words = _words(reading.caption, edit, verb)
        choice = verb_choice(words, verb, reading, evidence) if words else None
        if choice is not None:
            features = verb_slot_features(reading, verb, evidence)
            return "verb", add_verb(proposed, 0, verb, choice, features, evidence)
    for thing in reading.things:
        words = _words(reading.caption, edit, thing)
        noun = noun_of(words, thing) if words else None
        if noun is not None:
            features = object_slot_features(reading, thing, evidence)
            return "object", add_object(proposed, 0, thing, noun, features, evidence)
    return None


def _words(caption: str, edit: Edit, slot: Slot) -> str:
    """What stands in a slot after an edit that lies within it, but for "a" or "an" before it; "" after other edits."""
    start, end, new = edit.start, edit.start + len(edit.old), edit.new
    if caption[start : slot.start].lower() in ("a ", "an ") and new.lower().startswith(("a ", "an ")):
        start, new = slot.start, new.partition(" ")[2]
    within = slot.start <= start and end <= slot.end
    return caption[slot.start : start] + new + caption[end : slot.end] if within else ""
