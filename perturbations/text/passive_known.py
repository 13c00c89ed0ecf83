"""Tags that a word's own form and its neighbours rule out in captions, mended one rule after the other.

Each rule looks at one place of the caption as the tagger left it and answers with another tag, or none.
"""

from typing import NamedTuple

from video_contrast.perturbations.language import Token, lemma, verb_tags
from video_contrast.perturbations.language.morphology import is_describing, is_noun
from video_contrast.perturbations.text.noun_phrases import COLOURS, NOUNS, PEOPLE, PREPOSITIONS
from video_contrast.perturbations.text.passive_words import ALONE, CLAUSES, PARTICLES, WHERE_AND_HOW

CLOSED = (
    PREPOSITIONS
    | PARTICLES
    | CLAUSES
    | WHERE_AND_HOW
    | frozenset(
        """not about of with like than that so very still just also ever never always only even all both each either no
        whether then there where why how who what which it out""".split()  # noqa: SIM905
    )
)
USING = frozenset("use make apply play hold eat drink ride drive wear cook pour add put speak".split())  # noqa: SIM905  things
LOOKING = frozenset("look seem sound feel smell taste get be become".split())  # noqa: SIM905  an adjective follows
_LEFT_ALONE = frozenset("one ones other others home".split())  # noqa: SIM905
_MADE = frozenset("frosting icing dressing seasoning stuffing filling coating topping flooring lighting".split())  # noqa: SIM905
_POURING = frozenset("pour add put speak drink eat apply use make mix cook".split())  # noqa: SIM905
_ENDING = frozenset("scores misses celebrates smiles laughs sings dances walks runs jumps falls drives leaves".split())  # noqa: SIM905
_WHO = ("he", "she", "they", "i", "we", "you")
_WATCHED = frozenset("watch enjoy discuss review practice teach love".split())  # noqa: SIM905
_SAID = frozenset("talk speak dance perform sing walk".split())  # noqa: SIM905
_OPENING = CLAUSES | {"where", "that", "if", "how"}
_DONE = frozenset("perform play discuss do make cook eat ride watch wear show explain prepare sing drink hold".split())  # noqa: SIM905
_OF_THINGS = frozenset(
    "boiling running moving burning flying frying mixing cooking swimming serving baking rolling cutting".split()  # noqa: SIM905
)
_SPORTS = frozenset("skating skiing surfing boxing boarding climbing".split())  # noqa: SIM905
_TALKING = frozenset("discuss explain describe review practice demonstrate show play sing".split())  # noqa: SIM905
_WITH_MAKEUP = frozenset("do apply put show use wear remove discuss review explain describe demonstrate".split())  # noqa: SIM905
_DRESSED = frozenset("haired headed eyed skinned bearded faced shirted colored coloured".split())  # noqa: SIM905
_MADE_WITH = frozenset("with by in of on".split())  # noqa: SIM905  behind a participle
_TELLS = frozenset("talks speaks looks interviews explains reviews discusses describes tells shows plays".split())  # noqa: SIM905
_FINITE = ("VBZ", "VBP", "VBD", "MD")
_NEVER_NOUNS = ("is", "has", "does")
_ENDS = ("IN", "TO", "CC", ".", ",")


class _Place(NamedTuple):
    """A word and its neighbours; `start` and `end` of a caption have empty ones."""

    tokens: list[Token]
    at: int
    low: str
    tag: str
    before: Token
    after: Token

    @property
    def ends(self) -> bool:
        """Whether a phrase ends here."""
        return self.after.tag in ("", *_ENDS) or self.after.text.lower() in CLAUSES

    @property
    def acted(self) -> bool:
        """Whether a verb stands in front of the word before."""
        return any(token.tag in (*_FINITE, "VBG") for token in self.tokens[: max(0, self.at - 1)])

    @property
    def before_that(self) -> Token:
        """The word two places in front."""
        return self.tokens[self.at - 2] if self.at > 1 else _NONE

    def finite(self, end: int) -> bool:
        """Whether a finite verb stands in front of place `end`."""
        return any(token.tag in _FINITE for token in self.tokens[:end])


