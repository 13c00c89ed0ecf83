"""Noun phrases in a caption's tags, read by pattern: where one ends, its head, and whether it is plural.

Strict on purpose: what does not fit a pattern is no noun phrase, so that rules built on it leave such captions alone.
"""

from typing import NamedTuple

from video_contrast.perturbations.language import Token, lemma, verb_tags
from video_contrast.perturbations.text.clauses import UNCOUNTED

NOUNS = ("NN", "NNS", "NNP", "NNPS")
PEOPLE = frozenset(
    """man men woman women boy boys girl girls guy guys lady ladies person people kid kids child children baby babies
    someone somebody couple group band team player players singer dancer chef cook actor actress teacher student
    students teenager teenagers toddler player host reporter cartoon character""".split()  # noqa: SIM905
)
_MODIFIERS = ("JJ", "JJR", "JJS", "CD", "VBG", "VBN")
_SOLE = frozenset("someone somebody something everyone everybody everything anyone anybody anything nobody".split())  # noqa: SIM905
_PARTS = frozenset("one each some many most both all two three several".split())  # noqa: SIM905
_PLURAL_WORDS = frozenset("people men women children police".split())  # noqa: SIM905
_PLURAL_PRONOUNS = frozenset("we us they them you".split())  # noqa: SIM905
_NOMINATIVE = ("i", "he", "she", "we", "they", "it")
_ONE = frozenset(("a", "an", "one", "1", "this", "that", "each", "every", "another"))
_COLLECTIVE = frozenset("group couple bunch lot number all some most".split())  # noqa: SIM905  "a group of people are"
_NO_THINGS = frozenset("outdoors indoors outside inside home upstairs downstairs backstage today".split())  # noqa: SIM905
_ACTIVITIES = frozenset(  # nouns behind a verb in -ing: "a fighting game"
    "game games show pool competition tape class lesson contest match".split()  # noqa: SIM905
)
COLOURS = frozenset("white black red blue green yellow pink purple orange brown grey gray".split())  # noqa: SIM905
PREPOSITIONS = frozenset(
    """in on at with from to into onto near behind beside over under through across around for inside outside along
    against between by during up down off toward towards next out away past upon above below among amongst within
    throughout underneath beneath alongside amid without atop""".split()  # noqa: SIM905
)

_SECOND = ("of", "to", "in", "on", "from", "with")  # of two prepositions


class NounPhrase(NamedTuple):
    """`tokens[start:end]`; `head` is its chief noun's place. `plural` is None where the words disagree ("a dogs")."""

    start: int
    end: int
    head: int
    plural: bool | None


def noun_phrase(tokens: list[Token], start: int, *, joined: bool = True) -> NounPhrase | None:
    """The phrase at `start` with its "of" phrases and what "and" joins to it; None where there is none.

    Args:
        tokens: of the caption.
        start: its first word.
        joined: whether what "and" joins to it belongs to it.

    >>> from video_contrast.perturbations.language import tag
    >>> noun_phrase(tag(["a pot of soup and two eggs on a table"], tagger="hanta")[0], 0)
    NounPhrase(start=0, end=7, head=1, plural=True)
    """
    whole = _with_of(tokens, start)
    while joined and whole is not None:
        after = whole.end
        comma = after < len(tokens) and tokens[after].text == ","
        after += comma
        with_and = after < len(tokens) and tokens[after].text.lower() in ("and", "&", "or")
        following = _with_of(tokens, after + with_and) if comma or with_and else None
        clause = following is not None and _opens_clause(tokens, following.start)
        if following is None or clause or (not with_and and not _list_goes_on(tokens, following.end)):
            break
        of = any(token.text.lower() == "of" for token in tokens[whole.start : whole.end])
        bare = tokens[following.start].tag in (*NOUNS, "JJ") and tokens[whole.start].text.lower() in _ONE
        either = tokens[following.start - 1].text.lower() == "or"
        many = following.plural if either else whole.plural if of and bare else True
        whole = whole._replace(end=following.end, plural=many)  # "a mix of x and y"
    return whole


