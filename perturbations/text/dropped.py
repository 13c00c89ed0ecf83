"""DropText and Positional (robustness paper, A.2): words become [UNK] by part of speech or place, or change order.

Words are what white space separates, and their number stays; a word has the tag of its first part that is no
punctuation ("dog's" is a noun).
"""

from collections.abc import Callable

from numpy.random import Generator

from video_contrast.perturbations.english import Sentence
from video_contrast.perturbations.registry import text_perturbation

UNKNOWN = "[UNK]"
Change = Callable[[list[str], list[int], Generator], list[str]]  # words, places of the nouns (verbs), random stream


def _drop(words: list[str], places: list[int], rng: Generator) -> list[str]:
    return [UNKNOWN if place in places else word for place, word in enumerate(words)]


def _drop_others(words: list[str], places: list[int], rng: Generator) -> list[str]:
    return [word if place in places else UNKNOWN for place, word in enumerate(words)]


def _drop_one(words: list[str], places: list[int], rng: Generator) -> list[str]:
    return _drop(words, [places[int(rng.random() * len(places))]] if places else [], rng)


def _register(name: str, summary: str, change: Change, kinds: tuple[str, ...]) -> None:
    def rule(sentence: Sentence, rng: Generator, *, profile: str = "paper") -> str:
        words = sentence.caption.split()
        tags, place, at = [], 0, 0
        for word in words:
            at = sentence.caption.index(word, at) + len(word)
            tag = ""
            while place < len(sentence) and sentence.words[place].end <= at:
                if not tag and sentence.words[place].text[0].isalnum():
                    tag = sentence.words[place].tag
                place += 1
            tags.append(tag)
        return " ".join(change(words, [place for place, tag in enumerate(tags) if tag[:2] in kinds], rng))

    rule.__doc__ = summary
    text_perturbation(name, category="DropText", origin="synthetic", version="3", requirements=("parse",))(rule)


_register("no_nouns", "Every noun becomes [UNK].", _drop, ("NN",))
_register("no_verbs", "Every verb becomes [UNK].", _drop, ("VB",))
_register("no_nouns_and_no_verbs", "Every noun and every verb becomes [UNK].", _drop, ("NN", "VB"))
_register("only_nouns", "All words but the nouns become [UNK].", _drop_others, ("NN",))
_register("only_verbs", "All words but the verbs become [UNK].", _drop_others, ("VB",))
_register(
    "only_nouns_and_only_verbs", "All words but the nouns and the verbs become [UNK].", _drop_others, ("NN", "VB")
)
_register("random_noun", "One noun becomes [UNK].", _drop_one, ("NN",))
_register("random_verb", "One verb becomes [UNK].", _drop_one, ("VB",))


def _register_ends(name: str, summary: str, places: tuple[int, ...]) -> None:
    def rule(caption: str, rng: Generator, *, profile: str = "paper") -> str:
        words = caption.split()
        for place in places:
            words[place] = UNKNOWN
        return " ".join(words)

    rule.__doc__ = summary
    text_perturbation(name, category="Positional", origin="synthetic")(rule)


_register_ends("drop_first", "The first word becomes [UNK].", (0,))
_register_ends("drop_last", "The last word becomes [UNK].", (-1,))
_register_ends("drop_first_and_last", "The first and the last word become [UNK].", (0, -1))


@text_perturbation("shuffle_order", category="Positional", origin="synthetic")
def shuffle_order(caption: str, rng: Generator, *, profile: str = "paper") -> str:
    """The words stand in a random order: another one than before if there is another (`released`: any)."""
    words = caption.split()
    mixed = _shuffled(words, rng)
    if profile != "released" and len(set(words)) > 1:
        while mixed == words:
            mixed = _shuffled(words, rng)
    return " ".join(mixed)


def _shuffled(words: list[str], rng: Generator) -> list[str]:
    return [words[n] for n in rng.random(len(words)).argsort().tolist()]