_NONE = Token(text="", tag="", lemma="", start=0, end=0)


def known(tokens: list[Token]) -> list[Token]:
    """The tokens with tags that their forms and neighbours allow.

    >>> from video_contrast.perturbations.language import tag
    >>> [token.tag for token in known(tag(["a woman is applying make up"], tagger="hanta")[0])][-2:]
    ['NN', 'NN']
    """
    return [_retagged(token, _tag(tokens, place)) for place, token in enumerate(tokens)]


def _retagged(token: Token, tag: str) -> Token:
    if not tag:
        return token
    low = token.text.lower()
    if tag == "NOUN":
        tag = "NNS" if lemma(low, "NNS") != low and not low.endswith("ss") else "NN"
    return token._replace(tag=tag, lemma=low if tag in ("NN", "JJ", "RB", "POS") else lemma(low, tag))


def _tag(tokens: list[Token], at: int) -> str:
    token = tokens[at]
    before = tokens[at - 1] if at else _NONE
    after = tokens[at + 1] if at + 1 < len(tokens) else _NONE
    place = _Place(tokens, at, low=token.text.lower(), tag=token.tag, before=before, after=after)
    for rule in _ANYWHERE if at else (*_ANYWHERE[:1], _opening):
        tag = rule(place)
        if tag:
            return tag if tag != "SAME" else ""
    return ""


def _fixed(p: _Place) -> str:
    """Single words: "test drives", "baking soda", "a red haired girl", "her" before a noun."""
    if p.low == "test" and p.at and p.after.lemma == "drive" and p.after.tag[:2] == "VB":
        return "RB"
    if p.low == "baking" and p.tag == "VBG" and p.after.text.lower() in ("soda", "powder"):
        return "NN"
    if p.low in ("her", "its") and p.tag == "PRP" and p.after.tag in (*NOUNS, "JJ", "VBN", "CD"):
        return "PRP$"
    if p.low in _DRESSED and p.after.tag in (*NOUNS, "JJ"):
        return "JJ"
    return "JJ" if p.at and p.low in COLOURS and p.tag[:2] == "VB" and p.after.tag in (*NOUNS, "JJ") else ""


def _opening(p: _Place) -> str:
    """ "father reads a book", where "father" is read as an adverb."""
    noun = p.tag in ("JJ", "RB") and (is_noun(p.low) or not is_describing(p.low)) and p.low not in CLOSED
    return "NN" if noun and p.after.tag in ("VBZ", "VBD") and len(p.tokens) > 2 else ""


def _participle(p: _Place) -> str:
    """ "holding a fork and eating rice"."""
    verb = p.low.endswith("ing") and p.tag == "NN" and "VBG" in verb_tags(p.low) and not is_noun(p.low)
    joined = p.before.tag == "CC" and any(token.tag == "VBG" for token in p.tokens[: p.at])
    return "VBG" if verb and joined and p.after.tag in (*NOUNS, "DT", "PRP$") else ""


def _owner(p: _Place) -> str:
    """ "another man s mouth"."""
    if p.low == "s" and p.before.tag in NOUNS and p.after.text and _is_owned(p.after):
        return "POS"
    owned = p.before.text.lower() == "s" and p.before_that.tag in NOUNS and _is_owned(p.tokens[p.at])
    return "NOUN" if owned else ""


