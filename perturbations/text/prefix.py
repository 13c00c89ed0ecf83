"""ChangeChar (robustness paper, A.2): the first part of a word becomes another that makes a real word of it."""

from functools import cache

from numpy.random import Generator

from video_contrast.perturbations.english import Sentence
from video_contrast.perturbations.english.forms import lemma, verb_tags, word_classes
from video_contrast.perturbations.english.lexicon import has_class
from video_contrast.perturbations.registry import text_perturbation
from video_contrast.perturbations.text.words import FUNCTION_WORDS, UNFIT, lines, pick, rewritten

_SHORTEST_REST = 3  # characters that are left of a word without its first part
_ENDINGS = ("ing", "ings", "ers", "able")  # "playing" minus "play": no word is left to put another part before
_PARTS = {"NN": "NOUN", "JJ": "ADJ", "RB": "ADV"}


@text_perturbation("prefix_swap", category="ChangeChar", origin="natural", version="5", requirements=("parse",))
def prefix_swap(sentence: Sentence, rng: Generator, *, profile: str = "paper") -> str:
    """The first part of one word becomes another that gives a real word of the same tag ("report", "import")."""
    options = []
    for place, word in enumerate(sentence.words):
        others = swaps(word.text, word.tag)
        if profile != "released":
            maybe_imperative = (sentence.imperatives or not place) and "VB" in verb_tags(word.text)  # "season the meat"
            stands = sentence.object(place) is not None if word.is_verb else not maybe_imperative
            others = fitting(word.text, word.tag, others) if stands else ()
        if others:
            options.append((place, others))
    if not options:
        return sentence.caption
    place, others = options[int(rng.random() * len(options))]
    return rewritten(sentence, {place: pick(others, rng)}, articles=profile != "released")


@cache
def swaps(word: str, tag: str) -> tuple[str, ...]:
    """The real words of the same tag that differ from `word` in their first part, sorted.

    >>> "football" in swaps("basketball", "NN"), swaps("girl", "NN")
    (True, ())
    """
    if not word.isascii() or not word.isalpha() or word in FUNCTION_WORDS:
        return ()
    rests = {word[len(old) :] for old in _prefixes() if word.startswith(old)}
    rests = {rest for rest in rests if len(rest) >= _SHORTEST_REST and rest not in _ENDINGS}
    others = {new + rest for rest in rests for new in _prefixes()} - {word}
    return tuple(sorted(other for other in others if _is_word(other, tag)))


@cache
def fitting(word: str, tag: str, others: tuple[str, ...]) -> tuple[str, ...]:
    """The words of `others` that can stand where `word` does (a verb: with an object).

    `word`: of the caption, in lower case.

    >>> fitting("person", "NN", ("arson", "bison")), fitting("everything", "NN", ("nothing", "plaything"))
    (('bison',), ('nothing',))
    """
    if word.startswith("any"):
        return ()
    fits = [new for new in others if new not in UNFIT and lemma(new, tag) not in UNFIT and not new.startswith("any")]
    for kind in ("indefinite", "uncountable"):
        fits = [new for new in fits if has_class(new, kind) == has_class(word, kind)]
    if tag.startswith("VB"):
        return tuple(new for new in fits if not has_class(lemma(new, tag), "no_object"))
    adverb = "ADV" in word_classes(word)  # "he is outside", not "he is bedside"
    return tuple(new for new in fits if not adverb or "ADV" in word_classes(new))


@cache
def _prefixes() -> tuple[str, ...]:
    return tuple(sorted(prefix for line in lines("prefixes.txt") for prefix in line.split()))


def _is_word(word: str, tag: str) -> bool:
    if tag.startswith("VB"):
        return tag in verb_tags(word)
    part = _PARTS.get(tag[:2])
    if part is None or part not in word_classes(word):
        return False
    return part != "NOUN" or (lemma(word, "NNS") == word) == (tag in ("NN", "NNP"))
