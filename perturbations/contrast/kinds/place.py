"""Places: room, terrain, furniture, weather. "in a kitchen" -> "in a garden", "onto the bed" -> "onto the floor"."""

from itertools import chain
from typing import NamedTuple

from video_contrast.perturbations.contrast.edit import Contrast
from video_contrast.perturbations.contrast.kinds.contrast import replace_words, thing
from video_contrast.perturbations.contrast.lexicon import Lexicon
from video_contrast.perturbations.english import Sentence
from video_contrast.perturbations.english.lexicon import has_class, lines, words_of


class _Place(NamedTuple):
    """A member of a set: its names, the first of which stands in contrasts, and its prepositions; `own`: it takes the
    first of them, whatever the caption has."""

    names: tuple[str, ...]
    prepositions: tuple[str, ...]
    own: bool


# The verbs of a set (none: any verb), and its places: an action of these verbs happens at one of them only.
_Set = tuple[frozenset[str], tuple[_Place, ...]]


def _parsed_set(line: str) -> _Set:
    prepositions, verbs, places = line.split("\t")
    members = []
    for text in places.split(", "):
        own, _, names = text.rpartition(" ") if text.split()[0].split("|")[0] in ("on", "in", "at") else ("", "", text)
        own_prepositions = own.split("|") if own else prepositions.split(",")
        members.append(_Place(tuple(names.split("/")), tuple(own_prepositions), bool(own)))
    return frozenset() if verbs == "*" else frozenset(verbs.split(",")), tuple(members)


_SETS = tuple(_parsed_set(line) for line in lines("video_contrast.perturbations.contrast.kinds", "place_sets.tsv"))
_FREE = ("rain", "pool", "oven", "table", "couch")  # members of the sets that do not depend on what is done
_ONLY_THE = ("floor", "stairs", "lawn", "rain", "snow", "sunshine")
_CARS = frozenset(("car", "van", "truck", "vehicle"))
_IN_CAR = words_of("done_in_a_car")
_COOL = words_of("done_with_a_fridge")  # also done with a fridge
_AT_DESK = words_of("done_at_a_desk")
_NOT_AT = words_of("aims_at")
_LYING = frozenset(("lie", "lay", "sleep", "nap", "awaken", "wake"))  # not done on a chair, at a desk
_WITH_ANIMALS = words_of("place_of_animals")
# Things that stand, and actions that happen, in one kind of place.
_FITTED = {
    place: words_of(f"fits_{place.replace(' ', '_')}")
    for place in ("kitchen", "bathroom", "bedroom", "laundry room", "store", "beach")
}
_SPORTING = frozenset(("sport", "ball", "sports_gear"))
_INDOORS = frozenset(("furniture", "fixture", "appliance", "room"))  # classes of what stands in rooms


def contrasts(sentence: Sentence, lexicon: Lexicon) -> list[Contrast]:
    """The noun of a place exchanged for another of its set, where the action fits there."""
    meanings = ((noun, thing(sentence, noun, lexicon)) for noun in sentence.noun_phrases())
    vehicles = [noun for noun, meaning in meanings if meaning and lexicon.is_a(meaning.category, "vehicle")]
    if len(vehicles) > 1 or (vehicles and sentence.words[sentence.words[vehicles[0]].head].text != "in"):
        return []
    return list(chain.from_iterable(_contrasts_of_place(sentence, noun, lexicon) for noun in sentence.noun_phrases()))


def _contrasts_of_place(sentence: Sentence, noun: int, lexicon: Lexicon) -> list[Contrast]:
    words, old = sentence.words, sentence.noun_key(noun)
    more = sentence.child(noun, "amod", "nummod", "prep", "relcl", "acl", "conj", "appos", "cc", "poss")
    if more is not None or sum(word.lemma == words[noun].lemma for word in words) > 1:
        return []
    first = noun - len(old.split()) + 1
    article = words[first - 1].text if first and words[first - 1].text in ("a", "an", "the") else ""
    behind = first - bool(article)  # the place behind the preposition
    preposition, verb = _governor(sentence, noun, behind)
    mine, places = _place_and_set(preposition, verb, old)
    if mine is None or (words[noun].tag not in ("NN", "NNP") and mine.names[0] != "stairs"):
        return []
    lemmas = {word.lemma for word in words}
    bound = _is_bound_to_place(sentence, lexicon) and not {place.names[0] for place in places} & set(_FREE)
    if bound or lemmas & _FITTED.get(mine.names[0], frozenset()):
        return []
    others = [place for place in places if place is not mine and not lemmas.intersection(place.names)]
    return [
        _relocated(sentence, noun, (behind, preposition, article), old=mine.names[0], place=place)
        for place in others
        if _may_happen_at(sentence, place.names[0], noun, lexicon)
    ]


