"""Contractions without their apostrophe: many captions have "he s singing", "they re", "don t", "a woman s hat".

Taggers read such a lone letter as a noun or a verb of its own ("he s" as a past of "to s"). Here it becomes what it
stands for, as the Penn Treebank cuts "he's" and "don't".
"""

from collections.abc import Sequence

from video_contrast.perturbations.language import Token, lemma, verb_tags

_LONE = frozenset(("s", "re", "m", "ve", "ll", "d", "t"))
# Letters behind one of these words are a verb: its tag and its lemma.
_PRONOUNS = frozenset(("i", "you", "he", "she", "it", "we", "they"))
_VERBS = {
    "re": (("they", "we", "you"), "VBP", "be"),
    "m": (("i",), "VBP", "be"),
    "ve": (("i", "you", "we", "they"), "VBP", "have"),
    "ll": (_PRONOUNS, "MD", "will"),
    "d": (_PRONOUNS, "MD", "would"),
}
_IS = frozenset("he she there that who what where how here".split())  # noqa: SIM905  "who s singing"
_NOUNS = ("NN", "NNS", "NNP", "NNPS")
# What "n" and "t" negate ("don t"), without the "n": its tag.
_NEGATED = {"do": "VBP", "does": "VBZ", "did": "VBD", "is": "VBZ", "are": "VBP", "was": "VBD", "were": "VBD"}
_NEGATED |= {"has": "VBZ", "have": "VBP", "had": "VBD", "ca": "MD", "wo": "MD", "could": "MD", "would": "MD"}
_NEGATED |= {"should": "MD"}


def joined(tokens: Sequence[Token]) -> list[Token]:
    """The tokens with contractions that have lost their apostrophe read as if they had it.

    A token's text is then that of the full form ("'s", "n't"); its span stays what the caption has there.

    >>> from video_contrast.perturbations.language import tag
    >>> [token[:3] for token in joined(tag(["he s singing"], tagger="hanta")[0])[1:]]
    [("'s", 'VBZ', 'be'), ('singing', 'VBG', 'sing')]
    """
    if not any(len(token.text) < 3 and token.text.lower() in _LONE for token in tokens):
        return list(tokens)
    read = list(tokens)
    for place in range(1, len(tokens)):
        low, before = tokens[place].text.lower(), tokens[place - 1]
        if low not in _LONE or before.end == tokens[place].start:
            continue
        owner = before.text.lower()
        if low == "t":
            _negate(read, place, helper=owner.removesuffix("n") if owner != "can" else "ca")
        elif low == "s":
            verb = owner in _IS or (owner == "it" and not _owns(tokens, place))
            tag, base = ("VBZ", "be") if verb else ("PRP" if owner == "let" else "POS", "'s")
            read[place] = tokens[place]._replace(text="'s", tag=tag, lemma=base)
        elif owner in _VERBS[low][0]:
            read[place] = tokens[place]._replace(text="'" + low, tag=_VERBS[low][1], lemma=_VERBS[low][2])
    return read


def _owns(tokens: Sequence[Token], place: int) -> bool:
    """Whether "it s" at `place` is "its": a noun follows ("its cage", "its leather interiors")."""
    after = [token.tag for token in tokens[place + 1 : place + 3]]
    return after[:1] != [] and (after[0] in _NOUNS or (after[0] == "JJ" and after[1:] != [] and after[1] in _NOUNS))


def _negate(read: list[Token], place: int, helper: str) -> None:
    """Reads "don" and "t" at `place` as "do" and "n't", and the verb behind them as bare."""
    if helper not in _NEGATED or read[place - 1].text.lower() == helper:
        return
    word, letter = read[place - 1], read[place]
    tag, cut = _NEGATED[helper], word.start + len(helper)
    read[place - 1] = Token(word.text[: len(helper)], tag, lemma(helper, tag), start=word.start, end=cut)
    read[place] = Token("n't", "RB", "not", start=cut, end=letter.end)
    behind = place + 1
    while behind < len(read) and read[behind].tag == "RB":
        behind += 1
    if behind < len(read) and (tag == "MD" or read[place - 1].lemma == "do") and "VB" in verb_tags(read[behind].text):
        read[behind] = read[behind]._replace(tag="VB", lemma=read[behind].text.lower())
