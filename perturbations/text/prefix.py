"""ChangeChar: the first part of one word becomes another, and the result is a real word of the same tag."""

from functools import cache

from numpy.random import Generator

from video_contrast.perturbations.english.forms import (
    _lemminflect,  # its dictionary says what a real word is
    fix_article,
    like_case,
)
from video_contrast.perturbations.language import Token, lemma, verb_tags
from video_contrast.perturbations.registry import text_perturbation
from video_contrast.perturbations.text.verb_places import with_orders
from video_contrast.perturbations.text.words import FUNCTION_WORDS, UNFIT, pick

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
_PRONOUNS = frozenset("someone everyone somebody nobody everybody something nothing everything".split())  # noqa: SIM905
_OFFENSIVE = frozenset(("prostitute", "perversity", "cock", "abortion"))
# Parts of "in front" and of "any ..." in questions.
_NOT_SWAPPED = frozenset("infront anyone anything anybody anywhere".split())  # noqa: SIM905
# A preposition, and verbs whose complement (or want of an object) few others share.
_NOT_SWAPPED_VERBS = frozenset("include become come react interact".split())  # noqa: SIM905
# Verbs that take no object or only a few, or that few people know as verbs: no word for "explain" or "apply".
_SELDOM_WITH_OBJECT = frozenset(
    """
    complain remonstrate comply conform dissent consent assent comport accord concord discord subscribe reply pertain
    recede preach uniform overview coke conk disk bide anchor absent ensemble tablet ant arc product stockade birch
    derange propose intercede concur
    """.split()  # noqa: SIM905
)
# Nouns without an article: none of them stands in the place of a noun with one, nor a noun with one in theirs.
_NO_ARTICLE = frozenset(
    """
    arson unison advice tableware software hardware conformance conduct percussion headroom headway deference workfare
    warfare footage information foreplay interplay rainwater underwater transport import export transportation
    perdition attention retention contention lightning moonlight daylight sunlight construction destruction instruction
    internet clothing reparation repetition preparation education snowfall rainfall nightfall adversity
    """.split()  # noqa: SIM905
)


@text_perturbation("prefix_swap", category="ChangeChar", origin="natural", version="4", requirements=("tags",))
def prefix_swap(caption: str, rng: Generator, *, tokens: list[Token], profile: str = "paper") -> str:
    """The first part of one word becomes another that gives a real word of the same tag ("report", "import")."""
    options = []
    paper = profile != "released"
    places = [place for place, token in enumerate(tokens) if _has_sibling(token.text)]
    if not places:
        return caption
    if paper and any(tokens[place].tag[:2] == "VB" or verb_tags(tokens[place].text) for place in places):
        tokens = with_orders(tokens)
    for token in [tokens[place] for place in places]:
        word = token.text.lower()
        swapped = swaps(word, token.tag)
        swapped = fitting(word, token.tag, swapped) if paper else swapped
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
def _has_sibling(text: str) -> bool:
    """Whether any word of the dictionary differs in its first part: most words have none, and cost no more."""
    word = text.lower()
    if not word.isascii() or not word.isalpha() or word in FUNCTION_WORDS:
        return False
    rests = [word[len(old) :] for old in _sorted_prefixes() if word.startswith(old)]
    rests = [rest for rest in rests if len(rest) >= _SHORTEST_REST and rest not in _ENDINGS]
    others = {new + rest for rest in rests for new in _sorted_prefixes()} - {word}
    return any(_lemminflect().getAllLemmas(other) for other in others)


@cache
def fitting(word: str, tag: str, swapped: tuple[str, ...]) -> tuple[str, ...]:
    """Those of `swapped` that can stand where `word` does: with an article, with an object, as an adverb.

    Args:
        word: of the caption, in lower case.
        tag: its part of speech.
        swapped: words that begin otherwise.

    >>> fitting("person", "NN", ("arson", "bison")), fitting("everything", "NN", ("nothing", "plaything"))
    (('bison',), ('nothing',))
    """
    if word in _NOT_SWAPPED or (tag.startswith("VB") and lemma(word, tag) in _NOT_SWAPPED_VERBS):
        return ()
    left = [new for new in swapped if new not in UNFIT and lemma(new, tag) not in UNFIT | _OFFENSIVE]
    if word in _PRONOUNS:
        return tuple(new for new in left if new in _PRONOUNS)
    left = [new for new in left if new not in _PRONOUNS and not new.startswith("any")]
    if tag.startswith("VB"):
        return tuple(new for new in left if lemma(new, tag) not in _SELDOM_WITH_OBJECT)
    if tag in ("NN", "NNP"):
        left = [new for new in left if (new in _NO_ARTICLE) == (word in _NO_ARTICLE)]
    fit = []
    for new in left:
        parts, old_parts = _lemminflect().getAllLemmas(new), _lemminflect().getAllLemmas(word)
        superlative = new not in parts.get("ADJ", (new,))  # "lightest" is no noun
        if not superlative and ("ADV" not in old_parts or "ADV" in parts):  # "he is outside", not "he is bedside"
            fit.append(new)
    return tuple(fit)


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