def _relocated(sentence: Sentence, noun: int, before: tuple[int, str, str], *, old: str, place: _Place) -> Contrast:
    """A place exchanged, with its article and preposition where others go with the new one.

    `before`: where the words behind the preposition begin, the preposition, and the article. `old`: the place's name.
    """
    (behind, preposition, article), name = before, place.names[0]
    new_preposition = place.prepositions[0] if place.own else preposition
    new_article = "the" if name in _ONLY_THE or not article else article
    if name == "stage" and article in ("", "the"):  # "on stage", "on the floor"
        new_article = ""
    start, new = behind + bool(article), name
    if new_article.replace("an", "a") != article.replace("an", "a"):
        start, new = behind, f"{new_article} {name}".strip()
    if new_preposition != preposition:
        start, new = behind - len(preposition.split()), f"{new_preposition} {new_article} {name}"
    return replace_words(sentence, start, noun + 1, new, unit=old, other=name)


def _governor(sentence: Sentence, noun: int, behind: int) -> tuple[str, str]:
    """The preposition that ends before the word `behind`, "-" for an object, and the verb that it hangs on."""
    words = sentence.words
    verb = next((words[n].lemma for n in sentence.ancestors(noun) if words[n].is_verb), "")
    if words[noun].dep == "dobj":
        return "-", verb
    if words[noun].dep != "pobj" or words[noun].head != behind - 1:
        return "", verb
    last = words[behind - 1]
    if last.text == "of" and behind > 1 and words[behind - 2].text in ("out", "off"):
        return f"{words[behind - 2].text} of", verb
    return "in" if last.text == "inside" else last.text, verb


def _place_and_set(preposition: str, verb: str, name: str) -> tuple[_Place | None, tuple[_Place, ...]]:
    """The place that a name means behind a preposition and its set, of the first row that has it; else None, ()."""
    if (preposition == "at" and verb in _NOT_AT) or (name == "room" and (verb == "come" or has_class(verb, "motion"))):
        return None, ()
    for verbs, places in _SETS:
        for place in places:
            if name in place.names and preposition in place.prepositions and (not verbs or verb in verbs):
                return place, places
    return None, ()


def _may_happen_at(sentence: Sentence, place: str, noun: int, lexicon: Lexicon) -> bool:
    """Whether what a caption tells can well happen at another place. `noun`: of the place that it tells."""
    lemmas = {sentence.words[verb].lemma for verb in sentence.verbs}
    if (place in ("chair", "desk") and lemmas & _LYING) or (place == "desk" and not lemmas & _AT_DESK):
        return False
    in_car = place == "car" or not _CARS.isdisjoint(word.text for word in sentence.words)
    if (in_car and not lemmas <= _IN_CAR) or (place in ("fridge", "freezer") and not lemmas & _COOL):
        return False
    classes = _other_classes(sentence, noun, lexicon)
    entry = lexicon.places.get(place)
    if entry is not None and entry.setting == "outdoor" and classes & _INDOORS:
        return False
    fitting = _fitting_places(sentence, classes, lexicon)
    return not fitting or place in fitting


def _fitting_places(sentence: Sentence, classes: set[str], lexicon: Lexicon) -> frozenset[str]:
    """The places that go with animals, food or sports, if there are any in the caption; empty: any place."""
    animals = {name for name in classes if lexicon.is_a(name, "animal")}
    if animals:
        outside = (place for place in _WITH_ANIMALS if lexicon.places[place].setting == "outdoor")
        return _WITH_ANIMALS if animals == {"pet"} else frozenset(outside)
    cooks = any(word.lemma in ("cook", "fry", "bake", "boil", "chef", "recipe") for word in sentence.words)
    if cooks or any(lexicon.is_a(name, kind) for name in classes for kind in ("food", "cookware", "tableware")):
        return words_of("place_of_food")
    return words_of("place_of_sport") if classes & _SPORTING else frozenset()


def _other_classes(sentence: Sentence, noun: int, lexicon: Lexicon) -> set[str]:
    """The classes of all things of a caption but the one at `noun`."""
    others = [n for n, word in enumerate(sentence.words) if n != noun and word.head != noun]
    return {meaning.category for n in others if (meaning := thing(sentence, n, lexicon)) is not None}


def _is_bound_to_place(sentence: Sentence, lexicon: Lexicon) -> bool:
    """Whether an action, by its scenes in the lexicon, is bound to a kind of place: elsewhere it would be odd."""
    of_verbs = (lexicon.actions(sentence.words[verb].lemma) for verb in sentence.verbs)
    return any(
        actions and all(action.scenes & words_of("bound_scene") and "any" not in action.scenes for action in actions)
        for actions in of_verbs
    )
