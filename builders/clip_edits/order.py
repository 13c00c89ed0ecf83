"""Order: clip A then clip B, against B then A."""

from numpy.random import Generator

from video_contrast.builders.clip_edits.kinds import edit_kind
from video_contrast.builders.clip_edits.material import ClipEditOptions, EditedGroup, Member, SourceClip, choose_joint
from video_contrast.builders.clip_edits.parts import balanced, distinct_captions

# Both captions of a group have one form, so neither is likelier by its words.
FORMS = (
    "first {0}, then {1}",
    "{0}, and then {1}",
    "{0}, and after that {1}",
    "before {1}, {0}",
    "after {0}, {1}",
)


@edit_kind("order", clips=2, same_video=True, negatives="the same two captions in the other order")
def order(clips: tuple[SourceClip, ...], options: ClipEditOptions, rng: Generator) -> EditedGroup:
    """Two clips one after the other, and the other way round."""
    a, b = distinct_captions(clips)
    first, second = (clip.part(seconds) for clip, seconds in zip(clips, balanced(clips, options), strict=True))
    joint = choose_joint(options, rng, (first, second))
    form = FORMS[int(rng.integers(len(FORMS)))]
    members = tuple(
        Member(
            joint.join(*parts),
            form.format(*phrases),
            shown=f"{ids[0]}, then {ids[1]} ({joint.words})",
            claim=f"{phrases[0]} comes first",
        )
        for parts, phrases, ids in (
            ((first, second), (a, b), (clips[0].id, clips[1].id)),
            ((second, first), (b, a), (clips[1].id, clips[0].id)),
        )
    )
    return EditedGroup(members, {"form": form, "transition": joint.name})
