"""TextStyle (robustness paper, A.2): a negation goes, or comes to the head verb."""

import re

from numpy.random import Generator

from video_contrast.perturbations.english import Sentence
from video_contrast.perturbations.english.forms import article, inflect, like_case, replaced_spans
from video_contrast.perturbations.english.lexicon import has_class
from video_contrast.perturbations.registry import text_perturbation
from video_contrast.perturbations.text.words import rewritten

_FEWEST_WORDS = 3
_NEGATION = re.compile(r"\b(?:not|never)\b\s*|(?<=\w)n(?:['’]| (?=t\b))t\b", re.IGNORECASE)
_NOBODY = re.compile(r"\bno( one|body|thing|where)\b", re.IGNORECASE)
_DO = re.compile(r"\b(do|does|did)(?:\s+not|n['’ ]t)\s+(\w+)", re.IGNORECASE)
_DO_TAG = {"do": "VBP", "does": "VBZ", "did": "VBD"}
_IRREGULAR = {"won['’ ]t": "will", "can['’ ]t": "can", "cannot": "can", "shan['’ ]t": "shall"}


@text_perturbation("reverse_neg", category="TextStyle", origin="natural", version="9", requirements=("parse",))
def reverse_neg(sentence: Sentence, rng: Generator, *, profile: str = "paper") -> str:
    """A negation is taken out; a caption without one gets "not" at its head verb. Not under 3 words, nor questions."""
    caption = sentence.caption
    if len(caption.split()) < _FEWEST_WORDS:
        return caption
    first, root = sentence.words[0], sentence.root
    asks = has_class(first.text, "question_word") and root is not None and sentence.finite(root) is not None
    is_inverted = first.tag in ("MD", "VBZ", "VBP", "VBD") and first.lemma in ("be", "have", "do", "can", "will")
    if caption.rstrip().endswith("?") or asks or (is_inverted and not sentence.imperatives):
        return caption
    positive = _without_negation(caption)
    positive = positive if positive != caption else _without_no(sentence)
    return positive if positive != caption else rewritten(sentence, _negated(sentence, profile), articles=False)


def _negated(sentence: Sentence, profile: str) -> dict[int, str]:
    """The word that gets "not", and what it becomes."""
    if sentence.imperatives:
        first = sentence.imperative_start(sentence.imperatives[0])
        return {first: f"do not {sentence.words[first].text}"}
    verb = _head_verb(sentence)
    if verb is None:
        return {}
    place = sentence.finite(verb)
    if place is None and sentence.words[verb].tag not in ("VBG", "VBN"):
        return {}
    if place is None:  # "a girl playing the piano", "food being prepared"
        place = next(iter(sentence.auxiliaries(verb)), verb)
        return {place: f"not {sentence.words[place].text}"}
    word = sentence.words[place]
    if word.lemma == "have" and place == verb - 1 and sentence.words[verb].tag == "VBG":  # "has flowing water"
        return {}
    carries_not = word.lemma == "be" or (profile == "released" and has_class(word.lemma, "auxiliary"))
    if word.tag == "MD" or carries_not or place != verb:
        is_some = word.lemma == "be" and [w.text for w in sentence.words[place + 1 : place + 2]] == ["some"]
        return {place: f"{word.text} not"} | ({place + 1: "any"} if is_some and profile != "released" else {})
    has_subject = sentence.is_verb_form(place) and sentence.subject(verb) is not None
    return _with_do(sentence, verb) if has_subject else {}


def _with_do(sentence: Sentence, verb: int) -> dict[int, str]:
    """ "plays" as "does not play", "gently plays" as "does not gently play"."""
    word, before = sentence.words[verb], sentence.words[verb - 1]
    do = "did" if word.tag == "VBD" else "do" if word.tag == "VBP" else "does"
    if verb and before.text.endswith("ly") and before.head == verb:
        return {verb - 1: f"{do} not {before.text}", verb: word.lemma}
    clitic = " " if word.text[0] in "'’" else ""
    return {verb: f"{clitic}{do} not {word.lemma}"}


def _head_verb(sentence: Sentence) -> int | None:
    """The verb of the main clause; of a caption that is a noun phrase, the participle that tells what happens."""
    root = sentence.root
    if root is None or sentence.words[root].is_verb:
        return root
    participles = sentence.children_with(root, "acl") if sentence.words[root].is_noun else []
    return next((n for n in participles if sentence.words[n].tag in ("VBG", "VBN")), None)


def _without_no(sentence: Sentence) -> str:
    """The caption with its first "no" before a noun taken out; unchanged without one. "has no hat" is "has a hat"."""
    words = sentence.words
    for place, word in enumerate(words[:-1]):
        noun = words[word.head]
        if word.text == "no" and word.dep == "det" and noun.is_noun:
            is_countable = noun.tag in ("NN", "NNP") and not has_class(noun.lemma, "uncountable")
            after = words[place + 1]
            old, new = sentence.text(place, place + 1), sentence.text(place + 1, place + 2)
            new = like_case(f"{article(new)} {new}" if is_countable else new, old)
            return replaced_spans(sentence.caption, [(word.start, after.end, new)])
    return sentence.caption


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
    negation = _NEGATION.search(caption)
    if negation is None:
        return _NOBODY.sub(
            lambda nobody: like_case("some" + nobody[1].lower().strip(), nobody.group()), caption, count=1
        )
    rest = caption[negation.end() :]
    if negation.start() == 0:  # "Never touch it"
        rest = like_case(rest[:1], negation.group()) + rest[1:]
    return caption[: negation.start()] + rest
