"""What follows an object in a caption: what describes the object, and what belongs to the sentence as a whole."""

from video_contrast.perturbations.language import Token
from video_contrast.perturbations.language.morphology import is_noun
from video_contrast.perturbations.text.noun_phrases import NOUNS, PEOPLE, attached, noun_phrase
from video_contrast.perturbations.text.passive_object import FINITE, last_word, relative_end
from video_contrast.perturbations.text.passive_words import (
    ACTING,
    AGENT_ACTS,
    BODY,
    CLAUSES,
    CREATING,
    EXPLAINING,
    JOINING_PARTICIPLES,
    KIN,
    LANGUAGES,
    PERCEIVING,
    POSTURES,
    REMOVING,
    TELL_TO,
    TELLS_ITSELF,
    TOOLS,
    WHERE_AND_HOW,
)
from video_contrast.perturbations.text.verb_group import verb_group

_PAIRS = (["back", "and", "forth"], ["up", "and", "down"], ["over", "and", "over"])
_STAGES = frozenset(
    "stage tv television show news camera screen computer channel set street field youtube couch chair".split()  # noqa: SIM905
)


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
        if tokens[start + 1].tag == "PRP$" and thing.text.lower() not in PEOPLE:
            return False  # "walk on the ramp with their outfits"
        if tokens[start + 1].text.lower() in ("each", "one"):
            return False  # "holding hands with each other"
        end = attached(tokens, start)
        behind = {token.text.lower() for token in tokens[start:end]} & {"background", "ground", "around"}
        return not behind and head.lemma not in CREATING and tokens[end - 1].text.lower() not in TOOLS
    if (
        low == "on" and head.lemma in EXPLAINING - TELL_TO and tokens[start + 1].tag != "PRP$"
    ):  # "explains the features on a phone", not "on a stage"
        return tokens[attached(tokens, start) - 1].text.lower() not in _STAGES
    if low == "from":
        return head.lemma not in REMOVING
    if low in ("on", "in", "around") and tokens[attached(tokens, start) - 1].text.lower() in BODY:
        return False
    return thing.text.lower() in PEOPLE and low in ("in", "on", "at", "near", "behind", "around", "for")


def places_end(tokens: list[Token], start: int) -> int:
    """The end of the places and adverbs at `start`."""
    while True:
        end = attached(tokens, start)
        on = end > start and tokens[start].text.lower() == "with" and end == len(tokens) - 1
        end += on and tokens[end].text.lower() == "on"  # "with earphones on"
        while end < len(tokens) and _of_sentence(tokens[end]):
            end += 1
        if end + 1 < len(tokens) and tokens[end].text.lower() == "all" and attached(tokens, end + 1) > end + 1:
            end = attached(tokens, end + 1)  # "all over her neck"
        if [token.text.lower() for token in tokens[end : end + 2]] == ["from", "behind"]:
            end += 2
        if [token.text.lower() for token in tokens[end : end + 3]] in _PAIRS:
            end += 3
        very = end + 1 < len(tokens) and tokens[end].text.lower() in ("very", "so", "really")
        if very and tokens[end + 1].text.lower() in ("fast", "hard", "well", "loud", "slowly", "quickly", "carefully"):
            end += 2
        if end + 1 < len(tokens) and tokens[end].text.lower() == "in" and tokens[end + 1].text.lower() in LANGUAGES:
            end += 2
        if end == start:
            return start
        start = end


def _of_sentence(token: Token) -> bool:
    low = token.text.lower()
    return low in (*WHERE_AND_HOW, "forward") or (token.tag == "RB" and low.endswith("ly"))


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
    if topic and start > first and start < len(tokens) and tokens[start].text.lower() == "about":
        start = places_end(tokens, attached(tokens, start, frozenset(("about",))))
    if start == len(tokens) or tokens[start].text in (".", "!"):
        return True
    low = tokens[start].text.lower()
    after = tokens[start + 1] if start + 1 < len(tokens) else None
    if low in ("because", "like") and after is not None:  # "because of the rain", "like a star"
        behind = noun_phrase(tokens, start + 1 + (low == "because" and after.text.lower() == "of"))
        if behind is not None and attached(tokens, behind.end) == last_word(tokens):
            return True
    if low == "while" and places_end(tokens, start + 1) == last_word(tokens):
        return True  # "while on the water"
    if topic and low in ("if", "whether") and not any(t.text.lower() in ("and", "then") for t in tokens[start:]):
        return True  # "asks children if they are hungry"
    if tokens[start].tag == "VBG" and _agent_does(tokens, first, start):
        return True
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


def _agent_does(tokens: list[Token], first: int, start: int) -> bool:
    """Whether what the participle at `start` says is done by the agent: "playing a game building a fireplace"."""
    last = last_word(tokens)
    plain = not any(t.tag in FINITE or t.text.lower() in (*CLAUSES, ",", "then") for t in tokens[start:last])
    if start > first and plain:  # whoever does it stands in front of it as before: "with people watching"
        return True
    if last <= start + 1:
        return False
    thing = noun_phrase(tokens, start + 1 + (tokens[start + 1].tag == "RP"))
    verbs = [place for place in range(first) if tokens[place].tag[:2] == "VB"]
    compound = tokens[start + 1].tag == "NN" and is_noun(tokens[start].text)  # "wood flooring installation"
    if compound or not verbs or tokens[verbs[-1]].lemma in PERCEIVING or not is_noun(tokens[start - 1].text):
        return False
    words = {token.text.lower() for token in tokens[verbs[-1] : start]}
    acts = words & (ACTING | PEOPLE | KIN) or tokens[start].lemma in TELLS_ITSELF | POSTURES or "with" in words
    return plain and not acts and thing is not None and tokens[start - 1].tag in NOUNS


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
