"""Attributes: colour, size, age, material and looks of a thing, the sport of a game. "a red car" -> "a blue car"."""

from video_contrast.perturbations.contrast.edit import Contrast
from video_contrast.perturbations.contrast.kinds.contrast import is_amount, living, replace_words, thing
from video_contrast.perturbations.contrast.lexicon import MASS, Attribute, Lexicon
from video_contrast.perturbations.english import Sentence
from video_contrast.perturbations.english.forms import inflect
from video_contrast.perturbations.english.lexicon import has_class, lines, words_of

_PACKAGE = "video_contrast.perturbations.contrast.kinds"
# Near synonyms share a group of the lexicon. Of two sets, the first that holds an adjective and suits its noun counts.
_SETS = tuple(frozenset(line.split()) for line in lines(_PACKAGE, "attribute_sets.tsv"))
_COLOURS = _SETS[0]
_NEAR = frozenset(frozenset(line.split()) for line in lines(_PACKAGE, "attributes_alike.tsv"))
_ANIMALS = frozenset(("black", "brown", "gray", "white"))
_HAIR = frozenset(("black", "blonde", "brown", "gray", "red"))
# Nouns of which an adjective says little, or that form names with any.
_VAGUE = words_of("vague_thing")
# Shapes into which things are cut; "/" joins names that viewers mix up.
_PIECES = ("slice/ring", "cube/chunk", "strip", "half/wedge/quarter")
# Sports of a game (player, team), and of a match.
_SPORTS = {
    "game player team": ("soccer/football/rugby", "basketball", "baseball/cricket", "hockey", "volleyball"),
    "match tournament": ("soccer/football/rugby", "basketball", "hockey", "tennis", "wrestling/boxing", "golf"),
}
_CHILDREN = words_of("age_says_little")
# Nouns of people of whom adjectives of a dimension say little: "a big girl".
_YOUNG = {"age": _CHILDREN, "size": _CHILDREN | {"guy", "lady", "people"}}
_OF_GLASS = ("bottle", "bowl", "box", "cup", "door", "jar", "plate", "table", "vase", "wall", "window")
_COLLECTIVES = ("group", "crowd")  # large or small
_SHADES = ("light", "dark", "bright", "deep")
_COLOURLESS = ("food", "nature", "body", "intangible", "place", "activity")  # classes; flowers and fruit are let in
_COLOURED = ("flower", "fruit", "sweet", "drink", "building", "room")
_LIT = ("screen", "decoration", "fixture", "textile")  # further classes of what has a colour: a light, a flag
_NO_LIGHT = ("black", "brown", "gray")


def contrasts(sentence: Sentence, lexicon: Lexicon) -> list[Contrast]:
    """An adjective exchanged for others of its set that the thing may have; a sport, a shape for another."""
    rules = (_attributive, _predicative, _colour_of_clothes, _sport_of_game, _shape_of_pieces)
    return [contrast for place in range(len(sentence)) for rule in rules for contrast in rule(sentence, place, lexicon)]


def described(sentence: Sentence, place: int, lexicon: Lexicon) -> tuple[int, Attribute] | None:
    """The noun that the adjective at a place describes, and the attribute; None where it does not stand by itself."""
    words, word = sentence.words, sentence.words[place]
    attribute = lexicon.attributes.get(word.text)
    noun = word.head
    if attribute is None or word.dep not in ("amod", "compound", "nmod") or not place < noun <= place + 3:
        return None
    is_name = words[noun].tag.startswith("NNP") and not sentence.caption[words[noun].start].islower()
    if not words[noun].is_noun or is_name:
        return None
    if is_amount(sentence, noun):
        return (noun, attribute) if attribute.group in ("big", "small") and words[noun].lemma in _COLLECTIVES else None
    # "white house", "green onion"
    vague = _VAGUE | words_of("after_colour_in_name") if attribute.group in _COLOURS else _VAGUE
    if words[noun].lemma in vague or sentence.child(place, "advmod", "conj", "cc") is not None:
        return None
    if attribute.group in ("cold", "boiling") and words[noun].lemma not in ("water", "oil", "milk", "soup"):
        return None
    beside = {words[place + 1].text, words[place - 1].text if place else ""}
    if beside & {"and", "or", "-", ",", "charcoal", "navy", "lime", "olive", "sky", "my", "hot", "boiling"}:
        return None
    if word.tag.startswith("VBG") and word.text not in ("boiling", "smiling", "crying"):
        return None
    return (noun, attribute) if suits(sentence, noun, attribute, lexicon) else None


def suits(sentence: Sentence, noun: int, attribute: Attribute, lexicon: Lexicon) -> bool:
    """Whether a noun may have an attribute."""
    meaning, lemma = thing(sentence, noun, lexicon), sentence.words[noun].lemma
    if living(sentence, noun, lexicon) == "people":
        if lemma in _COLLECTIVES and attribute.dimension == "size":
            return True
        young = attribute.dimension in _YOUNG and lemma in _YOUNG[attribute.dimension]
        has_hair = attribute.adjective == "bald" and any(word.lemma == "hair" for word in sentence.words)
        return "person" in attribute.classes and attribute.group not in _COLOURS and not (young or has_hair)
    if meaning is None or (attribute.adjective == "glass" and lemma not in _OF_GLASS):
        return False
    if lemma == "bag" and attribute.dimension == "material":  # "plastic bag" is one name
        return False
    if attribute.group in _COLOURS:
        return _has_colour(lemma, meaning.category, attribute, lexicon)
    if attribute.adjective == "little" and meaning.category in MASS:
        return False
    return any(lexicon.is_a(meaning.category, kind) for kind in attribute.classes)


