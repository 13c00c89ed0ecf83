"""DropText and Positional (robustness paper, A.2): words become [UNK] by part of speech or place, or change order.

Words are what white space separates, and their number stays; a word has the tag of its first part that is no
punctuation ("dog's" is a noun).
"""

from numpy.random import Generator

from video_contrast.perturbations.english import Sentence
from video_contrast.perturbations.registry import text_perturbation

UNKNOWN = "[UNK]"


def _register(name: str, summary: str, tags: tuple[str, ...], *, others: bool = False, one: bool = False) -> None:
    """Registers a rule that drops the words with one of some tags, all `others`, or one of them drawn at random."""

    def rule(sentence: Sentence, rng: Generator, *, profile: str = "paper") -> str:
        words = sentence.caption.split()
        places, at, end = [], 0, 0
        for place, word in enumerate(words):
            end = sentence.caption.index(word, end) + len(word)
            tag = ""
            while at < len(sentence) and sentence.words[at].end <= end:
                if not tag and sentence.words[at].text[0].isalnum():
                    tag = sentence.words[at].tag
                at += 1
            places += [place] if tag[:2] in tags else []
        if one and places:
            places = [places[int(rng.random() * len(places))]]
        return " ".join(word if (place in places) is others else UNKNOWN for place, word in enumerate(words))

    rule.__doc__ = summary
    text_perturbation(name, category="DropText", origin="synthetic", version="3", requirements=("parse",))(rule)


_register("no_nouns", "Every noun becomes [UNK].", ("NN",))
_register("no_verbs", "Every verb becomes [UNK].", ("VB",))
_register("no_nouns_and_no_verbs", "Every noun and every verb becomes [UNK].", ("NN", "VB"))
_register("only_nouns", "All words but the nouns become [UNK].", ("NN",), others=True)
_register("only_verbs", "All words but the verbs become [UNK].", ("VB",), others=True)
_register("only_nouns_and_only_verbs", "All words but the nouns and the verbs become [UNK].", ("NN", "VB"), others=True)
_register("random_noun", "One noun becomes [UNK].", ("NN",), one=True)
_register("random_verb", "One verb becomes [UNK].", ("VB",), one=True)


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
    while True:
        new_order = [words[n] for n in rng.random(len(words)).argsort().tolist()]
        if new_order != words or profile == "released" or len(set(words)) == 1:
            return " ".join(new_order)
