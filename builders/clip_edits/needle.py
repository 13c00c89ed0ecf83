"""Needle: a span of one clip in the midst of another, against a span of a third.

Lengths stand on a grid, and where a clip is cut depends on that clip alone: many edits show the same parts, and their
frames are encoded once.
"""

import math

from numpy.random import Generator

from video_contrast import seeds
from video_contrast.builders.clip_edits.kinds import edit_kind
from video_contrast.builders.clip_edits.material import ClipEditOptions, EditedGroup, Member, SourceClip, choose_joint
from video_contrast.builders.clip_edits.parts import distinct_captions, length

FORMS = (
    "{host}, and for a while in between {needle}",
    "in between: {needle}; before and after: {host}",
    "{host}, interrupted by another clip: {needle}",
)


@edit_kind("needle", clips=3, negatives="the caption of a span that is not there")
def needle(clips: tuple[SourceClip, ...], options: ClipEditOptions, rng: Generator) -> EditedGroup:
    """The first clip with a span of the second inserted, and with one of the third, at the same place."""
    captions = distinct_captions(clips)
    host, *others = clips
    ratio = options.needle / (1 - options.needle)
    seconds = _on_grid(min(length(host, options), *(length(other, options) / ratio for other in others)), options)
    at = (host.seconds - seconds) / 2
    cut = round(seconds * float(seeds.stream(host.seed, "clip_edits", "needle_cut", host.id).uniform(0.4, 0.6)), 3)
    before, behind = host.part(cut, at), host.part(round(seconds - cut, 3), at + cut)
    spans = [other.part(round(ratio * seconds, 3)) for other in others]
    joint = choose_joint(options, rng, (before, behind, *spans), fades=False)
    form = FORMS[int(rng.integers(len(FORMS)))]
    members = tuple(
        Member(
            joint.join(before, span, behind),
            form.format(host=captions[0], needle=caption),
            shown=f"{span.seconds:g} s of {other.id} in {host.id} after {cut:g} s ({joint.words})",
            claim=caption,
        )
        for span, other, caption in zip(spans, others, captions[1:], strict=True)
    )
    return EditedGroup(members, {"form": form, "transition": joint.name, "share": options.needle})


def _on_grid(seconds: float, options: ClipEditOptions) -> float:
    """The longest of `options.seconds` over 1, 1.41, 2, 2.83 ... that is no longer."""
    steps = math.ceil(2 * math.log2(options.seconds / seconds) - 1e-9)
    return round(options.seconds / 2 ** (steps / 2), 3)
