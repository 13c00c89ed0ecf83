"""Captions rewritten to what a clip shows when it runs backwards, or in a mirror.

Backwards: the one verb of the caption is exchanged for its counterpart of `directions.tsv`, in the same form, or the
word that says where a motion goes for the opposite one. Captions of two actions are refused: the other action would
run backwards as well. In a mirror: words that name a side are exchanged.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from video_contrast.builders.clip_edits.material import LeftOut
from video_contrast.builders.clip_edits.senses import OPENS, other_sense
from video_contrast.perturbations.english import parse_one
from video_contrast.perturbations.language import Token, inflect, lemma, tag, verb_tags

_ANY = "..."
_FARTHEST = 6  # words that may stand for "..."
# Verbs of motion: the word behind them says where it goes, and going backwards it goes the other way.
_MOTION = frozenset(
    """go walk run move slide glide roll drive ride fly swim crawl jump climb step turn rotate spin crouch bend travel
    float drift drop march jog skate ski sail push pull carry drag swing tilt pan back slither dance scroll""".split()  # noqa: SIM905
)
_SIDEWAYS = {
    "leftwards": "rightwards", "rightwards": "leftwards", "leftward": "rightward", "rightward": "leftward",
    "clockwise": "counterclockwise", "counterclockwise": "clockwise", "anticlockwise": "clockwise",
    "counter-clockwise": "clockwise", "counter clockwise": "clockwise", "anti-clockwise": "clockwise",
    "anti clockwise": "clockwise",
}  # fmt: skip
_WAYS = _SIDEWAYS | {
    "up": "down", "down": "up", "upwards": "downwards", "downwards": "upwards", "upward": "downward",
    "downward": "upward", "forwards": "backwards", "backwards": "forwards", "forward": "backward",
    "backward": "forward", "into": "out of", "out of": "into", "towards": "away from", "toward": "away from",
    "away from": "towards", "to the left": "to the right", "to the right": "to the left", "onto": "off", "in": "out",
    "out": "in", "upstairs": "downstairs", "downstairs": "upstairs",
}  # fmt: skip
_BOTH = frozenset(("push", "pull", "drag", "shove"))  # what they do, and where it goes, would both have to change
_PLACES = frozenset(("to", "from", "into", "onto", "toward", "towards"))
_TURNS = frozenset(("up", "down", "back", "forth", "forwards", "backwards", "again", "around"))
_ADVERBS = frozenset(("on", "off", "up", "down"))  # behind the object; before a noun they are prepositions
_HELPERS = frozenset(("be", "have", "do"))
_BEGINNERS = frozenset(("begin", "start", "try", "show", "demonstrate", "explain", "use", "see"))

_SIDE_WORDS = _SIDEWAYS | {"left": "right", "right": "left"}
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


class Rewritten(NamedTuple):
    """A rewritten caption, and the words that were exchanged, before and after."""

    caption: str
    old: str
    new: str


def mirrored(caption: str) -> Rewritten:
    """The caption of the mirrored clip.

    Raises:
        LeftOut: the caption names no side.

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
        other = _in_case(_SIDE_WORDS[word.lower()], word)
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


def _in_case(word: str, like: str) -> str:
    """A word written as another is: in capitals, or begun with one."""
    return word.upper() if like.isupper() else word.capitalize() if like[:1].isupper() else word


def backwards(caption: str, tagger: str = "auto") -> Rewritten:
    """The caption of the clip played backwards.

    Raises:
        LeftOut: the caption has no verb of the table, in that sense, or more than one action.

    >>> backwards("a man is putting a pan into the oven", "hanta").caption
    'a man is taking a pan out of the oven'
    >>> backwards("a dog runs towards the sea", "hanta").caption
    'a dog runs away from the sea'
    """
    tokens = tag([caption], tagger=tagger)[0]
    orders = parse_one(caption).orders
    if len(orders) > 1:  # "put the chicken into a bowl and mix"
        raise LeftOut("more_than_one_action")
    tokens = _with_verb(tokens)
    if orders:
        tokens[orders[0]] = tokens[orders[0]]._replace(tag="VB", lemma=tokens[orders[0]].text.lower())
    verbs = [
        n for n, token in enumerate(tokens)
        if token.tag.startswith("VB") and token.lemma not in _HELPERS | _BEGINNERS
    ]  # fmt: skip
    known = [(n, change) for n in range(len(tokens)) if (change := _by_table(tokens, n) or _by_way(tokens, n))]
    if any(tokens[n].lemma in _BOTH and _by_way(tokens, n) for n, _ in known):
        raise LeftOut("more_than_one_action")
    if not known:
        raise LeftOut("no_direction_verb")
    at, (spans, replaced) = known[0]
    if any(_goes(tokens, n) for n in range(at + 1, len(tokens)) if n not in replaced):
        raise LeftOut("says_where_it_goes")
    if not _acts(tokens, at):  # "an opening ceremony"
        raise LeftOut("verb_may_mean_something_else")
    others = [n for n in verbs if n != at and n not in replaced and _acts(tokens, n)]
    if others or len({n for n, _ in known}) > 1:
        raise LeftOut("more_than_one_action")
    dangles = spans[-1][2].endswith((" from", " of"))
    if other_sense(tokens, at, replaced, dangles=dangles):
        raise LeftOut("verb_may_mean_something_else")
    out, done = [], 0
    for begin, end, text in spans:
        out += [caption[done:begin], text]
        done = end
    old, new = (" ... ".join(words) for words in zip(*((caption[a:b], text) for a, b, text in spans), strict=True))
    return Rewritten("".join([*out, caption[done:]]), old, new)


