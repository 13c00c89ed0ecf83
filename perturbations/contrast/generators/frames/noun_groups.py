"""Nouns that may name one and the same thing of a clip, and nouns that name no thing at all: general English."""

from functools import cache
from itertools import combinations

from video_contrast.perturbations.contrast.generators.frames.counts import FrameCounts
from video_contrast.perturbations.contrast.generators.frames.groups import EMPTY

# Our finer classes (`kinds`), each with those whose nouns stand in the same frames.
CLASSES = frozenset(
    """vehicle music clothing furniture toy weapon container tool device place document drink produce food animal plant
    sport""".split()  # noqa: SIM905
)
_MIXED = (
    frozenset({"produce", "food"}),
    frozenset({"place", "vehicle"}),
    frozenset({"weapon", "tool", "toy", "device"}),
)

# Any two of a line may name the same thing or place.
_NEAR = """
floor ground field grass carpet mat lawn court arena stadium
pan pot skillet bowl dish plate container tray wok cooker oven stove saucepan
computer laptop screen monitor television tv tablet phone device machine keyboard
table desk counter bench board
couch chair sofa bed seat bench
shirt dress suit jacket clothes coat outfit clothing costume uniform top hoodie sweater robe
hat cap helmet hood
street road highway track path sidewalk trail way lane
forest wood jungle park garden tree yard bush
water ocean sea lake river pool beach pond stream
house home building room apartment hall office studio kitchen bedroom hotel restaurant store shop place
gun weapon rifle pistol sword knife
bike motorcycle bicycle motorbike scooter cycle
plane airplane aircraft jet helicopter
boat ship yacht canoe
food meal dish meat dinner lunch breakfast recipe snack ingredient vegetable chicken
stage concert show platform audience
song music instrument track rap hymn tune
film movie show video clip scene episode trailer commercial cartoon animation program series picture photo image
game match sport competition tournament contest race
car vehicle truck automobile suv van jeep bus sedan racecar lamborghini ferrari
ball football basketball soccer baseball
dog puppy
cat kitten
cow cattle bull buffalo
monkey ape gorilla chimpanzee baboon
bird chicken duck parrot
fish shark whale dolphin
sauce soup liquid mixture batter broth curry gravy
onion garlic vegetable
bread dough toast bun sandwich
drink juice beer wine cocktail coffee tea beverage
microphone mic phone
guitar instrument bass
drum instrument
piano keyboard instrument organ
book paper magazine newspaper notebook page letter
box package bag container case basket suitcase
toy doll car action figure lego
hair wig head face
hand finger arm
leg foot
city town village street area
mountain hill cliff rock
snow ice
stroller carriage buggy pram cart
knife blade tool
spoon fork utensil
wall building fence
window door
makeup lipstick eyeliner mascara cosmetic eyeshadow powder
minecraft game
podium desk stage table
club bar restaurant party
church hall building
school classroom university college
hospital office clinic
"""
_NO_THING = frozenset(
    """front back middle side top bottom center end rest part inside outside bunch lot kind type sort variety set series
    pair piece number few couple place area location background foreground view angle distance time day moment way
    manner detail thing stuff item object topic subject information feature fact reason merit scene clip video footage
    film movie episode segment screen image picture slideshow montage animation compilation voice sound case order
    program show commercial trailer news interview talk world color use line point step work job activity action
    product material model version style design process method skill trick move movement turn life role
    position level section corner edge surface form shape size group crowd audience shot photo photograph channel
    other another self right left hand head face eye body hair finger arm leg foot mouth nose ear skin
    man woman person people boy girl fun sex panel event singing training market mine suit stuff course
    wrestling match ride bra bikini underwear lingerie panty thong butt breast craft goal story
    interior exterior neck shoulder back blue motor cast ground air""".split()  # noqa: SIM905
)


@cache
def _near() -> dict[str, frozenset[str]]:
    near: dict[str, set[str]] = {}
    for line in _NEAR.strip().splitlines():
        for first, second in combinations(dict.fromkeys(line.split(" ")), 2):
            near.setdefault(first, set()).add(second)
            near.setdefault(second, set()).add(first)
    return {noun: frozenset(others) for noun, others in near.items()}


def alike(counts: FrameCounts, first: str, second: str) -> bool:
    """Returns whether two nouns may name one thing: the same word, one of our groups, or kinds or parts by WordNet.

    Args:
        counts: of frames, with the relations of nouns.
        first, second: names in dictionary form.
    """
    heads = {first, first.split(" ")[-1]}, {second, second.split(" ")[-1]}
    for head in heads[0]:
        for other in heads[1]:
            if head == other or other in _near().get(head, frozenset()):
                return True
            a, b = sorted((head, other))
            if counts.get("related", a, b):
                return True
    return False


def names_a_thing(counts: FrameCounts, name: str) -> bool:
    """Whether a noun names something that can be seen, and no person."""
    head = name.split(" ")[-1]
    if head in EMPTY or head in _NO_THING or name in _NO_THING or len(head) < 3:
        return False
    if counts.get("class", head, "person") == 2 or counts.get("class", name, "person") == 2:
        return False
    return bool(kind_of(counts, name))


def kind_of(counts: FrameCounts, name: str) -> str:
    """The class of a thing, or ""."""
    for key in (name, name.split(" ")[-1]):
        kinds = [kind for kind in sorted(CLASSES) if counts.get("class", key, f"+{kind}")]
        if kinds:
            return kinds[0]
    return ""


def same_kind(first: str, second: str) -> bool:
    """Whether nouns of two classes may stand for each other."""
    return first == second or any(first in group and second in group for group in _MIXED)
