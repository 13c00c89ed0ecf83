"""Active captions made passive by rules: subject, verb, object, rest -> object, is verbed, by subject, rest.

A caption is turned only where all of it fits a pattern that the rules know; every other caption stays as it is, since
half a passive ("added by in a kitchen someone") is no natural rewriting. The checkpoint form is in `style`.
"""

from typing import NamedTuple

from video_contrast.perturbations.language import Token, inflect, verb_tags
from video_contrast.perturbations.text.imperative import imperatives, passive_imperative
from video_contrast.perturbations.text.noun_phrases import PEOPLE, PREPOSITIONS, NounPhrase, attached, noun_phrase

_AFTER = {"i": "me", "he": "him", "she": "her", "we": "us", "they": "them"}
_BEFORE = {"me": "I", "him": "he", "her": "she", "us": "we", "them": "they"}
# Verbs whose noun phrase is no object that could be the subject of a passive.
_NO_PASSIVE = frozenset(
    """be have become seem look resemble lack cost weigh go get let include contain involve stand sit lie lay pose
    smile laugh talk come fall live say like love enjoy try start begin appear happen s re m ve ll""".split()  # noqa: SIM905
)
# Verb and preposition that share a passive: "two cars are talked about".
_WITH_PREPOSITION = {
    "talk": ("about", "to", "with", "into", "of"),
    "speak": ("about", "to", "into"),
    "chat": ("with",),
    "explain": ("about",),
    "perform": ("for", "on"),
    "cheer": ("for",),
    "pose": ("for",),
    "dance": ("to", "with", "on"),
    "compete": ("in",),
    "run": ("through",),
    "ride": ("on",),
    "stand": ("on",),
    "lie": ("on",),
    "look": ("at", "for"),
    "stare": ("at",),
    "listen": ("to",),
    "work": ("on",),
    "point": ("at", "to"),
    "laugh": ("at",),
    "deal": ("with",),
    "search": ("for",),
    "wait": ("for",),
    "care": ("for",),
    "play": ("with",),
    "fight": ("with",),
    "flirt": ("with",),
    "argue": ("about",),
    "think": ("about",),
    "sing": ("about", "to"),
    "comment": ("on",),
    "sit": ("on",),
    "step": ("on",),
    "jump": ("on", "over"),
    "knock": ("on",),
    "yell": ("at",),
    "scream": ("at",),
    "wave": ("at",),
    "smile": ("at",),
    "aim": ("at",),
    "walk": ("on",),
}
_TWO_OBJECTS = frozenset("give show teach tell offer ask send hand feed serve bring buy make".split())  # noqa: SIM905
# "takes his hat off": the particle moves up to the participle.
_SEPARABLE = frozenset(
    """take put pick turn cut throw mix set pull push lift tear blend break knock bring carry hold clean wipe wash
    fold roll give peel pour move send shut open fix chop slice lock""".split()  # noqa: SIM905
)
_PARTICLES = frozenset("off on up down out away apart together back over around".split())  # noqa: SIM905
_ROUTES = frozenset(
    """run walk drive speed ride climb move jump swim fly crawl slide skate step ski travel race
    stroll""".split()  # noqa: SIM905
)
# What "with" or "from" behind an object tells of the verb and not of the object: "cuts a potato with a knife".
_TOOLS = frozenset("knife spoon fork tool brush scissors hammer machine hand hands stick camera blender".split())  # noqa: SIM905
_REMOVING = frozenset("take remove unscrew pull pour cut pick get lift throw peel drop bring".split())  # noqa: SIM905
# Idioms without a passive: "take place", "give birth".
_IDIOMS = frozenset(
    "place part turns care birth love fun way sense sure sex fire advantage notice selfies".split()  # noqa: SIM905
)
_EXPLAINING = frozenset("show explain describe demonstrate teach discuss talk speak".split())  # noqa: SIM905
_CLAUSES = frozenset(("while", "as", "when", "because", "before", "after", "until"))
_RECIPROCAL = ("each other", "one another", "another one")


