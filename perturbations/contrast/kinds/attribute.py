"""Attributes: colour, size, age, material and looks of a thing. "a red car" -> "a blue car"."""

from itertools import chain

from video_contrast.perturbations.contrast.kinds.contrast import Contrast, is_amount, living, replace_words, thing
from video_contrast.perturbations.contrast.lexicon import Attribute, Lexicon
from video_contrast.perturbations.english import Sentence

# Adjectives of which only one can be true of a thing, and that a viewer tells apart; near synonyms share a group of the
# lexicon. Of two sets, the first that holds an adjective and suits its noun counts.
_SETS = tuple(
    frozenset(line.split())
    for line in """\
black blue brown gray green orange pink purple red white yellow
blonde dark-haired red-haired gray-haired bald
young old
small big
small large
short long
short tall
fat skinny
wooden metal plastic glass
chopped grated mashed whole
sliced grated mashed whole
raw fried boiled grilled
raw cooked
open closed
empty full
empty crowded
wet dry
clean dirty
new old
modern old
round square
long-sleeved short-sleeved
happy sad
bright dark
curly straight""".splitlines()
)
_COLOURS = _SETS[0]
# What one viewer calls this and another that.
_NEAR = frozenset(
    frozenset(pair.split())
    for pair in (  # noqa: SIM905
        "orange red,orange yellow,brown orange,pink purple,pink red,blue purple,gray white,black gray,brown red,"
        "blue gray,brown gray,blue green,black blue,black brown,gray green,white yellow"
    ).split(",")
)
_ANIMALS = frozenset(("black", "brown", "gray", "white"))
_HAIR = frozenset(("black", "blonde", "brown", "gray", "red"))
# Nouns that form one name with a colour: "white house", "green onion".
_NAMES = frozenset(
    """house board screen carpet hole box belt light line card eye wine bean onion tea sugar rice meat sauce bull heart
    cross room noise flag magic water snow panther bird race pepper cabbage bread egg fish chili chilli olive blood
    salt pad day film tape""".split()  # noqa: SIM905
)
# Nouns of which an adjective says little, or that form names with any.
_VAGUE = frozenset(
    "stuff one thing style world area background school show party movie film time way number group part game".split()  # noqa: SIM905
)
_CHILDREN = frozenset("girl boy kid child brother sister baby guy lady people fan one adult".split())  # noqa: SIM905
_COLOURLESS = ("food", "nature", "body", "intangible", "place", "activity")  # classes; flowers and fruit are let in
_COLOURED = ("flower", "fruit", "sweet", "drink", "building")


def contrasts(sentence: Sentence, lexicon: Lexicon) -> list[Contrast]:
    """An adjective exchanged for others of its set that the thing may have."""
    return list(chain.from_iterable(_of(sentence, place, lexicon) for place in range(len(sentence))))


def described(sentence: Sentence, place: int, lexicon: Lexicon) -> tuple[int, Attribute] | None:
    """The noun that the adjective at a place describes, and the attribute; None where it does not stand by itself.

    Args:
        sentence: the parsed caption.
        place: index of the adjective.
        lexicon: the words and their classes.
    """
    words, word = sentence.words, sentence.words[place]
    attribute = lexicon.attributes.get(word.text)
    noun = word.head
    if attribute is None or word.dep not in ("amod", "compound", "nmod") or not place < noun <= place + 3:
        return None
    if not words[noun].is_noun or words[noun].tag.startswith("NNP") or is_amount(sentence, noun):
        return None
    if (
        words[noun].lemma in (_VAGUE | _NAMES if attribute.group in _COLOURS else _VAGUE)
        or sentence.child(place, "advmod", "conj", "cc") is not None
    ):
        return None
    beside = {words[place + 1].text, words[place - 1].text if place else ""}
    if beside & {"and", "or", "-", ",", "dark", "light", "bright", "deep"} or word.tag.startswith("VBG"):
        return None
    return (noun, attribute) if suits(sentence, noun, attribute, lexicon) else None


def suits(sentence: Sentence, noun: int, attribute: Attribute, lexicon: Lexicon) -> bool:
    """Whether a noun may have an attribute.

    Args:
        sentence: the parsed caption.
        noun: index of the noun.
        attribute: of the lexicon.
        lexicon: the words and their classes.
    """
    meaning, colour = thing(sentence, noun, lexicon), attribute.group in _COLOURS
    if living(sentence, noun, lexicon) == "people":
        young = attribute.dimension in ("age", "size") and sentence.words[noun].lemma in _CHILDREN
        return "person" in attribute.classes and not colour and not young
    if meaning is None:
        return False
    if colour and lexicon.is_a(meaning.category, "animal"):
        return attribute.group in _ANIMALS and meaning.category in ("pet", "farm_animal")
    if colour and meaning.category not in _COLOURED and any(lexicon.is_a(meaning.category, c) for c in _COLOURLESS):
        return sentence.words[noun].lemma == "hair" and attribute.group in _HAIR
    return any(lexicon.is_a(meaning.category, kind) for kind in attribute.classes)


def alternatives(sentence: Sentence, noun: int, attribute: Attribute, lexicon: Lexicon) -> list[Attribute]:
    """The other attributes of its set that the noun may have.

    Args:
        sentence: the parsed caption.
        noun: index of the noun.
        attribute: the one that the caption gives the noun.
        lexicon: the words and their classes.
    """
    if sentence.words[noun].lemma == "hair" and attribute.group in _HAIR:
        names = _HAIR
    else:
        names = next(
            (names for names in _SETS if attribute.group in names or attribute.adjective in names), frozenset()
        )
    known = [lexicon.attributes[name] for name in sorted(names) if name in lexicon.attributes]
    return [
        other
        for other in known
        if other.group != attribute.group
        and frozenset((other.group, attribute.group)) not in _NEAR
        and suits(sentence, noun, other, lexicon)
    ]


def _of(sentence: Sentence, place: int, lexicon: Lexicon) -> list[Contrast]:
    at = described(sentence, place, lexicon)
    if at is None:
        return []
    noun, attribute = at
    others = alternatives(sentence, noun, attribute, lexicon)
    return [
        replace_words(sentence, place, place + 1, other.adjective, unit=attribute.group, other=other.group)
        for other in others
    ]