def _by_form(p: _Place) -> str:
    """Words that are nothing but nouns, and names: "in europe", "talks to spongebob"."""
    if p.tag in ("NN", "NNS", "NNP", "VBG", "DT", "CC") or p.low in CLOSED:
        return ""
    noun, verb, describing = is_noun(p.low), bool(verb_tags(p.low)), is_describing(p.low)
    only = noun and not verb and not describing and p.low not in _LEFT_ALONE
    if only and p.tag in ("JJ", "VB", "VBP", "VBZ", "VBN", "VBD", "RB", "IN", "FW", "RP", "RBR", "RBS", "JJR"):
        return "NOUN"
    if p.tag == "VBZ" and noun and p.low not in _NEVER_NOUNS and (p.before.tag == "PRP$" or _flows(p)):
        return "NNS"  # "practices crafts"
    unknown = p.low.isascii() and p.low.isalpha() and len(p.low) > 2 and not (noun or verb or describing)
    opened = p.before.tag in ("VBG", "DT", "JJ", "PRP$", "IN", "TO", "VBZ", "NN", "NNP")
    return "NN" if unknown and opened and p.tag[:2] in ("VB", "JJ", "RB") and not p.low.endswith(("ing", "ed")) else ""


def _flows(p: _Place) -> bool:
    return p.before.tag in ("VBZ", "VBD") and p.before.lemma not in (*LOOKING, "have", "do")


def _verb(p: _Place) -> str:
    """Verbs that are read as nouns: "the person stir the food", "people on a show talk about"."""
    if p.tag in ("NN", "VB") and "VBP" in verb_tags(p.low) and p.after.tag in ("DT", "PRP$", "NN", "NNS", "JJ"):
        plain = p.after.tag in ("DT", "PRP$") or p.low in _DONE
        somebody = p.before.text.lower() in PEOPLE or p.before.tag == "NNS"
        if plain and somebody and not any(t.tag in (*_FINITE, "VBG") for t in p.tokens[: p.at]):
            return "VBP"
    none = not any(other.tag[:2] == "VB" or other.tag == "MD" for other in p.tokens[: p.at])
    said = p.tag == "NN" and p.low in _SAID and p.before.tag in NOUNS and p.after.tag in ("IN", "TO")
    return "VBP" if said and none else ""


def _make_up(p: _Place) -> str:
    """ "is applying make up"."""
    if p.low == "up" and p.before.text.lower() == "make":
        return "NN" if (_tag(p.tokens, p.at - 1) or p.before.tag) == "NN" else ""
    if p.low != "make" or p.after.text.lower() != "up" or p.tag[:2] != "VB":
        return ""
    if p.before.tag in ("NN", "NNS") and p.before.text.lower() in PEOPLE:
        return "SAME"
    behind = p.before.tag in ("JJ", "VBN", "NN", "NNS", "PRP$", "DT")
    return "NN" if behind or p.before.lemma in _WITH_MAKEUP else ""


def _in_ing(p: _Place) -> str:
    """Nouns and adjectives in -ing: "a coat of frosting", "ice skating", "shows dancing children", "boiling water"."""
    if "-" in p.low and p.tag == "JJ" and p.ends and p.before.tag in ("VBG", "VBZ"):
        return "NN"  # "playing ping-pong"
    if p.tag != "VBG":
        return ""
    if p.low in _MADE and p.ends and p.before.tag in ("IN", "JJ", "DT", "NN", "VBG", "VBN"):
        return "NN"
    if p.ends and p.before.tag == "NN" and p.low in _SPORTS and _in_object(p.tokens, p.at):
        return "NN"
    lemma_here, thing = p.tokens[p.at].lemma, p.after.tag in ("NN", "NNS")
    shown = p.before.tag in ("VBZ", "VBP") and p.before.lemma in _TALKING
    if shown and thing and lemma_here in ALONE:
        return "JJ"
    governed = p.before.tag == "IN" or (
        p.before.tag == "VBZ" and p.before.lemma not in ("be", "keep", "start", "begin")
    )
    if governed and thing and p.low in _OF_THINGS:
        return "JJ"
    watched = p.before.lemma in _WATCHED and p.before.tag[:2] == "VB" and is_noun(p.low) and p.low != "being"
    return "NN" if watched and p.ends else ""  # "are watching wrestling"


