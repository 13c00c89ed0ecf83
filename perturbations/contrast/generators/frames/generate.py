"""The generator `frames` in two steps: propose for every clip, then choose one proposal a clip.

counts = load_counts(extra={"clip-1": ["a man rides a horse", ...]})
proposed = propose([("clip-1", None, ["a man rides a horse"])], counts, kind="verb", quality="balanced")
chosen = choose_balanced(proposed)
"""

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from math import isfinite
from statistics import fmean as mean
from typing import Literal, NamedTuple

from video_contrast.errors import UsageError, unknown_name
from video_contrast.perturbations.contrast.generators.frames.choose import choose, even
from video_contrast.perturbations.contrast.generators.frames.counts import FrameCounts, count
from video_contrast.perturbations.contrast.generators.frames.english import require_english
from video_contrast.perturbations.contrast.generators.frames.objects import ObjectProposals
from video_contrast.perturbations.contrast.generators.frames.parse import parser_name, version_note
from video_contrast.perturbations.contrast.generators.frames.proposal import Proposal
from video_contrast.perturbations.contrast.generators.frames.quality import (
    QUALITIES,
    Quality,
    reaching,
    score,
    threshold,
)
from video_contrast.perturbations.contrast.generators.frames.reading import ReadClip, read
from video_contrast.perturbations.contrast.generators.frames.resource import shipped
from video_contrast.perturbations.contrast.generators.frames.verbs import VerbProposals

Kind = Literal["verb", "object"]
_UNEVEN = "left out, so that words of steps are replaced as often as they replace"
_PART = 500  # clips that are read at a time
# Share of clips with a contrast under which the captions may be of another domain than the counts, and how many clips
# it takes to say so.
_FEW = {"high": 0.2, "balanced": 0.35, "all": 0.35}
_ENOUGH = 8
_STEPS = 0.5  # share of captions that are orders, above which they are steps of recipes


class ClipCaptions(NamedTuple):
    """A clip: its unique id, its category where known, and what is true of it. A plain tuple will do as well.

    Attributes:
        captions: may be contrasted.
        siblings: further true captions, which only reject contrasts.
    """

    id: str
    category: str | None
    captions: Sequence[str]
    siblings: Sequence[str] = ()


@dataclass
class ProposedContrasts:
    """What was proposed.

    Attributes:
        proposals: clip id -> its proposals at the asked quality, best first; without the clips that have none.
        missing: clip id -> why it has none, one line.
        reasons: how often each rule said no, counted a verb (a thing) of a caption.
        words: mean number of words of the captions.
        kind, quality, seed: as asked.
        captions, orders: how many captions there are, and how many of them tell somebody what to do.
        notes: lines for the user: another parser, another domain.
        record: what the result depends on, JSON-able.
    """

    proposals: dict[str, list[Proposal]]
    missing: dict[str, str]
    reasons: Counter[str]
    words: float
    kind: Kind
    quality: Quality
    seed: int
    captions: int = 0
    orders: int = 0
    notes: list[str] = field(default_factory=list)
    record: dict[str, object] = field(default_factory=dict)

    def at(self, quality: Quality) -> "ProposedContrasts":
        """The same proposals at a stricter quality; clips that fall out are explained."""
        limit = threshold(self.kind, quality)
        stricter = {clip: reaching(items, self.kind, quality) for clip, items in self.proposals.items()}
        missing = dict(self.missing)
        for clip, items in stricter.items():
            if not items:
                missing[clip] = _too_little(self.proposals[clip][0], quality)
        record = self.record | {"quality": quality, "threshold": limit if isfinite(limit) else None}
        return replace(
            self,
            proposals={clip: items for clip, items in stricter.items() if items},
            missing=missing,
            quality=quality,
            record=record,
        )

    def advice(self) -> list[str]:
        """What to do where captions leave little to contrast: one line each."""
        if self.kind == "verb" and self.orders > _STEPS * self.captions:
            return [
                "most captions are orders, as the steps of recipes are: poor ground for verbs, of which only those are "
                "replaced that exclude each other; object_mc makes more and better contrasts of them"
            ]
        clips = len(self.proposals) + len(self.missing)
        if clips >= _ENOUGH and len(self.proposals) < _FEW[self.quality] * clips:
            return [
                f"less than {_FEW[self.quality]:.0%} of the clips have a contrast of the kind {self.kind}: the "
                "captions may be of another domain than the counts (give training captions of their own, --training), "
                "or hold few plain statements (--explain says which rule left none); --quality all asks less"
            ]
        return []

    def summary(self) -> str:
        """One line: how many clips have a contrast, at which quality, and the commonest reasons against."""
        clips = len(self.proposals.keys() | self.missing.keys())  # what the choice leaves out stands in both
        contrasted = len(self.proposals.keys() - self.missing.keys())
        common = ", ".join(f"{reason} {n}" for reason, n in self.reasons.most_common(3))
        return f"{contrasted} of {clips} clips have a {self.kind} contrast at quality {self.quality}" + (
            f" (what fell out most: {common})" if common else ""
        )


def load_counts(
    extra: Mapping[str, Sequence[str]] | None = None,
    *,
    categories: Mapping[str, str] | None = None,
    parser: str = "auto",
    cache: str | os.PathLike[str] | None = None,
) -> FrameCounts:
    """The shipped counts, and those of one's own training captions added to them.

    Args:
        extra: video id -> captions of training videos. Never those of a test split.
        categories: video id -> category, where known; what is true at once is then judged within it.
        parser, cache: as of `parse.parse`.

    Raises:
        VideoContrastError: the captions are not English, or the parser is not installed.
    """
    counts = shipped()
    if not extra:
        return counts
    texts = [text for name in sorted(extra) for text in extra[name]]
    require_english(texts, counts.tables["words1"], name="the training captions (--training)")
    known = read(texts, parser=parser, cache=cache)
    videos = (((categories or {}).get(name, "own"), [known[text] for text in extra[name]]) for name in sorted(extra))
    return counts.add(count(videos, source=f"{len(extra)} training videos"))


