"""Clauses of captions: subject, the words of its verb, a further verb behind "and", clauses inside a caption."""

from collections.abc import Iterator
from typing import NamedTuple

from video_contrast.perturbations.language import Token, verb_tags
from video_contrast.perturbations.text.noun_phrases import PEOPLE, PREPOSITIONS, attached, noun_phrase

_SAYING = frozenset(
    "say tell reveal explain describe show claim state report note think believe ask see".split()  # noqa: SIM905
)
_FINITE = ("VBZ", "VBP", "VBD", "MD")
_OPENING = frozenset(
    ("while", "as", "when", "where", "because", "how", "why", "that", "if")
)  # a clause with a verb of its own
_SHOWING = frozenset(
    """video videos clip clips footage scene scenes image images picture pictures photo photos montage animation cartoon
    commercial advertisement ad trailer movie film documentary view recording episode demonstration tutorial vine
    show""".split()  # noqa: SIM905
)
_CROWDS = frozenset("bunch crowd number lot pair panel series gang pack".split())  # noqa: SIM905
_SHOWS = frozenset("showing shows of about with featuring features depicting".split())  # noqa: SIM905


OBJECT_PRONOUNS = frozenset(("me", "him", "her", "us", "them"))


class VerbGroup(NamedTuple):
    """The words of a verb: its auxiliary's place (None: alone), adverbs in front of the verb, the verb's own place.

    `plan`: "going to" or "about to" between the two.
    """

    auxiliary: int | None
    adverbs: tuple[str, ...]
    head: int
    plan: str = ""


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
        planned = [t.tag for t in tokens[place + 1 : place + 3]] == ["TO", "VB"]
        if auxiliary is not None and token.text.lower() == "about" and planned:
            return VerbGroup(auxiliary, tuple(adverbs), place + 2, "about to")
        if (
            token.tag.startswith("RB") and tokens[place - 1].tag != "PRP$" and token.text.lower() != "here"
        ) or token.text.lower() in (
            "n't",
            "n’t",
            "not",
        ):
            adverbs.append("not" if token.text.lower() in ("n't", "n’t") else token.text)
        elif auxiliary is None and token.tag in ("VBZ", "VBP", "VBD", "MD") and token.lemma in _helped(token):
            auxiliary, tags = place, _helped(token)[token.lemma]
        elif place == (auxiliary or 0) + 1 and auxiliary is not None and _slips(tokens, place):
            return VerbGroup(auxiliary, tuple(adverbs), place)  # "is drive a car"
        elif token.tag in tags and verb_tags(token.text) and token.text.lower() not in PREPOSITIONS:
            return VerbGroup(auxiliary, tuple(adverbs), place)
        else:
            break
        place += 1
    if auxiliary is not None and tokens[auxiliary].lemma == "have" and not adverbs:
        return VerbGroup(None, (), auxiliary)  # "two people have a conversation"
    return None


def _slips(tokens: list[Token], place: int) -> bool:
    """Whether a verb form can only be meant as the one in -ing: "is drive a car", "is puts a lid on"."""
    behind = tokens[place + 1].tag if place + 1 < len(tokens) else ""
    be = tokens[place - 1].text.lower() in ("is", "are")
    return (
        be
        and tokens[place].tag in ("VB", "VBP", "VBZ")
        and behind in ("DT", "PRP$")
        and bool(verb_tags(tokens[place].text))
    )


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
    shown = form == "VBG" and (first.auxiliary is None or tokens[first.auxiliary].tag in ("VBZ", "VBP"))
    finite = ("VBZ", "VBP") if shown else ()  # "writing a letter and adds a drawing"
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
        bare = any(token.tag == "TO" for token in tokens[first.head : place]) and tokens[head : head + 1] != []
        if bare and tokens[head].tag == "VB":
            return None  # "explains to log on and win a prize"
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
        joins = low in ("and", "then") and any(t.tag in (*_FINITE, "VBG") for t in tokens[:place])
        start = place + 1 + (low == "and" and tokens[place + 1].text.lower() == "then")
        joins = joins and not tokens[place - 1].tag.startswith(("JJ", "DT"))  # "in a black and white jacket"
        subject = noun_phrase(tokens, start) if shown or joins or low in _OPENING else None
        if low == "with" and not shown:  # "a game with voices providing commentary"
            subject = noun_phrase(tokens, start)
            shown = subject is not None and tokens[subject.head].text.lower() in PEOPLE
            subject = subject if shown else None
        if subject is None or (low == "as" and tokens[place - 1].tag in ("VBN", "VBD", "JJ", "RB")):
            continue  # "dressed as", "as well as"
        if low in ("that", "if") and (tokens[place - 1].lemma not in _SAYING or tokens[start].text.lower() == "it"):
            continue
        head = tokens[subject.head]
        verb = verb_group(tokens, subject.end)
        if verb is None:
            continue
        if shown and head.text.lower() not in PEOPLE and head.tag != "NNS":  # "a video of a laser etching factory"
            behind = tokens[verb.head + 1] if verb.head + 1 < len(tokens) else None
            if behind is None or (
                behind.tag not in ("DT", "PRP$", "CD") and behind.text.lower() not in ("to", "about")
            ):
                continue
        finite = verb.auxiliary is not None or tokens[verb.head].tag != "VBG"
        alone = tokens[place - 1].tag in ("VBG", "RB")  # "laughing and people drinking wine"
        if (low in _OPENING) == finite if not joins else finite or alone:
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
    on = (
        end + 1 < len(tokens) and tokens[end].text.lower() == "on" and tokens[end + 1].tag in _FINITE
    )  # "with a hat on"
    end += on
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
        person = tokens[subject.head].text.lower() in PEOPLE - {"cartoon"}
        if described and not person and _others(tokens, subject.head, end):
            return None
    return end, verb


def _others(tokens: list[Token], head: int, end: int) -> bool:
    """Whether what describes a subject could be what acts: "a scene with a man | singing", not "a horse on a field"."""
    words = [token.text.lower() for token in tokens[head:end]]
    if words[0] in _SHOWING or any(word in words for word in ("with", "s", "'s", "from", "seen", "taken", "called")):
        return True
    crowd = words[0] in _CROWDS and words[1:2] == ["of"]
    return not crowd and any(word in PEOPLE for word in words[1:])


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
    phrase = noun_phrase(tokens, inner.head + 1)
    end = attached(tokens, inner.head + 1 if phrase is None else phrase.end)
    if end == inner.head + 1:
        return None
    verb = verb_group(tokens, end)
    finite = verb is not None and (verb.auxiliary is not None or tokens[verb.head].tag != "VBG")
    return (end, verb) if finite and verb is not None else None
