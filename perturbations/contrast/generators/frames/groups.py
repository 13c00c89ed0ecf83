"""Verbs that say nearly the same, opposites, and actions that exclude each other: general English, no corpus.

The lists (near_verbs.txt and opposites.txt beside this file, and those below) come from knowledge of the language, not
from captions; what captions teach stands in `together`.
"""

from functools import cache

from video_contrast.perturbations.contrast import antonyms
from video_contrast.perturbations.english.tables import both_ways, line_mates, lines

# Never proposed: they can be true of most clips, or cannot be seen.
VAGUE = frozenset(
    """show display demonstrate present see look appear exist live work act perform do use play_around enjoy feature
    view notice face interact gesture handle check examine describe mention plan compare experience practice pose
    involve provide represent illustrate showcase introduce showing occur contain stay remain belong animate edit
    create prepare test try compete participate deal demonstrates reveal explore pick hold come_up state stop start
    go_on talk_about exhibit host star set place face wait move touch watch_over observe react express share
    record film shoot capture comment narrate commentate report say add report_on find head relate match
    last discuss_about dress animate love like hate hear smell near cover fill surround surround lay pass take_place
    follow teach train model preform engage focus gather travel advertise exercise theme""".split()  # noqa: SIM905
)
# What anybody may do beside something else: never proposed but as an opposite.
ASIDE = frozenset("laugh smile nod wave clap cheer breathe blink wait relax lean pause react rest gather pose".split())  # noqa: SIM905
# Nouns that say nothing of what they name.
EMPTY = frozenset(
    """something thing someone somebody anything everything nothing stuff way time lot one other another part kind type
    bit everyone each place day moment all none some item""".split()  # noqa: SIM905
)
# Speech shows little, and goes with nearly anything: held to a stricter limit, on either side.
SPEECH = frozenset(
    """talk speak chat converse discuss describe explain narrate tell say comment commentate report lecture present
    debate address introduce announce argue joke mention recite review advise teach instruct demonstrate show display
    interview ask answer perform enjoy work look watch see act pose""".split()  # noqa: SIM905
)

# One body does one of these at a time.
POSTURE = frozenset("sit stand lie kneel sleep crawl squat".split())  # noqa: SIM905
MOTION = frozenset(
    """walk run swim ride drive climb fly ski skate surf dive bike jump dance hike jog skateboard snowboard row crawl
    race gallop""".split()  # noqa: SIM905
)

_PARTICLES = (
    ("up", "down"),
    ("on", "off"),
    ("into", "out of"),
    ("in", "out"),
    ("towards", "away from"),
    ("to", "from"),
)


@cache
def near(first: str, second: str) -> bool:
    """Whether two verbs may be said of the same doing.

    >>> near("talk", "explain"), near("row", "ride"), near("walk", "sing")
    (True, True, False)
    """
    return first == second or second in line_mates(__package__, "near_verbs.txt").get(first, frozenset())


@cache
def _opposites() -> frozenset[tuple[str, str]]:
    own = both_ways(tuple(line.split("|")) for line in lines(__package__, "opposites.txt"))
    return frozenset((first, other) for table in (own, antonyms.table()) for first in table for other in table[first])


# Pairs of WordNet's that are opposites in another sense than captions use.
_NOT_OPPOSITE = frozenset(
    frozenset(pair.split("|"))
    for pair in ("stand|lay", "walk|ride", "play|work", "hit|miss", "take|give", "go|come", "back|front", "ask|tell")
)


@cache
def opposite(first: str, second: str) -> bool:
    """Whether two units are opposites: "sit on" and "stand on", "pick up" and "put down".

    >>> opposite("open", "close"), opposite("sit on", "stand on"), opposite("sing", "dance")
    (True, True, False)
    """
    if first == second:
        return False
    if (first, second) in _opposites() and frozenset((first, second)) not in _NOT_OPPOSITE:
        return True
    (verb, _, rest), (other, _, other_rest) = first.partition(" "), second.partition(" ")
    if rest == other_rest:
        return (verb, other) in _opposites() and frozenset((verb, other)) not in _NOT_OPPOSITE
    return verb == other and any({rest, other_rest} == set(pair) for pair in _PARTICLES)


def exclusive(first: str, second: str) -> bool:
    """Whether one body cannot do both at a time: two postures, a posture and a way of moving, two ways of moving.

    Those that captions use for one and the same doing (`near`) do not exclude each other.

    >>> exclusive("sit", "swim"), exclusive("run", "climb"), exclusive("run", "ride"), exclusive("sit", "talk")
    (True, True, False, False)
    >>> exclusive("crawl", "walk"), exclusive("walk", "crawl"), exclusive("lie", "sleep")
    (False, False, False)
    """
    known = POSTURE | MOTION
    return first in known and second in known and not near(first, second)
