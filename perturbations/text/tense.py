"""TextStyle (robustness paper, A.2): present becomes past, and past present."""

from numpy.random import Generator

from video_contrast.perturbations.english import Sentence
from video_contrast.perturbations.english.forms import inflect
from video_contrast.perturbations.english.lexicon import has_class
from video_contrast.perturbations.registry import text_perturbation
from video_contrast.perturbations.text.words import how_many, parsed, pick, rewritten, sample

_PAST_OF_MODALS = {"can": "could", "will": "would", "may": "might", "shall": "should"}
_PAST_OF_MODALS |= {"ca": "could", "wo": "would", "sha": "should", "'ll": " would", "’ll": " would"}  # "can't", "he'll"
_PRESENT_OF_MODALS = {"could": "can", "would": "will"}
_REQUESTS = ("please", "let")  # "please add oil", "let's go" have no past


@text_perturbation("tense", category="TextStyle", origin="natural", version="10", requirements=("parse",))
def tense(sentence: Sentence, rng: Generator, *, profile: str = "paper") -> str:
    """Present becomes past and past becomes present (`released`: any other form of a tenth of the words)."""
    if profile == "released":
        forms = parsed("verb_tenses.json")  # verb form -> the verb's other forms
        verbs = [n for n, word in enumerate(sentence.words) if word.is_verb and word.text in forms]
        drawn_verbs = sample(len(verbs), how_many(0.1, len(sentence)), rng) if verbs else ()
        changes = {verbs[n]: pick(forms[sentence.words[verbs[n]].text], rng) for n in drawn_verbs}
    else:
        changes = _past_of_imperatives(sentence) if sentence.imperatives else _other_tense(sentence)
    return rewritten(sentence, changes, articles=False)


def _past_of_imperatives(sentence: Sentence) -> dict[int, str]:
    """ "add oil and cook until it is hot" as "added oil and cooked until it was hot"."""
    if sentence.words[0].text in _REQUESTS or sentence.hides_imperative:
        return {}
    finite = _finite_verbs(sentence)
    clauses = [n for n, verb in finite.items() if sentence.words[verb].dep in ("advcl", "relcl")]
    changes = {n: _past_form(sentence, n) for n in clauses if sentence.words[n].tag != "VBD"}
    for verb in sentence.imperatives:
        do = next((n for n in sentence.auxiliaries(verb) if sentence.words[n].text == "do"), None)
        changes |= {verb: inflect(sentence.words[verb].text, "VBD")} if do is None else {do: "did"}
    return changes


def _other_tense(sentence: Sentence) -> dict[int, str]:
    """The finite verbs that are in the tense of the caption's first clause, in the other tense."""
    finite = _finite_verbs(sentence)
    if not finite or any(sentence.hides_verb(n, "VBZ") for n in range(len(sentence))):
        return {}
    words = sentence.words
    first = words[next(iter(finite))]
    if first.tag != "VBD" and first.text not in _PRESENT_OF_MODALS:
        present = [n for n in finite if words[n].tag in ("VBZ", "VBP") or words[n].text in _PAST_OF_MODALS]
        return {n: _past_form(sentence, n) for n in present}
    changes = {}
    for place, verb in finite.items():
        word, subject = words[place], sentence.subject(verb)
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
    for verb in sorted(sentence.verbs, key=lambda verb: (len([*sentence.ancestors(verb)]), verb)):
        place, word = sentence.finite(verb), sentence.words[verb]
        head = sentence.words[word.head]
        bare = word.tag in ("VB", "VBP") and word.dep == "ccomp" and has_class(head.lemma, "before_bare_verb")
        if verb in sentence.imperatives or bare:  # "makes him laugh"
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


def _past_form(sentence: Sentence, place: int) -> str:
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
