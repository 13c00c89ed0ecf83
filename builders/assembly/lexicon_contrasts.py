"""Verb and object contrasts by the action lexicon: all captions of all clips of a split are seen at once."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Annotated

from video_contrast.builders.assembly.captioned_clip import CaptionedClip
from video_contrast.builders.assembly.clip_contrasts import Attempt, CaptionChoice, ClipContrasts, TrainingVideos
from video_contrast.builders.assembly.sharding import is_writer, spread
from video_contrast.console import note
from video_contrast.perturbations.contrast import Edit
from video_contrast.perturbations.contrast.caption_counts import CaptionCounts
from video_contrast.perturbations.contrast.generate import (
    ClipCaptions,
    ProposedContrasts,
    choose,
    load_counts,
    merged,
    propose,
)
from video_contrast.perturbations.contrast.proposal import GENERATOR, Kind, Proposal
from video_contrast.perturbations.contrast.variety import variety
from video_contrast.perturbations.english.caption_store import user_store
from video_contrast.seeds import Streams
from video_contrast.storage.set_records import Facts


@dataclass(frozen=True, kw_only=True)
class LexiconOptions:
    """What the generator `lexicon` is asked for."""

    quality: Annotated[
        str, "lexicon: least probability that a reader finds a contrast natural and false: high, balanced, all, 0..1"
    ] = "balanced"


@dataclass(kw_only=True)
class LexiconContrasts:
    """The verb (or object) contrasts of a set by the action lexicon."""

    target: Kind = "verb"
    options: LexiconOptions = LexiconOptions()
    training: TrainingVideos | None = None  # added to the shipped counts
    explain: bool = False  # say for each clip without a contrast why it has none
    seed: int = 0  # of the choice
    record: Facts = field(default_factory=dict)

    def for_objects(self) -> "LexiconContrasts":
        """Returns the object contrasts that go with these verb contrasts."""
        return replace(self, target="object", record={})

    @property
    def kind(self) -> str:
        """The kind of the negatives."""
        return "object" if self.target == "object" else "verb_lexical"

    @cached_property
    def counts(self) -> CaptionCounts:
        """The shipped counts with those of the user's training captions."""
        return load_counts(self.training() if self.training is not None else None, cache=user_store())

    def contrast_clips(
        self, clips: Sequence[CaptionedClip], *, seed: int = 0, caption: CaptionChoice = "eligible", num_proc: int = 1
    ) -> ClipContrasts:
        """Makes one contrast for as many of the clips as possible.

        Args:
            clips: ids are unique.
            seed: decides the base caption of each clip, and the choice among proposals.
            caption: "eligible": any caption may be contrasted, the choice over the whole set decides which; "base":
                only the first one in seeded order.
            num_proc: processes that share the work.

        Returns:
            The contrasts by clip id, with counts by reason.
        """
        streams = Streams()
        base = {clip.id: clip.caption_order(seed, streams)[0] for clip in clips}
        only = base if caption == "base" else None
        parts = spread(
            partial(_propose, self.counts, self.target, self.options.quality, only), clips, num_proc=num_proc
        )
        proposed = merged(parts, kind=self.target, quality=self.options.quality, seed=self.seed)
        proposal_of = choose(proposed)
        self.record = {**proposed.record, **_facts(list(proposal_of.values()))}
        reasons = Counter({f"candidates:{reason}": count for reason, count in proposed.reasons.items()})
        contrasts = ClipContrasts(clips=len(clips), tried=reasons)
        for clip in clips:
            if clip.id in proposal_of:
                proposal = proposal_of[clip.id]
                index = base[clip.id] if caption == "base" else proposal.index
                contrasts.edits[clip.id] = (index, [proposal.edit()])
        contrasts.base = sum(
            caption == "base" or any(proposal.index == base[name] for proposal in proposals)
            for name, proposals in proposed.proposals.items()
        )
        self._tell(proposed, len(proposal_of))
        return contrasts

    def facts(self) -> Facts:
        """What the card says of the generator."""
        return {"pipeline": dict(self.record)}

    def _tell(self, proposed: ProposedContrasts, chosen: int) -> None:
        if not is_writer():
            return
        if chosen:
            note(
                f"{self.kind}: mean probability {self.record['mean_probability']:.2f}, "
                f"{self.record['effective_edits']} "
                f"effective edits in {chosen} items, the ten commonest are {self.record['ten_commonest_edits']:.0%}, "
                f"{self.record['effective_replacements']} effective {self.target}s put in"
            )
        if self.explain:
            for name, why in sorted(proposed.missing.items()):
                note(f"no {self.target} contrast for {name}: {why}")


