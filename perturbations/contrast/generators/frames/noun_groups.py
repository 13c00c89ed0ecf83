"""Nouns that may name one and the same thing of a clip, and nouns that name no thing at all: general English."""

from video_contrast.perturbations.contrast.generators.frames.counts import FrameCounts
from video_contrast.perturbations.contrast.generators.frames.groups import EMPTY
from video_contrast.perturbations.english.tables import line_mates

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


def alike(counts: FrameCounts, first: str, second: str) -> bool:
    """Returns whether two nouns may name one thing: the same word, one of our groups, or kinds or parts by WordNet.

    Args:
        counts: of frames, with the relations of nouns.
        first, second: names in dictionary form.
    """
    heads = {first, first.split(" ")[-1]}, {second, second.split(" ")[-1]}
    for head in heads[0]:
        for other in heads[1]:
            if head == other or other in line_mates(__package__, "near_nouns.txt").get(head, frozenset()):
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
