"""TextStyle: the tense of the caption's verb changes (robustness paper, A.2)."""

from functools import cache
from typing import Any

from numpy.random import Generator

from video_contrast.perturbations.language import Token, inflect
from video_contrast.perturbations.language.fitting import like_case
from video_contrast.perturbations.registry import text_perturbation
from video_contrast.perturbations.text import tables
from video_contrast.perturbations.text.clauses import head_verb, is_plural
from video_contrast.perturbations.text.words import how_many, pick, put, sample

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
    if tokens[place].tag == "VBG":
        return caption  # "a man driving a car" has no tense
    plural = is_plural(tokens, place)
    changes = []
    for at in (place, *_joined(tokens, place)):
        token = tokens[at]
        changes.append((token.start, token.end, like_case(_other_tense(tokens, at, plural), token.text)))
    return put(caption, changes)


def _joined(tokens: list[Token], place: int) -> list[int]:
    """The verbs that "and" joins to the one at `place`: they share its subject ("sits and describes")."""
    found = []
    for at in range(place + 2, len(tokens)):
        before = at - 2 if tokens[at - 1].tag == "RB" else at - 1
        if tokens[before].text.lower() == "and" and tokens[at].tag in ("VBZ", "VBP", "VBD"):
            same_time = (tokens[at].tag == "VBD") == (tokens[place].tag == "VBD")
            if same_time:
                found.append(at)
    return found


def _other_tense(tokens: list[Token], place: int, plural: bool) -> str:
    token = tokens[place]
    low = token.text.lower()
    if token.tag == "MD":
        return _MODALS.get(low, low)
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