class _Verb(NamedTuple):
    """The words of a verb: its auxiliary's place (None: alone), adverbs in front of the verb, the verb's own place."""

    auxiliary: int | None
    adverbs: tuple[str, ...]
    head: int


def passive(caption: str, tokens: list[Token]) -> str:
    """The caption in the passive; unchanged where the rules are not sure of its subject, verb, object and rest.

    >>> from video_contrast.perturbations.language import tag
    >>> passive("a little girl does gymnastics", tag(["a little girl does gymnastics"], tagger="hanta")[0])
    'gymnastics is done by a little girl'
    """
    orders = imperatives(tokens)
    if orders:
        return passive_imperative(caption, tokens, orders)
    lead = _lead(tokens)
    there = [token.text.lower() for token in tokens[:2]] in (["there", "is"], ["there", "are"])
    lead = 2 if there else lead
    found = _subject_and_verb(tokens, lead)
    if found is None:
        return caption
    subject_end, verb = found
    head = tokens[verb.head]
    particle, at = _particle(tokens, verb.head)
    thing = _how_to(tokens, at) if head.lemma in _EXPLAINING else None
    thing = thing or noun_phrase(tokens, at)
    if thing is None or thing.plural is None or not _can(tokens, verb, thing, particle):
        return caption
    end = _relative(tokens, attached(tokens, thing.end, frozenset(("about", "between"))))
    if _tells_of_object(tokens, end, tokens[thing.head], head) and tokens[end].text.lower() != "for":
        end = attached(tokens, end)
    moved = _moved_particle(tokens, head, end) if not particle else ""
    rest = end + bool(moved)
    for_whom = rest < len(tokens) and tokens[rest].text.lower() == "for"
    if (for_whom and tokens[thing.head].text.lower() in PEOPLE) or not _rest_is_safe(tokens, rest):
        return caption
    subject = caption[tokens[lead].start : tokens[subject_end - 1].end]
    agent = _AFTER.get(subject.lower(), subject if tokens[lead].tag.startswith("NNP") else _lower_first(subject))
    words = caption[tokens[at].start : tokens[end - 1].end]
    group = " ".join(word for word in (*_group(tokens, verb, thing), particle, moved) if word)
    done = f"{_BEFORE.get(words.lower(), words)} {group} by {agent}{caption[tokens[rest - 1].end :]}"
    if there:
        if tokens[verb.head].tag != "VBG" or verb.auxiliary is not None:
            return caption
        be = f"{caption[: tokens[0].end]} {_be(False, tokens, thing)} "
        return be + done
    if not lead and caption[:1].isupper():
        done = done[:1].upper() + done[1:]
    return caption[: tokens[lead].start] + done


def _lead(tokens: list[Token]) -> int:
    """Where the subject begins: behind an opening such as "in a kitchen" or "on the stage," (else 0)."""
    end = attached(tokens, 0)
    return end + (end > 0 and end < len(tokens) and tokens[end].text == ",")


def _subject_and_verb(tokens: list[Token], start: int) -> tuple[int, _Verb] | None:
    """The end of the subject that begins at `start`, and the verb right behind it."""
    subject = noun_phrase(tokens, start)
    if subject is None or tokens[start].text.lower() in _BEFORE:
        return None
    end = attached(tokens, subject.end)
    if end < len(tokens) and tokens[end].tag in ("WP", "WDT"):  # "the chef who is wearing a hat cuts onions"
        return _behind_clause(tokens, end + 1)
    verb = _verb(tokens, end)
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


def _behind_clause(tokens: list[Token], start: int) -> tuple[int, _Verb] | None:
    """The main verb behind a participle or relative clause that begins at `start`, and where that clause ends."""
    inner = _verb(tokens, start)
    if inner is None:
        return None
    thing = noun_phrase(tokens, inner.head + 1)
    if thing is None:
        return None
    end = attached(tokens, thing.end)
    verb = _verb(tokens, end)
    finite = verb is not None and (verb.auxiliary is not None or tokens[verb.head].tag != "VBG")
    return (end, verb) if finite and verb is not None else None


