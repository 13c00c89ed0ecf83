"""Places: room, terrain, indoors or outdoors, weather. "in a kitchen" -> "in a garden"."""

from itertools import chain

from video_contrast.perturbations.contrast.edit import Contrast
from video_contrast.perturbations.contrast.kinds.contrast import replace_words, thing
from video_contrast.perturbations.contrast.lexicon import Lexicon
from video_contrast.perturbations.english import Sentence
from video_contrast.perturbations.english.lexicon import words_of
from video_contrast.perturbations.english.tables import lines

_SETS = tuple(
    (preposition, tuple(tuple(names.split("/")) for names in places.split(", ")))
    for preposition, places in (
        line.split("\t") for line in lines("video_contrast.perturbations.contrast.kinds", "place_sets.tsv")
    )
)
_FREE = ("rain", "pool", "oven")  # members of the sets that do not depend on what is done
_IN_CAR = words_of("done_in_a_car")
_COOL = frozenset("put place keep leave set store refrigerate let".split())  # also done with a fridge  # noqa: SIM905
_WITH_ANIMALS = words_of("place_of_animals")
_WITH_FOOD = frozenset("kitchen park garage classroom forest rain snow sunshine oven fridge freezer microwave".split())  # noqa: SIM905
# Scenes of the lexicon: an action that is of nothing else belongs to a kind of place.
_BOUND = words_of("bound_scene")


def contrasts(sentence: Sentence, lexicon: Lexicon) -> list[Contrast]:
    """The noun behind "in", "on" or "at" exchanged for another place of its set, where what is done fits there."""
    vehicles = [noun for noun in sentence.noun_phrases() if _is_vehicle(sentence, noun, lexicon)]
    if len(vehicles) > 1 or (vehicles and sentence.words[sentence.words[vehicles[0]].head].text != "in"):
        return []
    return list(chain.from_iterable(_of_noun(sentence, noun, lexicon) for noun in sentence.noun_phrases()))


def _is_vehicle(sentence: Sentence, noun: int, lexicon: Lexicon) -> bool:
    meaning = thing(sentence, noun, lexicon)
    return meaning is not None and lexicon.is_a(meaning.category, "vehicle")


def _of_noun(sentence: Sentence, noun: int, lexicon: Lexicon) -> list[Contrast]:
    words = sentence.words
    if words[noun].tag not in ("NN", "NNP") or _says_more(sentence, noun):
        return []
    preposition, old = words[words[noun].head].text, sentence.noun_key(noun)
    first = noun - len(old.split()) + 1
    article = "" if words[noun].head == first - 1 else words[first - 1].text
    if article and (article not in ("a", "an", "the") or words[noun].head != first - 2):
        return []
    places = _set_of("in" if preposition == "inside" else preposition, old)
    if not places or (_is_bound(sentence, lexicon) and not set(_FREE) & set(chain(*places))):
        return []
    mine = next(names for names in places if old in names)
    others = [names[0] for names in places if names is not mine and _goes(sentence, names[0], lexicon)]
    return [
        _moved(sentence, first, noun, article, names=(mine[0], new))
        for new in others
        if new != "floor" or article in ("", "the")
    ]


def _moved(sentence: Sentence, first: int, noun: int, article: str, *, names: tuple[str, str]) -> Contrast:
    """The place with another name; "on stage" becomes "on the street", and the reverse."""
    old, new = names
    shown = new if article else f"the {new}"
    start = first - 1 if article == "the" and new == "stage" else first
    return replace_words(sentence, start, noun + 1, shown, unit=old, other=new)


def _goes(sentence: Sentence, place: str, lexicon: Lexicon) -> bool:
    """Whether what a caption tells can well happen at another place."""
    lemmas = {sentence.words[verb].lemma for verb in sentence.verbs}
    in_car = any(word.text in ("car", "van", "truck", "vehicle") for word in sentence.words)
    if (place == "car" or in_car) and not lemmas <= _IN_CAR:
        return False
    if place in ("fridge", "freezer") and not lemmas & _COOL:
        return False
    fitting = _fitting(sentence, lexicon)
    return not fitting or place in fitting


def _set_of(preposition: str, place: str) -> tuple[tuple[str, ...], ...]:
    """The first set that has a place behind a preposition; () where none has."""
    sets = (places for name, places in _SETS if name == preposition and any(place in names for names in places))
    return next(sets, ())


def _fitting(sentence: Sentence, lexicon: Lexicon) -> frozenset[str]:
    """The places that go with food and animals, if there are any in the caption; empty: any place."""
    parents = _categories(sentence, lexicon)
    if any(lexicon.is_a(category, "animal") for category in parents):
        return _WITH_ANIMALS
    cooked = any(lexicon.is_a(category, name) for category in parents for name in ("food", "cookware", "tableware"))
    cooks = any(word.lemma in ("cook", "fry", "bake", "boil", "chef", "recipe") for word in sentence.words)
    return _WITH_FOOD if cooked or cooks else frozenset()


def _categories(sentence: Sentence, lexicon: Lexicon) -> set[str]:
    meanings = (thing(sentence, noun, lexicon) for noun in sentence.noun_phrases())
    return {meaning.category for meaning in meanings if meaning is not None}


def _says_more(sentence: Sentence, noun: int) -> bool:
    """Whether a noun stands behind no preposition, or more is said of it than its name, which would have to change."""
    return (
        sentence.words[noun].dep != "pobj"
        or sentence.child(noun, "amod", "nummod", "prep", "relcl", "acl", "conj", "appos", "cc", "poss") is not None
    )


def _is_bound(sentence: Sentence, lexicon: Lexicon) -> bool:
    """Whether an action belongs to a kind of place, so that it would be odd elsewhere."""
    for verb in sentence.verbs:
        actions = lexicon.actions(sentence.words[verb].lemma)
        if actions and all(action.scenes & _BOUND and "any" not in action.scenes for action in actions):
            return True
    return False
