"""Active captions made passive by rules: subject, verb, object, rest -> object, is verbed, by subject, rest.

A caption is turned only where all of it fits a pattern that the rules know; every other caption stays as it is, since
half a passive ("added by in a kitchen someone") is no natural rewriting. The checkpoint form is in `style`.
"""

from video_contrast.perturbations.language import Token, verb_tags
from video_contrast.perturbations.text.imperative import imperatives, participle, passive_imperative
from video_contrast.perturbations.text.noun_phrases import PEOPLE, PREPOSITIONS, NounPhrase, attached, noun_phrase
from video_contrast.perturbations.text.passive_words import (
    AGENT_ACTS,
    ALONE,
    CLAUSES,
    EXPLAINING,
    FRONTS,
    HAD,
    IDIOMS,
    NO_PASSIVE,
    PARTICLES,
    RECIPROCAL,
    REMOVING,
    ROUTES,
    ROUTES_THROUGH,
    SEPARABLE,
    TELLING,
    TOOLS,
    TWO_OBJECTS,
    WHERE_AND_HOW,
    WITH_PREPOSITION,
)
from video_contrast.perturbations.text.verb_group import (
    VerbGroup,
    clause_start,
    further_verb,
    inner_clauses,
    subject_and_verb,
    verb_group,
)

_AFTER = {"i": "me", "he": "him", "she": "her", "we": "us", "they": "them"}
_BEFORE = {"me": "I", "him": "he", "her": "she", "us": "we", "them": "they"}


def passive(caption: str, tokens: list[Token]) -> str:
    """The caption in the passive; unchanged where the rules are not sure of its subject, verb, object and rest.

    >>> from video_contrast.perturbations.language import tag
    >>> passive("a little girl does gymnastics", tag(["a little girl does gymnastics"], tagger="hanta")[0])
    'gymnastics is done by a little girl'
    """
    orders = imperatives(tokens)
    if orders:
        return passive_imperative(caption, tokens, orders)
    there = [token.text.lower() for token in tokens[:2]] in (["there", "is"], ["there", "are"])
    whole = _there(caption, tokens) if there else _clause(caption, tokens, clause_start(tokens))
    if whole is not None:
        return whole
    for start in inner_clauses(tokens):
        inner = _clause(caption, tokens, start)
        if inner is not None:
            return inner
    return caption


def _there(caption: str, tokens: list[Token]) -> str | None:
    """ "there is a man singing a song": there is a song being sung by a man."""
    read = subject_and_verb(tokens, 2)
    if read is None or read[1].auxiliary is not None or tokens[read[1].head].tag != "VBG":
        return None
    thing = _object(tokens, read[1])
    done = _clause(caption, tokens, 2)
    if thing is None or done is None:
        return None
    return f"{caption[: tokens[0].end]} {_be(False, tokens, thing[1])} {done[tokens[2].start :]}"


def _object(tokens: list[Token], verb: VerbGroup) -> tuple[str, NounPhrase] | None:
    """The particle or preposition of a verb and its object, where the two make a passive."""
    particle, at = _particle(tokens, verb.head)
    thing = _how_to(tokens, at) if tokens[verb.head].lemma in EXPLAINING else None
    thing = thing or noun_phrase(tokens, at)
    if thing is None or thing.plural is None or not _can(tokens, verb, thing, particle):
        return None
    first = tokens[at].text.lower()
    if first == "i" or (tokens[at].tag == "PRP" and verb.auxiliary is None and tokens[verb.head].tag == "VBG"):
        return None  # "she being watched"
    if tokens[verb.head].lemma == "put" and not particle and attached(tokens, thing.end) == thing.end:
        return None  # "puts an injection"
    if first in PREPOSITIONS or (particle and (first in FRONTS or tokens[thing.head].text.lower() in FRONTS)):
        return None  # "along" that is read as an adverb; "sits in front of a wall", "shoots at a distance"
    return particle, thing


