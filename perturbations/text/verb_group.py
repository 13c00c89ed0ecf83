"""Clauses of captions: subject, the words of its verb, a further verb behind "and", clauses inside a caption."""

from collections.abc import Iterator
from typing import NamedTuple

from video_contrast.perturbations.language import Token, verb_tags
from video_contrast.perturbations.text.noun_phrases import PEOPLE, PREPOSITIONS, attached, noun_phrase

_OPENING = frozenset(("while", "as", "when", "where", "because"))  # a clause with a verb of its own
_SHOWING = frozenset(
    """video videos clip clips footage scene scenes image images picture pictures photo photos montage animation cartoon
    commercial advertisement ad trailer movie film documentary view recording episode demonstration tutorial vine
    show""".split()  # noqa: SIM905
)
_SHOWS = frozenset("showing shows of about with featuring features depicting".split())  # noqa: SIM905


OBJECT_PRONOUNS = frozenset(("me", "him", "her", "us", "them"))


class VerbGroup(NamedTuple):
    """The words of a verb: its auxiliary's place (None: alone), adverbs in front of the verb, the verb's own place."""

    auxiliary: int | None
    adverbs: tuple[str, ...]
    head: int


class FurtherVerb(NamedTuple):
    """A verb joined to another: the place of "and", where its words start in the caption, and its words."""

    joint: int
    start: int
    verb: VerbGroup


def verb_group(tokens: list[Token], start: int) -> VerbGroup | None:
    """The verb whose words begin at `start`: "sings", "is not singing", "can sing", "has sung", or bare "singing"."""
    place, adverbs, auxiliary = start, [], None
    tags: tuple[str, ...] = ("VBZ", "VBP", "VBD", "VBG", "VB")
    while place < len(tokens):
        token = tokens[place]
        if (token.tag.startswith("RB") and tokens[place - 1].tag != "PRP$") or token.text.lower() in (
            "n't",
            "n’t",
            "not",
        ):
            adverbs.append("not" if token.text.lower() in ("n't", "n’t") else token.text)
        elif auxiliary is None and token.tag in ("VBZ", "VBP", "VBD", "MD") and token.lemma in _helped(token):
            auxiliary, tags = place, _helped(token)[token.lemma]
        elif token.tag in tags and verb_tags(token.text) and token.text.lower() not in PREPOSITIONS:
            return VerbGroup(auxiliary, tuple(adverbs), place)
        else:
            break
        place += 1
    return None


def _helped(token: Token) -> dict[str, tuple[str, ...]]:
    """Auxiliary lemma -> the tags of a verb that it can help."""
    return {token.lemma: ("VB",)} if token.tag == "MD" else {"be": ("VBG",), "have": ("VBN",)}


def further_verb(tokens: list[Token], first: VerbGroup) -> FurtherVerb | None:
    """The second of two verbs of one subject: "is singing and playing", "opens ... and then finds"; else None.

    Between the two there is no other verb with a subject of its own.

    Args:
        tokens: of the caption.
        first: the first verb.
    """
    form = tokens[first.head].tag
    finite = ("VBZ", "VBP") if first.auxiliary is not None and tokens[first.auxiliary].tag in ("VBZ", "VBP") else ()
    for place in range(first.head + 1, len(tokens) - 1):
        token = tokens[place]
        if (
            token.tag in ("VBZ", "VBP", "VBD", "MD", "WP", "WDT", "WRB")
            or token.text.lower() in _OPENING
            or token.text == ","
        ):
            return None
        if token.text.lower() != "and":
            continue
        start = place + 1
        repeated = first.auxiliary is not None and tokens[start].text.lower() == tokens[first.auxiliary].text.lower()
        start += repeated
        head = start + (start < len(tokens) and tokens[start].tag.startswith("RB"))
        same = head < len(tokens) and tokens[head].tag in ((form, "VB") if form == "VBP" else (form,))
        if same and form in verb_tags(tokens[head].text):
            return FurtherVerb(place, tokens[start].start, VerbGroup(first.auxiliary, (), head))
        if head < len(tokens) and tokens[head].tag in finite and tokens[head].lemma not in ("be", "have", "do"):
            return FurtherVerb(place, tokens[start].start, VerbGroup(None, (), head))  # "is riding and then falls"
        if noun_phrase(tokens, start) is None:
            return None
    return None


