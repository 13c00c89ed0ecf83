"""What becomes the subject of a passive: the object with all that describes it, and what moves up to the verb."""

from typing import NamedTuple

from video_contrast.perturbations.language import Token
from video_contrast.perturbations.text.noun_phrases import PEOPLE, NounPhrase, attached
from video_contrast.perturbations.text.passive_object import (
    OBJECT_FORMS,
    how_to,
    moved_particle,
    object_end,
    recipient_end,
    relative_end,
)
from video_contrast.perturbations.text.passive_rest import tells_of_object
from video_contrast.perturbations.text.passive_words import SPEECHES, TELLING
from video_contrast.perturbations.text.verb_group import VerbGroup

BOUND = frozenset(
    """he she it they him her them his hers its their theirs himself herself itself themselves eachother other another
    others else""".split()  # noqa: SIM905
)


class Turned(NamedTuple):
    """The object of a clause: its words, its place, what moves up to the verb, and where the rest begins."""

    words: str
    thing: NounPhrase
    particle: str
    moved: str
    gift: str
    rest: int
    topic: bool


def turned_object(caption: str, tokens: list[Token], verb: VerbGroup, clause: tuple[str, NounPhrase]) -> Turned | None:
    """What becomes the subject, with all that describes it.

    Args:
        caption: the text.
        tokens: of the caption.
        verb: the verb that has the object.
        clause: its particle or preposition, and its object (`object_of`).

    Returns:
        The words and where the rest of the caption begins; None where the two cannot be told apart.
    """
    particle, thing = clause
    head, at = tokens[verb.head], thing.start
    someone = tokens[thing.head].text.lower() in PEOPLE or thing.end == thing.start + 1
    speech = tokens[thing.head].text.lower() in SPEECHES  # "gives a talk to an audience about ..."
    topic = head.lemma in TELLING or speech or particle in ("to", "with")  # somebody is told about something
    about = frozenset(("between",) if topic and (someone or particle) else ("about", "between"))
    described, gift_end = object_end(tokens, verb, thing), recipient_end(tokens, verb, thing)
    end = relative_end(tokens, attached(tokens, described, about))
    behind = tokens[end].text.lower() if end < len(tokens) else ""
    final = tokens[attached(tokens, end) - 1].text.lower()
    company = particle and behind == "with" and final in PEOPLE | {"wife", "husband", "friend", "friends", "dog"}
    of_topic = particle == "about" and behind in ("in", "on", "from", "with", "for", "at")
    shared = (behind == "with" and head.lemma in ("play", "share", "discuss")) or (
        behind == "from" and topic and not someone
    )
    of_verb = company or shared or behind in ("for", "about") or (behind == "on" and head.lemma in TELLING)
    own = tokens[at].tag != "PRP"
    if of_topic or (own and not of_verb and tells_of_object(tokens, end, tokens[thing.head], head)):
        end = attached(tokens, end)
    told = how_to(tokens, end + 1) if behind in ("on", "of", "about") and end + 1 < len(tokens) else None
    told = None if behind == "about" and topic and someone else told  # "talks to a girl | about cooking"
    end = end if told is None else told.end  # "a tutorial on how to make shoes"
    moved = moved_particle(tokens, head, end) if not particle else ""
    gift = ""
    if gift_end > thing.end and not particle:  # "gives a girl | a ring": a girl is given a ring
        end, gift = thing.end, caption[tokens[thing.end].start : tokens[gift_end - 1].end]
    rest = max(end, gift_end if gift else end) + bool(moved)
    for_whom = rest < len(tokens) and tokens[rest].text.lower() == "for"
    if for_whom and head.lemma not in TELLING and tokens[thing.head].text.lower() in PEOPLE:
        return None
    named = {token.text.lower() for token in tokens[at:end]}
    if BOUND & named and (thing.end > at + 1 or named & {"others", "another"}):
        return None  # "his hands" or "another man" would come before whom they mean
    words = caption[tokens[at].start : tokens[end - 1].end]
    subject = OBJECT_FORMS.get(words.lower(), words)
    return Turned(subject, thing, particle, moved, gift=gift, rest=rest, topic=topic)
