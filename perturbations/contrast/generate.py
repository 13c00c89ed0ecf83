"""Contrasts of captioned clips: propose edits of every caption, judge them, choose one a clip.

proposed = propose([("clip-1", ["a man rides a horse"])], load_counts(), target="verb", quality="balanced")
contrasts = choose(proposed)
"""

import gc
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from typing import NamedTuple, get_args

from video_contrast.errors import UsageError, check_names
from video_contrast.perturbations.contrast.caption_counts import CaptionCounts, count, shipped_counts
from video_contrast.perturbations.contrast.edit import Edit
from video_contrast.perturbations.contrast.evidence import Evidence
from video_contrast.perturbations.contrast.generators.base import CaptionGenerator
from video_contrast.perturbations.contrast.generators.llm import UNREADABLE
from video_contrast.perturbations.contrast.judge import Judge, VerbFeatures, load_judge, object_slot_features, threshold
from video_contrast.perturbations.contrast.proposal import (
    GENERATOR,
    ClipProposals,
    Proposal,
    RejectedEdit,
    Replacements,
    Slot,
    Target,
    masked_span,
)
from video_contrast.perturbations.contrast.propose_objects import add_object, noun_of, propose_objects
from video_contrast.perturbations.contrast.propose_verbs import add_verb, propose_verbs, replaceable, verb_choice
from video_contrast.perturbations.contrast.select import select
from video_contrast.perturbations.contrast.slots import CaptionReading, ClipReading
from video_contrast.perturbations.english import PARSER, parse
from video_contrast.perturbations.english.language import require_english, unfit

LEFT_OUT = "left out: each of its contrasts would tell a reader of texts alone which caption is true"
IMPROBABLE = "not probable enough"
DOUBTFUL = 0.5  # an edit of less falsity may be true
_PART = 500  # clips that are read at a time
_PAGE = 10_000  # letters of a caption that are read


class ClipCaptions(NamedTuple):
    """A clip: its unique id and what is true of it. A plain tuple will do as well."""

    id: str
    captions: Sequence[str]  # may be contrasted
    other_captions: Sequence[str] = ()  # further true captions, which only reject contrasts


@dataclass
class ProposedContrasts:
    """The proposals of many clips, and the reasons of the clips that have none."""

    # clip id -> its proposals of at least the asked probability, best first, where it has any.
    proposals: dict[str, list[Proposal]]
    missing: dict[str, str]  # clip id -> why it has none, one line
    reasons: Counter[str]  # how often each rule said no, counted a verb (a thing) of a caption
    target: Target  # as asked
    quality: str | float
    seed: int
    record: dict[str, object] = field(default_factory=dict)  # options and counts on which the result depends, JSON-able
    # edits of a model that were not taken; those of the lexicon are not kept.
    rejected: list[RejectedEdit] = field(default_factory=list)


def load_counts(extra: Mapping[str, Sequence[str]] | None = None) -> CaptionCounts:
    """The counts of the package, and those of one's own training captions added to them.

    `extra`: video id -> captions of training videos. Never those of a test split. Raises NotEnglish: the captions are
    of another language.
    """
    return shipped_counts() + own_counts(extra) if extra else shipped_counts()


def own_counts(extra: Mapping[str, Sequence[str]]) -> CaptionCounts:
    """The counts of one's own training captions alone; arguments and errors as of `load_counts`."""
    require_english([text for texts in extra.values() for text in texts], name="the training captions (--training)")
    videos = (parse(list(extra[name])) for name in sorted(extra))
    return count(videos, source=f"{len(extra)} training videos")


def propose(
    clips: Sequence[ClipCaptions | tuple[str, Sequence[str]]],
    counts: CaptionCounts,
    *,
    target: Target = "verb",
    quality: str | float = "balanced",
    seed: int = 0,
    generator: CaptionGenerator | None = None,
    judge: Judge | None = None,
) -> ProposedContrasts:
    """Every contrast of each clip that is probably natural and surely false.

    Raises UsageError: an unknown target or quality, or two clips of one id; NotEnglish: the captions are of another
    language.

    Args:
        clips: as `ClipCaptions`, or tuples like it.
        counts: of `load_counts`.
        target: what is replaced: the verb with its particle and preposition, or a thing.
        quality: the least probability that a reader finds a contrast natural and surely false: "high", "balanced",
            "all" (`judge.QUALITIES`), or a number.
        generator: what proposes, such as `make_generator("t5", {})`; None: the lexicon.
        judge: of that target; None: the shipped one.
    """
    check_names("target", [target], get_args(Target))
    least = threshold(quality, target)
    captioned_clips = [ClipCaptions(*clip) for clip in clips]
    if len({clip.id for clip in captioned_clips}) < len(captioned_clips):
        raise UsageError("two clips have the same id: the ids must be unique")
    require_english([text for clip in captioned_clips for text in clip.captions])
    evidence = shipped_evidence() if counts is shipped_counts() else Evidence(counts)
    all_proposals = ProposedContrasts({}, {}, Counter(), target=target, quality=quality, seed=seed)
    name = GENERATOR if generator is None else generator.name
    judge = judge or load_judge(target)
    for first in range(0, len(captioned_clips), _PART):
        readings = _read(captioned_clips[first : first + _PART])
        replacements = None if generator is None else _replacements(readings, generator, all_proposals)
        with _collector_paused():
            for clip in readings:
                _propose(clip, evidence, judge, least, all_proposals, replacements, name=name)
    request = {"generator": name, "target": target, "quality": quality, "least_probability": least, "seed": seed}
    sources = {"parser": PARSER, "counts": list(counts.sources), "counted_videos": counts.videos}
    all_proposals.record = {**request, **sources}
    if judge.votes:
        all_proposals.record |= {"votes_of_judge": judge.votes, "good_votes_of_judge": judge.good_votes}
    return all_proposals


