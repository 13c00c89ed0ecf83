"""TextStyle: a negated caption loses its negation, any other gets one (robustness paper, A.2)."""

import re
from itertools import pairwise

from numpy.random import Generator

from video_contrast.perturbations.english.forms import article, like_case
from video_contrast.perturbations.language import Token, inflect, verb_tags
from video_contrast.perturbations.registry import text_perturbation
from video_contrast.perturbations.text.clauses import finite_place, head_verb, is_plural, is_question
from video_contrast.perturbations.text.imperative import group_start, imperatives
from video_contrast.perturbations.text.verb_places import all_orders, verbs_in_place
from video_contrast.perturbations.text.words import put

_FEWEST_WORDS = 3
_NEGATION = re.compile(r"\b(?:not|never)\b\s*|(?<=\w)n(?:['’]| (?=t\b))t\b", re.IGNORECASE)
_NOBODY = re.compile(r"\bno( one|body|thing|where)\b", re.IGNORECASE)
_NEITHER = re.compile(r"\bneither\b", re.IGNORECASE)
_DO = re.compile(r"\b(do|does|did)(?:\s+not|n['’ ]t)\s+(\w+)", re.IGNORECASE)
_DO_TAG = {"do": "VBP", "does": "VBZ", "did": "VBD"}
_IRREGULAR = {"won't": "will", "can't": "can", "cannot": "can", "shan't": "shall", "won’t": "will", "can’t": "can"}
_IRREGULAR |= {"won t": "will", "can t": "can"}
# "there is no water": nouns that take no article.
_MASS = frozenset(
    "water music sound audio food hair information talking rice money oil speech light noise dialogue action".split()  # noqa: SIM905
)


@text_perturbation("reverse_neg", category="TextStyle", origin="natural", version="6", requirements=("tags",))
def reverse_neg(caption: str, rng: Generator, *, tokens: list[Token], profile: str = "paper") -> str:
    """A negation is taken out; a caption without one gets "not" at its head verb. Not under 3 words, nor questions."""
    if len(caption.split()) < _FEWEST_WORDS or is_question(caption, tokens):
        return caption
    positive = _without_negation(caption)
    released = profile == "released"
    if positive == caption and not released and _NEITHER.search(caption):
        return _with_either(caption)
    if positive == caption:
        positive = _without_no(caption, tokens)
    if positive != caption:
        return positive
    if not released:
        tokens = verbs_in_place(tokens)
    lets = re.match(r"let(['’ ]s| us)\b(?= \w+)", caption, re.IGNORECASE)
    if lets and not released and tokens[2].tag in ("VB", "VBP"):
        return f"{lets.group()} not{caption[lets.end() :]}"
    orders = imperatives(tokens) if released else all_orders(tokens)
    if orders:
        first = tokens[group_start(tokens, orders[0])]
        return put(caption, [(first.start, first.end, like_case(f"do not {first.text.lower()}", first.text))])
    verb = head_verb(tokens)
    if verb is None:
        return caption
    place = finite_place(tokens, verb)
    token = tokens[place]
    carries_not = verb.auxiliary is not None or place != verb.head or token.tag == "MD"
    carries_not = carries_not or (token.lemma == "be" and token.tag != "VBG")  # "food not being prepared"
    if carries_not or (released and token.lemma in ("do", "have")):
        word = caption[token.start : token.end]  # of "he s" no apostrophe is known
        return put(caption, [(token.start, token.end, f"{word} {'NOT' if _shouts(token) else 'not'}")])
    # Taggers read the present of some verbs as a participle: "two dogs run" has "run" as in "is run".
    present = token.tag == "VBN" and "VBP" in verb_tags(token.text)
    if token.tag in ("VBG", "VBN") and not present:
        return put(caption, [(token.start, token.start, "not ")])
    if token.tag == "VBD":
        do = "did"
    else:
        do = "do" if token.tag in ("VB", "VBP", "VBN") or is_plural(tokens, place) else "does"
    negated = f"{do} not {inflect(token.lemma, 'VB')}"
    if place == 0 or _shouts(token):
        negated = like_case(negated, token.text)
    joined = place > 0 and tokens[place - 1].end == token.start  # "I've a dog"
    return put(caption, [(token.start, token.end, " " * joined + negated)])


def _with_either(caption: str) -> str:
    """ "neither a nor b" as "either a or b", "neither man smiles" as "each man smiles"."""
    pair = re.search(r"\bnor\b", caption, re.IGNORECASE)
    new = "either" if pair else "each"
    caption = _NEITHER.sub(lambda match: like_case(new, match.group()), caption, count=1)
    return re.sub(r"\bnor\b", lambda match: like_case("or", match.group()), caption, flags=re.IGNORECASE)


def _shouts(token: Token) -> bool:
    return len(token.text) > 1 and token.text.isupper()


def _without_no(caption: str, tokens: list[Token]) -> str:
    """The caption with its first "no" before a noun taken out; unchanged without one. "has no hat" is "has a hat"."""
    for token, after in pairwise(tokens):
        if token.text.lower() == "no" and token.tag == "DT" and after.tag[:2] in ("NN", "JJ", "VB"):
            noun = next((t for t in tokens if t.start >= after.start and t.tag[:2] == "NN"), after)
            counted = noun.tag == "NN" and noun.text.lower() not in _MASS
            new = f"{article(after.text)} {after.text}" if counted else after.text
            return put(caption, [(token.start, after.end, like_case(new, token.text))])
    return caption


def _without_negation(caption: str) -> str:
    """The caption without its first negation; "does not run" becomes "runs".

    >>> [_without_negation(caption) for caption in ("he does not run", "a dog isn't barking", "nobody is there")]
    ['he runs', 'a dog is barking', 'somebody is there']
    """
    with_do = _DO.search(caption)
    if with_do:
        verb = inflect(with_do[2].lower(), _DO_TAG[with_do[1].lower()])
        return caption[: with_do.start()] + like_case(verb, with_do.group()) + caption[with_do.end() :]
    for old, new in _IRREGULAR.items():
        match = re.search(rf"\b{old}\b", caption, re.IGNORECASE)
        if match:
            return caption[: match.start()] + like_case(new, match.group()) + caption[match.end() :]
    nobody = _NOBODY.search(caption)
    if nobody and not _NEGATION.search(caption):
        somebody = like_case("some" + nobody[1].lower().removeprefix(" "), nobody.group())
        return caption[: nobody.start()] + somebody + caption[nobody.end() :]
    negation = _NEGATION.search(caption)
    if negation is None:
        return caption
    rest = caption[negation.end() :]
    if negation.start() == 0:  # "Never touch it"
        rest = like_case(rest[:1], negation.group()) + rest[1:]
    return caption[: negation.start()] + rest
