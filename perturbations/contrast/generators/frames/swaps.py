"""Actions that cannot be true of the same doing and take the same words around them: general English, no corpus.

A clip with one or two captions says little of what else is true of it, and its noun was perhaps never counted. These
pairs need neither: "light" and "blow out" a candle, "wash" and "drive" a car, "fry" and "boil" an egg.
"""

from collections.abc import Collection
from functools import cache

from video_contrast.perturbations.contrast.generators.frames.groups import MOTION, exclusive

# One a line: unit[nouns or classes of nouns] > what replaces it. A "+" takes whatever else follows in the caption,
# "<>" holds both ways. Classes of nouns are those of `kinds`, and "person". The first line that fits counts.
_PERSONS = """
open[present gift parcel package] > wrap, hide
wrap <> unwrap
open <> close
lock <> unlock
push <> pull+
load <> unload
pack <> unpack
turn on <> turn off
switch on <> switch off
plug in <> unplug
zip up <> unzip
button <> unbutton
tie <> untie
fold[clothing blanket towel sheet laundry] > iron, wash
fold[paper letter map] > unfold, tear up
inflate <> deflate
light[candle] > blow out
light <> put out
blow out > light
put on[clothing] > take off, wash, fold
take off[clothing] > put on, iron
pick up > put down, kick, step over
put down > pick up
lift[weight barbell dumbbell] > drop, push
lift > drop, kick
lower <> raise
hang up <> take down
roll up <> unroll
get on <> get off
get into <> get out of
get in <> get out of
board > get off, wait for, miss
wait for[vehicle bus train plane] > board, get off, run after
arrive at <> leave
enter <> leave
win <> lose
buy <> sell
build[wall house fence tower sandcastle castle snowman hut shed] > knock down, destroy
build > destroy, paint
assemble > take apart, destroy
dig[hole] > fill, jump over
bury > dig up
plant > dig up, water
dig up > plant, water
water[lawn grass] > mow, lie on
mow > water, lie on
water > dig up, cut down
rake[leaf] > burn, jump into
shovel[snow] > eat, roll in
fix > break, paint
repair[vehicle bike bicycle] > push, ride, paint
repair > break, paint
climb[wall tree ladder rope fence rock cliff] > fall off, climb down
climb[mountain hill] > run down, ski down
climb[stair staircase step] > run down, fall down
climb up <> climb down
kick[ball football soccer] > throw+, catch, carry
throw[ball football basketball baseball frisbee] > kick+, catch, pick up
throw > catch, pick up, kick
catch[ball football basketball baseball frisbee] > throw, kick, drop
catch[fish] > cook, feed
hit[ball] > catch, throw+
bounce[ball] > kick+, throw+
dribble > kick, throw, catch
serve[ball] > catch, drop
roll[ball] > kick+, throw+
drop > catch, kick
carry[person] > chase, wash
carry > kick, drop, throw
drag > kick, carry
hold[person] > feed, chase
hold[animal] > feed, chase
hold > drop, throw, kick
ride[animal] > feed, wash, brush
ride[bike bicycle tricycle motorcycle motorbike scooter] > push+, repair, wash
ride[skateboard surfboard snowboard] > carry, paint
drive[vehicle] > wash, repair, push
park[vehicle] > wash, repair
wash[vehicle] > drive, push
wash[clothing] > wear, tear
wash[hair] > cut, dry
wash[plate dish glass cup] > break, drop
wash[animal] > feed, chase
wash[food] > eat, fry
feed[animal] > chase, wash
feed[person] > bathe, dress
pet[animal] > chase, wash, feed
stroke[animal] > chase, wash
walk[animal] > carry+, chase+
brush[hair] > cut, wash
comb[hair] > cut, wash
braid[hair] > cut, wash
cut[hair] > brush, wash
dry[hair] > cut, wash
brush[animal] > feed, chase
cut[grass lawn] > water, lie on
cut[tree branch] > climb, water
cut[paper] > fold, write on
cut[cake pie] > bake, decorate
bake > eat, cut
decorate[cake cookie cupcake] > cut, eat
decorate[tree] > cut down, water
chop[wood log] > burn, carry
saw[wood log board] > paint, burn
cook > throw away
chop[food] > throw away
cut[food] > throw away
slice[food] > throw away
peel[food] > throw away, fry
order[food] > cook, throw away
eat[food cone] > throw away, drop
drink[drink water] > spill, pour
pour[drink water] > drink, spill
stir[food drink] > eat, spill
flip[food] > eat, drop
read[document] > write, burn
write[letter note story book poem song] > read, burn
write on[board whiteboard blackboard chalkboard] > wipe, paint
draw on[board whiteboard blackboard chalkboard] > wipe, paint
draw[picture map portrait] > tear up, frame
paint[picture portrait] > tear up, hang up
paint[wall fence house room ceiling door] > wash, knock down
paint[nail] > cut, bite
type on > close, drop, clean
look at[phone] > drop, throw
watch[television tv] > repair, turn off
talk on[phone] > drop, break
play[song tune melody] > listen to
play[guitar piano violin drum flute trumpet cello saxophone harp accordion banjo keyboard] > smash, repair, paint
play with[toy] > break, throw
play with[animal] > wash, feed
play with[person] > fight with, run from
knit > wash, iron
sew > tear, iron
iron > tear, sew
sweep[floor street yard] > paint, lie on
mop[floor] > paint, lie on
clean[window] > break, paint
clean[floor] > paint, lie on
wipe[table counter] > paint, stand on
ski down <> walk up
snowboard down > walk up
slide down <> climb up
dive into > climb out of, row across
jump into > climb out of, crawl out of
fall into > climb out of, jump over
fall off > climb onto, get on
jump over > crawl under, climb under
jump down > walk up, climb
cross[street road] > sweep, sit beside
cross[bridge river] > walk along, sit beside
fish in > swim in, jump into
fish from > jump from, dive from
row[boat canoe] > paint, repair
hug > slap, push, chase
kiss[person] > slap, push, chase
kiss on > fight on, run on
kiss in > fight in, run in
shake[hand] > wash, raise
fight over <> share
fight with <> dance with, hug
argue with > hug, kiss
whisper to <> shout at
talk to > fight with, run away from
chase > hug, feed, lead
follow > run away from
lead > follow, chase
wake up <> fall asleep
cry in > laugh in, sleep in
cry on > laugh on, sleep on
smoke[cigarette pipe cigar] > light, throw away
light[cigarette pipe cigar fire] > put out, step on
shave[head beard face] > wash, paint
wear[clothing] > wash, iron
try on[clothing] > wash, iron
swing on > fall off, jump off
bathe > feed, dress
milk[cow goat] > chase, feed
punch[bag] > carry, hug
juggle > drop, paint
stack > knock over
knock over > stack, pick up
climb onto > jump off, fall off
step over > sit on, pick up
push[swing stroller cart wheelchair] > pull+
sail > repair, paint
"""
_ANIMALS = """
chase > run away from, lick
run away from > chase
run after > run away from
bark at > lick, run away from
lick > bite, bark at
bite > lick, run away from
chew on <> bury
chew > bury, jump over
eat[grass hay] > lie on, run across
drink from > fall into, walk past
drink > spill, swim in
climb[tree wall fence rock] > fall from, jump from
climb up <> climb down
jump onto <> jump off
jump on > sleep on, lie on
jump over > crawl under, sleep behind
jump into > climb out of
fly over > swim across, land near
fly around > sleep near, walk around
swim in > fly over, walk around
swim across > fly over, walk around
fetch[stick ball bone] > bury, sleep beside
dig[hole] > sleep in, jump over
catch[ball frisbee mouse fish bird] > run away from, drop
play with > sleep beside, run away from
fight over <> share
gallop across > sleep in, lie in
graze in > run across, roll in
pull[cart sled sleigh wagon] > push, jump over
scratch > lick, sleep on
sniff > bite, jump over
push <> pull
"""
_VEHICLES = """
stop at > drive past, leave
drive past <> stop near
arrive at <> leave
enter <> leave
pull into > leave, drive past
land on <> take off from
fly over > land near, crash into
drive into <> drive out of
drive through > stop in, burn in
drive on > burn on, stop on
drive down > burn on, stop on
drive over[bridge] > stop on, crash on
cross[bridge street intersection river] > stop at, crash on
race on > burn on, stop on
sail on <> sink in
float on <> sink in
stop on > race down
tow > hit, pass
crash into > drive past, stop near
hit > drive past, stop near
"""
_TABLES = {"person": _PERSONS, "animal": _ANIMALS, "vehicle": _VEHICLES}
# Where a body moves or rests, it may do one of these instead.
_BODY = ("sit", "stand", "lie", "run")
_RESTING = ("in", "on", "near", "by", "beside")
_MOVING = frozenset("slide step march stroll rush sprint gallop".split())  # noqa: SIM905
_UP_DOWN = {"up": "down", "down": "up", "into": "out of", "towards": "away from"}

