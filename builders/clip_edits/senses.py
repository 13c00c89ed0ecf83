"""Uses of a direction verb whose counterpart would not be what the clip shows backwards.

Idioms ("covers a song"), states ("is covered in foam"), ways along which there is no up nor down ("down the street"),
and what is denied. Precision counts here: what is in doubt is left out.
"""

from __future__ import annotations

from collections.abc import Sequence

from video_contrast.perturbations.language import Token

OPENS = ("DT", "PRP", "PRP$", "NN", "NNS", "NNP", "JJ", "CD")  # tags that begin a noun group

# Verb -> nouns with which it says something else than a motion.
_IDIOMS = {
    "cover": """song music version hit track album tune topic news story event subject match game""",
    "enter": """competition contest race code number name text password information data""",
    "close": "deal",
    "open": "show concert account talk",
    "push": "button key",
    "pull": "button key face",
    "put": "show play display performance concert sale end",
    "get": "fight dispute argument trouble shape position",
    "fall": "love",
    "run": "bus car wall truck tree pole vehicle train fence problem",
    "drive": "bus car wall truck tree pole vehicle train fence",
    "load": "page website program",
    "grow": "tree plant flower grass hair beard crop vegetable",
    "leave": "flower message comment note trace review impression",
    "tie": "game match",
}
# Up and down are directions on these; a street is gone down both ways.
_STEEP = frozenset(
    """stair staircase step hill mountain ladder tree wall slope rope pole slide cliff ramp escalator tower hillside
    mountainside dune chute waterfall drain chimney""".split()  # noqa: SIM905
)
_NO_CONTAINERS = frozenset(  # what something is put "in" without getting into it
    """game video movie film cartoon show scene kitchen room front middle order place street way style time""".split()  # noqa: SIM905
)
_STANCES = frozenset(("sit", "stand", "lie"))
_SUPPLIED = frozenset(("fill", "cover", "load", "pack", "wrap", "stack", "inflate", "attach", "button", "tie"))
_INTRANSITIVE = frozenset("rise fall sink ascend descend appear disappear vanish grow shrink expand swell".split())  # noqa: SIM905
_TRANSITIVE = frozenset("push pull shove drag lift lower raise".split())  # noqa: SIM905
_CLOSING = frozenset(("into", "onto", "of", "off", "out"))  # a participle with one of these stands for an action


