"""DropText: words of some parts of speech become [UNK], so the number of words stays (robustness paper, A.2).

Words are what white space separates; a word has the tag of its first part that is no punctuation ("dog's" is a noun).
"""

from numpy.random import Generator

from video_contrast.perturbations.language import Token
from video_contrast.perturbations.registry import text_perturbation
from video_contrast.perturbations.text.positional import UNKNOWN

_NOUN, _VERB, _BOTH = ("NN",), ("VB",), ("NN", "VB")


@text_perturbation("no_nouns", category="DropText", origin="synthetic", requirements=("tags",))
def no_nouns(caption: str, rng: Generator, *, tokens: list[Token], profile: str = "paper") -> str:
    """Every noun becomes [UNK]."""
    return _drop(caption, tokens, _NOUN)


@text_perturbation("no_verbs", category="DropText", origin="synthetic", requirements=("tags",))
def no_verbs(caption: str, rng: Generator, *, tokens: list[Token], profile: str = "paper") -> str:
    """Every verb becomes [UNK]."""
    return _drop(caption, tokens, _VERB)


@text_perturbation("no_nouns_and_no_verbs", category="DropText", origin="synthetic", requirements=("tags",))
def no_nouns_and_no_verbs(caption: str, rng: Generator, *, tokens: list[Token], profile: str = "paper") -> str:
    """Every noun and every verb becomes [UNK]."""
    return _drop(caption, tokens, _BOTH)


@text_perturbation("only_nouns", category="DropText", origin="synthetic", requirements=("tags",))
def only_nouns(caption: str, rng: Generator, *, tokens: list[Token], profile: str = "paper") -> str:
    """All words but the nouns become [UNK]."""
    return _keep(caption, tokens, _NOUN)


@text_perturbation("only_verbs", category="DropText", origin="synthetic", requirements=("tags",))
def only_verbs(caption: str, rng: Generator, *, tokens: list[Token], profile: str = "paper") -> str:
    """All words but the verbs become [UNK]."""
    return _keep(caption, tokens, _VERB)


@text_perturbation("only_nouns_and_only_verbs", category="DropText", origin="synthetic", requirements=("tags",))
def only_nouns_and_only_verbs(caption: str, rng: Generator, *, tokens: list[Token], profile: str = "paper") -> str:
    """All words but the nouns and the verbs become [UNK]."""
    return _keep(caption, tokens, _BOTH)


@text_perturbation("random_noun", category="DropText", origin="synthetic", requirements=("tags",))
def random_noun(caption: str, rng: Generator, *, tokens: list[Token], profile: str = "paper") -> str:
    """One noun becomes [UNK]."""
    return _drop_one(caption, tokens, _NOUN, rng)


@text_perturbation("random_verb", category="DropText", origin="synthetic", requirements=("tags",))
def random_verb(caption: str, rng: Generator, *, tokens: list[Token], profile: str = "paper") -> str:
    """One verb becomes [UNK]."""
    return _drop_one(caption, tokens, _VERB, rng)


def _drop(caption: str, tokens: list[Token], kinds: tuple[str, ...]) -> str:
    words, tags = _tagged(caption, tokens)
    return " ".join([UNKNOWN if tag[:2] in kinds else word for word, tag in zip(words, tags, strict=True)])


def _keep(caption: str, tokens: list[Token], kinds: tuple[str, ...]) -> str:
    words, tags = _tagged(caption, tokens)
    return " ".join([word if tag[:2] in kinds else UNKNOWN for word, tag in zip(words, tags, strict=True)])


def _drop_one(caption: str, tokens: list[Token], kinds: tuple[str, ...], rng: Generator) -> str:
    words, tags = _tagged(caption, tokens)
    places = [place for place, tag in enumerate(tags) if tag[:2] in kinds]
    if places:
        words[places[int(rng.random() * len(places))]] = UNKNOWN
    return " ".join(words)


def _tagged(caption: str, tokens: list[Token]) -> tuple[list[str], list[str]]:
    """The white-space words of a caption and their tags."""
    words = caption.split()
    if len(words) == len(tokens):
        return words, [token[1] for token in tokens]
    tags, place = [], 0
    at = 0
    for word in words:
        at = caption.index(word, at) + len(word)
        tag = ""
        while place < len(tokens) and tokens[place].end <= at:
            if not tag and tokens[place].text[0].isalnum():
                tag = tokens[place].tag
            place += 1
        tags.append(tag)
    return words, tags