def _verb(tokens: list[Token], start: int) -> _Verb | None:
    """The verb whose words begin at `start`: "sings", "is not singing", "can sing", "has sung", or bare "singing"."""
    place, adverbs, auxiliary = start, [], None
    wanted: tuple[str, ...] = ("VBZ", "VBP", "VBD", "VBG", "VB")
    while place < len(tokens):
        token = tokens[place]
        if token.tag.startswith("RB") or token.text.lower() in ("n't", "n’t", "not"):
            adverbs.append("not" if token.text.lower() in ("n't", "n’t") else token.text)
        elif auxiliary is None and token.tag in ("VBZ", "VBP", "VBD", "MD") and token.lemma in _helped(token):
            auxiliary, wanted = place, _helped(token)[token.lemma]
        elif token.tag in wanted and verb_tags(token.text) and token.text.lower() not in PREPOSITIONS:
            return _Verb(auxiliary, tuple(adverbs), place)
        else:
            break
        place += 1
    return None


def _helped(token: Token) -> dict[str, tuple[str, ...]]:
    """Auxiliary lemma -> the tags of a verb that it can help."""
    return {token.lemma: ("VB",)} if token.tag == "MD" else {"be": ("VBG",), "have": ("VBN",)}


def _particle(tokens: list[Token], head: int) -> tuple[str, int]:
    """The particle or preposition that stays with the verb ("" if none), and where its object begins."""
    at = head + 1
    if at < len(tokens):
        low = tokens[at].text.lower()
        lemma = tokens[head].lemma
        particle = tokens[at].tag == "RP" and low in _PARTICLES and lemma not in _ROUTES  # "drives down the road"
        if particle or low in _WITH_PREPOSITION.get(lemma, ()):
            return low, at + 1
    return "", at


def _how_to(tokens: list[Token], at: int) -> NounPhrase | None:
    """ "how to fold a plane", "why he left", "flying a plane", to the end of the caption, as what is explained."""
    end = _last(tokens)
    words = tokens[at + 1 : end]
    first = tokens[at].text.lower() if words else ""
    verbs = sum(token.tag in ("VBZ", "VBP", "VBD", "MD") for token in words)
    most = 0 if first == "how" and words[0].text.lower() == "to" else 1 if first in ("how", "why", "what") else -1
    if first.endswith("ing") and tokens[at].tag == "VBG":
        most = 0
    other = verbs > most or any(t.text.lower() in (*_CLAUSES, "and", ",", ".", "that", "who") for t in words)
    return NounPhrase(at, end, at, False) if words and not other else None


def _relative(tokens: list[Token], at: int) -> int:
    """The end of a relative clause that ends the caption ("that looks red", "he is playing"); else `at` itself."""
    if at + 1 >= len(tokens):
        return at
    end = _last(tokens)
    if tokens[at].tag in ("WDT", "WP") or tokens[at].text.lower() == "that":
        one = sum(token.tag in ("VBZ", "VBP", "VBD", "MD") for token in tokens[at + 1 : end]) == 1
        more = any(token.text.lower() in (*_CLAUSES, "and", ",") for token in tokens[at + 1 : end])
        return end if one and not more and _verb(tokens, at + 1) is not None else at
    if tokens[at].tag == "PRP":
        verb = _verb(tokens, at + 1)
        return end if verb is not None and verb.head + 1 == end else at
    return at


def _last(tokens: list[Token]) -> int:
    """The number of tokens without a full stop at the end."""
    return len(tokens) - (bool(tokens) and tokens[-1].text in (".", "!"))


