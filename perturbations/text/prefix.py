"""ChangeChar: the first part of one word becomes another, and the result is a real word of the same tag."""

from functools import cache

from numpy.random import Generator

from video_contrast.perturbations.language import Token, lemma, verb_tags
from video_contrast.perturbations.language.fitting import fix_article, like_case
from video_contrast.perturbations.language.morphology import _lemminflect  # its dictionary says what a real word is
from video_contrast.perturbations.registry import text_perturbation
from video_contrast.perturbations.text.words import FUNCTION_WORDS, pick

_PREFIXES = """
    ab ac ad af al an ap ar as at auto be bi co col com con contra cor counter de dis em en ex for fore im in inter
    ir mal mid mis non ob out over per pre pro re semi sub sup super sur sus trans tri un under uni up with
    any every no some back base basket bath bed bird birth body book bulk butter class day door eye fire fly foot
    foreign hair half hand head high home house land life light loud low mail man moon motor mouth news night paper
    play rail rain road sea ship shop side sign snow soft some sports steam step stock story street sun table time
    tooth under volley wall war wash water way week wheel white wind wood work year
""".split()  # noqa: SIM905
_SHORTEST_REST = 3  # characters that are left of a word without its first part
_ENDINGS = ("ing", "ings", "ers", "able")  # "playing" minus "play": no word is left to put another part before
_PARTS = {"NN": "NOUN", "JJ": "ADJ", "RB": "ADV"}


@text_perturbation("prefix_swap", category="ChangeChar", origin="natural", version="3", requirements=("tags",))
def prefix_swap(caption: str, rng: Generator, *, tokens: list[Token], profile: str = "paper") -> str:
    """The first part of one word becomes another that gives a real word of the same tag ("report", "import")."""
    options = []
    for token in tokens:
        if token.text.isascii() and token.text.isalpha() and token.text.lower() not in FUNCTION_WORDS:
            swapped = swaps(token.text.lower(), token.tag)
            if swapped:
                options.append((token, swapped))
    if not options:
        return caption
    token, swapped = options[int(rng.random() * len(options))]
    new = like_case(pick(swapped, rng), token.text)
    before = caption[: token.start]
    return (before if profile == "released" else fix_article(before, new)) + new + caption[token.end :]


@cache
def swaps(word: str, tag: str) -> tuple[str, ...]:
    """The real words of the same tag that differ from `word` in their first part, sorted.

    >>> "football" in swaps("basketball", "NN"), swaps("girl", "NN")
    (True, ())
    """
    words = set()
    for old in _sorted_prefixes():
        rest = word[len(old) :]
        if not word.startswith(old) or len(rest) < _SHORTEST_REST or rest in _ENDINGS:
            continue
        words |= {new + rest for new in _sorted_prefixes() if new != old and _is_word(new + rest, tag)}
    return tuple(sorted(words - {word}))


@cache
def _sorted_prefixes() -> tuple[str, ...]:
    return tuple(sorted(set(_PREFIXES), key=lambda prefix: (-len(prefix), prefix)))


def _is_word(word: str, tag: str) -> bool:
    """Whether the dictionary has `word` with this tag."""
    if tag.startswith("VB"):
        return tag in verb_tags(word)
    part = _PARTS.get(tag[:2])
    if part is None or part not in _lemminflect().getAllLemmas(word):
        return False
    if part == "NOUN":
        return (lemma(word, "NNS") == word) == (tag in ("NN", "NNP"))
    return True