def _plain(p: _Place) -> str:
    """Nouns and adjectives that only their places tell: "a former us president", "some flour", "makes a dunk"."""
    if p.low == "us" and p.before.tag in ("JJ", "DT"):
        return "JJ"
    if p.tag == "VBP" and p.before.tag == "JJ" and not p.after.text and _is_last_noun(p.tokens):
        return "NN"
    article = p.before.text.lower() in ("a", "an")
    if p.tag == "RB" and (article or p.before.text.lower() in ("very", "the")):
        if p.after.tag in NOUNS and is_describing(p.low):
            return "JJ"  # "a very long shot"
        if article and is_noun(p.low) and not is_describing(p.low):
            return "NN"
    if p.low == "couple" or (p.tag == "CD" and p.low.isalpha() and is_noun(p.low) and verb_tags(p.low)):
        return "NN"
    addressed = p.tag == "VB" and p.before.text.lower() == "to" and p.after.tag in NOUNS
    if addressed and p.before_that.lemma in ("talk", "speak", "listen"):
        return "NN"  # "talking to toy babies"
    if p.tag == "JJ" and p.before.tag == "CC" and not p.after.text and not is_describing(p.low):
        return "NN"
    if p.tag == "VBZ" and not p.after.text and is_noun(p.low) and p.low not in _NEVER_NOUNS and _is_last_noun(p.tokens):
        return "NNS"  # "with martial arts moves"
    if p.low in ("t-shirt", "t-shirts"):
        return "NNS" if p.low.endswith("s") else "NN"
    if p.low == "can" and p.before.tag in (*NOUNS, "JJ", "DT") and p.after.tag in ("", "IN", "."):
        return "NN"
    return (
        "NN"
        if p.low in ("set", "shot", "cast") and p.before.tag in NOUNS and p.ends and p.tag in ("VBN", "VBD")
        else ""
    )


def _bare_verb(p: _Place) -> str:
    """Nouns that are read as bare verbs: "adds chicken into a pot", "changes a babies diaper", "talk about rob"."""
    if p.tag not in ("VB", "VBP"):
        return ""
    noun = is_noun(p.low)
    if noun and p.before.tag in ("VBZ", "VBG") and p.after.tag in NOUNS and p.before.lemma in _TALKING:
        return "NN"
    if noun and p.ends and p.before.tag == "NNS" and p.before_that.tag in ("DT", "JJ") and _in_object(p.tokens, p.at):
        return "NN"
    behind = p.ends or p.after.tag == "RB"
    verbal = p.before.tag in ("VBZ", "VBG")
    preceded = p.before.tag in ("VBZ", "VBG", "VBD", "JJ", "DT") and p.before.lemma not in LOOKING
    if noun and behind and preceded and (p.acted or verbal):
        return "NN"
    if p.ends and p.before.text.lower() in ("a", "an"):
        return "NN"
    if p.before.tag == "IN" and p.before.text.lower() in ("about", "with", "of", "at", "on"):
        return "NN"
    sole = p.before.tag == "NN" and p.before.text.lower() not in PEOPLE and noun
    return "NN" if sole and p.ends and p.acted and p.before_that.text.lower() in ("a", "an") else ""


def _in_s(p: _Place) -> str:
    """Nouns and verbs in -s: "a beauty tips box", "the green leaves", "and scores", "a politician talks about"."""
    if p.tag == "VBZ" and is_noun(p.low):
        inside = p.before.tag == "NN" and p.before_that.tag in ("DT", "JJ", "VBG") and p.after.tag in ("NN", "NNS")
        finite = p.finite(p.at - 1) and not any(token.tag in ("WP", "WDT") for token in p.tokens[: p.at])
        if inside and finite and p.low not in _TELLS and p.before.text.lower() not in PEOPLE:
            return "NNS"
        if p.before.tag == "JJ" and p.acted and p.before_that.tag in ("DT", "VBG"):
            return "NNS"
        bought = p.before.tag == "CC" and p.after.text.lower() in _WHO and p.before_that.tag == "NNS"
        return "NNS" if bought else ""  # "skirts and tops she bought"
    if p.tag != "NNS":
        return ""
    if p.before.tag == "CC" and p.ends and p.low in _ENDING and p.acted:
        last = not p.after.text and any(token.tag == "VBZ" for token in p.tokens[: p.at])
        if last or p.before_that.tag != "NNS":
            return "VBZ"
    told = p.after.text.lower() in ("about", "to", "with", "at") or p.after.tag == "DT"
    told = told or (p.before.tag == "CC" and not p.after.text and p.low in ("talks", "speaks"))
    spoken = p.low in ("talks", "speaks", "looks") and not p.finite(p.at)
    teller = p.before.tag in ("NN", "NNP") and (not p.acted or spoken)
    coloured = p.before.tag == "JJ" and p.before.text.lower() in COLOURS
    return "VBZ" if p.low in _TELLS and told and (teller or p.before.tag == "CC" or coloured) else ""