def _has_colour(lemma: str, category: str, colour: Attribute, lexicon: Lexicon) -> bool:
    """Whether a noun of a class may have a colour of which a caption tells."""
    if lexicon.is_a(category, "animal"):
        return colour.group in _ANIMALS and category in ("pet", "farm_animal")
    if category not in _COLOURED and any(lexicon.is_a(category, name) for name in _COLOURLESS):
        return lemma == "hair" and colour.group in _HAIR
    if lemma == "light" and colour.group in _NO_LIGHT:
        return False
    return category in _LIT or any(lexicon.is_a(category, kind) for kind in colour.classes)


def alternatives(sentence: Sentence, noun: int, attribute: Attribute, lexicon: Lexicon) -> list[Attribute]:
    """The other attributes of its set that the noun may have. `attribute`: the one that the caption gives the noun."""
    on_hair = sentence.words[noun].lemma == "hair" and attribute.group in _HAIR
    sets = (names for names in _SETS if attribute.group in names or attribute.adjective in names)
    names = _HAIR if on_hair else next(sets, frozenset())
    heads = [(word.text, sentence.words[word.head]) for word in sentence.words]
    # "a white dog runs from a brown dog": what another thing of the same name has is no contrast.
    of_namesakes = {text for text, head in heads if head.is_noun and head.lemma == sentence.words[noun].lemma}
    others = _distinct_attributes(attribute, names, lexicon)
    return [o for o in others if suits(sentence, noun, o, lexicon) and o.adjective not in of_namesakes]


def _distinct_attributes(attribute: Attribute, names: frozenset[str], lexicon: Lexicon) -> list[Attribute]:
    """The attributes of a set that nobody takes for another one."""
    attributes = [lexicon.attributes[name] for name in sorted(names)]
    return [o for o in attributes if o.group != attribute.group and frozenset((o.group, attribute.group)) not in _NEAR]


def _attributive(sentence: Sentence, place: int, lexicon: Lexicon) -> list[Contrast]:
    """ "a red car" -> "a blue car"; a shade goes with its colour: "a light blue shirt" -> "a red shirt"."""
    at = described(sentence, place, lexicon)
    return _with_attributes(sentence, place, alternatives(sentence, *at, lexicon), at[1]) if at is not None else []


def _predicative(sentence: Sentence, place: int, lexicon: Lexicon) -> list[Contrast]:
    """ "the screen turns green" -> "the screen turns red"."""
    word, attribute = sentence.words[place], lexicon.attributes.get(sentence.words[place].text)
    if attribute is None or word.dep not in ("acomp", "oprd") or sentence.children[place]:
        return []
    noun = sentence.subject(word.head)
    if noun is None or not suits(sentence, noun, attribute, lexicon):
        return []
    return _with_attributes(sentence, place, alternatives(sentence, noun, attribute, lexicon), attribute)


def _colour_of_clothes(sentence: Sentence, place: int, lexicon: Lexicon) -> list[Contrast]:
    """ "a man in red" -> "a man in blue", "wearing all black" -> "wearing all white"."""
    words, colour = sentence.words, lexicon.attributes.get(sentence.words[place].text)
    if colour is None or colour.group not in _COLOURS or place < 2 or words[place].dep not in ("pobj", "dobj", "amod"):
        return []
    first = place - (words[place - 1].text in ("all", *_SHADES))
    in_it = words[first - 1].text in ("in", "wearing") and first > 1 and sentence.is_person(first - 2)
    if not (in_it or words[first - 1].lemma == "wear") or (
        words[place].dep == "amod" and not sentence.may_be_verb(place + 1)
    ):
        return []
    if place + 1 < len(words) and words[place + 1].text in ("and", "or"):
        return []
    return _with_attributes(sentence, place, _distinct_attributes(colour, _COLOURS, lexicon), colour)


def _with_attributes(sentence: Sentence, place: int, others: list[Attribute], old: Attribute) -> list[Contrast]:
    has_shade = place > 0 and sentence.words[place - 1].text in _SHADES and old.group in _COLOURS
    return [
        replace_words(sentence, place - has_shade, place + 1, other.adjective, unit=old.group, other=other.group)
        for other in others
    ]


def _sport_of_game(sentence: Sentence, place: int, _: Lexicon) -> list[Contrast]:
    """ "a soccer game" -> "a tennis game"."""
    words, word = sentence.words, sentence.words[place]
    long = place > 0 and words[place - 1].dep == "compound"
    if word.dep != "compound" or long or any(has_class(other.lemma, "of_a_sport") for other in words):
        return []
    sets = [names for of, names in _SPORTS.items() if words[word.head].lemma in of.split()]
    return _with_names(sentence, place, sets[0] if sets else ())


def _shape_of_pieces(sentence: Sentence, place: int, _: Lexicon) -> list[Contrast]:
    """ "cut into strips" -> "cut into cubes"."""
    word = sentence.words[place]
    if word.dep != "pobj" or word.tag != "NNS" or sentence.words[word.head].text != "into":
        return []
    return _with_names(sentence, place, _PIECES) if sentence.child(place, "prep", "nummod", "conj") is None else []


def _with_names(sentence: Sentence, place: int, names: tuple[str, ...]) -> list[Contrast]:
    """A noun exchanged for the first name of each of the others in a list, if it is in the list."""
    word = sentence.words[place]
    own = next((alike for alike in names if word.lemma in alike.split("/")), None)
    others = [alike.split("/")[0] for alike in names if alike != own] if own else []
    form_of = {other: other if word.tag == "NN" else inflect(other, "NNS") for other in others}
    return [replace_words(sentence, place, place + 1, form_of[o], unit=word.lemma, other=o) for o in others]
