"""Verbs that say nearly the same, opposites, and actions that exclude each other: general English, no corpus.

The lists come from knowledge of the language, not from captions; what captions teach stands in `together`.
"""

from functools import cache
from importlib.resources import files
from itertools import combinations

# Any two of a line may be said of one and the same doing.
_NEAR = """
talk speak chat converse discuss describe explain narrate tell say comment commentate report lecture present debate
talk speak address introduce announce argue joke mention recite preach answer ask question interview communicate
explain describe teach instruct demonstrate show present review discuss advise introduce illustrate train
show display demonstrate present exhibit feature appear showcase introduce reveal view model
film record shoot videotape capture photograph tape
look watch see stare view gaze observe face examine inspect check study admire look_at listen
cut chop slice dice mince peel carve trim crop split saw
mix stir blend whisk beat combine fold toss season knead
fight wrestle battle spar box attack kick punch beat hit struggle compete slap
run jog race sprint rush chase flee
run gallop trot canter
drive ride steer race cruise travel pilot operate test
put place set add pour sprinkle drop lay insert spread apply
hold carry grab lift take grip clutch pick raise use handle touch
use handle operate work
give hand deliver offer pass award present
make create build craft construct prepare form assemble design produce cook do sew knit
cook fry bake boil grill roast saute steam prepare heat make simmer stir
throw toss hurl pitch pass launch shoot kick
jump hop leap skip bounce flip
shout yell scream cheer sing cry
cry weep sob
laugh giggle smile grin joke chuckle
eat taste bite chew try sample enjoy consume feed
drink sip taste
fix repair restore assemble install work modify adjust
enjoy love like
celebrate cheer party clap applaud
stand wait pose lean
sit rest relax recline lounge
lie lay rest sleep relax nap
visit explore tour travel
move walk run dance drive jump ride fly swim crawl travel roll go turn slide shake glide pass
go walk run drive ride travel move enter leave
walk stroll march wander step walk_around hike strut
perform sing dance play act do rap preform entertain
play perform compete practice enjoy strum
play interact
protest march rally
turn spin rotate twist roll swing
close shut
tie attach fasten knot braid
clean wash wipe scrub rinse brush sweep
decorate paint color draw
draw sketch paint write doodle color
hug embrace cuddle snuggle hold kiss pet
kiss hug
pet stroke touch rub massage hold cuddle
hit strike punch slap beat kick bat shoot
sing rap perform hum chant
cover fill surround wrap
grind crush mix blend
pretend act pose
come go arrive enter approach return
take remove pick pull
carry bring take push
read recite study
train exercise practice workout stretch train teach
fall drop tumble slip crash
crash hit smash collide
play use try test
buy shop purchase
ride bike cycle
swim dive float
surf ride
ski snowboard slide
wear dress put_on try_on don model
pull drag tow
break crack smash destroy
open unwrap unbox
eat have
score win
meet greet introduce
fly hover land
wave gesture point
feed give
climb ascend
chase follow
hide sneak
serve plate
plant grow
search look_for hunt
fire point aim shoot
argue fight yell
work use type
apply put_on use wear
style brush comb curl braid fix do cut
create draw
enter join
walk_into enter
get_into enter
get_out leave exit
leave exit depart
"""

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

# Opposites of actions that captions name, with particles and prepositions; the package's WordNet table is added.
_OPPOSITES = """
sit|stand, sit|lie, stand|lie, sit down|stand up, sit on|stand on, sit in|stand in, sit at|stand at,
sit with|stand with, sit around|stand around, sit by|stand by, sit near|stand near, sit behind|stand behind,
stand on|lie on, lay on|stand on, lie on|sit on, lie in|sit in, lay on|sit on, lay in|sit in, open|close, open|shut,
push|pull, throw|catch, win|lose, buy|sell, enter|leave,
 enter|exit, laugh|cry, smile|frown, smile|cry, pick up|put down, pick up|drop, pick up|lay down,
put on|take off, turn on|turn off, get on|get off, get in|get out of, get into|get out of, get up|lie down,
walk up|walk down, walk into|walk out of, walk in|walk out of, walk towards|walk away from, walk to|walk away from,
run up|run down, run into|run out of, run to|run away from, run towards|run away from, climb up|climb down,
go up|go down, climb|descend, jump on|jump off, jump into|jump out of, climb into|climb out of, climb in|climb out of,
drive up|drive down, drive into|drive out of, ride up|ride down, slide up|slide down, swim to|swim away from,
walk|run, walk|stand, run|stand, walk|sit, run|sit, stop|start, arrive|leave, fall|rise, give|receive,
wake up|fall asleep, wake|sleep, whisper|shout, build|destroy, build|demolish, assemble|disassemble, wrap|unwrap,
fold|unfold, lock|unlock, tie|untie, zip|unzip, load|unload, pack|unpack, plug in|unplug, attack|defend, lift|lower,
raise|lower, love|hate, praise|criticize, follow|lead, heat|cool, freeze|melt, fill|empty, inflate|deflate, save|spend,
hide|seek, import|export, land on|take off from, board|leave, dress|undress, mount|dismount, plant|harvest
"""
_PARTICLES = (
    ("up", "down"),
    ("on", "off"),
    ("into", "out of"),
    ("in", "out"),
    ("towards", "away from"),
    ("to", "from"),
)


@cache
def _near() -> dict[str, frozenset[str]]:
    near: dict[str, set[str]] = {}
    for line in _NEAR.strip().splitlines():
        for first, second in combinations(dict.fromkeys(line.replace("_", " ").split(" ")), 2):
            near.setdefault(first, set()).add(second)
            near.setdefault(second, set()).add(first)
    return {verb: frozenset(others) for verb, others in near.items()}


@cache
def near(first: str, second: str) -> bool:
    """Whether two verbs may be said of the same doing.

    >>> near("talk", "explain"), near("walk", "sing")
    (True, False)
    """
    return first == second or second in _near().get(first, frozenset())


@cache
def _opposites() -> frozenset[tuple[str, str]]:
    pairs = [tuple(part.strip().split("|")) for part in _OPPOSITES.replace("\n", " ").split(",") if part.strip()]
    text = files("video_contrast.perturbations.contrast").joinpath("antonyms.tsv").read_text(encoding="utf-8")
    pairs += [tuple(line.split("\t")[:2]) for line in text.splitlines() if line and not line.startswith("#")]
    return frozenset((a, b) for first, second in pairs for a, b in ((first, second), (second, first)))


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
