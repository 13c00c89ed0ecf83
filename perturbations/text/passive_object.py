"""The object of a verb in a caption: where it begins and ends, and whether the two make a passive."""

from video_contrast.perturbations.language import Token, verb_tags
from video_contrast.perturbations.text.imperative import participle
from video_contrast.perturbations.text.noun_phrases import (
    NOUNS,
    PEOPLE,
    PREPOSITIONS,
    NounPhrase,
    attached,
    noun_phrase,
)
from video_contrast.perturbations.text.passive_parsed.words import SAID_OF
from video_contrast.perturbations.text.passive_words import (
    ALONE,
    CLAUSES,
    EXPLAINING,
    FRONTS,
    HAD,
    IDIOMS,
    NO_PASSIVE,
    OFF_PLACES,
    OPENED,
    PARTICLES,
    PERCEIVING,
    PUTTING,
    RECIPROCAL,
    ROUTES,
    SEPARABLE,
    TWO_OBJECTS,
    WHERE_AND_HOW,
)
from video_contrast.perturbations.text.verb_group import VerbGroup

FINITE = ("VBZ", "VBP", "VBD", "MD")
_NO_GIFT = frozenset("s 's ’s and or of , in on".split())  # noqa: SIM905  behind a person to whom nothing is given
BOUND = frozenset(  # what stands for someone who is named elsewhere
    """he she it they him her them his hers its their theirs himself herself itself themselves eachother other another
    others else""".split()  # noqa: SIM905
)
OBJECT_FORMS = {"me": "I", "him": "he", "her": "she", "us": "we", "them": "they"}


def object_of(tokens: list[Token], verb: VerbGroup) -> tuple[str, NounPhrase] | None:
    """The particle or preposition of a verb and its object, where the two make a passive."""
    particle, at = particle_of(tokens, verb.head)
    thing = how_to(tokens, at) if tokens[verb.head].lemma in EXPLAINING else None
    thing = thing or _phrase(tokens, at, verb)
    if thing is None or thing.plural is None or not _can(tokens, verb, thing, particle):
        return None
    first = tokens[at].text.lower()
    if (
        particle == "with"
        and thing.end < len(tokens)
        and tokens[thing.end].text.lower() in ("behind", "around", "beside")
    ):
        return None  # "talks with different cars behind him"
    if particle in PARTICLES and particle not in prepositions_of(tokens[verb.head].lemma) and _is_place(tokens, thing):
        return None  # "scurries off screen"
    if first in WHERE_AND_HOW and thing.end == thing.start + 1:
        return None  # "driving fast"
    if first == "i" or (tokens[at].tag == "PRP" and verb.auxiliary is None and tokens[verb.head].tag == "VBG"):
        return None  # "she being watched"
    if tokens[verb.head].lemma == "put" and not particle:
        return None  # "puts an injection"
    if first in PREPOSITIONS or (particle and (first in FRONTS or tokens[thing.head].text.lower() in FRONTS)):
        return None  # "along" that is read as an adverb; "sits in front of a wall", "shoots at a distance"
    return particle, thing


def _is_place(tokens: list[Token], thing: NounPhrase) -> bool:
    return tokens[thing.head].text.lower() in OFF_PLACES and thing.end <= thing.start + 2


def _phrase(tokens: list[Token], at: int, verb: VerbGroup) -> NounPhrase | None:
    """The noun phrase at `at`; what "and" joins is left to a clause of its own: "a guitar and a woman is singing"."""
    whole = noun_phrase(tokens, at)
    if whole is None or tokens[verb.head].lemma in PERCEIVING:
        return whole
    behind = attached(tokens, whole.end)
    own = behind < len(tokens) and tokens[behind].tag in ("VBZ", "VBP", "VBD", "MD")
    alone = noun_phrase(tokens, at, joined=False)
    if behind < len(tokens) and tokens[behind].tag in ("VBN", "VBG") and alone is not None and alone.end < whole.end:
        return None  # "a path and an ambulance parked on the side": run down?
    return alone if own else whole


def particle_of(tokens: list[Token], head: int) -> tuple[str, int]:
    """The particle or preposition that stays with the verb ("" if none), and where its object begins."""
    at = head + 1
    if at < len(tokens):
        low = tokens[at].text.lower()
        lemma = tokens[head].lemma
        alone = lemma in ROUTES or lemma in ALONE  # "drives down the road", "dances out"
        particle = tokens[at].tag == "RP" and low in PARTICLES and not alone
        if lemma == "take" and [token.text.lower() for token in tokens[at : at + 2]] == ["care", "of"]:
            return "care of", at + 2  # "a baby is taken care of"
        begins = at + 1 < len(tokens) and tokens[at + 1].tag in ("DT", "PRP$", "CD", "JJ")
        apart = low in ("away", "together", "apart", "off") and (lemma in SEPARABLE or (lemma, low) == ("show", "off"))
        begins = begins or (lemma == "put" and at + 1 < len(tokens) and tokens[at + 1].tag in NOUNS)
        particle = particle or (begins and ((lemma, low) in PUTTING or apart or (low == "open" and lemma in OPENED)))
        if particle or low in prepositions_of(lemma):
            return low, at + 1
    return "", at


