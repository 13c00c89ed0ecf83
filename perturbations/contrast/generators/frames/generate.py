"""The generator `frames` in two steps: propose for every clip, then choose one proposal a clip.

counts = load_counts(extra={"clip-1": ["a man rides a horse", ...]})
found = propose([("clip-1", None, ["a man rides a horse"])], counts, kind="verb", quality="balanced")
chosen = choose_balanced(found)
"""

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from video_contrast.errors import UsageError, unknown_name
from video_contrast.perturbations.contrast.generators.frames.choose import choose
from video_contrast.perturbations.contrast.generators.frames.clip import ReadClip
from video_contrast.perturbations.contrast.generators.frames.counts import FrameCounts, count
from video_contrast.perturbations.contrast.generators.frames.english import require_english
from video_contrast.perturbations.contrast.generators.frames.objects import ObjectContrasts
from video_contrast.perturbations.contrast.generators.frames.parse import parser_name, version_note
from video_contrast.perturbations.contrast.generators.frames.proposal import Proposal
from video_contrast.perturbations.contrast.generators.frames.quality import QUALITIES, Quality, kept, score, threshold
from video_contrast.perturbations.contrast.generators.frames.reading import Reading, read
from video_contrast.perturbations.contrast.generators.frames.resource import shipped
from video_contrast.perturbations.contrast.generators.frames.verbs import VerbContrasts

Kind = Literal["verb", "object"]
ClipCaptions = tuple[str, str | None, Sequence[str]]  # id, category if known, captions
_PART = 500  # clips that are read at a time
_FEW = 0.35  # share of eligible clips under which the captions may be of another domain than the counts


@dataclass
class Found:
    """What was proposed.

    Attributes:
        proposals: clip id -> its proposals at the asked quality, best first; without the clips that have none.
        missing: clip id -> why it has none, one line.
        reasons: how often each rule said no, counted a verb (a thing) of a caption.
        words: mean number of words of the captions.
        kind, quality, seed: as asked.
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
    notes: list[str] = field(default_factory=list)
    record: dict[str, object] = field(default_factory=dict)

    def at(self, quality: Quality) -> "Found":
        """The same proposals at a stricter quality; clips that fall out are explained."""
        limit = threshold(self.kind, quality)
        stricter = {clip: kept(items, self.kind, quality) for clip, items in self.proposals.items()}
        missing = dict(self.missing)
        for clip, items in stricter.items():
            if not items:
                missing[clip] = _too_little(self.proposals[clip][0], quality)
        record = self.record | {"quality": quality, "threshold": None if limit == float("-inf") else limit}
        return replace(
            self,
            proposals={clip: items for clip, items in stricter.items() if items},
            missing=missing,
            quality=quality,
            record=record,
        )

    def summary(self) -> str:
        """One line: how many clips have a contrast, at which quality, and the commonest reasons against."""
        clips = len(self.proposals) + len(self.missing)
        common = ", ".join(f"{reason} {n}" for reason, n in self.reasons.most_common(3))
        return f"{len(self.proposals)} of {clips} clips have a {self.kind} contrast at quality {self.quality}" + (
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
    require_english(texts)
    known = {reading.caption: reading for reading in read(texts, parser=parser, cache=cache)}
    videos = (((categories or {}).get(name, "own"), [known[text] for text in extra[name]]) for name in sorted(extra))
    return counts.add(count(videos, source=f"{len(extra)} training videos"))


def propose(
    clips: Sequence[ClipCaptions],
    counts: FrameCounts,
    *,
    kind: Kind = "verb",
    quality: Quality = "balanced",
    seed: int = 0,
    siblings: Mapping[str, Sequence[str]] | None = None,
    parser: str = "auto",
    cache: str | os.PathLike[str] | None = None,
) -> Found:
    """Every contrast that the rules allow, scored, for each clip.

    Args:
        clips: (id, category or None, captions); ids are unique.
        counts: of `load_counts`.
        kind: what is replaced: the verb with its particle and preposition, or a thing.
        quality: how good a contrast must be ("high" keeps about half of the clips of MSR-VTT, "balanced" two thirds,
            "all" whatever the rules allow).
        seed: of the choice that follows.
        siblings: clip id -> further captions that are true of the clip and only reject contrasts.
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
    if len({clip[0] for clip in clips}) < len(clips):
        raise UsageError("two clips have the same id: the ids must be unique")
    texts = [text for _, _, captions in clips for text in captions]
    require_english(texts)
    generator = VerbContrasts(counts) if kind == "verb" else ObjectContrasts(counts)
    words = _mean([len(text.split()) for text in texts])
    found = Found({}, {}, Counter(), words, kind=kind, quality=quality, seed=seed)
    limit = threshold(kind, quality)
    for first in range(0, len(clips), _PART):
        part = clips[first : first + _PART]
        for clip in _read_clips(part, siblings or {}, parser, cache):
            made, reasons = generator.propose(clip)
            found.reasons.update(reasons)
            ranked = _ranked(made, kind)
            good = kept(ranked, kind, quality)
            if good:
                found.proposals[clip.id] = good
            else:
                found.missing[clip.id] = _why(clip, ranked, reasons, quality)
    found.notes = _notes(found, parser)
    found.record = {
        "generator": "frames",
        "kind": kind,
        "quality": quality,
        "threshold": None if limit == float("-inf") else limit,
        "seed": seed,
        "parser": parser_name(parser),
        "counts": list(counts.sources),
        "counted_videos": counts.videos,
    }
    return found