def attached(tokens: list[Token], start: int, words: frozenset[str] = PREPOSITIONS) -> int:
    """The end of the prepositional phrases at `start`; `start` itself if there are none.

    Args:
        tokens: of the caption.
        start: the place where a preposition may stand.
        words: the prepositions that may begin such a phrase.
    """
    end = start
    while end < len(tokens) and tokens[end].tag in ("IN", "TO", "RP", "RB", "JJ") and tokens[end].text.lower() in words:
        inside = end + 1
        while inside < len(tokens) and tokens[inside].text.lower() in _SECOND:  # "out of", "next to"
            inside += 1
        following = _with_of(tokens, inside)
        if tokens[end].text.lower() == "at" and inside < len(tokens) and tokens[inside].text.lower() == "home":
            end = inside + 1
            continue
        if following is None and inside < len(tokens) and tokens[inside].text.lower() in COLOURS:  # "a man in white"
            two = [token.text.lower() for token in tokens[inside + 1 : inside + 3]]
            end = inside + 1 + 2 * (len(two) == 2 and two[0] == "and" and two[1] in COLOURS)  # "in black and white"
            continue
        if following is None:
            return end
        end = following.end
        joins = end + 1 < len(tokens) and tokens[end].text.lower() == "and"
        if joins and not _opens_clause(tokens, end + 1):  # "from a pan and a pot"
            more = _with_of(tokens, end + 1)
            last = more is not None and (more.end == len(tokens) or tokens[more.end].tag in ("IN", "TO", "."))
            end = more.end if more is not None and last else end
    return end


def _opens_clause(tokens: list[Token], place: int) -> bool:
    """Whether a word behind "and" begins a clause, or is a further verb: "and he puts ...", "and firing guns"."""
    low = tokens[place].text.lower()
    return low in _NOMINATIVE or (low.endswith("ing") and "VBG" in verb_tags(low) and place + 1 < len(tokens))


def _with_of(tokens: list[Token], start: int) -> NounPhrase | None:
    whole = _simple(tokens, start)
    last = whole
    while last is not None and whole is not None and last.end < len(tokens) and _of(tokens, last.end):
        last = last._replace(end=last.end + (tokens[last.end].text.lower() == "full"))
        gerund = last.end + 1 < len(tokens) and tokens[last.end + 1].tag == "VBG"  # "a method of applying makeup"
        last = _simple(tokens, last.end + 1 + gerund) or (_simple(tokens, last.end + 1) if gerund else None)
        if last is None or (gerund and last.end < len(tokens) and tokens[last.end].tag == "TO"):
            return None  # an "of" without its noun phrase: what belongs to what is not known
        many = last.plural if tokens[whole.head].lemma in _COLLECTIVE else whole.plural
        whole = whole._replace(end=last.end, plural=many)
    return whole


def _of(tokens: list[Token], place: int) -> bool:
    """Whether "of" or "full of" stands there."""
    low = [token.text.lower() for token in tokens[place : place + 2]]
    return low[0] == "of" or low == ["full", "of"]


def _simple(tokens: list[Token], start: int) -> NounPhrase | None:
    if start >= len(tokens):
        return None
    low = tokens[start].text.lower()
    if tokens[start].tag == "PRP":
        return NounPhrase(start, start + 1, start, low in _PLURAL_PRONOUNS)
    if low in _PARTS and start + 1 < len(tokens) and tokens[start + 1].text.lower() == "of":
        return NounPhrase(start, start + 1, start, low not in ("one", "each"))  # "one of the players"
    following = tokens[start + 1].tag if start + 1 < len(tokens) else ""
    if low == "another" and following not in (*NOUNS, *_MODIFIERS, "DT"):
        return NounPhrase(start, start + 1, start, False)
    if low in _SOLE or (low in ("some", "any") and start + 1 < len(tokens) and tokens[start + 1].text.lower() == "one"):
        end = start + 1 + (low not in _SOLE)
        big = end < len(tokens) and tokens[end].tag == "JJ" and tokens[end - 1].text.lower().endswith("thing")
        big = big and (end + 1 == len(tokens) or tokens[end + 1].tag in ("IN", "CC", "."))  # "something big"
        return NounPhrase(start, end + big, end - 1, False)
    if low == "the" and start + 1 < len(tokens) and tokens[start + 1].text.lower() in ("other", "others"):
        following = tokens[start + 2].tag if start + 2 < len(tokens) else ""
        if start + 2 < len(tokens) and tokens[start + 2].text.lower() == "one":
            return NounPhrase(start, start + 3, start + 2, False)
        if following not in (*NOUNS, *_MODIFIERS) or following == "VBG":
            return NounPhrase(start, start + 2, start + 1, tokens[start + 1].text.lower() == "others")
    if tokens[start].tag == "VBG" and not _activity(tokens, start):  # "draining white beans": what is done, not a thing
        return None
    end = start
    while end < len(tokens) and tokens[end].tag in ("PDT", "DT", "PRP$", "CD"):
        end += 1
    while end < len(tokens) and _inside(tokens, start, end):
        end += 1
    last = end - (end - 1 > start and tokens[end - 1].tag == "CD" and tokens[end - 2].tag in NOUNS)
    while last > start and tokens[last - 1].tag not in NOUNS:
        last -= 1
    head = last - 1
    end = end if tokens[end - 1].tag == "CD" and last == end - 1 else last
    if last == start or tokens[head].text.lower() in _NO_THINGS:
        return None
    return NounPhrase(start, end, head, _plural(tokens[start : head + 1]))


