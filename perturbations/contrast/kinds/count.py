"""Counts: how many. "two men are singing" -> "three men are singing", "a man is singing"; how often: "twice"."""

from dataclasses import dataclass

from video_contrast.perturbations.contrast.edit import Contrast
from video_contrast.perturbations.contrast.kinds.contrast import (
    Change,
    agreement,
    change,
    has_pronoun,
    living,
    replace_words,
    thing,
)
from video_contrast.perturbations.contrast.lexicon import Lexicon
from video_contrast.perturbations.english import Sentence, Word
from video_contrast.perturbations.english.forms import article, inflect, verb_tags
from video_contrast.perturbations.english.lexicon import has_class, words_of

_NUMBERS = ("one", "two", "three", "four", "five", "six")
_DIGITS = ("1", "2", "3", "4", "5", "6")
_TIMES = ("once", "twice", "three times")
_APART = 2  # numbers that differ by more are not drawn: nobody would confuse them
SEVERAL = "several"  # the value of "a group of men", "many men", "men"
_COLLECTIVE_NOUNS = words_of("counts_several")
_SOMEBODY = ("someone", "somebody")
_TOGETHER = words_of("says_together")
# Verbs of actions that one of several people does while the others look on, or that take two: "two men are talking"
# does not make "a man is talking" false.
_SHARED = words_of("done_together")
# Things of which several people have one each: "two men are wearing a hat".
_OWN = words_of("done_by_one")
_OWNED = ("garment", "headwear", "footwear", "two_wheeler", "body", "jewelry")
_ONE_OF_ITS_KIND, _ONE_OF_SEVERAL = words_of("one_of_its_kind"), words_of("one_of_several")  # "dad", "friend"
_PICTURES = words_of("picture")
_DETERMINING = ("DT", "CD", "PRP$", "PDT", "IN", "JJR", "JJS")  # tags of words that tell how many, or which
_PLURALS = {"person": "people", "someone": "people", "somebody": "people"}
# Classes whose things are counted by sight.
_COUNTED = ("people", "animal", "goods", "vehicle", "furniture", "tableware", "fruit", "vegetable", "flower", "tree")


@dataclass(frozen=True, slots=True)
class Quantity:
    """The number that a caption tells of a noun."""

    first: int  # the words that tell it, up to the noun's adjectives; equal where nothing does ("men")
    last: int
    noun: int  # the counted thing
    head: int  # the noun that verbs agree with ("group")
    value: str  # "one", "two" ... "six", or `SEVERAL`


def contrasts(sentence: Sentence, lexicon: Lexicon) -> list[Contrast]:
    """A number of people, animals or things exchanged for another."""
    out = _frequency_contrasts(sentence)
    numbers = [word for word in sentence.words if word.tag == "CD"]
    for head in sentence.noun_phrases() if len(numbers) < 2 else ():
        quantity = _quantity(sentence, head)
        if quantity is None or has_class(sentence.words[quantity.noun].lemma, "measure"):
            continue
        meaning, side = thing(sentence, quantity.noun, lexicon), living(sentence, quantity.noun, lexicon)
        if side == "animal" and sentence.words[quantity.first].text == "the":  # "the chicken" may be food
            continue
        if not side and meaning is not None and meaning.noun == inflect(sentence.words[quantity.noun].lemma, "NNS"):
            continue  # "sunglasses" have no singular
        if side or (meaning is not None and any(lexicon.is_a(meaning.category, kind) for kind in _COUNTED)):
            others = _distinguishable_values(quantity, side, sentence)
            new = (_with_value(sentence, quantity, other, side, lexicon) for other in others)
            out += [contrast for contrast in new if contrast is not None]
    return out


def _quantity(sentence: Sentence, head: int) -> Quantity | None:
    """How many there are of the noun at `head`, or of what "a group of" counts there; None where it does not tell."""
    words, word = sentence.words, sentence.words[head]
    if word.lemma in words_of("body_of_people") - _COLLECTIVE_NOUNS or word.tag not in ("NN", "NNS"):
        return None
    owner = head + 1 < len(words) and words[head + 1].text in ("'s", "'", "s")
    if owner or sentence.child(head, "poss", "relcl", "appos") is not None:
        return None
    if word.lemma in _COLLECTIVE_NOUNS:  # "a group of men"
        noun, before = sentence.head_noun(head), sentence.child(head, "det")
        of_plural = noun != head and words[noun].tag == "NNS" and words[head + 1].text == "of"
        counts = of_plural and (before is not None or not head)
        return Quantity(before or 0, head + 2, noun, head, SEVERAL) if counts else None
    if sentence.head_noun(head) != head or (word.dep == "pobj" and words[word.head - 1].lemma in _COLLECTIVE_NOUNS):
        return None
    places = [n for child in sentence.children[head] for n in sentence.subtree(child) if n < head]
    return _quantity_before(sentence, min(places, default=head), head)


