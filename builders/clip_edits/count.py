"""Count: a clip once, twice and three times."""

from numpy.random import Generator

from video_contrast.builders.clip_edits.kinds import edit_kind
from video_contrast.builders.clip_edits.material import ClipEditOptions, EditedGroup, Member, SourceClip, choose_joint
from video_contrast.builders.clip_edits.parts import HOW_OFTEN, length, plain_caption

TIMES = ("once", "twice", "three times")
FORMS = ("{caption}, {times}", "{times}: {caption}", "what is shown {times}: {caption}")


@edit_kind("count", clips=1, negatives="the same caption with another number of times")
def count(clips: tuple[SourceClip, ...], options: ClipEditOptions, rng: Generator) -> EditedGroup:
    """A clip repeated; a gap or a cut stands between, so that a repetition shows as one."""
    clip = clips[0]
    caption = plain_caption(clip, HOW_OFTEN, "says_how_often")
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
    return EditedGroup(members, {"form": form, "transition": joint.name})