def inner_clauses(tokens: list[Token]) -> Iterator[int]:
    """Where clauses inside a caption begin: "a video of | someone fixing a car", "a lady sings while | ..."."""
    for place, token in enumerate(tokens[1:-2], 1):
        low = token.text.lower()
        shown = low in _SHOWS and tokens[place + 1].tag != "RP" and tokens[place - 1].text.lower() in _SHOWING
        start = place + 1
        subject = noun_phrase(tokens, start) if shown or low in _OPENING else None
        if subject is None or (low == "as" and tokens[place - 1].tag in ("VBN", "VBD", "JJ", "RB")):
            continue  # "dressed as", "as well as"
        head = tokens[subject.head]
        if shown and head.text.lower() not in PEOPLE and head.tag != "NNS":  # "a video of a laser etching factory"
            continue
        verb = verb_group(tokens, subject.end)
        if verb is not None and (low in _OPENING) == (verb.auxiliary is not None or tokens[verb.head].tag != "VBG"):
            yield start


def clause_start(tokens: list[Token]) -> int:
    """Where the subject begins: behind an opening such as "in a kitchen" or "on the stage," (else 0)."""
    end = attached(tokens, 0)
    return end + (end > 0 and end < len(tokens) and tokens[end].text == ",")


def subject_and_verb(tokens: list[Token], start: int) -> tuple[int, VerbGroup] | None:
    """The end of the subject that begins at `start`, and the verb right behind it."""
    subject = noun_phrase(tokens, start)
    if subject is None or tokens[start].text.lower() in OBJECT_PRONOUNS or tokens[start].text.lower() == "its":
        return None  # "its a car racing"
    end = _worn(tokens, attached(tokens, subject.end))
    called = end < len(tokens) and tokens[end].text.lower() in ("called", "named", "titled")
    if end < len(tokens) and (called or tokens[end].tag == "VBN"):  # "a channel called x is reviewing a film"
        named = noun_phrase(tokens, end + 1) if called else None
        end = named.end if named is not None else attached(tokens, end + 1, PREPOSITIONS | {"as", "by", "like"})
    if end < len(tokens) and tokens[end].tag in ("WP", "WDT"):  # "the chef who is wearing a hat cuts onions"
        return _behind_clause(tokens, end + 1)
    verb = verb_group(tokens, end)
    if verb is None:
        return None
    if tokens[verb.head].tag == "VBG" and verb.auxiliary is None:
        behind = _behind_clause(tokens, end)  # "a girl wearing a pink shirt practices the long jump"
        if behind is not None:
            return behind
        described = end > subject.end or subject.head + 1 < subject.end  # "a scene with a man singing a song": who?
        if described and tokens[subject.head].text.lower() not in PEOPLE:
            return None
    return end, verb


def _worn(tokens: list[Token], end: int) -> int:
    """Behind what "and" joins to a phrase that describes a subject: "a man in a black shirt | and white pants"."""
    if not (0 < end < len(tokens)) or tokens[end].text.lower() != "and" or tokens[end - 1].text.lower() in PEOPLE:
        return end
    more = noun_phrase(tokens, end + 1)
    if more is None or tokens[more.head].text.lower() in PEOPLE or verb_group(tokens, more.end) is None:
        return end
    return more.end


def _behind_clause(tokens: list[Token], start: int) -> tuple[int, VerbGroup] | None:
    """The main verb behind a participle or relative clause that begins at `start`, and where that clause ends."""
    inner = verb_group(tokens, start)
    if inner is None:
        return None
    thing = noun_phrase(tokens, inner.head + 1)
    end = attached(tokens, inner.head + 1 if thing is None else thing.end)
    if end == inner.head + 1:
        return None
    verb = verb_group(tokens, end)
    finite = verb is not None and (verb.auxiliary is not None or tokens[verb.head].tag != "VBG")
    return (end, verb) if finite and verb is not None else None
