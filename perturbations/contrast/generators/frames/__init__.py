"""Contrast captions by counted frames: a verb (or a thing) replaced by one that people say of the same noun.

load_counts(extra=...)            the shipped counts of frames, with one's own training captions added
propose(clips, counts, kind=...)  every contrast that the rules allow, scored, and why a clip has none
choose_balanced(proposed)          one contrast a clip, so chosen that texts alone do not tell the true caption
"""

from video_contrast.perturbations.contrast.generators.frames.choose import choose
from video_contrast.perturbations.contrast.generators.frames.counts import FrameCounts
from video_contrast.perturbations.contrast.generators.frames.generate import (
    ClipCaptions,
    ProposedContrasts,
    choose_balanced,
    load_counts,
    propose,
)
from video_contrast.perturbations.contrast.generators.frames.proposal import Proposal

__all__ = [
    "ClipCaptions",
    "FrameCounts",
    "Proposal",
    "ProposedContrasts",
    "choose",
    "choose_balanced",
    "load_counts",
    "propose",
]
