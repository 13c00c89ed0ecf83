"""Bias: references to men made references to women, the reverse, and both made neutral (robustness paper, 3.2).

`paper` writes correct English: "his" is "her" before what is had, "he walks" becomes "they walk". `released` repeats
the release: whole white-space tokens, "his" always "hers", "her" always "him", and the words "male" and "female"
entered under the wrong gender, which is what the paper's shares of changed captions come from.
"""

import re
from functools import cache

from numpy.random import Generator

from video_contrast.perturbations.registry import text_perturbation
from video_contrast.perturbations.text.words import fix_article, like_case

# The 22 words: male, female, neutral.
TABLE = (
    ("he", "she", "they"),
    ("his", "hers", "theirs"),
    ("man", "woman", "person"),
    ("boy", "girl", "child"),
    ("boys", "girls", "kids"),
    ("guy", "lady", "person"),
    ("men", "women", "people"),
    ("guys", "ladies", "people"),
    ("him", "her", "they"),
    ("actor", "actress", "actor"),
    ("male", "female", "person"),
)
_TO_FEMALE = {male: female for male, female, _ in TABLE}
_TO_MALE = {female: male for male, female, _ in TABLE}
_NEUTRAL = {word: neutral for male, female, neutral in TABLE for word in (male, female)}
_RELEASED = {
    "female": _TO_FEMALE | {"female": "male"},
    "male": _TO_MALE | {"male": "female"},
    "neutral": _NEUTRAL,
}
del _RELEASED["female"]["male"], _RELEASED["male"]["female"]

# Words whose counterpart goes by their place: possessives, objects, and the word that "his" and "him" share in "her".
_PRONOUNS = {
    "female": {"he": "she", "him": "her", "himself": "herself"},
    "male": {"she": "he", "hers": "his", "herself": "himself"},
    "neutral": {
        "he": "they",
        "she": "they",
        "him": "them",
        "hers": "theirs",
        "himself": "themselves",
        "herself": "themselves",
    },
}
_POSSESSIVE = {"female": ("her", "hers"), "male": ("his", "his"), "neutral": ("their", "theirs")}
_OBJECT = {"male": "him", "neutral": "them"}
# What cannot begin the thing that is had: after one of these, or at the end, "his" stands alone and "her" is an object.
_NO_NOUN = frozenset(
    """
    and or but nor so then while when as if because than who which that where is are was were be been has have had
    does do did can could will would may might must should in on at to into onto from with by of for about against
    around through over under after before behind beside near off out up down across along toward towards during
    inside outside a an the this these those some his her their my your our its he she they it him them not
    again away back there here too also now
    """.split()  # noqa: SIM905
)
_VERBS = {"is": "are", "was": "were", "has": "have", "does": "do", "isn't": "aren't", "wasn't": "weren't"}
_VERBS |= {"hasn't": "haven't", "doesn't": "don't", "isnt": "arent", "wasnt": "werent", "doesnt": "dont", "s": "re"}
_DOUBLE = re.compile(r"\b(they|them|their|theirs)(?: and| or) \1\b", re.IGNORECASE)  # "he and she", "his or her"
_OR_HER = re.compile(r"\s+(?:and|or)\s+(?:his|her)\b", re.IGNORECASE)
_NEXT = re.compile(r"(\s+(?:\w+ly\s+|also\s+|then\s+|just\s+)?)([\w']+)")


@text_perturbation("gender_female", category="Bias", origin="natural")
def gender_female(caption: str, rng: Generator, *, profile: str = "paper") -> str:
    """All references to men become references to women (22-word table)."""
    return _replace(caption, "female", profile)


@text_perturbation("gender_male", category="Bias", origin="natural")
def gender_male(caption: str, rng: Generator, *, profile: str = "paper") -> str:
    """All references to women become references to men (22-word table)."""
    return _replace(caption, "male", profile)


@text_perturbation("gender_neutral", category="Bias", origin="natural")
def gender_neutral(caption: str, rng: Generator, *, profile: str = "paper") -> str:
    """All gendered references become neutral (22-word table)."""
    return _replace(caption, "neutral", profile)


def is_possessive(caption: str, end: int) -> bool:
    """Whether the "his" or "her" that ends at `end` owns what follows.

    >>> is_possessive("he rides his bike", 12), is_possessive("she looks at her and smiles", 16)
    (True, False)
    """
    if both := _OR_HER.match(caption, end):
        end = both.end()  # "his or her car": both own it
    if _NEXT.match(caption, end) is None:
        return False
    first = caption[end:].split(maxsplit=1)[0].lower()
    return first.strip(".,;:!?") not in _NO_NOUN


def _replace(caption: str, to: str, profile: str) -> str:
    if profile == "released":
        table = _RELEASED[to]
        return " ".join(table.get(word.lower(), word) for word in caption.split())
    return _correct(caption, to)


def _correct(caption: str, to: str) -> str:
    done, at = "", 0
    for match in _pattern(to).finditer(caption):
        if match.start() < at:
            continue
        old = match.group()
        if to == "neutral" and old.lower() in ("male", "female") and _describes(caption, match.end()):
            done += caption[at : match.start()]
            at = match.end() + 1
            done = fix_article(done, caption[at:].split(maxsplit=1)[0])
            continue
        new = like_case(_counterpart(old.lower(), to, caption, match.end()), old)
        done = fix_article(done + caption[at : match.start()], new) + new
        at = match.end()
        if new.lower() == "they":
            verb = _NEXT.match(caption, at)
            if caption[at : at + 2] in ("'s", "’s"):
                done += caption[at] + "re"
                at += 2
            elif verb and (plural := _plural_verb(verb[2])):
                done += verb[1] + plural
                at = verb.end()
    return _DOUBLE.sub(r"\1", done + caption[at:]) if to == "neutral" else done + caption[at:]


def _counterpart(word: str, to: str, caption: str, end: int) -> str:
    if word == "his":
        return _POSSESSIVE[to][0 if is_possessive(caption, end) else 1]
    if word == "her":
        return _POSSESSIVE[to][0] if is_possessive(caption, end) else _OBJECT[to]
    pronouns = _PRONOUNS[to]
    if word in pronouns:
        return pronouns[word]
    return {"female": _TO_FEMALE, "male": _TO_MALE, "neutral": _NEUTRAL}[to][word]


def _describes(caption: str, end: int) -> bool:
    """Whether the "male" that ends at `end` describes a noun ("a male singer") and is none itself ("a male sings")."""
    follows = _NEXT.match(caption, end)
    if follows is None or not is_possessive(caption, end) or follows.start(2) != end + 1:
        return False
    from video_contrast.perturbations.language import verb_tags

    return verb_tags(follows[2]).isdisjoint(("VBZ", "VBG", "VBD"))


def _plural_verb(word: str) -> str | None:
    """The verb form that goes with "they"; None if `word` is not one that goes with "he" only."""
    low = word.lower()
    if low in _VERBS:
        return _VERBS[low]
    if not low.endswith("s"):
        return None
    from video_contrast.perturbations.language import lemma, verb_tags

    return lemma(low, "VBZ") if "VBZ" in verb_tags(low) else None


@cache
def _pattern(to: str) -> re.Pattern[str]:
    words = set(_PRONOUNS[to])
    if to != "male":
        words |= {"his", *_TO_FEMALE}
    if to != "female":
        words |= {"her", *_TO_MALE}
    if to == "neutral":
        words.discard("actor")
    return re.compile(rf"(?<![\w-])(?:{'|'.join(sorted(words, key=lambda w: (-len(w), w)))})(?![\w-])", re.IGNORECASE)
