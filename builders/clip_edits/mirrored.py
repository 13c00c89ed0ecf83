"""Captions rewritten to what a clip shows in a mirror: words that name a side are exchanged."""

import re

from video_contrast.builders.clip_edits.material import LeftOut, Rewritten, table
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
    out: list[str] = []
    old: list[str] = []
    new: list[str] = []
    at = 0
    for match in _SIDE.finditer(caption):
        name = next(name for name, value in match.groupdict().items() if value)
        begin, end = match.span(name)
        word = match[name]
        other = like_case(_SIDE_WORDS[word.lower()], word)
        out += [caption[at:begin], other]
        old, new, at = [*old, word], [*new, other], end
    if not old:
        raise LeftOut("no_side")
    out.append(caption[at:])
    # Of two sides, one that is understood and one that is not would make a caption that is false of both clips.
    if len(old) < len(_ANY_SIDE.findall(caption)):
        raise LeftOut("side_that_is_not_understood")
    if _BOTH_SIDES.search(caption) or _clauses(caption) == _clauses("".join(out)):
        raise LeftOut("names_both_sides_alike")
    return Rewritten("".join(out), ", ".join(old), ", ".join(new))


def _clauses(caption: str) -> set[str]:
    """What a caption says, whatever stands first: two things on two sides are the same things the other way round."""
    parts = re.split(r"\s*(?:,|;|\band\b|\bwhile\b)\s*", caption.lower().rstrip(" .!"))
    return {" ".join(re.sub(r"\b(?:an?|the|one|another|other)\b", " ", part).split()) for part in parts}