def merged(
    parts: Sequence[ProposedContrasts], *, target: Target, quality: str | float, seed: int = 0
) -> ProposedContrasts:
    """The proposals for parts of a set, as one; a clip is missing where no part has a proposal for it.

    `parts`: of clips, or of captions of the same clips. `target, quality, seed`: as of `propose`.
    """
    whole = ProposedContrasts({}, {}, Counter(), target=target, quality=quality, seed=seed)
    for part in parts:
        whole.proposals.update(part.proposals)
        whole.missing.update(part.missing)
        whole.reasons.update(part.reasons)
        whole.rejected += part.rejected
        whole.record = {**part.record, "seed": seed}
    whole.missing = {name: why for name, why in whole.missing.items() if name not in whole.proposals}
    return whole


def choose(all_proposals: ProposedContrasts) -> dict[str, Proposal]:
    """One proposal of each clip that has any, varied, and so chosen that texts alone do not tell (`select`).

    Clips that are left out for that stand in `all_proposals.missing`.
    """
    with _collector_paused():
        choices, _ = select(all_proposals.proposals, seed=all_proposals.seed, target=all_proposals.target)
    note_left_out(all_proposals, choices)
    return choices


def note_left_out(all_proposals: ProposedContrasts, choices: Mapping[str, Proposal]) -> None:
    """Notes in `all_proposals` the clips of which no proposal was chosen."""
    left_out = [name for name in all_proposals.proposals if name not in choices]
    all_proposals.missing |= dict.fromkeys(left_out, LEFT_OUT)
    if left_out:
        all_proposals.reasons["texts alone would tell"] += len(left_out)


