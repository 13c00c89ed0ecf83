"""Counts: how many. "two men are singing" -> "three men are singing", "a man is singing"; how often: "twice"."""

from video_contrast.perturbations.contrast.kinds.contrast import (
    Change,
    Contrast,
    agreement,
    change,
    has_pronoun,
    is_amount,
    living,
    replace_words,
    thing,
)
from video_contrast.perturbations.contrast.lexicon import Lexicon
from video_contrast.perturbations.english import Sentence, Word
from video_contrast.perturbations.english.forms import article, inflect, verb_tags

_NUMBERS = ("one", "two", "three", "four", "five", "six")
_DIGITS = ("1", "2", "3", "4", "5", "6")
_TIMES = ("once", "twice", "three times")
_APART = 2  # numbers that differ by more are not drawn: nobody would confuse them
_TOGETHER = frozenset(
    "each other another both together between team couple pair twin twins various different all".split()  # noqa: SIM905
)
_PLURALS = {"person": "people"}
# Classes whose things are counted by sight.
_COUNTED = ("people", "animal", "goods", "vehicle", "furniture", "tableware", "fruit", "vegetable", "flower", "tree")
_MEASURES = frozenset(
    "cup tablespoon teaspoon spoon minute hour second day year part side way time kind type type".split()  # noqa: SIM905
)


def contrasts(sentence: Sentence, lexicon: Lexicon) -> list[Contrast]:
    """A number of people, animals or things exchanged for another; one becomes several only of who acts."""
    if len([word for word in sentence.words if word.tag == "CD"]) > 1:
        return _times(sentence)
    out = _times(sentence)
    for noun in sentence.noun_phrases():
        meaning = thing(sentence, noun, lexicon)
        counted = meaning is not None and any(lexicon.is_a(meaning.category, kind) for kind in _COUNTED)
        if not (counted or living(sentence, noun, lexicon)) or sentence.words[noun].lemma in _MEASURES:
            continue
        if is_amount(sentence, noun) or sentence.words[noun].tag not in ("NN", "NNS"):
            continue
        out += _of_noun(sentence, noun, lexicon)
    return out


def _of_noun(sentence: Sentence, noun: int, lexicon: Lexicon) -> list[Contrast]:
    words = sentence.words
    number = sentence.child(noun, "nummod")
    if number is not None and words[number].text in (*_NUMBERS[1:], *_DIGITS[1:]) and words[noun].tag == "NNS":
        names = _DIGITS if words[number].text in _DIGITS else _NUMBERS
        if sentence.child(noun, "det", "poss") is not None:
            return []
        value = names.index(words[number].text)
        others = [n for n in range(1, len(names)) if 0 < abs(n - value) <= _APART]
        out = [_changed(sentence, number, names[value], names[n]) for n in others]
        single = _resized(sentence, noun, number, 0, lexicon) if value <= _APART else None
        return out + ([single] if single is not None else [])
    determiner = sentence.child(noun, "det")
    if determiner is None or words[determiner].text not in ("a", "an", "one") or words[noun].tag != "NN":
        return []
    several = (_resized(sentence, noun, determiner, n, lexicon) for n in range(1, 1 + _APART))
    return [contrast for contrast in several if contrast is not None]


def _changed(sentence: Sentence, at: int, old: str, new: str) -> Contrast:
    return replace_words(sentence, at, at + 1, new, unit=_word(old), other=_word(new))


def _word(number: str) -> str:
    return _NUMBERS[_DIGITS.index(number)] if number in _DIGITS else number


def _resized(sentence: Sentence, noun: int, number: int, value: int, lexicon: Lexicon) -> Contrast | None:
    """One becomes several, or several one: with the noun's form, and its verbs'; None where more would change."""
    words = sentence.words
    plural = value > 0
    if not _is_lone_subject(sentence, noun) or not living(sentence, noun, lexicon) or has_pronoun(sentence):
        return None
    if any(word.text in _TOGETHER for word in words) or sentence.compound(noun) in ("video", "news"):
        return None
    new = _in_number(sentence.words[noun], plural=plural)
    if new == words[noun].text or (not plural and sentence.child(noun, "det") is not None):
        return None
    verbs = agreement(sentence, noun, plural=plural)
    behind = words[number + 1].text if number + 1 < noun else new
    shown = _NUMBERS[value] if plural else article(behind)
    if verbs is None:
        return None
    changed = {place for place, _, _ in verbs}
    if plural and any(_agrees(sentence, at) for at in range(noun + 1, len(words)) if at not in changed):
        return None
    changes: list[Change] = [(number, number + 1, shown), (noun, noun + 1, new), *verbs]
    before = _word(words[number].text) if not plural else "one"
    return change(sentence, changes, unit=before, other=_NUMBERS[value])


def _in_number(word: Word, *, plural: bool) -> str:
    """The plural or singular of a noun."""
    if plural:
        return _PLURALS.get(word.lemma, inflect(word.lemma, "NNS"))
    return "person" if word.text == "people" else word.lemma


def _is_lone_subject(sentence: Sentence, noun: int) -> bool:
    """Whether a noun is the subject of a verb ("a man sings", "a man singing"), with no clause or noun beside it."""
    word = sentence.words[noun]
    if sentence.child(noun, "conj", "relcl", "appos", "poss") is not None:
        return False
    if word.dep == "ROOT":
        return sentence.child(noun, "acl") is not None
    return word.dep in ("nsubj", "nsubjpass") and sentence.words[word.head].is_verb


def _agrees(sentence: Sentence, at: int) -> bool:
    """Whether a word may be one more verb of the subject, which the parser did not see: "... and talks"."""
    word = sentence.words[at]
    if word.tag == "VBZ":
        return sentence.child(at, "nsubj", "nsubjpass") is None and word.dep not in ("aux", "auxpass")
    return sentence.words[at - 1].text == "and" and "VBZ" in verb_tags(word.text)


def _times(sentence: Sentence) -> list[Contrast]:
    """ "twice" -> "once", "three times"."""
    for at, word in enumerate(sentence.words):
        size = 2 if [w.text for w in sentence.words[at : at + 2]] == ["three", "times"] else 1
        old = "three times" if size == 2 else word.text
        if old in _TIMES[1:]:
            others = [new for new in _TIMES if new != old]
            return [replace_words(sentence, at, at + size, new, unit=old, other=new) for new in others]
    return []