def _can(tokens: list[Token], verb: _Verb, thing: NounPhrase, particle: str) -> bool:
    """Whether verb and object make a passive."""
    lemma = tokens[verb.head].lemma
    if "VBN" not in verb_tags(inflect(lemma, "VBN")):
        return False
    if lemma in _NO_PASSIVE and particle not in _WITH_PREPOSITION.get(lemma, ()):
        return False
    words = [token.text.lower() for token in tokens[thing.start : thing.end]]
    if words[-1].endswith(("self", "selves")) or " ".join(words).startswith(_RECIPROCAL):
        return False
    if len(words) == 1 and words[0] in _IDIOMS:
        return False
    if lemma in _TWO_OBJECTS and any(word in PEOPLE or word in _BEFORE for word in words[:-1]):
        return False  # "offers a girl alcohol"
    # "plays a guitar and a woman in a hat ...": who is joined to what is not known
    joined = [n for n, word in enumerate(words) if word in ("and", "&", ",")]
    return not joined or (tokens[thing.head].text.lower() in PEOPLE) == any(
        word in PEOPLE for word in words[joined[0] :]
    )


def _moved_particle(tokens: list[Token], head: Token, at: int) -> str:
    """The particle behind the object that moves up to the verb: "takes his hat off"."""
    if at >= len(tokens) or head.lemma not in _SEPARABLE or tokens[at].text.lower() not in _PARTICLES:
        return ""
    following = tokens[at + 1] if at + 1 < len(tokens) else None
    ends = following is None or following.text in (".", "!") or following.text.lower() in (*_CLAUSES, "with", "in")
    return tokens[at].text.lower() if ends else ""


def _tells_of_object(tokens: list[Token], start: int, thing: Token, head: Token) -> bool:
    """Whether the phrase behind the object may describe it and would describe the agent: "sees a man in a red hat"."""
    if start >= len(tokens) or attached(tokens, start) == start:
        return False
    low = tokens[start].text.lower()
    if low == "with":
        return tokens[attached(tokens, start) - 1].text.lower() not in _TOOLS
    if low == "from":
        return head.lemma not in _REMOVING
    return thing.text.lower() in PEOPLE and low in ("in", "on", "at", "near", "behind", "around", "for")


def _rest_is_safe(tokens: list[Token], start: int) -> bool:
    """Whether what follows the object belongs to the sentence as a whole: places, adverbs, then maybe a clause."""
    while True:
        end = attached(tokens, start)
        while end < len(tokens) and tokens[end].tag == "RB" and tokens[end].text.lower().endswith("ly"):
            end += 1
        if end == start:
            break
        start = end
    if start == len(tokens) or tokens[start].text in (".", "!"):
        return True
    low = tokens[start].text.lower()
    after = tokens[start + 1] if start + 1 < len(tokens) else None
    if low == "using" or (low == "while" and after is not None and after.tag == "VBG"):
        return True  # what the agent does, and the agent stands right in front of it
    if low in _CLAUSES:
        following = noun_phrase(tokens, start + 1)
        return following is not None and _verb(tokens, attached(tokens, following.end)) is not None
    return low == "to" and after is not None and after.tag == "VB"


def _group(tokens: list[Token], verb: _Verb, thing: NounPhrase) -> list[str]:
    """The passive verb words: "is done", "was being done", "can be done", "has been done"."""
    head = tokens[verb.head]
    participle = inflect(head.lemma, "VBN")
    if verb.auxiliary is None:
        if head.tag == "VBG":  # "a man singing a song": the song being sung
            return [*verb.adverbs, "being", participle]
        return [_be(head.tag == "VBD", tokens, thing), *verb.adverbs, participle]
    first = tokens[verb.auxiliary]
    if first.tag == "MD":
        return [first.text, *verb.adverbs, "be", participle]
    if first.lemma == "have":
        had = "had" if first.tag == "VBD" else "have" if thing.plural else "has"
        return [had, *verb.adverbs, "been", participle]
    return [_be(first.tag == "VBD", tokens, thing), *verb.adverbs, "being", participle]


def _be(past: bool, tokens: list[Token], thing: NounPhrase) -> str:
    if tokens[thing.head].text.lower() == "me" and thing.end == thing.start + 1:
        return "was" if past else "am"
    if past:
        return "were" if thing.plural else "was"
    return "are" if thing.plural else "is"


def _lower_first(phrase: str) -> str:
    first, space, rest = phrase.partition(" ")
    return (first.lower() if first.istitle() and first != "I" and space else first) + space + rest
