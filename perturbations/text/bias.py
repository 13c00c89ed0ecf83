"""Bias: references to men made references to women, the reverse, and both made neutral (robustness paper, 3.2).

`paper` writes correct English: "his" is "her" before what is had, "he walks" becomes "they walk". `released` repeats
the release: whole white-space tokens, "his" always "hers", "her" always "him", and the words "male" and "female"
entered under the wrong gender, which is what the paper's shares of changed captions come from.
"""

import re
from functools import cache

from numpy.random import Generator

from video_contrast.perturbations.english.forms import fix_article, is_noun, like_case
from video_contrast.perturbations.language import lemma, verb_tags
from video_contrast.perturbations.language.gender import (
    PRONOUNS,
    Gender,
    begins_noun,
    is_in_a_name,
    pronoun,
    whole_words,
)
from video_contrast.perturbations.registry import text_perturbation

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
_TABLES: dict[Gender, dict[str, str]] = {
    "female": {male: female for male, female, _ in TABLE},
    "male": {female: male for male, female, _ in TABLE},
    "neutral": {word: neutral for male, female, neutral in TABLE for word in (male, female)},
}
_NOUNS = {
    to: {word: new for word, new in table.items() if word not in PRONOUNS[to] and word != new}
    for to, table in _TABLES.items()
}
_RELEASED = dict(_TABLES)
_RELEASED["female"] = {word: new for word, new in _TABLES["female"].items() if word != "male"} | {"female": "male"}
_RELEASED["male"] = {word: new for word, new in _TABLES["male"].items() if word != "female"} | {"male": "female"}

_VERBS = {"is": "are", "was": "were", "has": "have", "does": "do", "isn't": "aren't", "wasn't": "weren't"}
_VERBS |= {"hasn't": "haven't", "doesn't": "don't", "isnt": "arent", "wasnt": "werent", "doesnt": "dont", "s": "re"}
_DOUBLE = re.compile(r"\b(they|them|their|theirs)(?: and| or) \1\b", re.IGNORECASE)  # "he and she", "his or her"
_AND_VERB = re.compile(
    r"((?:\s+(?!(?:and|or|but|while|as|who|that|which|when|if)\b)[\w'-]+){0,5})"
    r"(,?\s+and\s+(?:then\s+|also\s+|\w+ly\s+)?)([\w']+)",
    re.IGNORECASE,
)
_ENDS_VERB = frozenset("it him her them up down in out off on back around away over there here together".split())  # noqa: SIM905
_MOSTLY_VERBS = frozenset("goes tries takes gives makes puts comes looks walks talks starts runs falls".split())  # noqa: SIM905
_OBJECT = re.compile(r"\s+(?:an?|the|his|her|their|its|it|him|them|this|that|some|how|what)\b", re.IGNORECASE)
_NEXT = re.compile(r"(\s+(?:\w+ly\s+|also\s+|then\s+|just\s+)?)([\w']+)")


def _register(to: Gender, summary: str) -> None:
    def rule(caption: str, rng: Generator, *, profile: str = "paper") -> str:
        return _replace(caption, to, profile)

    rule.__doc__ = summary
    text_perturbation(f"gender_{to}", category="Bias", origin="natural", version="4")(rule)


_register("female", "All references to men become references to women (22-word table).")
_register("male", "All references to women become references to men (22-word table).")
_register("neutral", "All gendered references become neutral (22-word table).")


def _replace(caption: str, to: Gender, profile: str) -> str:
    if profile == "released":
        table = _RELEASED[to]
        return " ".join(table.get(word.lower(), word) for word in caption.split())
    done, at = "", 0
    for match in _pattern(to).finditer(caption):
        if match.start() < at or is_in_a_name(caption, match):
            continue
        old = match.group()
        if to == "neutral" and old.lower() in ("male", "female") and _describes(caption, match.end()):
            done += caption[at : match.start()]
            at = match.end() + 1
            done = fix_article(done, caption[at:].split(maxsplit=1)[0])
            continue
        new = like_case(_NOUNS[to].get(old.lower()) or pronoun(caption, match, to), old)
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
                more, at = _joined_verbs(caption, at)
                done += more
    return _DOUBLE.sub(r"\1", done + caption[at:]) if to == "neutral" else done + caption[at:]


def _joined_verbs(caption: str, at: int) -> tuple[str, int]:
    """The verbs that go on from the one that ends at `at`, in the plural, and where they end: "turns and sees".

    A word that may be a noun is one only behind another ("likes cats and dogs"), and without an object of its own.
    """
    plurals = ""
    while match := _AND_VERB.match(caption, at):
        plural = _plural_verb(match[3])
        between = match[1].split()
        low = match[3].lower()
        clear = not between or between[-1].lower() in _ENDS_VERB or low in _MOSTLY_VERBS or not is_noun(low)
        clear = clear or _OBJECT.match(caption, match.end()) is not None
        if plural is None or not clear or any(_is_finite(word) for word in between):
            break
        plurals += match[1] + match[2] + plural
        at = match.end()
    return plurals, at


def _is_finite(word: str) -> bool:
    return word.lower() in _VERBS or ("VBZ" in verb_tags(word) and not is_noun(word))


def _describes(caption: str, end: int) -> bool:
    """Whether the "male" that ends at `end` describes a noun ("a male singer") and is none itself ("a male sings")."""
    follows = _NEXT.match(caption, end)
    if follows is None or not begins_noun(caption[end:].split()[0].strip(".,;:!?")) or follows.start(2) != end + 1:
        return False
    return verb_tags(follows[2]).isdisjoint(("VBZ", "VBG", "VBD"))


def _plural_verb(word: str) -> str | None:
    """The verb form that goes with "they"; None if `word` is not one that goes with "he" only."""
    low = word.lower()
    if low in _VERBS:
        return _VERBS[low]
    if not low.endswith("s"):
        return None
    return lemma(low, "VBZ") if "VBZ" in verb_tags(low) else None


@cache
def _pattern(to: Gender) -> re.Pattern[str]:
    return whole_words([*PRONOUNS[to], *_NOUNS[to]])
