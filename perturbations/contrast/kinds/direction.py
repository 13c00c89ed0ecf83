"""Directions and sides: "walks into a shop" -> "walks out of a shop", "in front of a car" -> "behind a car"."""

from dataclasses import dataclass
from functools import cache
from itertools import chain

from video_contrast.perturbations.contrast.edit import Contrast
from video_contrast.perturbations.contrast.kinds.contrast import living, replace_words, thing
from video_contrast.perturbations.contrast.lexicon import Lexicon
from video_contrast.perturbations.english import Sentence
from video_contrast.perturbations.english.forms import lemma, verb_tags
from video_contrast.perturbations.english.lexicon import has_class, lines, words_of

_LONGEST = 4  # words of a direction
_FAR = 4  # words from a verb to its direction
_JOINED = words_of("beside_direction")  # "walks out onto": both say where
_SIDES, _SPEEDS = frozenset(("left", "right")), frozenset(("slowly", "quickly", "rapidly", "fast"))
_UP_OR_DOWN, _HIGH_OR_LOW = ("up", "down"), frozenset(("ceiling", "floor", "foot", "ground", "sky"))
_SETTINGS = ("inside", "outside", "indoors", "outdoors")
_NAMES = ("NN", "JJ", "DT", "PR", "CD", "VB")  # tags of words that belong to a noun, or to another verb's phrase
_CLOSE = ("close", "shut", "lock", "slam")  # "closes the door behind him"


@dataclass(frozen=True)
class Way:
    """A counterpart of some words that say where."""

    other: str  # the counterpart
    verbs: frozenset[str] | None  # that the words need before them; None for any
    # classes, parents or nouns, one of which must follow; None for any, empty where no noun may follow.
    before: frozenset[str] | None


@cache
def ways() -> dict[str, list[Way]]:
    """Words that say where -> their counterparts, of the lexicon's `ways.tsv`."""
    table: dict[str, list[Way]] = {}
    for line in lines("video_contrast.perturbations.contrast.lexicon", "ways.tsv")[1:]:
        old, new, *needs = line.split("\t")
        verbs, before = (None if need == "any" else frozenset(need.split(",")) - {"-"} for need in needs)
        table.setdefault(old, []).append(Way(new, verbs, before))
        table.setdefault(new, []).append(Way(old, verbs, before))
    return table


def contrasts(sentence: Sentence, lexicon: Lexicon) -> list[Contrast]:
    """The words that say which way, or on which side, exchanged for their counterpart."""
    of_sort: dict[str, list[list[Contrast]]] = {}
    texts = [word.text for word in sentence.words]
    at = 0
    while at < len(texts):
        sizes = range(min(_LONGEST, len(texts) - at), 0, -1)
        size = next((n for n in sizes if " ".join(texts[at : at + n]) in ways()), 1)
        words = texts[at : at + size]
        old = " ".join(words)
        here = [way.other for way in ways().get(old, ()) if _is_direction(sentence, at, size, way, lexicon)]
        if here:
            sort = "side" if _SIDES & set(words) else "speed" if _SPEEDS & set(words) else "way"
            edits = [replace_words(sentence, at, at + size, new, unit=old, other=new) for new in here]
            of_sort.setdefault(sort, []).append(edits)
        at += size
    # Of two to a side, or two ways, one may follow from the other.
    return list(chain.from_iterable(edits[0] for edits in of_sort.values() if len(edits) == 1))


def _is_direction(sentence: Sentence, at: int, size: int, way: Way, lexicon: Lexicon) -> bool:
    """Whether the words stand as a direction: behind one of the verbs and before one of the nouns that they need."""
    words, end = sentence.words, at + size
    is_compound = at == 0 or words[at - 1].text in (_JOINED if size == 1 else _JOINED - {"the"})
    if is_compound or _goes_on(sentence, end):
        return False
    caption = f" {' '.join(word.text for word in words)} "
    if _is_of_noun(sentence, at, size) or f" {way.other.removesuffix(' from')} " in caption:
        return False
    if words[at].text in _SETTINGS and _is_no_setting(sentence, at, way, lexicon):
        return False
    if way.other in ("on", "off") and words[at].dep != "prt":  # "turns up the heat on the stove"
        return False
    if words[at].text == "behind" and any(word.lemma in _CLOSE for word in words[:at]):
        return False
    if way.verbs is not None and not _is_behind(sentence, at, way.verbs):
        return False
    return way.before is None or _is_before(sentence, end, way.before, lexicon)


