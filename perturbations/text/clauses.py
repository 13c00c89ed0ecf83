"""What the rules about verbs share: the head verb of a caption, its auxiliary, its number."""

from dataclasses import dataclass

from video_contrast.perturbations.language import Token

FINITE = ("VBZ", "VBP", "VBD", "MD")
_PARTICIPLES = ("VBG", "VBN")
_BETWEEN = ("RB", "RBR", "RBS")
_NEGATIONS = ("not", "n't", "n’t", "never")
_PRONOUNS_PLURAL = frozenset(("they", "we", "you", "i", "these", "those"))
# Uncountable nouns that end as plurals do.
UNCOUNTED = frozenset(
    "gymnastics aerobics acrobatics athletics physics mathematics politics news broccoli lens".split()  # noqa: SIM905
)
_QUESTION = frozenset(("what", "who", "where", "when", "why", "how", "which", "whose", "whom"))


@dataclass(frozen=True)
class Verb:
    """The head verb of a caption: places in its token list.

    `auxiliary` is the be, have or modal in front of it (None: it stands alone); `head` is the verb itself, the
    auxiliary's own place where nothing follows it ("a man is in a car").
    """

    head: int
    auxiliary: int | None


def head_verb(tokens: list[Token]) -> Verb | None:
    """The first finite verb, or, in a caption without one, the first participle ("a man singing a song")."""
    for place, token in enumerate(tokens):
        if token.tag in FINITE and not _in_relative(tokens, place):
            return _with_auxiliary(tokens, place)
    for place, token in enumerate(tokens):
        if token.tag in FINITE:
            return _with_auxiliary(tokens, place)
    for tag in ("VBG", "VBN", "VB"):
        for place, token in enumerate(tokens):
            if token.tag == tag and place > 0 and tokens[place - 1].tag not in ("TO", "DT", "JJ", "IN", "PRP$"):
                return Verb(place, None)
    return None


def finite_place(tokens: list[Token], verb: Verb) -> int:
    """The place of the word that has the tense: an auxiliary, also of an order ("do not stir"), or the head."""
    if verb.auxiliary is not None:
        return verb.auxiliary
    at = verb.head - 1
    while at > 0 and tokens[at].text.lower() in _NEGATIONS:
        at -= 1
    return at if at >= 0 and tokens[at].text.lower() == "do" else verb.head


def is_plural(tokens: list[Token], before: int) -> bool:
    """Whether the subject in front of place `before` is plural: its last noun, "and", or a pronoun."""
    for place in range(before - 1, -1, -1):
        token = tokens[place]
        low = token.text.lower()
        if low in _PRONOUNS_PLURAL:
            return True
        if token.tag in ("NN", "NNP", "PRP") or low in UNCOUNTED:
            # "a man and a woman": two nouns joined by "and" and nothing but words of noun phrases between them
            left = [t.text.lower() for t in tokens[max(0, place - 4) : place]]
            return "and" in left and any(t.tag.startswith("NN") for t in tokens[:place])
        if token.tag in ("NNS", "NNPS"):
            head = _before_preposition(tokens, place)
            return tokens[head].tag in ("NNS", "NNPS") if head is not None else True
    return False


def is_question(caption: str, tokens: list[Token]) -> bool:
    """Whether a caption asks: it ends with "?" or begins with a question word."""
    return caption.rstrip().endswith("?") or (bool(tokens) and tokens[0].text.lower() in _QUESTION)


def _with_auxiliary(tokens: list[Token], place: int) -> Verb:
    token = tokens[place]
    auxiliary = token.tag == "MD" or token.lemma in ("be", "have", "do")
    if not auxiliary:
        return Verb(place, None)
    tags = ("VB",) if token.tag == "MD" or token.lemma == "do" else _PARTICIPLES
    for after in range(place + 1, len(tokens)):
        if tokens[after].tag in tags:
            return Verb(after, place)
        if tokens[after].tag not in _BETWEEN and tokens[after].text.lower() not in ("n't", "not", "been", "being"):
            break
    return Verb(place, place if token.lemma == "be" or token.tag == "MD" else None)


def _in_relative(tokens: list[Token], place: int) -> bool:
    """Whether the verb belongs to "that", "who" or "which" right before it and so is not the caption's own."""
    return place > 0 and tokens[place - 1].tag in ("WDT", "WP", "WRB")


def _before_preposition(tokens: list[Token], place: int) -> int | None:
    """The noun that an "of" phrase ending at `place` belongs to: "a group of people" is headed by "group"."""
    for at in range(place - 1, 0, -1):
        if tokens[at].tag == "IN":
            # captions say "a group of people are", so a collective noun follows the people in it
            return None if tokens[at].text.lower() == "of" else at - 1 if tokens[at - 1].tag.startswith("NN") else None
        if not tokens[at].tag.startswith(("NN", "JJ", "DT", "CD", "PRP$", "VBN", "VBG")):
            return None
    return None