def prepositions_of(verb: str) -> tuple[str, ...]:
    """The prepositions with which a verb has a passive: "is talked about"; nobody says "a track is raced around"."""
    return SAID_OF.get(verb, ())


def how_to(tokens: list[Token], at: int) -> NounPhrase | None:
    """ "how to fold a plane", "why he left", "flying a plane", to the end of the caption, as what is explained."""
    end = last_word(tokens)
    words = tokens[at + 1 : end]
    first = tokens[at].text.lower() if at < end else ""
    verbs = sum(token.tag in ("VBZ", "VBP", "VBD", "MD") for token in words)
    to = first == "how" and words and words[0].text.lower() == "to"
    most = 0 if to else 1 if first in ("how", "why", "what", "where") else -1
    if first.endswith("ing") and tokens[at].tag == "VBG":
        most = 0
    other = verbs > most or any(t.text.lower() in (*CLAUSES, "and", ",", ".", "that", "who") for t in words)
    return NounPhrase(at, end, at, False) if (words or first.endswith("ing")) and not other else None


def last_word(tokens: list[Token]) -> int:
    """The number of tokens without a full stop at the end."""
    return len(tokens) - (bool(tokens) and tokens[-1].text in (".", "!"))


def _can(tokens: list[Token], verb: VerbGroup, thing: NounPhrase, particle: str) -> bool:
    """Whether verb and object make a passive."""
    lemma = tokens[verb.head].lemma
    if "VBN" not in verb_tags(participle(lemma)):
        return False
    if lemma == "have" and tokens[thing.head].text.lower() in HAD:
        return tokens[thing.start].tag in ("DT", "NNS") or thing.end == thing.start + 1
    said = lemma == "say" and tokens[thing.head].lemma in ("thing", "word", "something")
    if lemma in NO_PASSIVE and not said and particle not in prepositions_of(lemma):
        return False
    words = [token.text.lower() for token in tokens[thing.start : thing.end]]
    if words[-1].endswith(("self", "selves")) or " ".join(words).startswith(RECIPROCAL):
        return False
    if words[-1] == "make" and thing.end < len(tokens) and tokens[thing.end].text.lower() == "up":
        return False  # "does a make up challenge"
    if words[-1] == "way" and tokens[thing.start].tag == "PRP$":
        return False  # "work their way up"
    if words[0] in IDIOMS and words[1:2] in ([], ["of"]):
        return False
    bare = tokens[thing.start].tag in NOUNS and thing.start == verb.head + 1
    tags = [token.tag for token in tokens[thing.start : thing.end]]
    if lemma in TWO_OBJECTS and not particle and tags[0] == "PRP$" and tags[-2:] == ["NN", "NNS"]:
        return False  # "teaching their dog tricks"
    if tokens[verb.head].tag == "VBD" and bare and not thing.plural:
        return False  # "a green plant covered hillside"
    if len(words) > 1 and words[-2] in PEOPLE and words[-1] in ALONE | {"play", "read", "drive", "lecture"}:
        return False  # "listens to a man talk"
    last = words[-1] in PEOPLE and "and" in words  # "tells a man and woman about something"
    if (
        lemma in TWO_OBJECTS
        and not last
        and any(
            (token.text.lower() in PEOPLE - {"cartoon"} and after.text.lower() not in _NO_GIFT) or token.tag == "PRP"
            for token, after in zip(
                tokens[thing.start : thing.end - 1], tokens[thing.start + 1 : thing.end], strict=True
            )
        )
    ):
        return False  # "offers a girl alcohol"
    # "plays a guitar and a woman in a hat ...": who is joined to what is not known
    joined = [n for n, word in enumerate(words) if word in ("and", "&", ",")]
    if lemma in PERCEIVING:
        return True
    if particle in ("to", "with", "at") and thing.end == last_word(tokens):
        return True  # "is talking to a girl and a monkey"
    of = words.index("of") if "of" in words else len(words)
    if joined and of < joined[0] and any(word in PEOPLE for word in words[of : joined[0]]):
        return True  # "photos of a man and woman"
    return not joined or (tokens[thing.head].text.lower() in PEOPLE) == any(
        word in PEOPLE for word in words[joined[0] :]
    )
