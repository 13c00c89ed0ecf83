"""The verb that has the object where the first verb has none: "is going to play", "sits on a bed playing a guitar"."""

from typing import NamedTuple

from video_contrast.perturbations.language import Token, inflect
from video_contrast.perturbations.text.noun_phrases import PEOPLE, attached, noun_phrase
from video_contrast.perturbations.text.passive_rest import places_end
from video_contrast.perturbations.text.passive_words import PARTICLES, POSTURES
from video_contrast.perturbations.text.verb_group import VerbGroup, subject_and_verb

_BE = ("is", "are", "was", "were")
# What shows or plays things itself: "a man stands by a screen showing a map".
_SHOWING = frozenset(
    """screen tv television monitor computer board sign picture pictures poster camera video machine radio hat shirt
    dress band music""".split()  # noqa: SIM905
)

_MADE_FOR = frozenset("board pan pin pool bowl room machine chair suit shoes table stand ground".split())  # noqa: SIM905
_HOLDING = frozenset("hold contain carry show cover play".split())  # noqa: SIM905


class Second(NamedTuple):
    """A participle behind a first verb and its places, and the agent's words for that first verb (" on a bed").

    `tense` is that of the first verb ("VBZ", "VBD"), "" where both are bare participles; `shown` stands before "being".
    """

    subject_end: int
    verb: VerbGroup
    tense: str
    tail: str
    shown: str = ""


def planned(tokens: list[Token], verb: VerbGroup) -> VerbGroup:
    """The verb behind "going to", if that is what `verb` is: "is going to play a trick"."""
    head = verb.head
    if verb.auxiliary is None or tokens[verb.auxiliary].lemma != "be" or tokens[head].text.lower() != "going":
        return verb
    follows = [token.tag for token in tokens[head + 1 : head + 3]]
    return verb._replace(head=head + 2, plan="going to") if follows == ["TO", "VB"] else verb


def second_verb(caption: str, tokens: list[Token], lead: int) -> Second | None:
    """The participle that follows the first verb and nothing but places: "is in the kitchen | making".

    Args:
        caption: the text.
        tokens: of the caption.
        lead: where the subject begins.
    """
    read = subject_and_verb(tokens, lead)
    if read is None:
        return _behind_be(caption, tokens, lead)
    subject_end, first = read
    if tokens[lead].tag == "PRP" or first.adverbs or (tokens[first.head].lemma in ("be", "have", "go")):
        return None
    auxiliary = None if first.auxiliary is None else tokens[first.auxiliary]
    if auxiliary is not None and auxiliary.text.lower() not in _BE:
        return None
    finite = auxiliary or tokens[first.head]
    tense = "VBD" if finite.tag == "VBD" else "" if finite.tag == "VBG" else "VBZ"
    at = first.head + 1
    if at < len(tokens) and tokens[at].text.lower() == "by":
        return None  # "followed by a shot of a stream running down"
    down = at + 1 < len(tokens) and tokens[at].text.lower() in PARTICLES  # "is lying down", "run around inspecting"
    down = down and (tokens[at].tag in ("RP", "RB") or tokens[at + 1].tag == "VBG")
    place = places_end(tokens, at + down)
    joined = place < len(tokens) and tokens[place].text.lower() == "while"
    verb = _participle(tokens, place + joined)
    if verb is None or (not joined and (place == at or not _of_subject(tokens, at, place))):
        return None
    if joined:  # "a video game is being played by a streamer who entertains"
        who = agent_clause(tokens, lead, first)
        last = caption[tokens[first.head].start : tokens[place - 1].end]
        return None if who is None else Second(subject_end, verb, tense, f" {who}{last}")
    doing = tokens[first.head].text if tokens[first.head].tag == "VBG" else inflect(tokens[first.head].lemma, "VBG")
    tail = f" {doing}{caption[tokens[first.head].end : tokens[place - 1].end]}"
    return Second(subject_end, verb, tense, tail)


def agent_clause(tokens: list[Token], start: int, verb: VerbGroup) -> str | None:
    """What joins a relative clause to the agent: "who is ", "that ", "" before a bare participle; None for pronouns.

    Args:
        tokens: of the caption.
        start: where the agent begins.
        verb: the verb of the clause.
    """
    if tokens[start].tag == "PRP" or verb.adverbs:
        return None
    if verb.auxiliary is None and tokens[verb.head].tag == "VBG":
        return ""
    phrase = noun_phrase(tokens, start)
    people = phrase is not None and (tokens[phrase.head].text.lower() in PEOPLE or phrase.end > phrase.head + 1)
    pronoun = "who " if people else "that "
    if verb.auxiliary is None:
        return pronoun
    auxiliary = tokens[verb.auxiliary].text
    if auxiliary not in ("is", "are", "was", "were"):
        return None
    return f"{pronoun}{auxiliary} " if people else ""  # "by a dog running through a park"


def _behind_be(caption: str, tokens: list[Token], lead: int) -> Second | None:
    """ "someone is in the kitchen making food": by someone in the kitchen."""
    subject = noun_phrase(tokens, lead)
    if subject is None or tokens[lead].tag == "PRP":
        return None
    end = attached(tokens, subject.end)
    if end >= len(tokens) or tokens[end].text.lower() not in _BE:
        return None
    shown = end + 1 < len(tokens) and tokens[end + 1].text.lower() in ("shown", "seen", "filmed")
    if shown:  # "hands are shown folding paper": paper is shown being folded by hands
        verb = _participle(tokens, end + 2)
        return None if verb is None else Second(end, verb, tokens[end].tag, "", shown=tokens[end + 1].text + " ")
    place = places_end(tokens, end + 1)
    joint = place + (place < len(tokens) and tokens[place].text.lower() == "and")  # "is in the kitchen and (is) using"
    joint += joint > place and joint < len(tokens) and tokens[joint].text.lower() in _BE
    verb = _participle(tokens, joint)
    if place == end + 1 or verb is None or not _of_subject(tokens, end + 1, place):
        return None
    return Second(end, verb, tokens[end].tag, caption[tokens[end].end : tokens[place - 1].end])


def _participle(tokens: list[Token], place: int) -> VerbGroup | None:
    if place >= len(tokens) - 1 or tokens[place].tag != "VBG" or tokens[place].lemma in POSTURES:
        return None
    compound = tokens[place - 1].tag in ("NN", "JJ") and tokens[place + 1].text.lower() in _MADE_FOR
    return None if compound else VerbGroup(None, (), place)  # "on a wood cutting board"


def _of_subject(tokens: list[Token], start: int, end: int) -> bool:
    """Whether nothing in the places from `start` to `end` could be what does the second verb."""
    words = {token.text.lower() for token in tokens[start:end]} | {token.lemma for token in tokens[start:end]}
    if tokens[start].text.lower() == "at":
        words -= _SHOWING  # "sits at a computer playing a game"
    if "with" in words and end < len(tokens) and tokens[end].lemma in _HOLDING:
        return False  # "stands in an office with desks holding monitors"
    return not words & (PEOPLE | _SHOWING) and not any(token.tag == "PRP" for token in tokens[start:end])