def _clause(caption: str, tokens: list[Token], lead: int) -> str | None:
    """The caption with the clause that begins at `lead` and ends it in the passive; None where the rules do not fit."""
    read = subject_and_verb(tokens, lead)
    if read is None:
        return None
    subject_end, verb = read
    further = further_verb(tokens, verb)  # "is singing and playing a guitar": by someone who is singing
    clause = _object(tokens, verb)
    relative = ""
    shared = further is not None and _shares_object(tokens, verb, further.joint)
    if clause is None and further is not None and not shared:  # "chopping and wrapping up food" is both of the food
        relative = caption[tokens[verb.head].start : tokens[further.joint - 1].end]
        first, verb = verb, further.verb
        clause = _object(tokens, verb)
        if clause is not None and tokens[clause[1].start].tag == "PRP":
            return None  # "it is being folded by a woman who is taking a chair apart"
    if clause is None:
        return None
    particle, thing = clause
    head, at = tokens[verb.head], thing.start
    someone = tokens[thing.head].text.lower() in PEOPLE or thing.end == thing.start + 1
    about = frozenset(("between",) if head.lemma in TELLING and someone else ("about", "between"))
    end = _relative(tokens, attached(tokens, thing.end, about))
    behind = tokens[end].text.lower() if end < len(tokens) else ""
    last_word = tokens[attached(tokens, end) - 1].text.lower()
    company = particle and behind == "with" and last_word in PEOPLE | {"wife", "husband", "friend", "friends", "dog"}
    of_topic = particle == "about" and behind in ("in", "on", "from", "with", "for", "at")
    if of_topic or (not company and behind != "for" and _tells_of_object(tokens, end, tokens[thing.head], head)):
        end = attached(tokens, end)
    moved = _moved_particle(tokens, head, end) if not particle else ""
    rest = end + bool(moved)
    for_whom = rest < len(tokens) and tokens[rest].text.lower() == "for"
    if for_whom and tokens[thing.head].text.lower() in PEOPLE:
        return None
    people = any(token.text.lower() in PEOPLE for token in tokens[lead:subject_end])
    last = len(tokens) if _rest_is_safe(tokens, rest, people) else -1
    if last < 0 and not relative and further is not None and _places(tokens, rest) == further.joint:
        last = further.joint
        relative = caption[further.start :].rstrip(" .")
        first = verb
    if last < 0:
        return None
    subject = caption[tokens[lead].start : tokens[subject_end - 1].end]
    agent = _AFTER.get(subject.lower(), subject if tokens[lead].tag.startswith("NNP") else _lower_first(subject))
    words = caption[tokens[at].start : tokens[end - 1].end]
    group = " ".join(word for word in (*_group(tokens, verb, thing), particle, moved) if word)
    done = f"{_BEFORE.get(words.lower(), words)} {group}"
    if relative:
        who = _who(tokens, lead, subject_end, first)
        if who is None:
            return None
        places = _places(tokens, rest)
        done += f"{caption[tokens[rest - 1].end : tokens[places - 1].end]} by {agent} {who}{relative}"
        done += caption[tokens[places - 1].end :] if last == len(tokens) else ""
    else:
        done += f" by {agent}{caption[tokens[rest - 1].end :]}"
    if not lead and caption[:1].isupper():
        done = done[:1].upper() + done[1:]
    return caption[: tokens[lead].start] + done


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


def _particle(tokens: list[Token], head: int) -> tuple[str, int]:
    """The particle or preposition that stays with the verb ("" if none), and where its object begins."""
    at = head + 1
    if at < len(tokens):
        low = tokens[at].text.lower()
        lemma = tokens[head].lemma
        particle = tokens[at].tag == "RP" and low in PARTICLES and lemma not in ROUTES  # "drives down the road"
        if particle or low in prepositions_of(lemma):
            return low, at + 1
    return "", at


def prepositions_of(verb: str) -> tuple[str, ...]:
    """The prepositions with which a verb has a passive: "the stairs are walked down"."""
    return WITH_PREPOSITION.get(verb, ()) + (ROUTES_THROUGH if verb in ROUTES else ())


def _how_to(tokens: list[Token], at: int) -> NounPhrase | None:
    """ "how to fold a plane", "why he left", "flying a plane", to the end of the caption, as what is explained."""
    end = _last(tokens)
    words = tokens[at + 1 : end]
    first = tokens[at].text.lower() if words else ""
    verbs = sum(token.tag in ("VBZ", "VBP", "VBD", "MD") for token in words)
    most = 0 if first == "how" and words[0].text.lower() == "to" else 1 if first in ("how", "why", "what") else -1
    if first.endswith("ing") and tokens[at].tag == "VBG":
        most = 0
    other = verbs > most or any(t.text.lower() in (*CLAUSES, "and", ",", ".", "that", "who") for t in words)
    return NounPhrase(at, end, at, False) if words and not other else None