# Steps of recipes: any verb of one side is not done to a thing while one of the other is, and seldom right after it.
_STEPS = """
fry saute stir-fry sear | boil simmer poach
fry saute stir-fry sear | bake roast
fry saute stir-fry sear | steam
fry saute boil simmer poach bake roast grill steam | freeze refrigerate
boil simmer poach | bake roast grill
steam | bake roast grill
chop cut slice dice mince grate | fry saute boil simmer bake roast grill steam freeze
chop cut slice dice mince | wash rinse
knead | fry bake boil cut freeze
peel wash rinse | fry saute bake roast grill
mash crush | fry bake roast grill slice freeze
drain | fry bake grill chop cut slice
heat | cool freeze refrigerate
whisk beat crack | boil fry bake
roll | fry bake
cover | uncover
melt | freeze
wrap | unwrap
fill | empty
"""


@cache
def _table(doer: str) -> dict[str, list[tuple[frozenset[str], tuple[str, ...]]]]:
    table: dict[str, list[tuple[frozenset[str], tuple[str, ...]]]] = {}
    for line in _TABLES[doer].strip().splitlines():
        both = "<>" in line
        left, _, right = line.partition("<>" if both else ">")
        unit, _, nouns = left.strip().rstrip("]").partition("[")
        others = tuple(part.strip() for part in right.split(","))
        table.setdefault(unit, []).append((frozenset(nouns.split()), others))
        if both:
            for other in others:
                back = unit + "+" * other.endswith("+")
                table.setdefault(other.rstrip("+"), []).append((frozenset(nouns.split()), (back,)))
    return table