def other_sense(tokens: Sequence[Token], at: int, exchanged: set[int], *, dangles: bool) -> bool:
    """Whether the verb of a caption may mean something else than the motion that has a counterpart.

    Args:
        tokens: of the caption.
        at: the number of the verb.
        exchanged: the numbers of the verb and of the words that belong to it.
        dangles: whether the counterpart ends with a preposition, which needs an object.

    Returns:
        True where it may.
    """
    verb, behind = tokens[at], max(exchanged) + 1
    words = [tokens[n].text.lower() for n in sorted(exchanged - {at})]
    rest = tokens[at + 1 :]
    following = tokens[behind] if behind < len(tokens) else None
    takes_object = following is not None and following.tag in OPENS
    nouns = {token.lemma for token in tokens if token.tag.startswith("NN")}
    head = _head(tokens, behind)
    return bool(
        any(token.lemma in ("not", "never") or token.text.lower() in ("n't", "cannot") for token in tokens)
        or nouns & set(_IDIOMS.get(verb.lemma, "").split())
        or (verb.tag == "VBN" and not _is_happening(tokens, at, words))
        or (verb.tag == "VBG" and verb.lemma in _STANCES)
        or (verb.lemma in _SUPPLIED and any(token.text.lower() in ("with", "in") for token in rest))
        or (verb.lemma in _TRANSITIVE and verb.tag != "VBN" and not words and following and not takes_object)
        or any(token.text.lower() == "while" for token in tokens)
        or (at > 1 and tokens[at - 1].tag == "TO" and tokens[at - 2].tag.startswith("NN"))  # "ways to approach"
        or (words == ["up"] and verb.lemma in ("jump", "climb", "step") and following and following.text == "on")
        or (verb.lemma == "enter" and following is not None and following.text.lower() in ("in", "into", "to"))
        or (verb.lemma == "appear" and following is not None and following.text.lower() in ("with", "as"))
        or (verb.lemma == "turn" and words == ["into"])  # "turns into a monster"
        or (verb.lemma == "roll" and words == ["into"])  # "rolls dough into balls"
        or (verb.text.lower() == "leaves" and at > 0 and tokens[at - 1].tag == "JJ")  # "a lot of yellow leaves"
        or (
            words == ["into"] and at + 1 < len(tokens) and tokens[at + 1].text.lower() in ("off", "from", "out", "over")
        )
        or (words in (["in"], ["out"]) and following is not None and following.text.lower() in ("in", "out"))
        or (verb.lemma == "ride" and head in ("distance", "sunset"))
        or (verb.lemma == "pour" and words == ["into"] and _any_vessel(tokens, behind))
        or (verb.lemma in ("cover", "uncover") and "veil" in nouns)
        or (verb.lemma in ("assemble", "fold", "wrap", "cover") and _says_opposite(rest))
        or (verb.lemma in _INTRANSITIVE and following is not None and following.tag in (*OPENS, "TO", "VBG"))
        or (dangles and not takes_object)
        or (words[-1:] in (["up"], ["down"]) and verb.lemma in _GOING and takes_object and head not in _STEEP)
        or (words in (["in"], ["out"]) and behind == at + 2 and takes_object)
        or (words == ["in"] and behind > at + 2 and _no_container(tokens, at, behind - 1))
        or (words[-1:] in (["up"], ["down"]) and following is not None and following.text.lower() in ("for", "to"))
    )


_POURED_FROM = frozenset("container bowl glass cup jar pitcher jug bottle can bucket".split())  # noqa: SIM905


def _any_vessel(tokens: Sequence[Token], begin: int) -> bool:
    """Whether "a bowl" begins at a place: what is poured into a bowl may be poured out of a bowl, too."""
    indefinite = begin < len(tokens) and tokens[begin].text.lower() in ("a", "an", "another", "one")
    return indefinite and _head(tokens, begin) in _POURED_FROM


def _says_opposite(rest: Sequence[Token]) -> bool:
    """Whether the counterpart stands in the caption as well: "assembles a disassembled gun"."""
    return any(token.text.lower().startswith(("disassembl", "unfold", "unwrap", "uncover")) for token in rest)


_GOING = frozenset(
    """go walk run move slide glide roll drive ride fly swim crawl jump climb step travel drop march jog skate ski sail
    dance scroll float drift come""".split()  # noqa: SIM905
)


def _is_happening(tokens: Sequence[Token], at: int, words: Sequence[str]) -> bool:
    """Whether a participle tells of an action: "is being closed", "closed by a man", "put into a pan"."""
    before = {token.text.lower() for token in tokens[max(0, at - 2) : at]}
    behind = {token.text.lower() for token in tokens[at + 1 :]}
    return bool("being" in before or before & {"has", "have", "had"} or "by" in behind or _CLOSING & set(words))


def _no_container(tokens: Sequence[Token], at: int, place: int) -> bool:
    """Whether "in" behind the object says where something happens, rather than what the object gets into."""
    return any(token.tag in ("IN", "TO") for token in tokens[at + 1 : place]) or (
        _head(tokens, place + 1) in _NO_CONTAINERS
    )


def _head(tokens: Sequence[Token], begin: int) -> str:
    """The last noun of the noun group that begins at a place; "" where none does."""
    head = ""
    for token in tokens[begin:]:
        if token.tag not in OPENS:
            break
        head = token.lemma if token.tag.startswith("NN") else head
    return head
