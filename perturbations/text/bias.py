"""Bias: references to men made references to women, the reverse, and both made neutral (robustness paper, 3.2).

`paper` writes correct English: "his" is "her" before what is had, "he walks" becomes "they walk". `released` repeats
the release: whole white-space tokens, "his" always "hers", "her" always "him", and the words "male" and "female"
entered under the wrong gender, which is what the paper's shares of changed captions come from.
"""

import re
from functools import cache

from numpy.random import Generator

from video_contrast.perturbations.english import Sentence
from video_contrast.perturbations.english.forms import inflect, like_case
from video_contrast.perturbations.english.gender import PRONOUNS, TITLES, Gender, names_person, pronoun
from video_contrast.perturbations.english.lexicon import has_class
from video_contrast.perturbations.registry import text_perturbation
from video_contrast.perturbations.text.words import lines, rewritten

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
_RELEASED = dict(_TABLES)
_RELEASED["female"] = {word: new for word, new in _TABLES["female"].items() if word != "male"} | {"female": "male"}
_RELEASED["male"] = {word: new for word, new in _TABLES["male"].items() if word != "female"} | {"male": "female"}
_PLURAL_VERBS = {"was": "were", "'s": "'re", "’s": "’re", "s": "re"}
_DOUBLE = re.compile(r"\b(they|them|their|theirs)(?: and| or) \1\b", re.IGNORECASE)  # "he and she", "his or her"


def _register(to: Gender, summary: str) -> None:
    def rule(sentence: Sentence, rng: Generator, *, profile: str = "paper") -> str:
        if profile == "released":
            table = _RELEASED[to]
            return " ".join(table.get(word.lower(), word) for word in sentence.caption.split())
        changes: dict[int, str] = {}
        for place, word in enumerate(sentence.words):
            if word.text in PRONOUNS[to]:
                changes[place] = pronoun(sentence, place, to)
                if changes[place] == "they":
                    changes |= _plural_verbs(sentence, place)
            elif word.text in _TABLES[to] and names_person(sentence, place):
                adjective = word.text in ("male", "female") and word.dep in ("amod", "compound", "nmod")
                title = word.dep == "compound" and sentence.is_person(word.head)  # "woman reporter", not "girl band"
                adjective |= title and not has_class(sentence.words[word.head].lemma, "crowd")
                left_out = to == "neutral" and adjective and word.head > place
                changes[place] = "" if left_out else _TABLES[to][word.text]
        text = rewritten(sentence, {n: new for n, new in changes.items() if new != sentence.words[n].text})
        return _DOUBLE.sub(r"\1", text) if to == "neutral" else text

    rule.__doc__ = summary
    text_perturbation(f"gender_{to}", category="Bias", origin="natural", version="8", requirements=("parse",))(rule)


_register("female", "All references to men become references to women (22-word table).")
_register("male", "All references to women become references to men (22-word table).")
_register("neutral", "All gendered references become neutral (22-word table).")


def _plural_verbs(sentence: Sentence, subject: int) -> dict[int, str]:
    """The finite verbs of a singular subject, in the plural: "turns and sees", "is singing", "has gone"."""
    changes = {}
    for verb in sentence.verbs:
        finite = sentence.finite(verb) if sentence.subject(verb) == subject else None
        if finite is None:
            continue
        word = sentence.words[finite]
        if word.text in _PLURAL_VERBS:
            changes[finite] = _PLURAL_VERBS[word.text]
        elif word.tag == "VBZ":
            changes[finite] = "are" if word.lemma == "be" else word.lemma
    return changes


_TOKEN = re.compile(r"\S+")


@text_perturbation("gender_swap", category="Bias", origin="natural", version="7", requirements=("parse",))
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
    tokens = []
    for match in _TOKEN.finditer(sentence.caption):
        whole = match.group().lower() in table
        tokens.append(like_case(starts[match.start()], match.group()) if whole else match.group())
    return " ".join(tokens)


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
    singular = (*PRONOUNS["neutral"], *(() if profile == "released" else TITLES))
    plurals = {inflect(old, "NNS"): inflect(new, "NNS") for old, new in table.items() if old not in singular}
    return plurals | table


def _words(part: str) -> list[str]:
    return [word.strip().lower() for word in part.split(",")]
