"""Heads by tags and adjacency, where no parser is installed: only plain captions, everything else is left alone.

A plain caption has one or two verbs and no relative or question word. What it cannot place gets the label "dep", and
its verbs are not replaced. HanTa's tags, whose data lie in its wheel.
"""

from collections.abc import Sequence

from video_contrast.perturbations.contrast.generators.frames.words import encode
from video_contrast.perturbations.language import Token, tag

_NOUNS = ("NN", "NNS", "NNP", "NNPS")
_INSIDE = ("DT", "PRP$", "CD", "JJ", "JJR", "JJS", "POS", *_NOUNS)
_HARD = ("WDT", "WP", "WRB", "EX", "WP$", "MD")
_LABEL = {"DT": "det", "PRP$": "poss", "CD": "nummod", "JJ": "amod", "JJR": "amod", "JJS": "amod", "POS": "case"}


def codes(captions: Sequence[str]) -> list[str]:
    """The parses of captions, as `words.encode` writes them."""
    encoded = []
    for tokens in tag(list(captions), tagger="hanta"):
        deps, heads = _parsed(tokens)
        encoded.append(
            encode([(t.start, t.end, t.tag, dep, head) for t, dep, head in zip(tokens, deps, heads, strict=True)])
        )
    return encoded


def _parsed(tokens: list[Token]) -> tuple[list[str], list[int]]:
    deps, heads = ["dep"] * len(tokens), list(range(len(tokens)))
    phrase_of = _noun_phrases(tokens, deps, heads)
    verbs = [n for n, token in enumerate(tokens) if token.tag.startswith("VB") and not _is_auxiliary(tokens, n)]
    plain = 1 <= len(verbs) <= 2 and not any(token.tag in _HARD for token in tokens)
    if not plain:
        for verb in verbs:
            deps[verb] = "amod"
        return deps, heads
    for order, verb in enumerate(verbs):
        end = verbs[order + 1] if order + 1 < len(verbs) else len(tokens)
        _left(tokens, deps, heads, phrase_of, verb=verb, before=verbs[order - 1] if order else None)
        _right(tokens, deps, heads, phrase_of, verb=verb, end=end)
    return deps, heads


def _noun_phrases(tokens: list[Token], deps: list[str], heads: list[int]) -> dict[int, int]:
    """Marks what stands in noun phrases; first place of a phrase -> its head."""
    last_of = {}
    at = 0
    while at < len(tokens):
        if tokens[at].tag in ("PRP",):
            last_of[at] = at
            at += 1
            continue
        if tokens[at].tag not in _INSIDE:
            at += 1
            continue
        last = at
        while last + 1 < len(tokens) and tokens[last + 1].tag in _INSIDE and tokens[last + 1].tag not in ("DT", "PRP$"):
            last += 1
        if tokens[last].tag in _NOUNS:
            for place in range(at, last):
                heads[place] = last
                deps[place] = "compound" if tokens[place].tag in _NOUNS else _LABEL.get(tokens[place].tag, "dep")
            last_of[at] = last
        at = last + 1
    return last_of


def _is_auxiliary(tokens: list[Token], place: int) -> bool:
    if tokens[place].lemma not in ("be", "have"):
        return False
    following = next((t for t in tokens[place + 1 : place + 4] if not t.tag.startswith("RB")), None)
    return following is not None and following.tag in ("VBG", "VBN")


def _left(
    tokens: list[Token], deps: list[str], heads: list[int], phrases: dict[int, int], verb: int, before: int | None
) -> None:
    at, helped = verb - 1, False
    while at >= 0 and (tokens[at].tag.startswith("RB") or _is_auxiliary(tokens, at)):
        if tokens[at].tag.startswith("RB"):
            deps[at], heads[at] = "neg" if tokens[at].lemma in ("not", "never") else "advmod", verb
        else:
            helped = True
            deps[at], heads[at] = ("auxpass" if tokens[verb].tag == "VBN" else "aux"), verb
        at -= 1
    if at >= 0 and tokens[at].tag in ("CC",) and before is not None:
        deps[at], heads[at] = "cc", before
        deps[verb], heads[verb] = "conj", before
        return
    if at in phrases.values():
        if helped or tokens[verb].tag in ("VBZ", "VBP", "VBD"):
            deps[at], heads[at] = ("nsubjpass" if tokens[verb].tag == "VBN" else "nsubj"), verb
            deps[verb] = "ROOT"
        elif tokens[verb].tag == "VBG":
            deps[verb], heads[verb] = "acl", at
        else:
            deps[verb] = "amod"
    elif at < 0 and tokens[verb].tag in ("VB", "VBG"):
        deps[verb] = "ROOT"
    else:
        deps[verb] = "amod"  # after "to", "while", a comma: not plain


def _right(
    tokens: list[Token], deps: list[str], heads: list[int], phrases: dict[int, int], verb: int, end: int
) -> None:
    at = verb + 1
    if at < end and tokens[at].tag == "RP":
        deps[at], heads[at] = "prt", verb
        at += 1
    if at in phrases and phrases[at] < end:
        deps[phrases[at]], heads[phrases[at]] = "dobj", verb
        at = phrases[at] + 1
    while at < end:
        if tokens[at].tag in ("IN", "TO") and at + 1 in phrases and phrases[at + 1] < end:
            head = phrases[at + 1]
            noun_before = at - 1 if tokens[at].text.lower() == "of" and tokens[at - 1].tag in _NOUNS else verb
            deps[at], heads[at] = "prep", noun_before
            deps[head], heads[head] = "pobj", at
            at = head + 1
        elif tokens[at].tag.startswith("RB"):
            deps[at], heads[at] = "advmod", verb
            at += 1
        elif tokens[at].tag in ("CC", ".", ","):
            return
        else:
            deps[verb] = "amod"  # something that adjacency cannot place
            return