def propose(
    clips: Sequence[ClipCaptions | tuple[str, str | None, Sequence[str]]],
    counts: FrameCounts,
    *,
    kind: Kind = "verb",
    quality: Quality = "balanced",
    seed: int = 0,
    parser: str = "auto",
    cache: str | os.PathLike[str] | None = None,
) -> ProposedContrasts:
    """Every contrast that the rules allow, scored, for each clip.

    Args:
        clips: as `ClipCaptions`, or tuples like it.
        counts: of `load_counts`.
        kind: what is replaced: the verb with its particle and preposition, or a thing.
        quality: how good a contrast must be ("high" keeps about half of the clips of MSR-VTT, "balanced" two thirds,
            "all" whatever the rules allow).
        seed: of the choice that follows.
        parser: "auto", "shallow" or a spaCy model's name.
        cache: SQLite file that keeps parses.

    Raises:
        UsageError: an unknown kind or quality, or two clips of one id.
        VideoContrastError: the captions are not English, or the named parser is not installed.
    """
    if kind not in ("verb", "object"):
        raise unknown_name("kind of contrast", kind, ["verb", "object"])
    if quality not in QUALITIES:
        raise unknown_name("quality", quality, list(QUALITIES))
    captioned = [ClipCaptions(*clip) for clip in clips]
    if len({clip.id for clip in captioned}) < len(captioned):
        raise UsageError("two clips have the same id: the ids must be unique")
    texts = [text for clip in captioned for text in clip.captions]
    require_english(texts, counts.tables["words1"])
    generator = _of_shipped(kind) if counts is shipped() else _generator(kind, counts)
    words = mean([len(text.split()) for text in texts]) if texts else 0.0
    proposed = ProposedContrasts({}, {}, Counter(), words, kind=kind, quality=quality, seed=seed)
    limit = threshold(kind, quality)
    for first in range(0, len(captioned), _PART):
        for clip in _read_clips(captioned[first : first + _PART], parser, cache):
            proposed.captions += len(clip.readings)
            proposed.orders += sum(any(act.step for act in reading.actions) for reading in clip.readings)
            proposals, refused = generator.propose(clip)
            proposed.reasons.update(refused.reasons)
            ranked = _ranked(proposals, kind)
            good = reaching(ranked, kind, quality)
            if good:
                proposed.proposals[clip.id] = good
            elif ranked:
                proposed.missing[clip.id] = _too_little(ranked[0], quality)
            else:
                proposed.missing[clip.id] = refused.line() if clip.readings else "no captions"
    note = version_note(parser)
    proposed.notes = [*([note] if note else []), *proposed.advice()]
    proposed.record = {
        "generator": "frames",
        "kind": kind,
        "quality": quality,
        "threshold": limit if isfinite(limit) else None,
        "seed": seed,
        "parser": parser_name(parser),
        "counts": list(counts.sources),
        "counted_videos": counts.videos,
    }
    return proposed


def choose_balanced(proposed: ProposedContrasts) -> dict[str, Proposal]:
    """One proposal of each clip that has any, chosen so that texts alone do not tell (`choose.choose`).

    Steps of recipes leave too few choices for that: of them, some are left out (`choose.even`), which
    `proposed.missing` tells.
    """
    by_clip = choose(
        proposed.proposals,
        seed=proposed.seed,
        words=proposed.words or None,
        purpose=proposed.kind,
        quality=proposed.quality,
    )
    evened = even(by_clip)
    proposed.missing |= dict.fromkeys(by_clip.keys() - evened.keys(), _UNEVEN)
    return evened


def _generator(kind: Kind, counts: FrameCounts) -> VerbProposals | ObjectProposals:
    return VerbProposals(counts) if kind == "verb" else ObjectProposals(counts)


@cache
def _of_shipped(kind: Kind) -> VerbProposals | ObjectProposals:
    """That of the shipped counts, which never change: turning them round takes longer than contrasting ten clips."""
    return _generator(kind, shipped())


def _read_clips(clips: Sequence[ClipCaptions], parser: str, cache: str | os.PathLike[str] | None) -> list[ReadClip]:
    texts = [text for clip in clips for text in (*clip.captions, *clip.siblings)]
    known = read(texts, parser=parser, cache=cache)
    return [
        ReadClip.of(
            clip.id,
            clip.category or "",
            tuple(known[text] for text in clip.captions),
            tuple(known[text] for text in clip.siblings),
        )
        for clip in clips
    ]


def _ranked(proposals: Sequence[Proposal], kind: Kind) -> list[Proposal]:
    """Scored, best first; each contrast of a caption once, and none that says what a caption of the clip says."""
    scored = [
        replace(
            proposal,
            score=round(score(proposal.parts, kind), 4),
            parts={name: round(value, 4) for name, value in proposal.parts.items()},
        )
        for proposal in proposals
    ]
    return sorted(scored, key=lambda proposal: (-proposal.score, proposal.index, proposal.text))


def _too_little(best: Proposal, quality: Quality) -> str:
    return f"the best contrast ({best.old!r} -> {best.new!r}) scores {best.score:.2f}, too little for {quality}"
