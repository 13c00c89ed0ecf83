"""Bias: every gendered word becomes its counterpart, by a longer list with plurals (robustness paper, 3.2 and [53])."""

import re
from functools import cache

from numpy.random import Generator

from video_contrast.perturbations.english import Sentence
from video_contrast.perturbations.english.forms import inflect, like_case
from video_contrast.perturbations.english.gender import TITLES, names_person, pronoun
from video_contrast.perturbations.registry import text_perturbation
from video_contrast.perturbations.text.words import lines, rewritten

_TOKEN = re.compile(r"\S+")
_PRONOUNS = ("he", "she", "his", "her", "hers", "him", "himself", "herself")


@text_perturbation("gender_swap", category="Bias", origin="natural", version="5", requirements=("parse",))
def gender_swap(sentence: Sentence, rng: Generator, *, profile: str = "paper") -> str:
    """Every gendered word becomes its counterpart (a list of some 150 pairs and their plurals)."""
    table = counterparts(profile)
    new = {}
    for place, word in enumerate(sentence.words):
        if word.text in ("his", "her"):
            new[place] = pronoun(sentence, place, "female" if word.text == "his" else "male")
        elif word.text in table and (profile == "released" or names_person(sentence, place)):
            new[place] = table[word.text]
    if profile != "released":
        return rewritten(sentence, new)
    starts = {sentence.words[place].start: text for place, text in new.items()}
    done = []
    for match in _TOKEN.finditer(sentence.caption):
        whole = match.group().lower() in table
        done.append(like_case(starts[match.start()], match.group()) if whole else match.group())
    return " ".join(done)


@cache
def counterparts(profile: str) -> dict[str, str]:
    """Word -> its counterpart, lower case, with plurals. `=>` lines of the list hold for one direction only."""
    table: dict[str, str] = {}
    for line in lines("gender_words.txt"):
        left, arrow, right = line.partition("=>") if "=>" in line else line.partition("=")
        sources, targets = _words(left), _words(right)
        pairs = [(source, targets[0]) for source in sources]
        if arrow == "=":
            pairs += [(target, sources[0]) for target in targets]
        for old, new in pairs:
            table.setdefault(old, new)
    if profile != "released":
        corrections = dict(line.split("=") for line in lines("gender_corrections.txt"))
        table = {old: new for old, new in (table | corrections).items() if new}
    singular = _PRONOUNS if profile == "released" else (*_PRONOUNS, *TITLES)
    plurals = {inflect(old, "NNS"): inflect(new, "NNS") for old, new in table.items() if old not in singular}
    return plurals | table


def _words(part: str) -> list[str]:
    return [word.strip().lower() for word in part.split(",")]