def _inside(tokens: list[Token], start: int, place: int) -> bool:
    """Whether the word at `place` goes on with the phrase that began at `start`."""
    token = tokens[place]
    if token.text.lower() in _SOLE:
        return False
    after_noun = place > start and tokens[place - 1].tag in NOUNS
    if after_noun and token.text.lower() in _NO_THINGS:  # "a conversation outdoors"
        return False
    following = tokens[place + 1].tag if place + 1 < len(tokens) else ""
    if token.tag in NOUNS or _activity(tokens, place):
        return True
    if after_noun and token.tag == "JJ" and following in ("NN", "NNS"):  # "rice crispy treats"
        return True
    if after_noun and token.tag == "CD" and token.text.isdigit() and following not in NOUNS:
        return True  # "season 9"
    if after_noun:  # "a man s hat"; but "a song wearing ..." ends at the noun
        return token.text.lower() in ("s", "'s", "’s", "'", "’") and following in (*NOUNS, *_MODIFIERS)
    if token.tag in ("RB", "RBS"):
        return following in ("JJ", "VBN")
    if token.tag == "CC":  # "a black and white dog"
        return place > start and tokens[place - 1].tag == "JJ" and following == "JJ"
    return token.tag in _MODIFIERS and following in (*NOUNS, *_MODIFIERS, "CC")


def _activity(tokens: list[Token], place: int) -> bool:
    """Whether a verb in -ing and the noun behind it are one thing: "a split screen fighting game"."""
    behind = tokens[place + 1].text.lower() if place + 1 < len(tokens) else ""
    before = tokens[place - 1] if place else None
    doing = before is not None and (before.text.lower() in PEOPLE or before.tag == "NNS")  # "students discussing class"
    return tokens[place].tag == "VBG" and behind in _ACTIVITIES and not doing


def _plural(words: list[Token]) -> bool | None:
    head = words[-1]
    low = head.text.lower()
    looks = head.tag in ("NNS", "NNPS") or low in _PLURAL_WORDS
    if head.tag == "NN" and low.endswith("s") and not low.endswith("ss"):
        looks = looks or lemma(low, "NNS") != low
    if low in UNCOUNTED:
        return False
    if len(words) > 2 and words[-2].text.lower() in ("s", "'s", "’s"):
        return looks  # "a car s features"
    first = words[0].text.lower()
    if first in ("a", "one") and 1 < len(words) < 4 and words[1].text.lower() != "few" and low in ("women", "men"):
        return False  # as captions often say
    if first in _ONE and not (len(words) > 1 and words[1].text.lower() == "few"):
        return None if looks else False
    if not looks and words[0].tag in _MODIFIERS and any(word.tag == "CC" for word in words):
        return None  # "broccoli and black pepper", where "broccoli" is read as an adjective
    counted = any(word.tag == "CD" and word.text.lower() not in ("one", "1") for word in words[:-1])
    if counted and not looks and words[0].tag == "CD":
        return None
    return looks


def _list_goes_on(tokens: list[Token], end: int) -> bool:
    """Whether a comma or "and" follows: without one, the comma before was no comma of a list."""
    return end < len(tokens) and tokens[end].text.lower() in (",", "and", "&")
