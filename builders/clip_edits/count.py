"""Count: a clip once, twice and three times."""

from numpy.random import Generator

from video_contrast.builders.clip_edits.kinds import edit_kind
from video_contrast.builders.clip_edits.material import ClipEditOptions, EditedGroup, Member, SourceClip, choose_joint
from video_contrast.builders.clip_edits.parts import HOW_OFTEN, length, plain_captions

TIMES = ("once", "twice", "three times")
FORMS = ("the clip is shown {times}: {caption}", "{caption}; this clip is shown {times}", "shown {times}: {caption}")


@edit_kind("count", clips=1, negatives="the same caption with another number of times")
def count(clips: tuple[SourceClip, ...], options: ClipEditOptions, rng: Generator) -> EditedGroup:
    """A clip repeated; a gap or a cut stands between, so that a repetition shows as one."""
    clip = clips[0]
    caption = plain_captions(clip, HOW_OFTEN, "says_how_often")[0]
    part = clip.part(length(clip, options))
    joint = choose_joint(options, rng, (part,), fades=False)
    form = FORMS[int(rng.integers(len(FORMS)))]
    members = tuple(
        Member(
            joint.join(*[part] * (number + 1)),
            form.format(caption=caption, times=times),
            shown=f"{clip.id} {times}" + (f" ({joint.words})" if number else ""),
            claim=times,
        )
        for number, times in enumerate(TIMES)
    )
    # How often an action happens within the clip is not known: what is counted is the clip.
    counted = "showings of the clip; within one, an action may happen several times"
    return EditedGroup(members, {"form": form, "transition": joint.name, "counted": counted})