def _quantity_before(sentence: Sentence, first: int, noun: int) -> Quantity | None:
    """ "two men", "many men", "men"; "a man", "the man", "someone", and "man" where the caption begins with it."""
    words, text = sentence.words, sentence.words[first].text
    plural = words[noun].tag == "NNS"
    value = SEVERAL if plural else "one"
    if plural and text in (*_NUMBERS[1:], *_DIGITS[1:]):
        return Quantity(first, first + 1, noun, noun, _NUMBERS[_DIGITS.index(text)] if text in _DIGITS else text)
    if text in (words_of("says_several") if plural else ("a", "an", "one", "the")):
        return Quantity(first, first + 1, noun, noun, value)
    if plural:
        bare = not any(word.tag in _DETERMINING for word in words[first:noun])
    else:
        bare = first == noun and (noun == 0 or text in _SOMEBODY)
    return Quantity(first, first, noun, noun, value) if bare else None


def _distinguishable_values(quantity: Quantity, side: str, sentence: Sentence) -> list[str]:
    """The values that a viewer tells apart from one."""
    if quantity.value == SEVERAL:  # "men" may be two
        return ["one"] if quantity.first == quantity.last else ["one", "two"]
    at = _NUMBERS.index(quantity.value)
    exact = [_NUMBERS[n] for n in range(len(_NUMBERS)) if 0 < abs(n - at) <= _APART]
    definite = sentence.words[quantity.first].text == "the"
    there = sentence.words[sentence.words[quantity.head].head].lemma == "be"  # "there are a group of"
    return [*exact, SEVERAL] if side == "people" and at < _APART and not (definite or there) else exact


def _with_value(sentence: Sentence, quantity: Quantity, value: str, side: str, lexicon: Lexicon) -> Contrast | None:
    """A quantity with another value: with the noun's form, and its verbs'; None where more would change."""
    words, (first, last) = sentence.words, (quantity.first, quantity.last)
    if "one" not in (value, quantity.value) and SEVERAL not in (value, quantity.value):  # two -> three
        new = _DIGITS[_NUMBERS.index(value)] if words[first].text in _DIGITS else value
        return replace_words(sentence, first, last, new, unit=quantity.value, other=value)
    plural, was_plural = value != "one", quantity.value != "one"
    pronouns = _pronoun_changes(sentence, quantity, plural=plural, lexicon=lexicon)
    together = any(word.text in _TOGETHER for word in words) or (quantity.value == SEVERAL and side != "people")
    nouns = sentence.noun_phrases() if plural != was_plural else []
    if together or pronouns is None or any(_is_owned(sentence, quantity, n, lexicon, plural=plural) for n in nouns):
        return None
    if words[first].text in _DIGITS or words[quantity.noun].lemma in (_ONE_OF_ITS_KIND if plural else _ONE_OF_SEVERAL):
        return None
    if sentence.compound(quantity.noun) in ("video", "news"):
        return None
    verbs = _verb_changes(sentence, quantity, plural=plural, lexicon=lexicon, side=side)
    if verbs is None or not _shows_another_number(sentence, quantity, plural=plural, lexicon=lexicon):
        return None
    noun = _in_number(words[quantity.noun], plural=plural)
    if plural != was_plural and noun == words[quantity.noun].text:
        return None
    phrase = f"{sentence.text(last, quantity.noun)} {noun}".strip()
    before = {"one": article(phrase), SEVERAL: "a group of"}.get(value, value)
    changes: list[Change] = [(first, quantity.noun + 1, f"{before} {phrase}"), *verbs, *pronouns]
    return change(sentence, changes, unit=quantity.value, other=value)


