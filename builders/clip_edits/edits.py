"""The edits: each a function that makes one group of edited clips of one to three clips, or raises `LeftOut`.

It takes the clips, the options of the build and a random stream of its own; `EDITS` lists them. Both captions of a
group have one form, so that neither is likelier by its words. A mirrored clip's caption is the original's with the
words that name a side exchanged.
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass

from numpy.random import Generator

from video_contrast import seeds
from video_contrast.builders.clip_edits.backwards import backwards
from video_contrast.builders.clip_edits.source_clip import (
    HOW_FAST,
    HOW_OFTEN,
    ClipEditOptions,
    EditedGroup,
    LeftOut,
    Member,
    Rewritten,
    SourceClip,
    balanced_lengths,
    choose_joint,
    distinct_captions,
    first_that,
    length,
    pattern,
    plain_captions,
    table,
)
from video_contrast.perturbations.english.forms import like_case

_SIDE_WORDS = {"left": "right", "right": "left", **dict(table("ways.tsv"))}
_OWNERS = r"(?:the|a|an|his|her|its|their|your|my|our)"
# "left" and "right" where they are sides: of or to the ..., before a thing that has sides, after a verb of turning.
_SIDE = re.compile(
    rf"\b(?:(?:to|on|at|from|towards?|in|off|with|by)\s+{_OWNERS}\s+(?:far\s+|upper\s+|lower\s+|top\s+|bottom\s+)?"
    r"(?P<behind>left|right)\b|(?P<before>left|right)(?=[\s-]+(?:hand|arm|side|foot|leg|eye|ear|corner|half|lane|edge|"
    r"shoulder|knee|door|wall|window|to\s+(?:left|right)|of\b))|(?:turns?|turning|goes|moves|moving|steps|looks|looking|"
    r"points|pointing|slides|walks|runs|leans|swings)\s+(?P<after>left|right)\b|(?<=\bfrom )(?P<first>left|right)\b|"
    r"(?<=left to )(?P<to_right>right)\b|(?<=right to )(?P<to_left>left)\b|"
    r"\b(?P<word>leftwards?|rightwards?|(?:(?:counter|anti)[ -]?)?clockwise)\b)",
    re.IGNORECASE,
)
_ANY_SIDE = re.compile(r"\b(?:left|right|leftwards?|rightwards?|(?:counter|anti)?clockwise)\b", re.IGNORECASE)
# "left and right", "to the left and to the right": the mirrored clip shows the same.
_BOTH_SIDES = re.compile(
    rf"\b(?:left|right)\s*(?:,|&|/|\band\b|\bor\b)\s*(?:(?:to|on)\s+)?(?:{_OWNERS}\s+)?(?:left|right)\b", re.IGNORECASE
)


def mirrored(caption: str) -> Rewritten:
    """The caption of the mirrored clip.

    Raises LeftOut: the caption names no side.

    >>> mirrored("a man on the left raises his right hand").caption
    'a man on the right raises his left hand'
    """
    old: list[str] = []
    new: list[str] = []

    def exchange(match: re.Match[str]) -> str:
        name, word = next((name, word) for name, word in match.groupdict().items() if word)
        old.append(word)
        new.append(like_case(_SIDE_WORDS[word.lower()], word))
        begin, end = (place - match.start() for place in match.span(name))
        return match[0][:begin] + new[-1] + match[0][end:]

    text = _SIDE.sub(exchange, caption)
    if not old:
        raise LeftOut("no_side")
    # Of two sides, one that is understood and one that is not would make a caption that is false of both clips.
    if len(old) < len(_ANY_SIDE.findall(caption)):
        raise LeftOut("side_that_is_not_understood")
    if _BOTH_SIDES.search(caption) or _clauses(caption) == _clauses(text):
        raise LeftOut("names_both_sides_alike")
    return Rewritten(text, ", ".join(old), ", ".join(new))


def _clauses(caption: str) -> set[str]:
    """The clauses of a caption, in no order: two things on two sides are the same things the other way round."""
    parts = re.split(r"\s*(?:,|;|\band\b|\bwhile\b)\s*", caption.lower().rstrip(" .!"))
    return {" ".join(re.sub(r"\b(?:an?|the|one|another|other)\b", " ", part).split()) for part in parts}


Make = Callable[[tuple[SourceClip, ...], ClipEditOptions, Generator], EditedGroup]


@dataclass(frozen=True)
class EditKind:
    """An edit."""

    name: str  # of the kind, and of its config
    make: Make  # makes a group, or raises `LeftOut` with the reason why these clips do not suit
    clips: int  # how many clips a group is made of
    negatives: str  # how its false captions differ, for the card
    same_video: bool = False  # whether two spans of one video are joined before clips of different videos


FORMS: dict[str, list[list[str]]] = {}  # kind -> forms of its captions, with what is put into some of them
for _kind, *_form in table("forms.tsv"):
    FORMS.setdefault(_kind, []).append(_form)


def _drawn(rng: Generator, forms: list[list[str]]) -> list[str]:
    return forms[int(rng.integers(len(forms)))]


def order(clips: tuple[SourceClip, ...], options: ClipEditOptions, rng: Generator) -> EditedGroup:
    """Two clips one after the other, and the other way round."""
    a, b = distinct_captions(clips)
    first, second = (clip.part(seconds) for clip, seconds in zip(clips, balanced_lengths(clips, options), strict=True))
    joint = choose_joint(options, rng, (first, second))
    # An order ("close the door") does not stand behind "before" or "after".
    [form] = _drawn(rng, [f for f in FORMS["order"] if pattern(a) != "order" or f[0].startswith(("first", "{"))])
    members = []
    sides = [(first, a, clips[0].id), (second, b, clips[1].id)]
    for (part, phrase, id), (later, other, other_id) in (sides, sides[::-1]):
        edit = f"{id}, then {other_id} ({joint.words})"
        members.append(Member(joint.join(part, later), form.format(phrase, other), edit, f"{phrase} comes first"))
    return EditedGroup(members, {"form": form, "transition": joint.name})


TIMES = ("once", "twice", "three times")


def count(clips: tuple[SourceClip, ...], options: ClipEditOptions, rng: Generator) -> EditedGroup:
    """A clip repeated; a gap or a cut stands between, so that a repetition shows as one."""
    clip = clips[0]
    caption = plain_captions(clip, HOW_OFTEN, "says_how_often")[0]
    part = clip.part(length(clip, options))
    joint = choose_joint(options, rng, (part,), fades=False)
    [form] = _drawn(rng, FORMS["count"])
    members = []
    for number, times in enumerate(TIMES, 1):
        edit = f"{clip.id} {times}" + (f" ({joint.words})" if number > 1 else "")
        members.append(Member(joint.join(*[part] * number), form.format(caption=caption, times=times), edit, times))
    # How often an action happens within the clip is not known: what is counted is the clip.
    what = "showings of the clip; within one, an action may happen several times"
    return EditedGroup(members, {"form": form, "transition": joint.name, "counted": what})


def reversal(clips: tuple[SourceClip, ...], options: ClipEditOptions, rng: Generator) -> EditedGroup:
    """A clip and its reversal. Clips that look the same backwards are left out, by their measured motion."""
    clip = clips[0]
    caption, rewriting = first_that(backwards, clip)
    seconds = length(clip, options)
    if clip.motion.still:
        raise LeftOut("stands_still")
    if clip.motion.asymmetry < options.asymmetry:
        raise LeftOut("looks_the_same_backwards")
    members = (
        Member((clip.part(seconds),), caption, edit=f"{clip.id} forwards", claim=rewriting.old),
        Member((clip.part(seconds, reversed=True),), rewriting.caption, f"{clip.id} backwards", claim=rewriting.new),
    )
    return EditedGroup(members, {"motion": clip.motion.amount, "asymmetry": clip.motion.asymmetry})


# Mirrored letters give the edit away. No detector of text in pictures is used; every group says so.
MIRRORED_TEXT = "not looked for: mirrored letters would show the edit"


def mirror(clips: tuple[SourceClip, ...], options: ClipEditOptions, rng: Generator) -> EditedGroup:
    """A clip and its mirror image."""
    clip = clips[0]
    caption, rewriting = first_that(mirrored, clip)
    seconds = length(clip, options)
    edit = f"{clip.id} mirrored (text is {MIRRORED_TEXT})"
    members = (
        Member((clip.part(seconds),), caption, edit=f"{clip.id} as it is", claim=rewriting.old),
        Member((clip.part(seconds, mirrored=True),), rewriting.caption, edit, claim=rewriting.new),
    )
    return EditedGroup(members, {"visible_text": MIRRORED_TEXT})


SPEEDS = {"slow": 0.5, "fast": 2.0}


def speed(clips: tuple[SourceClip, ...], options: ClipEditOptions, rng: Generator) -> EditedGroup:
    """The middle of a clip at half its speed, and more of the clip at twice its speed, over the same time."""
    clip = clips[0]
    seconds = min(clip.seconds / 2, options.seconds)
    if seconds < options.shortest / 2:
        raise LeftOut("too_short")
    caption = plain_captions(clip, HOW_FAST, "says_how_fast")[0]
    if clip.motion.still:
        raise LeftOut("stands_still")
    [form] = _drawn(rng, FORMS["speed"])
    members = []
    for name, rate in SPEEDS.items():
        part, edit = clip.part(seconds * rate, speed=rate), f"{seconds * rate:.2f} s of {clip.id} in {seconds:.2f} s"
        members.append(Member((part,), form.format(caption=caption, speed=name), edit, name))
    return EditedGroup(members, {"form": form, "motion": clip.motion.amount})


PLACE_SHARE = 0.4  # of the host's length: the span is seen twice in eight frames


def place(clips: tuple[SourceClip, ...], options: ClipEditOptions, rng: Generator) -> EditedGroup:
    """A span of the first clip before the second, and behind it."""
    caption, _ = distinct_captions(clips)
    short, host = clips
    host_seconds = min(length(host, options), length(short, options) / PLACE_SHARE)
    inside = host.part(host_seconds)
    span = short.part(round(PLACE_SHARE * host_seconds, 3))
    joint = choose_joint(options, rng, (span, inside))
    [form] = _drawn(rng, FORMS["place"])
    members = []
    for where, parts in (("beginning", (span, inside)), ("end", (inside, span))):
        edit = f"{span.seconds:g} s of {short.id} at the {where} of {host.id} ({joint.words})"
        members.append(Member(joint.join(*parts), form.format(caption=caption, place=where), edit, where))
    return EditedGroup(members, {"form": form, "transition": joint.name})


ALIKE = 0.5  # share of pixels of the same colours: above, two clips may show one scene


def identity(clips: tuple[SourceClip, ...], options: ClipEditOptions, rng: Generator) -> EditedGroup:
    """The two halves of a clip, and its first half with a part of another clip."""
    caption, _ = distinct_captions(clips)
    clip, other = clips
    if clip.size != other.size:  # pictures that are scaled after the cut, or before it, would give it away
        raise LeftOut("no_partner_of_its_size")
    if sum(map(min, clip.motion.colours, other.motion.colours)) > ALIKE:  # the same man and room: no other scene
        raise LeftOut("clips_that_look_alike")
    seconds = min(balanced_lengths(clips, options))
    half = round(seconds / 2, 3)
    begin = (clip.seconds - seconds) / 2
    first, second = clip.part(half, begin), clip.part(half, begin + half)
    joint = choose_joint(options, rng, (first, second), fades=False)
    form, same, another = _drawn(rng, FORMS["identity"])
    members = []
    for last, name, what in ((second, "the rest of it", same), (other.part(half), other.id, another)):
        edit = f"{clip.id}, {joint.words}, {name}"
        members.append(Member(joint.join(first, last), form.format(caption=caption, what=what), edit, what))
    return EditedGroup(members, {"form": form, "transition": joint.name})


def needle(clips: tuple[SourceClip, ...], options: ClipEditOptions, rng: Generator) -> EditedGroup:
    """The first clip with a span of the second inserted, and with one of the third, at the same place."""
    captions = distinct_captions(clips)
    host, *others = clips
    ratio = options.needle / (1 - options.needle)
    longest = min(length(host, options), *(length(other, options) / ratio for other in others))
    # The longest of `options.seconds` over 1, 1.41, 2, 2.83 ... that is no longer.
    seconds = round(options.seconds / 2 ** (math.ceil(2 * math.log2(options.seconds / longest) - 1e-9) / 2), 3)
    at = (host.seconds - seconds) / 2
    cut = round(seconds * float(seeds.stream(host.seed, "clip_edits", "needle_cut", host.id).uniform(0.4, 0.6)), 3)
    before, behind = host.part(cut, at), host.part(round(seconds - cut, 3), at + cut)
    spans = [other.part(round(ratio * seconds, 3)) for other in others]
    joint = choose_joint(options, rng, (before, behind, *spans), fades=False)
    [form] = _drawn(rng, FORMS["needle"])
    members = []
    for span, other, caption in zip(spans, others, captions[1:], strict=True):
        edit = f"{span.seconds:g} s of {other.id} in {host.id} after {cut:g} s ({joint.words})"
        text = form.format(host=captions[0], needle=caption)
        members.append(Member(joint.join(before, span, behind), text, edit, caption))
    return EditedGroup(members, {"form": form, "transition": joint.name, "share": options.needle})


EDITS = {
    kind.name: kind  # in the order in which they are built
    for kind in (
        EditKind("order", order, 2, "the same two captions in the other order", same_video=True),
        EditKind("count", count, 1, "the same caption with another number of times"),
        EditKind("reversal", reversal, 1, "the caption of the clip played the other way"),
        EditKind("mirror", mirror, 1, f"the caption with left and right exchanged; text is {MIRRORED_TEXT}"),
        EditKind("speed", speed, 1, "the caption with slow and fast exchanged"),
        EditKind("place", place, 2, "the caption with beginning and end exchanged"),
        EditKind("identity", identity, 2, "the caption that says the opposite of what follows the cut"),
        EditKind("needle", needle, 3, "the caption of a span that is not there"),
    )
}
