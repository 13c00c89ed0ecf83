"""Identity over a cut: a clip that goes on after a cut, against another clip after it."""

from numpy.random import Generator

from video_contrast.builders.clip_edits.kinds import edit_kind
from video_contrast.builders.clip_edits.material import (
    ClipEditOptions,
    EditedGroup,
    LeftOut,
    Member,
    SourceClip,
    choose_joint,
)
from video_contrast.builders.clip_edits.motion import likeness
from video_contrast.builders.clip_edits.parts import balanced, distinct_captions

ALIKE = 0.5  # share of pixels of the same colours: above, two clips may show one scene
FORMS = (
    ("{caption}; after the cut the {what}", "same scene goes on", "scene is another one"),
    ("before the cut, {caption}; after it, {what}", "the same scene", "another scene"),
)


@edit_kind("identity", clips=2, negatives="the caption that says the opposite of what follows the cut")
def identity(clips: tuple[SourceClip, ...], options: ClipEditOptions, rng: Generator) -> EditedGroup:
    """The two halves of a clip, and its first half with a part of another clip."""
    caption, _ = distinct_captions(clips)
    clip, other = clips
    if clip.size != other.size:  # pictures that are scaled after the cut, or before it, would give it away
        raise LeftOut("no_partner_of_its_size")
    if likeness(clip.motion, other.motion) > ALIKE:  # the same man in the same room is no other scene
        raise LeftOut("clips_that_look_alike")
    seconds = min(balanced(clips, options))
    half = round(seconds / 2, 3)
    begin = (clip.seconds - seconds) / 2
    first, second = clip.part(half, begin), clip.part(half, begin + half)
    joint = choose_joint(options, rng, (first, second), fades=False)
    form, same, another = FORMS[int(rng.integers(len(FORMS)))]
    return EditedGroup(
        (
            Member(joint.join(first, second), form.format(caption=caption, what=same),
                   shown=f"{clip.id}, {joint.words}, the rest of it", claim=same),
            Member(joint.join(first, other.part(half)), form.format(caption=caption, what=another),
                   shown=f"{clip.id}, {joint.words}, {other.id}", claim=another),
        ),
        {"form": form, "transition": joint.name},
    )  # fmt: skip