def _with_verb(tokens: list[Token]) -> list[Token]:
    """The tokens; where no verb was found, the word that can only be one of the table's ("a man in red pushes")."""
    if any(token.tag.startswith("VB") and token.text.lower() not in _WAYS for token in tokens):
        return tokens
    for n, token in enumerate(tokens[1:], 1):
        form = next((form for form in ("VBZ", "VBG") if form in verb_tags(token.text)), None)
        after_noun = not tokens[n - 1].tag.startswith(("DT", "PRP$", "IN"))
        if form and after_noun and (verb := lemma(token.text, form)) in _table().keys() | _MOTION:
            return [*tokens[:n], token._replace(tag=form, lemma=verb), *tokens[n + 1 :]]
    return tokens


def _goes(tokens: list[Token], at: int) -> bool:
    """Whether a word says where a motion begins or ends, or that it turns back: it would have to change as well."""
    word = tokens[at].text.lower()
    verb_follows = at + 1 < len(tokens) and tokens[at + 1].tag.startswith("VB")
    return (word in _PLACES and not verb_follows) or word in _TURNS


def _acts(tokens: list[Token], at: int) -> bool:
    """Whether a verb stands for an action: no participle before a noun ("a parked car")."""
    return not (
        tokens[at].tag in ("VBN", "VBG") and at + 1 < len(tokens) and tokens[at + 1].tag.startswith("NN")
        and (at == 0 or tokens[at - 1].tag in ("DT", "PRP$", "JJ", "IN"))
    )  # fmt: skip


Change = tuple[list[tuple[int, int, str]], set[int]]  # spans of the caption with new texts; numbers of their tokens


def _verb(tokens: list[Token], at: int) -> str | None:
    """The verb at a place in its dictionary form; None where there is none."""
    return tokens[at].lemma if tokens[at].tag.startswith("VB") else None


@cache
def _table() -> dict[str, list[tuple[list[str], list[str]]]]:
    """Verb -> the patterns that begin with it, longest first, each with its counterpart."""
    text = (files("video_contrast.builders.clip_edits") / "directions.tsv").read_text(encoding="utf-8")
    table: dict[str, list[tuple[list[str], list[str]]]] = {}
    for line in text.splitlines():
        if not line.startswith("#"):
            old, new = (side.split() for side in line.split("\t"))
            table.setdefault(old[0], []).append((old, new))
    return {verb: sorted(rows, key=lambda row: -len([w for w in row[0] if w != _ANY])) for verb, rows in table.items()}


def _by_table(tokens: list[Token], at: int) -> Change | None:
    verb = _verb(tokens, at)
    for old, new in _table().get(verb or "", ()):
        places = _matched(tokens, at, old)
        if places is not None:
            return _exchanged(tokens, places, old=old, new=new)
    return None


def _matched(tokens: list[Token], at: int, pattern: list[str]) -> list[int] | None:
    """The places of the pattern's words from its verb on; None where it does not match."""
    places = [at]
    gap = False
    for word in pattern[1:]:
        if word == _ANY:
            gap = True
            continue
        nearest = places[-1] + 1
        reach = range(nearest, min(len(tokens), nearest + (_FARTHEST + 1 if gap else 1)))
        place = next((n for n in reach if tokens[n].text.lower() == word), None)
        if place is None or (gap and place == nearest):
            return None
        places.append(place)
        gap = False
    last, behind = pattern[-1], places[-1] + 1
    if _ANY in pattern[:-1] and last in _ADVERBS and behind < len(tokens) and tokens[behind].tag in OPENS:
        return None  # "turns clockwise on the sand"
    if last in ("in", "out") and behind < len(tokens) and tokens[behind].text.lower() in ("of", "to"):
        return None  # "walks out of" says where from
    if len(pattern) == 1 and at + 1 < len(tokens) and tokens[at + 1].tag == "RP":
        return None  # "pulls up" is no pulling
    # "cars take off in a lane" has no object that is taken off.
    return places if not gap or (behind < len(tokens) and tokens[behind].tag in OPENS) else None


def _exchanged(tokens: list[Token], places: list[int], *, old: list[str], new: list[str]) -> Change:
    """The spans that change: the verb with the words next to it, and those behind the object."""
    form = tokens[places[0]].tag
    split = old.index(_ANY) if _ANY in old else len(old)
    new_split = new.index(_ANY) if _ANY in new else len(new)
    head, tail = places[:split], places[split:]
    text = " ".join([inflect(new[0], form), *new[1:new_split]])
    spans = [(tokens[head[0]].start, tokens[head[-1]].end, text)]
    if tail:
        spans.append((tokens[tail[0]].start, tokens[tail[-1]].end, " ".join(new[new_split + 1 :])))
    return spans, set(places)


def _by_way(tokens: list[Token], at: int) -> Change | None:
    """A verb of motion keeps, and the word that says where it goes changes."""
    if _verb(tokens, at) not in _MOTION:
        return None
    for n in range(at + 1, min(len(tokens), at + 2 + _FARTHEST)):
        if tokens[n].tag.startswith("VB"):
            return None
        for length in (3, 2, 1):
            words = " ".join(token.text.lower() for token in tokens[n : n + length])
            if n + length <= len(tokens) and words in _WAYS and (words not in ("in", "out") or n + 1 == len(tokens)):
                return [(tokens[n].start, tokens[n + length - 1].end, _WAYS[words])], {at, *range(n, n + length)}
    return None
