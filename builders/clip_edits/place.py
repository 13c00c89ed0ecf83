"""Place in time: a short span of one clip at the beginning of another, against at its end."""

from numpy.random import Generator

from video_contrast.builders.clip_edits.kinds import edit_kind
from video_contrast.builders.clip_edits.material import ClipEditOptions, EditedGroup, Member, SourceClip, choose_joint
from video_contrast.builders.clip_edits.parts import distinct_captions, length

FORMS = (
    "at the {place} of the video, {caption}",
    "{caption}, at the {place} of the video",
    "at the {place}: {caption}",
)
SHARE = 0.4  # of the host's length: the span is seen twice in eight frames


@edit_kind("place", clips=2, negatives="the caption with beginning and end exchanged")
def place(clips: tuple[SourceClip, ...], options: ClipEditOptions, rng: Generator) -> EditedGroup:
    """A span of the first clip before the second, and behind it."""
    caption, _ = distinct_captions(clips)
    short, host = clips
    host_seconds = min(length(host, options), length(short, options) / SHARE)
    inside = host.part(host_seconds)
    span = short.part(round(SHARE * host_seconds, 3))
    joint = choose_joint(options, rng, (span, inside))
    form = FORMS[int(rng.integers(len(FORMS)))]
    members = tuple(
        Member(
            joint.join(*parts),
            form.format(caption=caption, place=where),
            shown=f"{span.seconds:g} s of {short.id} at the {where} of {host.id} ({joint.words})",
            claim=where,
        )
        for where, parts in (("beginning", (span, inside)), ("end", (inside, span)))
    )
    return EditedGroup(members, {"form": form, "transition": joint.name})
