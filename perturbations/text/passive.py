"""Active captions made passive by rules: subject, verb, object, rest -> object, is verbed, by subject, rest.

A caption is turned only where all of it fits a pattern that the rules know; every other caption stays as it is, since
half a passive ("added by in a kitchen someone") is no natural rewriting. The checkpoint form is in `style`.
"""

from video_contrast.perturbations.language import Token
from video_contrast.perturbations.text.imperative import imperatives, participle, passive_imperative
from video_contrast.perturbations.text.noun_phrases import PEOPLE, NounPhrase, attached, noun_phrase
from video_contrast.perturbations.text.passive_object import (
    FINITE,
    OBJECT_FORMS,
    how_to,
    moved_particle,
    object_end,
    object_of,
    prepositions_of,
    recipient_end,
    relative_end,
)
from video_contrast.perturbations.text.passive_rest import places_end, rest_is_safe, tells_of_object
from video_contrast.perturbations.text.passive_tags import mended
from video_contrast.perturbations.text.passive_words import ALONE, SHARING, TELLING
from video_contrast.perturbations.text.verb_group import (
    FurtherVerb,
    VerbGroup,
    clause_start,
    further_verb,
    inner_clauses,
    subject_and_verb,
)

_AFTER = {"i": "me", "he": "him", "she": "her", "we": "us", "they": "them"}


def passive(caption: str, tokens: list[Token]) -> str:
    """The caption in the passive; unchanged where the rules are not sure of its subject, verb, object and rest.

    >>> from video_contrast.perturbations.language import tag
    >>> passive("a little girl does gymnastics", tag(["a little girl does gymnastics"], tagger="hanta")[0])
    'gymnastics is done by a little girl'
    """
    orders = imperatives(tokens)
    if orders:
        return passive_imperative(caption, tokens, orders)
    tokens = mended(tokens)
    if tokens and tokens[0].tag == "VBG":
        return _without_agent(caption, tokens)
    there = [token.text.lower() for token in tokens[:2]] in (["there", "is"], ["there", "are"])
    whole = _there(caption, tokens) if there else _clause(caption, tokens, clause_start(tokens))
    if whole is not None:
        return whole
    for start in inner_clauses(tokens):
        inner = _clause(caption, tokens, start)
        if inner is not None:
            return inner
    return caption


def _without_agent(caption: str, tokens: list[Token]) -> str:
    """ "chopping onion and celery": onion and celery being chopped."""
    verb = VerbGroup(None, (), 0)
    clause = object_of(tokens, verb)
    if clause is None or any(token.tag in (*FINITE, "VBG") for token in tokens[1:]):
        return caption
    particle, thing = clause
    moved = "" if particle else moved_particle(tokens, tokens[0], thing.end)
    if not rest_is_safe(tokens, thing.end + bool(moved), people=False, topic=False):
        return caption
    words = caption[tokens[thing.start].start : tokens[thing.end - 1].end]
    done = " ".join(word for word in (words, "being", participle(tokens[0].lemma), particle, moved) if word)
    done = done[:1].upper() + done[1:] if caption[:1].isupper() else done
    return done + caption[tokens[thing.end - 1 + bool(moved)].end :]


def _there(caption: str, tokens: list[Token]) -> str | None:
    """ "there is a man singing a song": there is a song being sung by a man."""
    read = subject_and_verb(tokens, 2)
    if read is None or read[1].auxiliary is not None or tokens[read[1].head].tag != "VBG":
        return None
    thing = object_of(tokens, read[1])
    done = _clause(caption, tokens, 2)
    if thing is None or done is None:
        return None
    return f"{caption[: tokens[0].end]} {_be(False, tokens, thing[1])} {done[tokens[2].start :]}"