def swaps(doer: str, unit: str, *, noun: str, kinds: Collection[str]) -> dict[str, bool]:
    """What replaces a unit for sure, and whether it takes whatever else follows in the caption.

    Args:
        doer: "person", "animal" or "vehicle"; anything else has none.
        unit: verb, particle and preposition.
        noun: its noun, "" where it has none.
        kinds: classes of that noun.

    >>> swaps("person", "light", noun="candle", kinds=[])
    {'blow out': False}
    """
    if doer not in _TABLES:
        return {}
    for nouns, others in _table(doer).get(unit, []):
        if not nouns or noun in nouns or nouns & set(kinds):
            return {other.rstrip("+"): other.endswith("+") for other in others}
    return {}


def bodies(unit: str, kind: str) -> list[str]:
    """What a body does in the same place, of a kind, instead: "swim in" -> "sit in"; see `exclusive`."""
    verb, _, rest = unit.partition(" ")
    fitting = {"furniture": ("sit", "stand", "lie"), "vehicle": ("sit", "lie")}.get(kind, _BODY)
    others = [body for body in fitting if exclusive(verb, body)]
    return [f"{body} {rest}" for body in others] if rest in _RESTING else []


def other_way(unit: str) -> str:
    """The same way of moving in the other direction, or "": "ride up" -> "ride down"."""
    verb, _, rest = unit.partition(" ")
    return f"{verb} {_UP_DOWN[rest]}" if rest in _UP_DOWN and (verb in MOTION or verb in _MOVING) else ""


@cache
def _steps() -> frozenset[tuple[str, str]]:
    sides = [[side.split() for side in line.split("|")] for line in _STEPS.strip().splitlines()]
    pairs = {(a, b) for first, second in sides for a in first for b in second}
    return frozenset(pairs | {(b, a) for a, b in pairs})


def steps_exclude(first: str, second: str) -> bool:
    """Whether nobody does the two to one thing at a time, as steps of a recipe.

    >>> steps_exclude("fry", "boil"), steps_exclude("chop", "dice")
    (True, False)
    """
    return (first, second) in _steps()
