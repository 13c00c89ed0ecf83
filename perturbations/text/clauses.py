"""What the rules about verbs share: the head verb of a caption, its auxiliary, its number."""

from dataclasses import dataclass

from video_contrast.perturbations.language import Token, verb_tags

FINITE = ("VBZ", "VBP", "VBD", "MD")
_PARTICIPLES = ("VBG", "VBN")
_BETWEEN = ("RB", "RBR", "RBS")
_NEGATIONS = ("not", "n't", "n’t", "never")
_PRONOUNS_PLURAL = frozenset(("they", "we", "you", "i", "these", "those"))
_PLURAL_NOUNS = frozenset("people men women children".split())  # noqa: SIM905  that taggers may read as singular
# Uncountable nouns that end as plurals do.
UNCOUNTED = frozenset(
    "gymnastics aerobics acrobatics athletics physics mathematics politics news broccoli lens".split()  # noqa: SIM905
)
_IN_NOUN_PHRASES = ("DT", "JJ", "NN", "CD", "PR", "VB")  # participles describe
_LINKING = frozenset("get look seem appear become feel".split())  # noqa: SIM905
_OPENS_CLAUSE = frozenset("while as when that if because until before after though".split())  # noqa: SIM905
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
        if token.tag in FINITE and not _in_relative(tokens, place) and not describes(tokens, place):
            return _with_auxiliary(tokens, place)
    for place, token in enumerate(tokens):
        if token.tag in FINITE and not describes(tokens, place):
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
            return _is_joined(tokens, place)
        if token.tag in ("NNS", "NNPS"):
            head = _before_preposition(tokens, place)
            if head is None:
                return True
            return tokens[head].tag in ("NNS", "NNPS") or tokens[head].text.lower() in _PLURAL_NOUNS
    return False


def _is_joined(tokens: list[Token], place: int) -> bool:
    """Whether the noun at `place` is joined to one before it: "a man and a woman", not "a red and white shirt".

    Nor the subject of a second clause: "a man sings and a woman".
    """
    for at in range(place - 1, max(0, place - 5), -1):
        if tokens[at].text.lower() == "and":
            first = tokens[at - 1].tag[:2] in ("NN", "PR", "CD", "VB")
            first = first and all(token.tag[:2] in _IN_NOUN_PHRASES for token in tokens[at + 1 : place])
            clause = any(token.tag in FINITE for token in tokens[:at]) and tokens[0].text.lower() != "there"
            return first and not clause and any(token.tag[:2] in ("NN", "PR") for token in tokens[:at])
    return False


def describes(tokens: list[Token], place: int) -> bool:
    """Whether a past form is a participle that describes: "a black haired woman sings", "food being prepared"."""
    token = tokens[place]
    form = token.tag == "VBD" or (token.text.lower().endswith("ed") and token.tag not in verb_tags(token.text))
    if not form or token.lemma == "be":
        return False
    before = tokens[place - 1] if place else None
    if before is not None and before.tag != "NN" and (before.lemma in _LINKING or before.text.lower() == "being"):
        return True  # "food being prepared", "they look concerned"
    if place + 1 == len(tokens) or tokens[place + 1].tag[:2] not in ("NN", "JJ"):
        return False
    if before is not None and before.tag in ("JJ", "DT", "CD"):
        return True  # no verb of its own stands there: "a colored dish"
    if before is not None and before.tag not in ("NN", "NNP", "RB"):
        return False
    for after in tokens[place + 1 :]:
        if after.tag in ("VBZ", "VBP", "MD"):
            return "VBN" in verb_tags(token.text) or token.text.endswith("ed")
        if after.tag in ("CC", ",", "WDT", "WP", "WRB", "VBD", "TO") or after.text.lower() in _OPENS_CLAUSE:
            return False
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
        got = token.lemma == "have" and tokens[after].text.lower() == "got"  # "has got a ball": read as a past
        if tokens[after].tag in tags or got:
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
        if tokens[at].tag == "VBG" and tokens[at - 1].tag in ("NN", "NNS", "NNP"):
            return at - 1  # "a person wearing shoes"
        if not tokens[at].tag.startswith(("NN", "JJ", "DT", "CD", "PRP$", "VBN", "VBG")):
            return None
    return None