@contextmanager
def _collector_paused() -> Iterator[None]:
    """A stretch without garbage collection, which takes a sixth of the time to walk tables, and finds nothing."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@cache
def shipped_evidence() -> Evidence:
    """Evidence of the shipped counts, which never change."""
    return Evidence(shipped_counts())


def _read(clips: Sequence[ClipCaptions]) -> list[ClipReading]:
    """Captions and what else is told of each clip, of which a page is read: a book among them would take hours."""
    pages = [([text[:_PAGE] for text in c.captions], [text[:_PAGE] for text in c.other_captions]) for c in clips]
    texts = list(dict.fromkeys(text for own, others in pages for text in (*own, *others)))
    reading_of = dict(zip(texts, map(CaptionReading, parse(texts)), strict=True))
    return [
        ClipReading(clip.id, [reading_of[text] for text in own], [reading_of[text] for text in others])
        for clip, (own, others) in zip(clips, pages, strict=True)
    ]


def _replacements(
    clips: Sequence[ClipReading], generator: CaptionGenerator, all_proposals: ProposedContrasts
) -> Replacements:
    """The replacements that a model proposes for every verb (thing); equal captions are asked about once.

    Answers of a chat model that cannot be read are counted in `all_proposals`.
    """
    readings = [reading for clip in clips for reading in clip.readings]
    slots = [(r, slot) for r in readings for slot in (r.verbs if all_proposals.target == "verb" else r.things)]
    spans = list(dict.fromkeys(masked_span(r, slot) for r, slot in slots if slot.rejection_reason is None))
    replacements = dict(zip(spans, generator.propose(spans), strict=True))
    unreadable: list[tuple[str, str]] = getattr(generator, "unreadable", [])
    all_proposals.rejected += [RejectedEdit(caption, answer, UNREADABLE) for caption, answer in unreadable]
    all_proposals.reasons[UNREADABLE] += len(unreadable)
    unreadable.clear()
    return replacements


def _propose(
    clip: ClipReading, evidence: Evidence, judge: Judge, least: float, all_proposals: ProposedContrasts,
    replacements: Replacements | None, *, name: str,
) -> None:  # fmt: skip
    unfit_of = {n: reason for n, reading in enumerate(clip.readings) if (reason := unfit(reading.caption))}
    least_wanted = least if replacements is None else 0.0  # proposals of a model are kept with their probability
    clip_proposals = ClipProposals(clip, replacements, least=least_wanted, generator=name, unfit=unfit_of)
    if len(unfit_of) < len(clip.readings):  # else nothing stays: a caption of 100 kB would take minutes
        (propose_verbs if all_proposals.target == "verb" else propose_objects)(clip_proposals, evidence, judge)
    reasons = [*((reason, "") for reason in unfit_of.values()), *clip_proposals.reasons]
    proposals = sorted(clip_proposals.proposals, key=lambda item: (-item.probability, item.index, item.text))
    good = [item for item in proposals if item.probability >= least]
    all_proposals.reasons.update(reason for reason, _ in reasons)
    if replacements is not None:
        improbable = [item for item in clip_proposals.proposals if item.probability < least]
        edits = [RejectedEdit(x.caption, x.text, IMPROBABLE, round(x.probability, 4)) for x in improbable]
        all_proposals.rejected += [*clip_proposals.rejected_edits, *edits]
    if good:
        all_proposals.proposals[clip.id] = good
    elif proposals:
        best = proposals[0]
        all_proposals.reasons[IMPROBABLE] += 1
        all_proposals.missing[clip.id] = (
            f"the best contrast ({best.old!r} -> {best.new!r}) has the probability {best.probability:.2f}, "
            f"less than {least}"
        )
    else:
        all_proposals.missing[clip.id] = _reason(reasons) if clip.readings else "no captions"


def _reason(reasons: Sequence[tuple[str, str]]) -> str:
    """The commonest reasons, each with the words that it was said of."""
    words: dict[str, list[str]] = {}
    for reason, caption_words in reasons:
        words.setdefault(reason, []).append(caption_words)
    commonest = sorted(words.items(), key=lambda item: -len(item[1]))[:3]
    return "; ".join(
        reason + (f" ({', '.join(dict.fromkeys(filter(None, caption_words)))})" if any(caption_words) else "")
        for reason, caption_words in commonest
    )


def judged(captions: Sequence[str], edits: Sequence[Edit]) -> tuple[list[Edit], list[bool]]:
    """The edits with what the judge says of them in their scores, and whether each may be true with its caption.

    `captions`: the true captions. `edits`: one a caption; those that replace a verb by a verb or a thing by a thing get
    the `probability` that a reader finds them natural and surely false, and the `falsity` if they are natural.
    """
    with_scores = list(edits)
    for place, target_and_proposal in enumerate(given_proposals(captions, edits)):
        if target_and_proposal is not None:
            target, proposal = target_and_proposal
            falsity = load_judge(target).falsity(proposal.features)
            own = {"probability": round(proposal.probability, 4), "falsity": round(falsity, 4)}
            with_scores[place] = replace(edits[place], scores={**edits[place].scores, **own})
    return with_scores, [edit.scores.get("falsity", 1.0) < DOUBTFUL for edit in with_scores]


def given_proposals(captions: Sequence[str], edits: Sequence[Edit]) -> list[tuple[Target, Proposal] | None]:
    """The edit of each caption as a proposal; None where it is not of one verb or one thing."""
    readings = {sentence.caption: CaptionReading(sentence) for sentence in parse(list(dict.fromkeys(captions)))}
    return [_given_proposal(readings[c], edit, shipped_evidence()) for c, edit in zip(captions, edits, strict=True)]


def _given_proposal(reading: CaptionReading, edit: Edit, evidence: Evidence) -> tuple[Target, Proposal] | None:
    clip_proposals = ClipProposals(ClipReading("", [reading]))
    for verb in replaceable(reading, whole=True):
        words = _words(reading.caption, edit, verb)
        choice = verb_choice(words, verb, reading, evidence) if words else None
        if choice is not None:
            verb_features = VerbFeatures(reading, verb, [choice], evidence)
            add_verb(clip_proposals, 0, verb, choice, verb_features, load_judge("verb"))
            return "verb", clip_proposals.proposals[0]
    for thing in reading.things:
        words = _words(reading.caption, edit, thing)
        noun = noun_of(words, thing) if words else None
        if noun is not None:
            features = object_slot_features(reading, thing, evidence)
            add_object(clip_proposals, 0, thing, noun, features, evidence, load_judge("object"))
            return "object", clip_proposals.proposals[0]
    return None


def _words(caption: str, edit: Edit, slot: Slot) -> str:
    """The words in a slot after an edit that lies within it, but for "a" or "an" before it; "" after other edits."""
    start, end, new = edit.start, edit.start + len(edit.old), edit.new
    if caption[start : slot.start].lower() in ("a ", "an ") and new.lower().startswith(("a ", "an ")):
        start, new = slot.start, new.partition(" ")[2]
    within = slot.start <= start and end <= slot.end
    return caption[slot.start : start] + new + caption[end : slot.end] if within else ""