def _pronoun_changes(sentence: Sentence, quantity: Quantity, *, plural: bool, lexicon: Lexicon) -> list[Change] | None:
    """The changes of possessives to "their", where one person or animal alone is spoken of; None where others stand."""
    words = sentence.words
    no_it = _is_no_it(sentence, quantity.noun, lexicon)
    others = (n for n, word in enumerate(words) if not (no_it and word.text == "it"))
    pronouns = [n for n in others if has_pronoun(sentence, n, n + 1)]
    if not pronouns:
        return []
    owners = [n for n in sentence.noun_phrases() if sentence.is_person(n) and n not in (quantity.noun, quantity.head)]
    if not plural or owners or quantity.value != "one" or words[quantity.head].dep not in ("nsubj", "ROOT"):
        return None
    if any(words[at].tag != "PRP$" or at < quantity.noun for at in pronouns):
        return None
    return [(at, at + 1, "their") for at in pronouns if words[at].text != "their"]


def _is_no_it(sentence: Sentence, noun: int, lexicon: Lexicon) -> bool:
    """Whether "it" cannot stand for a noun: it names a person, no robot or other figure."""
    meaning = thing(sentence, noun, lexicon)
    return sentence.is_person(noun) and (meaning is None or meaning.category != "creature")


def _is_owned(sentence: Sentence, quantity: Quantity, noun: int, lexicon: Lexicon, *, plural: bool) -> bool:
    """Whether each of several people would have one of a thing ("in a dress", "eats an apple", "his head"); of one
    person, whether more than one has them ("in red dresses")."""
    word, meaning = sentence.words[noun], thing(sentence, noun, lexicon)
    if noun <= quantity.noun or meaning is None or word.lemma == "hair" or word.tag != ("NN" if plural else "NNS"):
        return False
    before, behind = sentence.child(noun, "det", "poss"), sentence.words[word.head].text
    definite = before is not None and sentence.words[before].text == "the"
    is_worn = any(lexicon.is_a(meaning.category, kind) for kind in _OWNED)
    if is_worn and (behind in ("in", "with", "wearing") or (plural and not definite)):
        return plural or meaning.category not in ("footwear", "body_part")
    # Things that fit the fingers or a hand are of size "t" or "h": "licks a lollipop".
    is_held = meaning.size in "th" and meaning.category != "ball" and (word.dep == "dobj" or behind == "with")
    return plural and before is not None and not definite and (is_held or has_class(word.lemma, "for_one"))


def _in_number(word: Word, *, plural: bool) -> str:
    if plural:
        return word.text if word.tag == "NNS" else _PLURALS.get(word.lemma, inflect(word.lemma, "NNS"))
    return "person" if word.text == "people" else word.lemma


def _verb_changes(
    sentence: Sentence, quantity: Quantity, *, plural: bool, lexicon: Lexicon, side: str
) -> list[Change] | None:
    """The changes of the verbs that agree with a noun; None where the noun's role does not let its number change."""
    word, head = sentence.words[quantity.head], quantity.head
    if word.dep == "conj" or sentence.child(head, "conj", "cc") is not None:
        return [] if side == "people" and _is_joined_subject(sentence, head) else None
    if word.dep == "attr" and sentence.child(word.head, "expl") is not None:
        return _of_there_is(sentence, head, plural=plural)
    if word.dep in ("dobj", "pobj"):
        return [] if _is_counted_object(sentence, quantity, side) else None
    if not side or not _is_lone_subject(sentence, head):
        return None
    verbs = agreement(sentence, head, plural=plural)
    if verbs is None or not plural:
        return verbs
    rest = set(range(head + 1, len(sentence))) - {place for place, _, _ in verbs}
    return None if any(_may_agree(sentence, at) for at in rest) else verbs


def _is_lone_subject(sentence: Sentence, noun: int) -> bool:
    """Whether a noun is the subject of a verb, or of none: "a man sings", "a man singing", "a man in a car"."""
    word = sentence.words[noun]
    if any(other.tag == "EX" for other in sentence.words):  # "there is a man is singing"
        return False
    if word.dep != "ROOT":
        return word.dep in ("nsubj", "nsubjpass") and sentence.words[word.head].is_verb
    behind = [sentence.words[child] for child in sentence.children[noun]]
    is_modified = any(other.dep in ("acl", "prep") and other.text != "of" for other in behind)
    if not is_modified or word.lemma in _PICTURES:
        return False
    for at, other in enumerate(sentence.words[noun:], noun):  # a verb without a subject may be that of the noun
        verb = other.head if other.dep in ("aux", "auxpass") else at
        if other.tag == "VBZ" and sentence.child(verb, "nsubj", "nsubjpass", "expl") is None:
            return False
        if sentence.compound(at) and sentence.may_be_verb(at):
            return False
    return True


