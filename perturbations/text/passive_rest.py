"""What follows an object in a caption: what describes the object, and what belongs to the sentence as a whole."""

from video_contrast.perturbations.language import Token
from video_contrast.perturbations.text.noun_phrases import PEOPLE, attached, noun_phrase
from video_contrast.perturbations.text.passive_object import FINITE, last_word, relative_end
from video_contrast.perturbations.text.passive_words import (
    AGENT_ACTS,
    CLAUSES,
    JOINING_PARTICIPLES,
    LANGUAGES,
    REMOVING,
    TOOLS,
    WHERE_AND_HOW,
)
from video_contrast.perturbations.text.verb_group import verb_group


def tells_of_object(tokens: list[Token], start: int, thing: Token, head: Token) -> bool:
    """Whether the phrase behind the object may describe it and would describe the agent: "sees a man in a red hat".

    Args:
        tokens: of the caption.
        start: the index of the first token behind the object.
        thing: the head noun of the object.
        head: the verb.
    """
    if start >= len(tokens) or attached(tokens, start) == start:
        return False
    low = tokens[start].text.lower()
    if low == "with":
        return tokens[attached(tokens, start) - 1].text.lower() not in TOOLS
    if low == "from":
        return head.lemma not in REMOVING
    return thing.text.lower() in PEOPLE and low in ("in", "on", "at", "near", "behind", "around", "for")


def places_end(tokens: list[Token], start: int) -> int:
    """The end of the places and adverbs at `start`."""
    while True:
        end = attached(tokens, start)
        while end < len(tokens) and _of_sentence(tokens[end]):
            end += 1
        if end + 1 < len(tokens) and tokens[end].text.lower() == "in" and tokens[end + 1].text.lower() in LANGUAGES:
            end += 2
        if end == start:
            return start
        start = end


def _of_sentence(token: Token) -> bool:
    low = token.text.lower()
    return low in WHERE_AND_HOW or (token.tag == "RB" and low.endswith("ly"))


def rest_is_safe(tokens: list[Token], start: int, *, people: bool, topic: bool) -> bool:
    """Whether what follows the object belongs to the sentence as a whole: places, adverbs, then maybe a clause.

    Args:
        tokens: of the caption.
        start: behind the object.
        people: whether the agent is a person, who may do what follows.
        topic: whether the verb tells somebody "about" something.
    """
    if topic and start < len(tokens) and tokens[start].text.lower() == "about":
        start = attached(tokens, start, frozenset(("about",)))
    first, start = start, places_end(tokens, start)
    if start == len(tokens) or tokens[start].text in (".", "!"):
        return True
    low = tokens[start].text.lower()
    after = tokens[start + 1] if start + 1 < len(tokens) else None
    thing = tokens[start - 1].text.lower() not in PEOPLE
    if (low in AGENT_ACTS and tokens[start].tag == "VBG" and thing and people) or (
        low in JOINING_PARTICIPLES and after is not None and after.tag == "VBG"
    ):
        return True  # what the agent does, and the agent stands right in front of it
    if start > first and relative_end(tokens, start) == last_word(tokens) > start:
        return True  # "into a pot of food | that is cooking"
    if start > first and tokens[start].tag == "VBN" and attached(tokens, start + 1) == last_word(tokens) > start + 1:
        return True  # "with a gun | pointed towards people"
    return _clause_follows(tokens, start) or (low == "to" and after is not None and after.tag == "VB")


def _clause_follows(tokens: list[Token], start: int) -> bool:
    """Whether a clause with a subject of its own begins: "while music plays", "and another man sings"."""
    low = tokens[start].text.lower()
    joined = low in ("and", "then", "but")
    if not joined and low not in CLAUSES and tokens[start].tag != "WRB":
        return False
    then = joined and start + 1 < len(tokens) and tokens[start + 1].text.lower() == "then"
    subject = noun_phrase(tokens, start + 1 + then)
    if subject is None:
        return False
    if low in ("before", "after") and subject.end == last_word(tokens):
        return True  # "before an audience"
    place = attached(tokens, subject.end)
    own = place < len(tokens) and tokens[place].tag in FINITE
    return own or (not joined and verb_group(tokens, place) is not None)