def choose_balanced(found: Found) -> dict[str, Proposal]:
    """One proposal of each clip that has any, chosen so that texts alone do not tell (`choose.choose`)."""
    return choose(found.proposals, seed=found.seed, words=found.words or None, purpose=found.kind)


def _read_clips(
    clips: Sequence[ClipCaptions],
    siblings: Mapping[str, Sequence[str]],
    parser: str,
    cache: str | os.PathLike[str] | None,
) -> list[ReadClip]:
    texts = [text for name, _, captions in clips for text in (*captions, *siblings.get(name, ()))]
    known: dict[str, Reading] = {reading.caption: reading for reading in read(texts, parser=parser, cache=cache)}
    return [
        ReadClip.of(
            name,
            category or "",
            tuple(known[text] for text in captions),
            tuple(known[text] for text in siblings.get(name, ())),
        )
        for name, category, captions in clips
    ]


def _ranked(made: Sequence[Proposal], kind: Kind) -> list[Proposal]:
    """Scored, best first; each contrast of a caption once, and none that says what a caption of the clip says."""
    scored = [
        replace(
            proposal,
            score=round(score(proposal.parts, kind), 4),
            parts={name: round(value, 4) for name, value in proposal.parts.items()},
        )
        for proposal in made
    ]
    return sorted(scored, key=lambda proposal: (-proposal.score, proposal.index, proposal.text))


def _why(clip: ReadClip, ranked: Sequence[Proposal], reasons: Counter[str], quality: Quality) -> str:
    if ranked:
        return _too_little(ranked[0], quality)
    if not clip.readings:
        return "no captions"
    return "; ".join(f"{reason} ({n})" for reason, n in reasons.most_common(3)) or "nothing to replace"


def _too_little(best: Proposal, quality: Quality) -> str:
    return f"the best contrast ({best.old!r} -> {best.new!r}) scores {best.score:.2f}, too little for {quality}"


def _notes(found: Found, parser: str) -> list[str]:
    notes = []
    note = version_note(parser)
    if note:
        notes.append(note)
    clips = len(found.proposals) + len(found.missing)
    if clips >= 50 and len(found.proposals) < _FEW * clips:
        notes.append(
            f"only {len(found.proposals)} of {clips} clips have a contrast: the captions may be of another domain than "
            "the counts; give training captions of their own"
        )
    return notes


def _mean(values: Sequence[int]) -> float:
    return sum(values) / len(values) if values else 0.0
