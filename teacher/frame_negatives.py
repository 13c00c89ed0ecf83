"""Negatives by counted frames: for each caption every replacement that is sure enough, the best first; no model."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from video_contrast.builders.assembly.clip_contrasts import Attempt
from video_contrast.builders.assembly.frame_contrasts import FramesOptions, edit_of
from video_contrast.perturbations.contrast.generators.frames import ClipCaptions, FrameCounts, load_counts, propose
from video_contrast.perturbations.english.caption_store import user_store

if TYPE_CHECKING:
    from video_contrast.perturbations.contrast import Edit


@dataclass(kw_only=True)
class FrameNegatives:
    """The verb (or object) negatives of a corpus, in the form of other generators (`ContrastGenerator`).

    A contrast set takes one proposal a clip, chosen over the whole set so that texts alone do not tell. To train on,
    a caption takes all of them, one a verb (a thing).
    """

    target: Literal["verb", "object"]
    options: FramesOptions  # quality and parser
    corpus: Mapping[str, Sequence[str]]  # the captions of each training video, which are added to the shipped counts
    explained: dict[str, str] = field(default_factory=dict)  # caption -> why it has no negative, of the last call
    passes: int = 1  # nothing is drawn: a second pass proposes the same

    @property
    def kind(self) -> str:
        """The kind of the negatives."""
        return "object" if self.target == "object" else "verb_frames"

    @cached_property
    def counts(self) -> FrameCounts:
        """The shipped counts with those of the training captions."""
        return load_counts(self.corpus, parser=self.options.parser, cache=user_store())

    def __call__(self, attempts: Sequence[Attempt]) -> "tuple[list[list[Edit]], Counter[str]]":
        """Every proposal of each caption, and how often each rule rejected one."""
        clips = {attempt.clip.id: attempt.clip for attempt in attempts}
        proposed = propose(
            [ClipCaptions(clip.id, None, clip.captions, clip.siblings) for clip in clips.values()],
            self.counts,
            kind=self.target,
            quality=self.options.quality,
            parser=self.options.parser,
            cache=user_store(),
        )
        edits: dict[tuple[str, int], list[Edit]] = {}
        words: set[tuple[str, int, str]] = set()  # "run down", "run in": one verb is one negative
        for name, proposals in proposed.proposals.items():
            for proposal in proposals:
                word = proposal.other.split()[0] if self.target == "verb" else proposal.other
                if (name, proposal.index, word) not in words:
                    words.add((name, proposal.index, word))
                    edits.setdefault((name, proposal.index), []).append(edit_of(proposal))
        self.explained = {clips[name].captions[0]: why for name, why in proposed.missing.items()}
        return [edits.get((attempt.clip.id, attempt.index), []) for attempt in attempts], proposed.reasons
