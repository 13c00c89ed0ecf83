"""Verb and object contrasts by counted frames: all captions of all clips of a split are seen at once."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Annotated, Literal

from video_contrast.builders.assembly.captioned_clip import CaptionedClip
from video_contrast.builders.assembly.clip_contrasts import CaptionChoice, ClipContrasts, TrainingVideos
from video_contrast.builders.assembly.sharding import is_writer, spread
from video_contrast.console import note
from video_contrast.perturbations.contrast import Edit
from video_contrast.perturbations.contrast.generators.frames import (
    ClipCaptions,
    FrameCounts,
    Proposal,
    ProposedContrasts,
    choose_balanced,
    load_counts,
    propose,
)
from video_contrast.perturbations.contrast.generators.frames.quality import Quality
from video_contrast.perturbations.english.caption_store import user_store
from video_contrast.seeds import Streams
from video_contrast.storage.set_records import Facts

Target = Literal["verb", "object"]
GENERATOR = "frames"


@dataclass(frozen=True, kw_only=True)
class FramesOptions:
    """What the generator frames is asked for."""

    quality: Annotated[Quality, "frames: how good a contrast must be; high: about half of the clips"] = "balanced"
    parser: Annotated[str, "frames: auto, shallow, or spaCy's model"] = "auto"


@dataclass(kw_only=True)
class FrameContrasts:
    """The verb (or object) contrasts of a set by counted frames."""

    target: Target = "verb"
    options: FramesOptions = FramesOptions()  # quality and parser
    training: TrainingVideos | None = None  # added to the shipped counts
    explain: bool = False  # say for each clip without a contrast why it has none
    seed: int = 0  # of the choice
    record: Facts = field(default_factory=dict)
    printed_notes: set[str] = field(default_factory=set)  # also by the contrasts that go with these

    def for_objects(self) -> "FrameContrasts":
        """Returns the object contrasts that go with these verb contrasts."""
        return replace(self, target="object", record={})

    @property
    def kind(self) -> str:
        """The kind of the negatives."""
        return "object" if self.target == "object" else "verb_frames"

    @cached_property
    def counts(self) -> FrameCounts:
        """The shipped counts with those of the user's training captions."""
        extra = self.training() if self.training is not None else None
        return load_counts(extra, parser=self.options.parser, cache=user_store())

    def contrast_clips(
        self, clips: Sequence[CaptionedClip], *, seed: int = 0, caption: CaptionChoice = "eligible", num_proc: int = 1
    ) -> ClipContrasts:
        """Makes one contrast for as many of the clips as possible.

        Args:
            clips: ids are unique.
            seed: decides the base caption of each clip, and the choice among proposals.
            caption: "eligible": any caption may be contrasted, the choice over the whole set decides which; "base":
                only the first one in seeded order.
            num_proc: processes that read captions.

        Returns:
            The contrasts by clip id, with counts by reason.
        """
        streams = Streams()
        base = {clip.id: clip.caption_order(seed, streams)[0] for clip in clips}
        proposed = self._proposed(clips, base if caption == "base" else None, num_proc)
        proposal_of = choose_balanced(proposed)
        if self.target == "verb":
            self.record["opposites"] = sum(proposal.antonym for proposal in proposal_of.values())
        reasons = Counter({f"candidates:{reason}": count for reason, count in proposed.reasons.items()})
        contrasts = ClipContrasts(clips=len(clips), tried=reasons)
        for clip in clips:
            if clip.id in proposal_of:
                proposal = proposal_of[clip.id]
                index = base[clip.id] if caption == "base" else proposal.index
                contrasts.edits[clip.id] = (index, [edit_of(proposal)])
        contrasts.base = sum(
            caption == "base" or any(proposal.index == base[name] for proposal in proposals)
            for name, proposals in proposed.proposals.items()
        )
        self._tell(proposed)
        return contrasts

    def facts(self) -> Facts:
        """What the card says of the generator."""
        return {"pipeline": dict(self.record)}

    def _proposed(
        self, clips: Sequence[CaptionedClip], base: Mapping[str, int] | None, num_proc: int
    ) -> ProposedContrasts:
        task = partial(_propose, self.counts, self.target, self.options, base)
        parts = spread(task, clips, num_proc=num_proc)
        whole = ProposedContrasts(
            {}, missing={}, reasons=Counter(), words=0.0, kind=self.target, quality=self.options.quality, seed=self.seed
        )
        captions = [text for clip in clips for text in clip.captions]
        whole.words = sum(len(text.split()) for text in captions) / max(1, len(captions))
        for part in parts:
            whole.proposals.update(part.proposals)
            whole.missing.update(part.missing)
            whole.reasons.update(part.reasons)
            whole.captions += part.captions
            whole.orders += part.orders
            whole.notes += [text for text in part.notes if text not in (*whole.notes, *part.advice())]
            whole.record = part.record
        whole.notes += whole.advice()
        self.record = {**whole.record, "seed": self.seed}
        return whole

    def _tell(self, proposed: ProposedContrasts) -> None:
        if not is_writer():
            return
        for text in proposed.notes:
            if text not in self.printed_notes:
                note(f"note: {text}")
                self.printed_notes.add(text)
        if self.explain:
            for name, why in sorted(proposed.missing.items()):
                note(f"no {self.target} contrast for {name}: {why}")


def _propose(
    counts: FrameCounts,
    target: Target,
    options: FramesOptions,
    base: Mapping[str, int] | None,
    clips: Sequence[CaptionedClip],
) -> ProposedContrasts:
    """The proposals of a chunk of clips; a top-level function, so that processes can share the work."""
    captioned = []
    for clip in clips:
        only = None if base is None else base[clip.id]
        captions = clip.captions if only is None else (clip.captions[only],)
        others = () if only is None else tuple(text for n, text in enumerate(clip.captions) if n != only)
        category = str(clip.meta.get("category", "")) or None
        captioned.append(ClipCaptions(clip.id, category, captions, (*others, *clip.siblings)))
    quality, parser = options.quality, options.parser
    return propose(captioned, counts, kind=target, quality=quality, parser=parser, cache=user_store())


def edit_of(proposal: Proposal) -> Edit:
    """The proposal as the edits of every generator are kept."""
    return Edit(
        text=proposal.text,
        old=proposal.old,
        new=proposal.new,
        start=proposal.start,
        generator=GENERATOR,
        antonym=proposal.antonym,
        scores={"score": proposal.score, **proposal.parts},
    )