def _is_of_noun(sentence: Sentence, at: int, size: int) -> bool:
    """Whether the word belongs to a noun: "an outside stage", "on its back", or to "feet" in "down at his feet"."""
    words = sentence.words
    if words[at].text in _UP_OR_DOWN and any(word.lemma in _HIGH_OR_LOW for word in words[at:]):
        return True
    return size == 1 and (words[at].dep in ("amod", "compound", "nmod") or words[at - 1].tag == "PRP$")


def _goes_on(sentence: Sentence, end: int) -> bool:
    """Whether a direction goes on behind the word before `end`: "in front of", "up and down"."""
    words = sentence.words
    following = [word.text for word in words[end : end + 2]]
    has_and = len(following) == 2 and following[0] in ("and", "or")
    return (following[:1] == ["of"] and words[end - 1].text in _JOINED | set(_SETTINGS)) or (
        has_and and (following[1] in _JOINED or following[1] in ways())
    )


def _is_before(sentence: Sentence, end: int, classes: frozenset[str], lexicon: Lexicon) -> bool:
    """Whether what a way needs stands behind the word before `end`: a noun of some classes, or, of none, no noun."""
    words = sentence.words
    if classes or end == len(words):
        return not classes or _stands_before(sentence, end, classes, lexicon)
    some = [word.text for word in words[end : end + 2]] in (["a", "little"], ["a", "bit"])
    return some or (not has_class(words[end].text, "continues_direction") and words[end].tag[:2] not in _NAMES)


def _stands_before(sentence: Sentence, end: int, classes: frozenset[str], lexicon: Lexicon) -> bool:
    """Whether the noun behind a direction that ends before `end` is one of some nouns or classes."""
    words = sentence.words
    noun = next((n for n in range(end, len(words)) if words[n].is_noun or words[n].tag == "PRP"), None)
    if noun is None or noun - end > 3 or has_class(words[noun].lemma, "unseen_direction"):
        return False
    while noun + 1 < len(words) and words[noun].dep == "compound" and words[noun].head == noun + 1:
        noun += 1
    if words[noun].text in ("him", "her", "them", "me", "it"):
        return "people" in classes
    meaning = thing(sentence, noun, lexicon)
    is_named = words[noun].lemma in classes or living(sentence, noun, lexicon) in classes
    return is_named or (meaning is not None and any(lexicon.is_a(meaning.category, kind) for kind in classes))


def _is_no_setting(sentence: Sentence, at: int, way: Way, lexicon: Lexicon) -> bool:
    """Whether "inside" says what is shown; or, of the whole scene, a noun tells so too and would have to change."""
    if sentence.words[at - 1].lemma in ("have", "show", "see", "look", "peek", "reach", "drive", "ride"):
        return True
    for noun in sentence.noun_phrases() if way.before == frozenset() else ():
        place, meaning = lexicon.places.get(sentence.noun_key(noun)), thing(sentence, noun, lexicon)
        if place is not None and place.setting != "either":
            return True
        if meaning is not None and any(lexicon.is_a(meaning.category, p) for p in ("nature", "vehicle", "place")):
            return True
    return False


def _is_behind(sentence: Sentence, at: int, verbs: frozenset[str]) -> bool:
    """Whether a direction hangs on one of some verbs, or the nearest one before it is of them: "camera pans left"."""
    words, head = sentence.words, sentence.words[at].head
    if head in sentence.verbs and head < at:
        return words[head].lemma in verbs
    near = [n for n in range(max(at - _FAR, 0), at) if n in sentence.verbs or "VBZ" in verb_tags(words[n].text)]
    return bool(near) and lemma(words[near[-1]].text, "VBZ") in verbs
