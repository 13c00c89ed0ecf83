"""The edits: each a function that makes one group of edited clips of one to three clips, or raises `LeftOut`.

    @edit_kind("order", clips=2, negatives="...")
    def order(clips: tuple[SourceClip, ...], options: ClipEditOptions, rng: Generator) -> EditedGroup: ...

Both captions of a group have one form, so that neither is likelier by its words.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from numpy.random import Generator

from video_contrast import seeds
from video_contrast.builders.clip_edits.backwards import backwards
from video_contrast.builders.clip_edits.material import (
    ClipEditOptions,
    EditedGroup,
    LeftOut,
    Member,
    SourceClip,
    choose_joint,
)
from video_contrast.builders.clip_edits.mirrored import mirrored
from video_contrast.builders.clip_edits.motion import likeness
from video_contrast.builders.clip_edits.parts import (
    HOW_FAST,
    HOW_OFTEN,
    balanced,
    distinct_captions,
    first_that,
    length,
    pattern,
    plain_captions,
)

Make = Callable[[tuple[SourceClip, ...], ClipEditOptions, Generator], EditedGroup]


@dataclass(frozen=True)
class EditKind:
    """A registered edit."""

    name: str  # of the kind, and of its config
    clips: int  # how many clips a group is made of
    negatives: str  # what its false captions say, for the card
    make: Make  # makes a group, or raises `LeftOut`
    same_video: bool = False  # whether two spans of one video are joined before clips of different videos


EDITS: dict[str, EditKind] = {}  # by name, in the order in which they are built


def edit_kind(name: str, *, clips: int, negatives: str, same_video: bool = False) -> Callable[[Make], Make]:
    """Registers a kind of edit.

    Returns a decorator. The decorated function takes the clips, the options of the build and a random stream of its
    own, and returns a group, or raises `LeftOut` with the reason why these clips do not suit.

    Args:
        name, clips, negatives, same_video: as of `EditKind`.
    """

    def register(make: Make) -> Make:
        EDITS[name] = EditKind(name, clips, negatives, make=make, same_video=same_video)
        return make

    return register


ORDER_FORMS = (
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
    forms = [form for form in ORDER_FORMS if pattern(a) != "order" or form.startswith(("first", "{"))]
    form = forms[int(rng.integers(len(forms)))]  # an order ("close the door") does not stand behind "before" or "after"
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


TIMES = ("once", "twice", "three times")
COUNT_FORMS = (
    "the clip is shown {times}: {caption}",
    "{caption}; this clip is shown {times}",
    "shown {times}: {caption}",
)


@edit_kind("count", clips=1, negatives="the same caption with another number of times")
def count(clips: tuple[SourceClip, ...], options: ClipEditOptions, rng: Generator) -> EditedGroup:
    """A clip repeated; a gap or a cut stands between, so that a repetition shows as one."""
    clip = clips[0]
    caption = plain_captions(clip, HOW_OFTEN, "says_how_often")[0]
    part = clip.part(length(clip, options))
    joint = choose_joint(options, rng, (part,), fades=False)
    form = COUNT_FORMS[int(rng.integers(len(COUNT_FORMS)))]
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
    members = (
        Member((clip.part(seconds),), caption, shown=f"{clip.id} forwards", claim=changed.old),
        Member((clip.part(seconds, reversed=True),), changed.caption, f"{clip.id} backwards", claim=changed.new),
    )
    return EditedGroup(members, {"motion": clip.motion.amount, "asymmetry": clip.motion.asymmetry})


# Mirrored letters give the edit away. No detector of text in pictures is used; every group says so.
MIRRORED_TEXT = "not looked for: mirrored letters would show the edit"


@edit_kind("mirror", clips=1, negatives="the caption with left and right exchanged; text is " + MIRRORED_TEXT)
def mirror(clips: tuple[SourceClip, ...], options: ClipEditOptions, rng: Generator) -> EditedGroup:
    """A clip and its mirror image."""
    clip = clips[0]
    caption, changed = first_that(mirrored, clip)
    seconds = length(clip, options)
    shown = f"{clip.id} mirrored (text is {MIRRORED_TEXT})"
    members = (
        Member((clip.part(seconds),), caption, shown=f"{clip.id} as it is", claim=changed.old),
        Member((clip.part(seconds, mirrored=True),), changed.caption, shown, claim=changed.new),
    )
    return EditedGroup(members, {"visible_text": MIRRORED_TEXT})


SPEEDS = {"slow": 0.5, "fast": 2.0}
SPEED_FORMS = ("{caption}, in {speed} motion", "in {speed} motion, {caption}", "{speed} motion: {caption}")


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
    form = SPEED_FORMS[int(rng.integers(len(SPEED_FORMS)))]
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


PLACE_FORMS = (
    "at the {place} of the video, {caption}",
    "{caption}, at the {place} of the video",
    "at the {place}: {caption}",
)
PLACE_SHARE = 0.4  # of the host's length: the span is seen twice in eight frames


@edit_kind("place", clips=2, negatives="the caption with beginning and end exchanged")
def place(clips: tuple[SourceClip, ...], options: ClipEditOptions, rng: Generator) -> EditedGroup:
    """A span of the first clip before the second, and behind it."""
    caption, _ = distinct_captions(clips)
    short, host = clips
    host_seconds = min(length(host, options), length(short, options) / PLACE_SHARE)
    inside = host.part(host_seconds)
    span = short.part(round(PLACE_SHARE * host_seconds, 3))
    joint = choose_joint(options, rng, (span, inside))
    form = PLACE_FORMS[int(rng.integers(len(PLACE_FORMS)))]
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


ALIKE = 0.5  # share of pixels of the same colours: above, two clips may show one scene
IDENTITY_FORMS = (
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
    form, same, another = IDENTITY_FORMS[int(rng.integers(len(IDENTITY_FORMS)))]
    return EditedGroup(
        (
            Member(joint.join(first, second), form.format(caption=caption, what=same),
                   shown=f"{clip.id}, {joint.words}, the rest of it", claim=same),
            Member(joint.join(first, other.part(half)), form.format(caption=caption, what=another),
                   shown=f"{clip.id}, {joint.words}, {other.id}", claim=another),
        ),
        {"form": form, "transition": joint.name},
    )  # fmt: skip


NEEDLE_FORMS = (
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
    form = NEEDLE_FORMS[int(rng.integers(len(NEEDLE_FORMS)))]
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
