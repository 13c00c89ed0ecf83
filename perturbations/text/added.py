"""AddText: words that say nothing about the video (robustness paper, A.2)."""

from functools import cache

from numpy.random import Generator

from video_contrast.perturbations.english import Sentence
from video_contrast.perturbations.english.lexicon import has_class
from video_contrast.perturbations.registry import text_perturbation
from video_contrast.perturbations.text.words import FUNCTION_WORDS, lines, pick, rewritten

PROVERB_FROM = 10  # words from which on a caption also gets a closing proverb


@text_perturbation("append_irr", category="AddText", origin="natural", version="3", requirements=("parse",))
def append_irr(sentence: Sentence, rng: Generator, *, profile: str = "paper") -> str:
    """An irrelevant phrase opens the caption; one of 10 words or more also ends with a proverb."""
    text = sentence.caption.strip()
    opening = pick(lines("openings.txt"), rng)
    first, _, rest = text.partition(" ")
    if profile != "released" and first.istitle() and first.lower() in FUNCTION_WORDS and first != "I":
        text = f"{first.lower()} {rest}"
    if profile != "released" and sentence.imperatives:  # no "it is said that add oil"
        opening = opening.removesuffix(" that").removesuffix(" but")
    comma = "" if opening.endswith((" that", " but")) else ","
    text = f"{opening}{comma} {text}"
    if len(sentence.caption.split()) < PROVERB_FROM:
        return text
    return f"{text.rstrip(' .,;')}. {pick(lines('proverbs.txt'), rng)}."


@text_perturbation("insert_adv", category="AddText", origin="natural", version="6", requirements=("parse",))
def insert_adv(sentence: Sentence, rng: Generator, *, profile: str = "paper") -> str:
    """A neutral adverb stands before the verb of every clause (none that negates, none that is sexual or violent)."""
    words = sentence.words
    if profile == "released":
        verbs = [n for n, word in enumerate(words) if word.is_verb and word.text[0] not in "'’"]
    else:
        verbs = [n for n in sentence.verbs if _takes_adverb(sentence, n)]
        verbs = [n - (n > 0 and words[n - 1].text == "being") for n in verbs]  # "is currently being played"
    changes = {n: f"{pick(adverbs(profile), rng)} {words[n].text}" for n in verbs}
    return rewritten(sentence, changes, articles=profile != "released")


def _takes_adverb(sentence: Sentence, verb: int) -> bool:
    """Whether a verb surely opens a clause: an imperative, a participle of a noun, or a verb with a subject."""
    word, before, finite = sentence.words[verb], sentence.words[max(verb - 1, 0)], sentence.finite(verb)
    if before.head == verb and (before.tag == "RB" or (before.is_noun and not before.dep.startswith("nsubj"))):
        return False  # "gently plays", "are sword fighting"
    if word.lemma == "be" or word.dep in ("xcomp", "pcomp", "csubj", "dep") or not sentence.is_verb_form(verb):
        return False
    if sentence.imperatives:  # "add flour baking powder and chili flakes"
        return verb in sentence.imperatives or (word.dep in ("advcl", "relcl") and finite is not None)
    if _may_be_no_verb(sentence, verb) or sentence.is_negated(verb):
        return False
    return sentence.has_subject(verb) or (finite is None and word.dep == "advcl")


def _may_be_no_verb(sentence: Sentence, verb: int) -> bool:
    """Whether a verb may be another word, or none that an adverb stands before: "watch a man play"."""
    word, before = sentence.words[verb], sentence.words[verb - 1]
    head, finite = sentence.words[word.head], sentence.finite(verb)
    if word.dep == "advcl" and before.dep == "conj":
        return True  # "are in the car and test driving it"
    # "is showing molecules and labelled structures", "speaks to reporters and cheering fans"
    if word.dep == "conj" and head.is_verb and (head.tag == "VBG") != (word.tag == "VBG") and finite in (None, verb):
        return True
    if finite is None:
        obj, near = sentence.child(verb, "dobj"), (verb - 1, verb + 1)
        listed = (sentence.subject(verb), obj) == near and not sentence.is_person(
            verb - 1
        )  # "buttermilk baking powder"
        return listed or word.tag not in ("VBG", "VBN") or (word.tag == "VBN" and obj is not None)
    title = word.tag == "VBP" and before.tag == "NN" and not sentence.children[verb - 1]  # "television show"
    return title or (word.tag in ("VB", "VBP") and has_class(head.lemma, "before_bare_verb"))


@cache
def adverbs(profile: str) -> tuple[str, ...]:
    """The adverbs of a profile; "released" draws all of the table, names and other slips included."""
    table = lines("adverbs.txt")
    return table if profile == "released" else tuple(word for word in table if has_class(word, "adverb"))
