"""TextStyle: the tense of the caption's verb changes (robustness paper, A.2)."""

from functools import cache
from typing import Any

from numpy.random import Generator

from video_contrast.perturbations.language import Token, inflect
from video_contrast.perturbations.registry import text_perturbation
from video_contrast.perturbations.text import tables
from video_contrast.perturbations.text.clauses import head_verb, is_plural
from video_contrast.perturbations.text.words import how_many, like_case, pick, put, sample

_MODALS = {"can": "could", "could": "can", "will": "would", "would": "will", "may": "might", "shall": "should"}


@text_perturbation("tense", category="TextStyle", origin="natural", needs=("tags",))
def tense(caption: str, rng: Generator, *, tokens: list[Token], profile: str = "paper") -> str:
    """Present becomes past and past becomes present (`released`: any other form of a tenth of the words)."""
    if profile == "released":
        return _any_form(caption, tokens, rng)
    verb = head_verb(tokens)
    if verb is None:
        return caption
    place = verb.head if verb.auxiliary is None else verb.auxiliary
    token = tokens[place]
    return put(caption, [(token.start, token.end, like_case(_other_tense(tokens, place), token.text))])


def _other_tense(tokens: list[Token], place: int) -> str:
    token = tokens[place]
    low = token.text.lower()
    if token.tag == "MD":
        return _MODALS.get(low, low)
    plural = is_plural(tokens, place)
    if token.tag == "VBD":
        if token.lemma == "be":
            return "are" if low == "were" else "is"
        return inflect(token.lemma, "VBP" if plural else "VBZ")
    if token.lemma == "be":
        if low in ("'s", "’s", "'re", "’re", "'m", "’m"):
            return " were" if low[1:] == "re" else " was"
        return "were" if low == "are" or (plural and low not in ("is", "am")) else "was"
    return inflect(token.lemma, "VBD")


def _any_form(caption: str, tokens: list[Token], rng: Generator) -> str:
    forms = _forms()
    verbs = [t for t in tokens if t.tag.startswith("VB") and t.text.lower() in forms]
    changes = []
    for n in sample(len(verbs), how_many(0.1, len(tokens)), rng) if verbs else ():
        changes.append((verbs[n].start, verbs[n].end, pick(forms[verbs[n].text.lower()], rng)))
    return put(caption, changes)


@cache
def _forms() -> Any:
    """Verb form -> the verb's other forms."""
    return tables.parsed("verb_tenses.json")
