"""What kind of thing a noun names, and which nouns say it more or less generally: distilled from WordNet.

Tables `class` (noun, WordNet's lexicographer class "food"; with a "+", one of our finer classes) and `related` (noun,
noun: one is a kind, a part or another name of the other, in one of their first senses), for the nouns that are counted.
"""

from collections.abc import Iterable

from video_contrast.errors import VideoContrastError
from video_contrast.untyped import Sense

# Finer classes than WordNet's lexicographer files, by what a first sense is a kind of; the first that fits.
_FINE = {
    "vehicle": "vehicle.n.01",
    "music": "musical_instrument.n.01",
    "clothing": "clothing.n.01 headdress.n.01 footwear.n.01 footwear.n.02 jewelry.n.01 garment.n.01",
    "furniture": "furniture.n.01",
    "toy": "plaything.n.01 ball.n.01",
    "weapon": "weapon.n.01",
    "container": "container.n.01 vessel.n.03 cookware.n.01 crockery.n.01",
    "tool": "implement.n.01 cutlery.n.02 tool.n.01",
    "device": "device.n.01 machine.n.01 equipment.n.01 appliance.n.02 electronic_equipment.n.01",
    "place": "structure.n.01 area.n.05 way.n.06 location.n.01 facility.n.01 tract.n.01 geological_formation.n.01 "
    "body_of_water.n.01 establishment.n.04 land.n.04 room.n.01 land.n.02",
    "document": "creation.n.02 publication.n.01 paper.n.01",
    "drink": "beverage.n.01",
    "produce": "produce.n.01",
    "food": "food.n.01 food.n.02 foodstuff.n.02",
    "animal": "animal.n.01",
    "plant": "plant.n.02",
    "sport": "sport.n.01 game.n.01 game.n.03 dancing.n.01",
}
_SENSES = 3
_RELATED_SENSES = 5
_TOO_GENERAL = 4  # hypernyms of fewer steps from the top say nothing ("artifact", "thing")


def distil_kinds(nouns: Iterable[str]) -> dict[str, dict[str, int]]:
    """The two tables for some nouns (lemmas; compounds with a space).

    Raises:
        VideoContrastError: NLTK's WordNet is not installed.
    """
    try:
        from nltk.corpus import wordnet

        wordnet.ensure_loaded()
    except (ImportError, LookupError) as error:
        raise VideoContrastError("noun classes need NLTK's WordNet: python -m nltk.downloader wordnet") from error
    anchors = {name: {wordnet.synset(key) for key in listed.split()} for name, listed in _FINE.items()}
    classes: dict[str, int] = {}
    members: dict[Sense, set[str]] = {}
    around: dict[str, set[Sense]] = {}
    for noun in sorted(set(nouns)):
        senses = [s for s in wordnet.synsets(noun.replace(" ", "_"), pos="n") if _says(s, noun)][:_RELATED_SENSES]
        if not senses:
            continue
        classes[f"{noun}\t{senses[0].lexname().removeprefix('noun.')}"] = 2
        fine = next((name for name in (_fine(sense, anchors) for sense in senses[:_SENSES]) if name), "")
        if fine:
            classes[f"{noun}\t+{fine}"] = 1
        for sense in senses[1:_SENSES]:
            classes.setdefault(f"{noun}\t{sense.lexname().removeprefix('noun.')}", 1)
        around[noun] = set()
        for sense in senses:
            members.setdefault(sense, set()).add(noun)
            around[noun] |= _around(sense)
    related: dict[str, int] = {}
    for noun, places in around.items():
        for place in places:
            for other in members.get(place, ()):
                if other != noun:
                    first, second = sorted((noun, other))
                    related[f"{first}\t{second}"] = 1
    return {"class": classes, "related": related}


def _fine(sense: Sense, anchors: dict[str, set[Sense]]) -> str:
    above = {synset for path in sense.hypernym_paths() for synset in path}
    return next((name for name, senses in anchors.items() if above & senses), "")


def _says(sense: Sense, noun: str) -> bool:
    return any(lemma.name().lower() == noun.replace(" ", "_") for lemma in sense.lemmas())


def _around(sense: Sense) -> set[Sense]:
    """The sense itself, what it is a kind of, and what it is a part of or made of."""
    near = {sense}
    for path in sense.hypernym_paths():
        near |= {above for depth, above in enumerate(path) if depth >= _TOO_GENERAL}
    near |= set(sense.part_holonyms() + sense.part_meronyms() + sense.substance_meronyms())
    near |= set(sense.member_holonyms() + sense.substance_holonyms() + sense.member_meronyms())
    return near