def _adjective(p: _Place) -> str:
    """Nouns that are read as adjectives or adverbs: "a german gives", "pours liquid from", "nail polish"."""
    if p.tag not in ("JJ", "RB"):
        return ""
    noun, jj = is_noun(p.low), p.tag == "JJ"
    if jj and p.before.tag == "DT" and p.after.tag in ("VBZ", "VBD"):
        return "NN"
    if jj and p.before.tag == "JJ" and noun and p.after.tag in ("VBZ", "VBG", "VBD"):
        return "NN"
    if not noun or not p.ends:
        return ""
    still = ("go", "turn", "stay", "stand", "lie", "sit", "come", "keep", "make")
    used = p.before.lemma in _POURING | _TALKING and p.low not in CLOSED and not p.low.endswith("ly")
    if _flows(p) and p.before.lemma not in still and ((jj and not is_describing(p.low)) or used):
        return "NN"
    if jj and p.before.tag in ("JJ", "VBG") and p.before.lemma not in LOOKING and p.low not in WHERE_AND_HOW:
        return "NN" if p.before.tag == "JJ" or p.before.lemma in USING else ""
    return ""


def _described(p: _Place) -> str:
    """ "a bowl filled with powder", where "filled" is read as a finite verb."""
    told = p.tag == "VBD" and p.before.tag in NOUNS and p.acted and p.after.text.lower() in _MADE_WITH
    return "VBN" if told and "VBN" in verb_tags(p.low) else ""


_ANYWHERE = (
    _fixed,
    _participle,
    _owner,
    _by_form,
    _verb,
    _make_up,
    _in_ing,
    _plain,
    _bare_verb,
    _in_s,
    _adjective,
    _described,
)


def _in_object(tokens: list[Token], place: int) -> bool:
    """Whether nothing but the words of a noun phrase stands between a verb in front and the word at `place`."""
    for token in reversed(tokens[:place]):
        if token.tag in ("VBZ", "VBG", "VBD"):
            return True
        if token.tag not in (*NOUNS, "JJ", "DT", "PRP$", "CD"):
            return False
    return False


def _is_last_noun(tokens: list[Token]) -> bool:
    """Whether only nouns and adjectives stand between the last word and a preposition or verb, in a clause."""
    article = False
    if tokens[-2].text.lower() in PEOPLE:
        return False
    for place in range(len(tokens) - 2, 0, -1):
        token = tokens[place]
        if token.tag in ("NN", "NNS", "JJ", "JJS") and not article:
            continue
        if token.tag in ("DT", "PRP$") and not article:
            article = True
            continue
        finite = any(earlier.tag in ("VBZ", "VBP", "VBD", "VBG", "MD") for earlier in tokens[: place + 1])
        governs = (token.tag == "IN" and token.text.lower() not in _OPENING) or token.tag in ("VBZ", "VBG")
        return finite and governs and place < len(tokens) - 2
    return False


def _is_owned(token: Token) -> bool:
    """Whether a word behind "s" is what somebody has, and no verb that "is" or "has" helps."""
    part = token.text.lower() == "back"
    return (
        is_noun(token.text.lower())
        and (token.tag in (*NOUNS, "VB", "VBP", "JJS") or part)
        and not token.text.endswith("ing")
    )
