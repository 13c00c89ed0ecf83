"""Bias: every gendered word becomes its counterpart, by a longer list with plurals (robustness paper, 3.2 and [53])."""

import re
from functools import cache

from numpy.random import Generator

from video_contrast.perturbations.registry import text_perturbation
from video_contrast.perturbations.text import tables
from video_contrast.perturbations.text.bias import is_possessive
from video_contrast.perturbations.text.words import fix_article, like_case

# `paper` departs from the list where its swap is no English person word or not the commonest counterpart.
_CORRECT = {"girl": "boy", "boy": "girl", "guy": "lady", "lady": "guy", "dude": "chick", "chick": "dude"}
_CORRECT |= {"lord": "lady", "gentleman": "lady", "uncle": "aunt", "aunt": "uncle", "auntie": "uncle"}
_CORRECT |= {"waiter": "waitress", "actor": "actress", "host": "hostess", "hero": "heroine", "god": "goddess"}
_CORRECT |= {"salesman": "saleswoman", "saleswoman": "salesman", "cameraman": "camerawoman", "camerawoman": "cameraman"}
_CORRECT |= {"waitress": "waiter", "actress": "actor", "hostess": "host", "heroine": "hero", "goddess": "god"}
_CORRECT |= {"emasculate": "", "manned": "", "manhole": "", "manhandle": "", "womanned": "", "womanhole": ""}
_CORRECT |= {"priest": "priestess", "chairman": "chairwoman", "chairwoman": "chairman", "policeman": "policewoman"}
_CORRECT |= {"policewoman": "policeman", "landlord": "landlady", "landlady": "landlord", "maid": "", "seaman": ""}
_CORRECT |= {"infantryman": "infantrywoman", "lumberjack": "", "letterman": "", "freshman": "", "manmade": ""}
_CORRECT |= {"snowman": "snowwoman", "brunet": "brunette", "brunette": "brunet", "star": "", "starlet": ""}


@text_perturbation("gender_swap", category="Bias", origin="natural")
def gender_swap(caption: str, rng: Generator, *, profile: str = "paper") -> str:
    """Every gendered word becomes its counterpart (a list of some 150 pairs and their plurals)."""
    if profile == "released":
        return " ".join(_swapped(caption, *match) for match in _tokens(caption))
    done, at = "", 0
    table = counterparts("paper")
    for match in _WORD.finditer(caption):
        old = match.group()
        if old.lower() not in table:
            continue
        new = like_case(_by_role(caption, old.lower(), match.end(), table), old)
        done = fix_article(done + caption[at : match.start()], new) + new
        at = match.end()
    return done + caption[at:]


def _tokens(caption: str) -> list[tuple[str, int]]:
    return [(match.group(), match.end()) for match in re.finditer(r"\S+", caption)]


def _swapped(caption: str, word: str, end: int) -> str:
    table = counterparts("released")
    low = word.lower()
    return _by_role(caption, low, end, table) if low in table else word


def _by_role(caption: str, word: str, end: int, table: dict[str, str]) -> str:
    if word == "her":
        return "his" if is_possessive(caption, end) else "him"
    if word == "his":
        return "her" if is_possessive(caption, end) else "hers"
    return table[word]


@cache
def counterparts(profile: str) -> dict[str, str]:
    """Word -> its counterpart, lower case, with plurals. `=>` lines of the list hold for one direction only."""
    table: dict[str, str] = {}
    for line in tables.lines("gender_words.txt"):
        left, arrow, right = line.partition("=>") if "=>" in line else line.partition("=")
        sources, targets = _words(left), _words(right)
        pairs = [(source, targets[0]) for source in sources]
        if arrow == "=":
            pairs += [(target, sources[0]) for target in targets]
        for old, new in pairs:
            table.setdefault(old, new)
    if profile != "released":
        table = {old: new for old, new in (table | _CORRECT).items() if new}
    plurals = {plural(old): plural(new) for old, new in table.items() if old not in _PRONOUNS}
    return plurals | table


_WORD = re.compile(r"\w+(?:-\w+)*")
_PRONOUNS = ("he", "she", "his", "her", "hers", "him", "himself", "herself")


def _words(part: str) -> list[str]:
    return [word.strip().lower() for word in part.split(",")]


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
    if noun == "hero":
        return "heroes"
    return noun + ("es" if noun.endswith(("s", "ch", "sh", "x")) else "s")