def _relative(tokens: list[Token], at: int) -> int:
    """The end of a relative clause that ends the caption ("that looks red", "he is playing"); else `at` itself."""
    if at + 1 >= len(tokens):
        return at
    end = _last(tokens)
    if tokens[at].tag in ("WDT", "WP") or tokens[at].text.lower() == "that":
        one = sum(token.tag in ("VBZ", "VBP", "VBD", "MD") for token in tokens[at + 1 : end]) == 1
        more = any(token.text.lower() in (*CLAUSES, "and", ",") for token in tokens[at + 1 : end])
        return end if one and not more and verb_group(tokens, at + 1) is not None else at
    if tokens[at].tag == "PRP":
        verb = verb_group(tokens, at + 1)
        return end if verb is not None and verb.head + 1 == end else at
    return at


def _last(tokens: list[Token]) -> int:
    """The number of tokens without a full stop at the end."""
    return len(tokens) - (bool(tokens) and tokens[-1].text in (".", "!"))


def _can(tokens: list[Token], verb: VerbGroup, thing: NounPhrase, particle: str) -> bool:
    """Whether verb and object make a passive."""
    lemma = tokens[verb.head].lemma
    if "VBN" not in verb_tags(participle(lemma)):
        return False
    if lemma == "have" and tokens[thing.head].text.lower() in HAD:
        return tokens[thing.start].tag in ("DT", "NNS") or thing.end == thing.start + 1
    if lemma in NO_PASSIVE and particle not in prepositions_of(lemma):
        return False
    words = [token.text.lower() for token in tokens[thing.start : thing.end]]
    if words[-1].endswith(("self", "selves")) or " ".join(words).startswith(RECIPROCAL):
        return False
    if len(words) == 1 and words[0] in IDIOMS:
        return False
    if lemma in TWO_OBJECTS and any(word in PEOPLE or word in _BEFORE for word in words[:-1]):
        return False  # "offers a girl alcohol"
    # "plays a guitar and a woman in a hat ...": who is joined to what is not known
    joined = [n for n, word in enumerate(words) if word in ("and", "&", ",")]
    return not joined or (tokens[thing.head].text.lower() in PEOPLE) == any(
        word in PEOPLE for word in words[joined[0] :]
    )


def _moved_particle(tokens: list[Token], head: Token, at: int) -> str:
    """The particle behind the object that moves up to the verb: "takes his hat off"."""
    if at >= len(tokens) or head.lemma not in SEPARABLE or tokens[at].text.lower() not in PARTICLES:
        return ""
    following = tokens[at + 1] if at + 1 < len(tokens) else None
    ends = following is None or following.text in (".", "!") or following.text.lower() in (*CLAUSES, "with", "in")
    return tokens[at].text.lower() if ends else ""


def _tells_of_object(tokens: list[Token], start: int, thing: Token, head: Token) -> bool:
    """Whether the phrase behind the object may describe it and would describe the agent: "sees a man in a red hat"."""
    if start >= len(tokens) or attached(tokens, start) == start:
        return False
    low = tokens[start].text.lower()
    if low == "with":
        return tokens[attached(tokens, start) - 1].text.lower() not in TOOLS
    if low == "from":
        return head.lemma not in REMOVING
    return thing.text.lower() in PEOPLE and low in ("in", "on", "at", "near", "behind", "around", "for")


def _places(tokens: list[Token], start: int) -> int:
    """The end of the places and adverbs at `start`."""
    while True:
        end = attached(tokens, start)
        while end < len(tokens) and _of_sentence(tokens[end]):
            end += 1
        if end == start:
            return start
        start = end


def _of_sentence(token: Token) -> bool:
    low = token.text.lower()
    return low in WHERE_AND_HOW or (token.tag == "RB" and low.endswith("ly"))


def _rest_is_safe(tokens: list[Token], start: int, people: bool) -> bool:
    """Whether what follows the object belongs to the sentence as a whole: places, adverbs, then maybe a clause."""
    start = _places(tokens, start)
    if start == len(tokens) or tokens[start].text in (".", "!"):
        return True
    low = tokens[start].text.lower()
    after = tokens[start + 1] if start + 1 < len(tokens) else None
    thing = tokens[start - 1].text.lower() not in PEOPLE
    if (low in AGENT_ACTS and tokens[start].tag == "VBG" and thing and people) or (
        low == "while" and after is not None and after.tag == "VBG"
    ):
        return True  # what the agent does, and the agent stands right in front of it
    if low in CLAUSES:
        following = noun_phrase(tokens, start + 1)
        return following is not None and verb_group(tokens, attached(tokens, following.end)) is not None
    return low == "to" and after is not None and after.tag == "VB"


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