def _of_there_is(sentence: Sentence, noun: int, *, plural: bool) -> list[Change] | None:
    """The changes of "there is a man singing"."""
    words, at = sentence.words, sentence.words[noun].head
    finite = [n for n, other in enumerate(words) if other.tag in ("VBZ", "VBP") and n != at]
    forms = {"is": ("is", "are"), "are": ("is", "are"), "was": ("was", "were"), "were": ("was", "were")}
    if words[at].text not in forms or sentence.child(noun, "acl") is None or finite:
        return None
    return [(at, at + 1, forms[words[at].text][plural])]


def _is_counted_object(sentence: Sentence, quantity: Quantity, side: str) -> bool:
    """Whether several can undergo what one does: "holding a gun", "talking to a man"."""
    words = sentence.words
    governor = words[words[quantity.head].head]
    if quantity.first == quantity.last or words[quantity.first].text == "the":
        return False
    if words[quantity.head].dep == "dobj":
        is_worn = sentence.particle(words[quantity.head].head) is not None and governor.lemma == "put"
        return has_class(governor.lemma, "done_to_several") and not is_worn
    picture = governor.text != "of" or words[governor.head].lemma in _PICTURES
    return bool(side) and has_class(governor.text, "before_people") and picture


def _is_joined_subject(sentence: Sentence, noun: int) -> bool:
    """Whether a noun is one of two that "and" joins, before a verb in the plural: "a man and a woman are"."""
    words = sentence.words
    first = noun if words[noun].dep != "conj" else words[noun].head
    others = sentence.joined(first)
    if len(others) != 1 or words[first].dep not in ("nsubj", "ROOT") or words[first].tag != words[others[0]].tag:
        return False
    has_and = words[others[0] - 1].text != "and" and any(words[n].text == "and" for n in range(first, others[0]))
    if not has_and or words[first].lemma == words[others[0]].lemma:
        return False
    if words[first].dep == "ROOT":
        return any(words[n].tag == "VBG" for n in sentence.children_with(others[0], "acl"))
    finite = sentence.finite(words[first].head)
    return finite is not None and words[finite].text in ("are", "were")


def _shows_another_number(sentence: Sentence, quantity: Quantity, *, plural: bool, lexicon: Lexicon) -> bool:
    """Whether what the noun does would show another number: one of two who talk talks as well."""
    words, head = sentence.words, quantity.head
    verbs = [verb for verb in sentence.verbs if sentence.subject(verb) == head]
    if plural:  # several have one each of some things
        objects = [(words[verb].lemma, sentence.object(verb)) for verb in verbs]
        return not any(lemma in _OWN and noun is not None and words[noun].tag == "NN" for lemma, noun in objects)
    lemmas = [words[verb].lemma for verb in verbs]
    loose = [lemma for lemma in lemmas if lemma in _SHARED or not any(a.is_visible for a in lexicon.actions(lemma))]
    if words[head].dep in ("dobj", "pobj"):
        return quantity.value != SEVERAL
    return len(loose) < max(len(verbs), 1) or (not verbs and quantity.value != SEVERAL)


def _may_agree(sentence: Sentence, at: int) -> bool:
    """Whether a word may be one more verb of the subject, which the parser did not see: "... and talks"."""
    word = sentence.words[at]
    if word.tag == "VBZ":
        subject = sentence.child(at, "nsubj", "nsubjpass")
        free = subject is None or sentence.words[subject].tag == "NNS"
        return free and word.dep not in ("aux", "auxpass")
    return sentence.words[at - 1].text == "and" and "VBZ" in verb_tags(word.text)


def _frequency_contrasts(sentence: Sentence) -> list[Contrast]:
    """ "twice" -> "once", "three times"."""
    for at, word in enumerate(sentence.words):
        size = 2 if [w.text for w in sentence.words[at : at + 2]] == ["three", "times"] else 1
        old = "three times" if size == 2 else word.text
        if old in _TIMES[1:] and [w.text for w in sentence.words[at + size : at + size + 1]] != ["as"]:
            others = [new for new in _TIMES if new != old]
            return [replace_words(sentence, at, at + size, new, unit=old, other=new) for new in others]
    return []
