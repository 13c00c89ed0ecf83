"""Gendered English words: which word is a person, what its plural is, and what a pronoun's counterpart is by its role.

`perturb` (category Bias) and the gender contrasts share these rules.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Literal

from video_contrast.perturbations.english.forms import lemma, verb_tags, word_classes
from video_contrast.perturbations.language.token import Token

Gender = Literal["female", "male", "neutral"]
TITLES = ("mr", "mrs", "miss", "ms", "sir", "madam")  # have no plural

# Pronouns with one counterpart each.
_PRONOUNS: dict[Gender, dict[str, str]] = {
    "female": {"he": "she", "him": "her", "himself": "herself"},
    "male": {"she": "he", "hers": "his", "herself": "himself"},
    "neutral": {"he": "they", "she": "they", "him": "them", "hers": "theirs"}
    | {"himself": "themselves", "herself": "themselves"},
}
# "his" is "her" before what is owned and "hers" alone; "her" is "his" before what is owned and "him" as an object.
_OWNING: dict[Gender, str] = {"female": "her", "male": "his", "neutral": "their"}
_ALONE: dict[Gender, str] = {"female": "hers", "male": "his", "neutral": "theirs"}
_OBJECT: dict[Gender, str] = {"female": "her", "male": "him", "neutral": "them"}
PRONOUNS: dict[Gender, tuple[str, ...]] = {
    "female": ("he", "him", "his", "himself"),
    "male": ("she", "her", "hers", "herself"),
    "neutral": ("he", "him", "his", "himself", "she", "her", "hers", "herself"),
}  # the pronouns that change when a text is made female, male, neutral

# What cannot begin the thing that is owned: after one of these "his" stands alone and "her" is an object.
_NO_NOUN = frozenset(
    """
    and or but nor so then while when as if because than who which that where is are was were be been has have had
    does do did can could will would may might must should in on at to into onto from with by of for about against
    around through over under after before behind beside near off out up down across along toward towards during
    inside outside a an the this these those some his her their my your our its he she they it him them not
    again away back there here too also now
    """.split()  # noqa: SIM905
)
_OR_HER = re.compile(r"\s+(?:and|or)\s+(?:his|her)\b", re.IGNORECASE)
_WORD = re.compile(r"\s+([\w'’-]+)(?:\s+([\w'’-]+))?")
_BEFORE = re.compile(r"([\w'’-]+)\s+$")
# "her back": a part of the body or of a house here, an adverb ("pushes her back") elsewhere.
_BODY_VERBS = frozenset(
    "scratch rub wash arch hurt massage turn show touch stretch crack bend straighten injure break tattoo".split()  # noqa: SIM905
)
_PREPOSITIONS = frozenset("on in at behind across against over to with of from down up onto under around by".split())  # noqa: SIM905
_BACK_OF = frozenset("yard door pack garden flip hand seat side leg legs foot pocket muscle muscles porch".split())  # noqa: SIM905
_SEEING = frozenset(
    "see watch show film hear record notice find catch keep get leave send spot observe feel photograph".split()  # noqa: SIM905
)
_HELPING = ("help", "make")  # "helps her cook": verbs that are nouns too
_ACTS = frozenset("cook dance walk sing laugh smile cry run sleep move stand jump drive swim climb practice".split())  # noqa: SIM905
_WOMEN = re.compile(
    r"\b(?:woman|women|girl|lady|female|she|mother|actress|singer|chef|blonde|brunette)\b", re.IGNORECASE
)
_THINGS_IN_ING = frozenset("wedding clothing painting drawing earring ring string thing recording training".split())  # noqa: SIM905
_BEFORE_A_PERSON = frozenset(
    """a an the his her their its this that these those my our your one two three four several some many male female tv
    show game news talk radio television program young old and or with of""".split()  # noqa: SIM905
)
_PAGEANTS = frozenset("universe world america usa india korea teen international earth".split())  # noqa: SIM905
# Names and things that hold a gendered word: "chick peas", "lady gaga", "guitar hero", "ms paint".
_NO_PERSON = re.compile(
    r"chick[ -]?peas?|lady ?(?:gaga|bugs?|birds?|fingers?)|(?:burger|lion) kings?|king (?:kong|crabs?|prawns?|oysters?)"
    r"|(?:king|queen)[ -]sized?|(?:mario|smash|koch|jonas|warner) brothers|(?:guitar|big) hero|duke university"
    r"|ms (?:paint|word|office|excel)|ma po|x[- ]mas|lord of the|croque monsieur|dude perfect",
    re.IGNORECASE,
)
_IN_NAMES = frozenset("chick lady king kings queen brothers hero duke ms ma mas lord monsieur dude".split())  # noqa: SIM905
_POSSESSED = ("NN", "NNS", "NNP", "NNPS", "JJ", "JJR", "JJS", "CD", "VBN")
_NEVER_POSSESSED = ("IN", "DT", "CC", "TO", "RP", "MD", "WRB", "WP", "WDT", "PRP", "PRP$", ",", ".", "''", "VBZ", "VBP")


def plural(noun: str) -> str:
    """The plural of a person noun.

    >>> plural("fireman"), plural("lady"), plural("actress"), plural("housewife")
    ('firemen', 'ladies', 'actresses', 'housewives')
    """
    if noun.endswith("man"):
        return noun[:-3] + "men"
    if noun.endswith("wife"):
        return noun[:-2] + "ves"
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return noun[:-1] + "ies"
    return noun + ("es" if noun.endswith(("s", "ch", "sh", "x", "hero")) else "s")


def whole_words(words: Iterable[str]) -> re.Pattern[str]:
    """A pattern that matches any of the words as a whole: "man" not in "woman", "man-made" or "batman"."""
    longest_first = sorted(words, key=lambda word: (-len(word), word))
    return re.compile(rf"(?<![\w-])(?:{'|'.join(longest_first)})(?![\w-])", re.IGNORECASE)


def is_person(caption: str, match: re.Match[str]) -> bool:
    """Whether a gendered word names a person there: "hosts" and "miss" are mostly verbs.

    >>> [is_person(text, re.search("hosts|miss", text)) for text in ("he hosts a show", "two hosts talk", "they miss")]
    [False, True, False]
    """
    low = match.group().lower()
    if low == "miss":
        following = caption[match.end() :].split()[:1]
        titled = match.group()[0].isupper() and following and following[0][0].isupper()
        return bool(titled or (following and following[0].lower() in _PAGEANTS))
    if low not in ("host", "hosts"):
        return low != "misses"
    before = _BEFORE.search(caption[: match.start()])
    return before is None or before[1].lower() in _BEFORE_A_PERSON


def is_in_a_name(caption: str, match: re.Match[str]) -> bool:
    """Whether a gendered word belongs to the name of something that is no such person.

    >>> [is_in_a_name(text, re.search("chick|lady", text)) for text in ("rinse the chick peas", "a lady sings")]
    [True, False]
    """
    if match.group().lower() not in _IN_NAMES:
        return False
    return any(name.start() <= match.start() < name.end() for name in _NO_PERSON.finditer(caption))


def pronoun(caption: str, match: re.Match[str], to: Gender, tokens: Sequence[Token] | None = None) -> str:
    """The counterpart of a pronoun, in lower case.

    Args:
        caption: the text.
        match: one of `PRONOUNS[to]` in it.
        to: the gender that the pronoun is changed to.
        tokens: the caption's tags, if the caller has them: they decide where words do not.

    >>> [pronoun(text, re.search("his|her", text), "neutral") for text in ("it is his", "her car", "look at her")]
    ['theirs', 'their', 'them']
    """
    low = match.group().lower()
    if low not in ("his", "her"):
        return _PRONOUNS[to][low]
    if owns(caption, match, tokens):
        return _OWNING[to]
    return (_ALONE if low == "his" else _OBJECT)[to]


def owns(caption: str, match: re.Match[str], tokens: Sequence[Token] | None = None) -> bool:
    """Whether a "his" or "her" stands before what it owns.

    Args:
        caption: the text.
        match: the pronoun in it.
        tokens: the caption's tags, if the caller has them: they decide where words do not.
    """
    both = _OR_HER.match(caption, match.end())  # "his or her car": both own it
    following = _WORD.match(caption, both.end() if both else match.end())
    if following is None:
        return False
    low, after = following[1].lower(), (following[2] or "").lower()
    if match.group().lower() == "his":
        return low not in _NO_NOUN or low in ("back", "can")
    before = _BEFORE.search(caption[: match.start()])
    governor = before[1].lower() if before else ""
    if low == "back":
        return governor in _PREPOSITIONS or lemma(governor, "VBZ") in _BODY_VERBS or after in _BACK_OF
    if low == "can":
        return after in ("", "of", "and")
    if low in _NO_NOUN:
        return False
    if lemma(governor, "VBZ") == "let" and "VB" in verb_tags(low):
        return False
    doer = lemma(governor, "VBZ")
    if doer in _HELPING and low in _ACTS:
        return False
    if doer in _SEEING and "VBG" in verb_tags(low) and low not in _THINGS_IN_ING:
        return doer == "show" and _WOMEN.search(caption[: match.start()]) is not None  # a woman shows her own
    return _by_tags(tokens, match.start()) if tokens is not None else True


def begins_noun(word: str) -> bool:
    """Whether a noun phrase may begin with `word`."""
    return word.lower() not in _NO_NOUN


def _by_tags(tokens: Sequence[Token], start: int) -> bool:
    """Whether the "her" at `start` owns something: by the tag of what follows, else by its own."""
    place = next(n for n, token in enumerate(tokens) if token.end > start)
    follows = tokens[place + 1] if place + 1 < len(tokens) else None
    after = follows.tag if follows is not None else "."
    behind = tokens[place + 2].tag if place + 2 < len(tokens) else "."
    if after in _POSSESSED or (after == "VBD" and behind in _POSSESSED):
        return True
    if after in ("RB", "RBS", "RBR"):
        return behind in _POSSESSED  # "her very cute dog", not "likes her very much"
    governed = place > 0 and tokens[place - 1].tag in ("IN", "TO", "CC")
    if (
        follows is not None
        and after in ("VB", "VBP", "VBZ")
        and ("NOUN" in word_classes(follows.text))
        and not governed
    ):
        return True  # no verb follows an object: "paints her nails"
    return after == "VBG" or (after not in _NEVER_POSSESSED and tokens[place].tag == "PRP$")  # "her singing"
