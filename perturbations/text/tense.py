"""TextStyle: the tense of the caption's verbs changes (robustness paper, A.2)."""

from functools import cache

from numpy.random import Generator

from video_contrast.files import Json
from video_contrast.perturbations.english import Sentence
from video_contrast.perturbations.english.forms import inflect
from video_contrast.perturbations.registry import text_perturbation
from video_contrast.perturbations.text.words import how_many, parsed, pick, rewritten, sample

_PAST_OF_MODALS = {"can": "could", "will": "would", "may": "might", "shall": "should"}
_PAST_OF_MODALS |= {"ca": "could", "wo": "would", "sha": "should", "'ll": " would", "’ll": " would"}  # "can't", "he'll"
_PRESENT_OF_MODALS = {"could": "can", "would": "will"}
_BEFORE_BARE_VERBS = ("let", "make", "help")
_REQUESTS = ("please", "let")  # "please add oil", "let's go" have no past


@text_perturbation("tense", category="TextStyle", origin="natural", version="7", requirements=("parse",))
def tense(sentence: Sentence, rng: Generator, *, profile: str = "paper") -> str:
    """Present becomes past and past becomes present (`released`: any other form of a tenth of the words)."""
    if profile == "released":
        return _any_form(sentence, rng)
    changes = _past_of_orders(sentence) if sentence.orders else _other_tense(sentence)
    return rewritten(sentence, changes, articles=False)


def _past_of_orders(sentence: Sentence) -> dict[int, str]:
    """ "add oil and cook until it is hot" as "added oil and cooked until it was hot"."""
    if sentence.words[0].text in _REQUESTS or sentence.hides_order:
        return {}
    finite = _finite_verbs(sentence)
    clauses = [n for n, verb in finite.items() if sentence.words[verb].dep in ("advcl", "relcl")]
    changes = {n: _past(sentence, n) for n in clauses if sentence.words[n].tag != "VBD"}
    for verb in sentence.orders:
        do = next((n for n in sentence.auxiliaries(verb) if sentence.words[n].text == "do"), None)
        place, form = (verb, inflect(sentence.words[verb].text, "VBD")) if do is None else (do, "did")
        changes[place] = form
    return changes


def _other_tense(sentence: Sentence) -> dict[int, str]:
    """The finite verbs that are in the tense of the caption's first clause, in the other tense."""
    finite = _finite_verbs(sentence)
    if not finite or any(sentence.hides_verb(n, "VBZ") for n in range(len(sentence))):
        return {}
    places = list(finite)
    first = sentence.words[places[0]]
    if first.tag != "VBD" and first.text not in _PRESENT_OF_MODALS:
        present = [
            n for n in places if sentence.words[n].tag in ("VBZ", "VBP") or sentence.words[n].text in _PAST_OF_MODALS
        ]
        return {n: _past(sentence, n) for n in present}
    changes = {}
    for place in places:
        word = sentence.words[place]
        subject = sentence.subject(finite[place])
        if word.text in _PRESENT_OF_MODALS:
            changes[place] = _PRESENT_OF_MODALS[word.text]
        elif word.tag == "VBD" and (subject is not None or word.lemma == "be"):
            plural = word.text == "were" if word.lemma == "be" else sentence.is_plural(subject or 0)
            changes[place] = inflect(word.lemma, "VBP" if plural else "VBZ")
        else:
            return {}
    return changes


def _finite_verbs(sentence: Sentence) -> dict[int, int]:
    """Place of the word that carries the tense -> its verb, outermost clause first; empty where one is doubtful.

    Doubtful are verbs that no dictionary has in the form of their tag ("he s singing"), that have no subject, that are
    joined to a noun, or that are read as infinitives without a reason; and what "used to" be.
    """
    finite = {}
    for verb in sentence.clause_verbs():
        place, word = sentence.finite(verb), sentence.words[verb]
        head = sentence.words[word.head]
        if verb in sentence.orders or (word.dep == "ccomp" and head.lemma in _BEFORE_BARE_VERBS):
            continue
        if place is None:
            if word.tag == "VB" and not sentence.auxiliaries(verb) and word.dep == "conj":
                return {}
            continue
        joined_to_noun = word.dep == "conj" and not head.is_verb
        used_to = word.text == "used" and sentence.child(verb, "xcomp") is not None
        if not sentence.is_verb_form(place) or not sentence.has_subject(verb) or joined_to_noun or used_to:
            return {}
        finite[place] = verb
    return finite


def _past(sentence: Sentence, place: int) -> str:
    word = sentence.words[place]
    if word.tag == "MD":
        return _PAST_OF_MODALS.get(word.text, word.text)
    clitic = " " if word.text[0] in "'’" else ""
    if word.lemma != "be":
        return clitic + inflect(word.lemma, "VBD")
    after = sentence.words[place + 1 : place + 2]
    if word.text in ("'s", "’s") and after and after[0].text in ("got", "been", "had"):
        return " had"
    return clitic + ("were" if word.text in ("are", "'re", "’re") else "was")


def _any_form(sentence: Sentence, rng: Generator) -> str:
    forms = _forms()
    verbs = [n for n, word in enumerate(sentence.words) if word.is_verb and word.text in forms]
    drawn = sample(len(verbs), how_many(0.1, len(sentence)), rng) if verbs else ()
    changes = {verbs[n]: pick(forms[sentence.words[verbs[n]].text], rng) for n in drawn}
    return rewritten(sentence, changes, articles=False)


@cache
def _forms() -> Json:
    """Verb form -> the verb's other forms."""
    return parsed("verb_tenses.json")
