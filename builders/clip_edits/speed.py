"""Speed: a clip in slow motion against fast motion; both last equally long."""

from numpy.random import Generator

from video_contrast.builders.clip_edits.kinds import edit_kind
from video_contrast.builders.clip_edits.material import ClipEditOptions, EditedGroup, LeftOut, Member, SourceClip
from video_contrast.builders.clip_edits.parts import HOW_FAST, plain_captions

SPEEDS = {"slow": 0.5, "fast": 2.0}
FORMS = ("{caption}, in {speed} motion", "in {speed} motion, {caption}", "{speed} motion: {caption}")


@edit_kind("speed", clips=1, negatives="the caption with slow and fast exchanged")
def speed(clips: tuple[SourceClip, ...], options: ClipEditOptions, rng: Generator) -> EditedGroup:
    """The middle of a clip at half its speed, and more of the clip at twice its speed, over the same time."""
    clip = clips[0]
    seconds = min(clip.seconds / 2, options.seconds)
    if seconds < options.shortest / 2:
        raise LeftOut("too_short")
    caption = plain_captions(clip, HOW_FAST, "says_how_fast")[0]
    if clip.motion.still:
        raise LeftOut("stands_still")
    form = FORMS[int(rng.integers(len(FORMS)))]
    members = tuple(
        Member(
            (clip.part(seconds * rate, speed=rate),),
            form.format(caption=caption, speed=name),
            shown=f"{seconds * rate:.2f} s of {clip.id} in {seconds:.2f} s",
            claim=name,
        )
        for name, rate in SPEEDS.items()
    )
    return EditedGroup(members, {"form": form, "motion": clip.motion.amount})
