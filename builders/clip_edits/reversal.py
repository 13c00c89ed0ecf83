"""Reversal: a clip forwards, against backwards, where a verb of the caption has a counterpart."""

from numpy.random import Generator

from video_contrast.builders.clip_edits.backwards import backwards
from video_contrast.builders.clip_edits.kinds import edit_kind
from video_contrast.builders.clip_edits.material import ClipEditOptions, EditedGroup, LeftOut, Member, SourceClip
from video_contrast.builders.clip_edits.parts import first_that, length


@edit_kind("reversal", clips=1, negatives="the caption of the clip played the other way")
def reversal(clips: tuple[SourceClip, ...], options: ClipEditOptions, rng: Generator) -> EditedGroup:
    """A clip and its reversal. Clips that look the same backwards are left out, by their measured motion."""
    clip = clips[0]
    caption, changed = first_that(backwards, clip)
    seconds = length(clip, options)
    if clip.motion.still:
        raise LeftOut("stands_still")
    if clip.motion.asymmetry < options.asymmetry:
        raise LeftOut("looks_the_same_backwards")
    return EditedGroup(
        (
            Member((clip.part(seconds),), caption, shown=f"{clip.id} forwards", claim=changed.old),
            Member((clip.part(seconds, reversed=True),), changed.caption, f"{clip.id} backwards", claim=changed.new),
        ),
        {"motion": clip.motion.amount, "asymmetry": clip.motion.asymmetry},
    )
