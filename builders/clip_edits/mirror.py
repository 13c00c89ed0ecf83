"""Mirror: a clip against its mirror image, where the caption names a side."""

from numpy.random import Generator

from video_contrast.builders.clip_edits.kinds import edit_kind
from video_contrast.builders.clip_edits.material import ClipEditOptions, EditedGroup, Member, SourceClip
from video_contrast.builders.clip_edits.mirrored import mirrored
from video_contrast.builders.clip_edits.parts import first_that, length

# Mirrored letters give the edit away. No detector of text in pictures is used; every group says so.
TEXT = "not looked for: mirrored letters would show the edit"


@edit_kind("mirror", clips=1, negatives="the caption with left and right exchanged; text is " + TEXT)
def mirror(clips: tuple[SourceClip, ...], options: ClipEditOptions, rng: Generator) -> EditedGroup:
    """A clip and its mirror image."""
    clip = clips[0]
    caption, changed = first_that(mirrored, clip)
    seconds = length(clip, options)
    shown = f"{clip.id} mirrored (text is {TEXT})"
    return EditedGroup(
        (
            Member((clip.part(seconds),), caption, shown=f"{clip.id} as it is", claim=changed.old),
            Member((clip.part(seconds, mirrored=True),), changed.caption, shown, claim=changed.new),
        ),
        {"visible_text": TEXT},
    )