def _clause(caption: str, tokens: list[Token], lead: int) -> str | None:
    """The caption with the clause that begins at `lead` and ends it in the passive; None where the rules do not fit."""
    read = subject_and_verb(tokens, lead)
    if read is None:
        return None
    subject_end, verb = read
    further = further_verb(tokens, verb)  # "is singing and playing a guitar": by someone who is singing
    clause = object_of(tokens, verb)
    relative, also = "", ""
    shared = further is not None and _shares_object(tokens, verb, further.joint)
    if clause is None and further is not None and not shared:  # "chopping and wrapping up food" is both of the food
        relative = caption[tokens[verb.head].start : tokens[further.joint - 1].end]
        first, verb = verb, further.verb
        clause = object_of(tokens, verb)
        if clause is not None and tokens[clause[1].start].tag == "PRP":
            return None  # "it is being folded by a woman who is taking a chair apart"
    if clause is None and shared and further is not None and tokens[verb.head].lemma in SHARING:
        clause, also = object_of(tokens, further.verb), _also(tokens, further)
        if clause is not None and clause[0] and clause[0] != "about":
            return None  # "playing and walking on the floor"
    if clause is None:
        return None
    particle, thing = clause
    head, at = tokens[verb.head], thing.start
    someone = tokens[thing.head].text.lower() in PEOPLE or thing.end == thing.start + 1
    topic = head.lemma in TELLING or particle in ("to", "with")  # somebody is told, or talked to, about something
    about = frozenset(("between",) if topic and someone else ("about", "between"))
    described, gift_end = object_end(tokens, verb, thing), recipient_end(tokens, verb, thing)
    end = relative_end(tokens, attached(tokens, described, about))
    behind = tokens[end].text.lower() if end < len(tokens) else ""
    last_word = tokens[attached(tokens, end) - 1].text.lower()
    company = particle and behind == "with" and last_word in PEOPLE | {"wife", "husband", "friend", "friends", "dog"}
    of_topic = particle == "about" and behind in ("in", "on", "from", "with", "for", "at")
    of_verb = company or behind in ("for", "about") or (behind == "on" and head.lemma in TELLING)
    if of_topic or (not of_verb and tells_of_object(tokens, end, tokens[thing.head], head)):
        end = attached(tokens, end)
    told = how_to(tokens, end + 1) if behind in ("on", "of", "about") and end + 1 < len(tokens) else None
    end = end if told is None else told.end  # "a tutorial on how to make shoes"
    moved = moved_particle(tokens, head, end) if not particle else ""
    gift = ""
    if gift_end > thing.end and not particle:  # "gives a girl | a ring": a girl is given a ring
        end, gift = thing.end, caption[tokens[thing.end].start : tokens[gift_end - 1].end]
    rest = max(end, gift_end if gift else end) + bool(moved)
    for_whom = rest < len(tokens) and tokens[rest].text.lower() == "for"
    if for_whom and tokens[thing.head].text.lower() in PEOPLE:
        return None
    people = any(token.text.lower() in PEOPLE for token in tokens[lead:subject_end])
    last = len(tokens) if rest_is_safe(tokens, rest, people=people, topic=topic) else -1
    if last < 0 and not relative and further is not None and places_end(tokens, rest) == further.joint:
        last = further.joint
        relative = caption[further.start :].rstrip(" .")
        first = further.verb
    if last < 0:
        return None
    subject = caption[tokens[lead].start : tokens[subject_end - 1].end]
    agent = _AFTER.get(subject.lower(), subject if tokens[lead].tag.startswith("NNP") else _lower_first(subject))
    words = caption[tokens[at].start : tokens[end - 1].end]
    group = " ".join(word for word in (*_group(tokens, verb, thing), also, particle, moved, gift) if word)
    done = f"{OBJECT_FORMS.get(words.lower(), words)} {group}"
    if relative:
        who = _who(tokens, lead, subject_end, first)
        if who is None:
            return None
        places = places_end(tokens, rest)
        done += f"{caption[tokens[rest - 1].end : tokens[places - 1].end]} by {agent} {who}{relative}"
        done += caption[tokens[places - 1].end :] if last == len(tokens) else ""
    else:
        done += f" by {agent}{caption[tokens[rest - 1].end :]}"
    if not lead and caption[:1].isupper():
        done = done[:1].upper() + done[1:]
    return caption[: tokens[lead].start] + done


def _also(tokens: list[Token], further: FurtherVerb) -> str:
    """The second participle of two verbs of one object: "and then poured"."""
    between = [token.text for token in tokens[further.joint : further.verb.head] if token.tag in ("CC", "RB")]
    return " ".join([*between, participle(tokens[further.verb.head].lemma)])


def _shares_object(tokens: list[Token], verb: VerbGroup, joint: int) -> bool:
    """Whether a verb in front of "and" has the object behind it: "chopping and wrapping", "talks about and shows"."""
    if joint == verb.head + 1:
        return tokens[verb.head].lemma not in ALONE
    return tokens[joint - 1].text.lower() in prepositions_of(tokens[verb.head].lemma)


def _who(tokens: list[Token], start: int, end: int, verb: VerbGroup) -> str | None:
    """What joins a relative clause to the agent: "who is ", "that ", "" before a bare participle; None for pronouns."""
    if tokens[start].tag == "PRP" or verb.adverbs:
        return None
    if verb.auxiliary is None and tokens[verb.head].tag == "VBG":
        return ""
    subject = noun_phrase(tokens, start)
    people = subject is not None and (tokens[subject.head].text.lower() in PEOPLE or subject.end > subject.head + 1)
    pronoun = "who " if people else "that "
    if verb.auxiliary is None:
        return pronoun
    auxiliary = tokens[verb.auxiliary].text
    if auxiliary not in ("is", "are", "was", "were"):
        return None
    return f"{pronoun}{auxiliary} " if people else ""  # "by a dog running through a park"


def _group(tokens: list[Token], verb: VerbGroup, thing: NounPhrase) -> list[str]:
    """The passive verb words: "is done", "was being done", "can be done", "has been done"."""
    head = tokens[verb.head]
    done = participle(head.lemma)
    if verb.auxiliary is None:
        if head.tag == "VBG":  # "a man singing a song": the song being sung
            return [*verb.adverbs, "being", done]
        return [_be(head.tag == "VBD", tokens, thing), *verb.adverbs, done]
    first = tokens[verb.auxiliary]
    if first.tag == "MD":
        return [first.text, *verb.adverbs, "be", done]
    if first.lemma == "have":
        had = "had" if first.tag == "VBD" else "have" if thing.plural else "has"
        return [had, *verb.adverbs, "been", done]
    return [_be(first.tag == "VBD", tokens, thing), *verb.adverbs, "being", done]


def _be(past: bool, tokens: list[Token], thing: NounPhrase) -> str:
    if tokens[thing.head].text.lower() == "me" and thing.end == thing.start + 1:
        return "was" if past else "am"
    if past:
        return "were" if thing.plural else "was"
    return "are" if thing.plural else "is"


def _lower_first(phrase: str) -> str:
    first, space, rest = phrase.partition(" ")
    return (first.lower() if first.istitle() and first != "I" and space else first) + space + rest