@dataclass(kw_only=True)
class LexiconEdits:
    """Every verb (or object) edit of a caption that is probable enough, the best first: a `ContrastGenerator`.

    A contrast set takes one edit a clip (`LexiconContrasts`); training and counterfactuals take several, each of
    another verb (thing).
    """

    target: Kind = "verb"
    quality: str = "balanced"
    training: TrainingVideos | None = None  # added to the shipped counts
    same_place: bool = False  # only edits of that verb (thing) of a caption which has most
    explained: dict[str, str] = field(default_factory=dict)  # caption -> why it has no edit, of the last call
    passes: int = 1  # nothing is drawn: a second pass proposes the same

    @property
    def kind(self) -> str:
        """The kind of the negatives."""
        return "object" if self.target == "object" else "verb_lexical"

    @cached_property
    def counts(self) -> CaptionCounts:
        """The shipped counts with those of the training captions."""
        return load_counts(self.training() if self.training is not None else None, cache=user_store())

    def __call__(self, attempts: Sequence[Attempt]) -> tuple[list[list[Edit]], Counter[str]]:
        """The edits of each caption, and how often each rule rejected one."""
        clips = {attempt.clip.id: attempt.clip for attempt in attempts}
        captioned = [ClipCaptions(clip.id, clip.captions, clip.siblings) for clip in clips.values()]
        proposed = propose(captioned, self.counts, kind=self.target, quality=self.quality, cache=user_store())
        edits: dict[tuple[str, int], dict[str, Edit]] = {}
        for name, proposals in proposed.proposals.items():
            for proposal in _of_one_place(proposals) if self.same_place else proposals:
                word = proposal.other.split()[0] if self.target == "verb" else proposal.other
                edits.setdefault((name, proposal.index), {}).setdefault(word, proposal.edit())
        self.explained = {clips[name].captions[0]: why for name, why in proposed.missing.items()}
        listed = [list(edits.get((attempt.clip.id, attempt.index), {}).values()) for attempt in attempts]
        return listed, proposed.reasons

    def facts(self) -> Facts:
        """What a card says of the generator."""
        return {"pipeline": {"generator": GENERATOR, "quality": self.quality, "counts": list(self.counts.sources)}}


def _of_one_place(proposals: Sequence[Proposal]) -> list[Proposal]:
    """Of each caption the proposals for the place that has most of them."""
    sizes = Counter((item.index, item.start) for item in proposals)
    best = {index: start for (index, start), _ in sorted(sizes.items(), key=lambda pair: (pair[1], -pair[0][1]))}
    return [item for item in proposals if item.start == best[item.index]]


def _facts(chosen: Sequence[Proposal]) -> Facts:
    """Mean probability and variety of what was chosen, for the card."""
    if not chosen:
        return {}
    edits = variety([f"{item.unit} -> {item.other}" for item in chosen])
    return {
        "mean_probability": round(sum(item.probability for item in chosen) / len(chosen), 4),
        "opposites": sum(item.antonym for item in chosen),
        "effective_edits": round(edits.effective, 1),
        "ten_commonest_edits": round(edits.ten_commonest, 4),
        "effective_replacements": round(variety([item.other for item in chosen]).effective, 1),
    }


def _propose(
    counts: CaptionCounts, target: Kind, quality: str, base: Mapping[str, int] | None, clips: Sequence[CaptionedClip]
) -> ProposedContrasts:
    """The proposals of a chunk of clips; a top-level function, so that processes can share the work."""
    captioned = []
    for clip in clips:
        only = None if base is None else base[clip.id]
        captions = clip.captions if only is None else (clip.captions[only],)
        others = () if only is None else tuple(text for n, text in enumerate(clip.captions) if n != only)
        captioned.append(ClipCaptions(clip.id, captions, (*others, *clip.siblings)))
    return propose(captioned, counts, kind=target, quality=quality, cache=user_store())
