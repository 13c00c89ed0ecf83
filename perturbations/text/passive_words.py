"""Words that the passive by rules goes by."""

# Verbs whose noun phrase is no object that could be the subject of a passive.
NO_PASSIVE = frozenset(
    """be have become seem look resemble lack cost weigh go get let include contain involve stand sit lie pose
    smile laugh talk come fall live say like appear happen pan zoom interest amaze s re m ve ll""".split()  # noqa: SIM905
)
# Verbs without an object: in "singing and playing a guitar" the guitar is played only.
ALONE = frozenset(
    """sing dance talk speak walk run sit stand laugh smile jump skate commentate chat rap scream perform work lie
    lay pose move stop go come sleep cry yell swim compete stretch exercise wait shout cheer clap bounce kneel
    bow nod march shop joke giggle gesture gesticulate strut hum whistle meditate pray celebrate rest travel
    drift""".split()  # noqa: SIM905
)
TWO_OBJECTS = frozenset("give show teach tell offer ask send hand feed serve bring buy make wish".split())  # noqa: SIM905
# "takes his hat off": the particle moves up to the participle.
SEPARABLE = frozenset(
    """take put pick turn cut throw mix set pull push lift tear blend break knock bring carry hold clean wipe wash
    fold roll give peel pour move send shut open fix chop slice lock blow drag toss spin drive chase pass kick
    bounce swing scare""".split()  # noqa: SIM905
)
PARTICLES = frozenset("off on up down out away apart together back over around".split())  # noqa: SIM905
ROUTES = frozenset(
    """run walk drive speed ride climb dive move jump swim fly crawl slide skate step ski travel race stroll""".split()  # noqa: SIM905
)
# What "with" or "from" behind an object tells of the verb and not of the object: "cuts a potato with a knife".
TOOLS = frozenset(
    """knife spoon fork thumb finger fingers foot feet sword gun rope tool brush scissors hammer machine hand hands
    stick device equipment pencil pen marker comb razor towel cloth spatula whisk tongs ladle shovel bat racket
    paddle club chopsticks camera blender voice help""".split()  # noqa: SIM905
)
# Idioms without a passive: "take place", "give birth".
IDIOMS = frozenset(
    "place part turns care birth love fun way sense sure sex fire advantage notice selfies".split()  # noqa: SIM905
)
EXPLAINING = frozenset("show explain describe demonstrate illustrate teach discuss talk speak".split())  # noqa: SIM905
CLAUSES = frozenset(("while", "as", "when", "because", "before", "after", "until"))
RECIPROCAL = ("each other", "one another", "another one")
FRONTS = frozenset("front back middle top line distance row circle way speed time place action".split())  # noqa: SIM905
TELLING = frozenset(("ask", "tell", "question", "interview", "teach", "quiz"))  # someone about something
# What people have that can be had by them: "an argument is being had".
HAD = frozenset(
    """conversation discussion argument talk meeting party debate chat meal race fight dialogue match breakfast
    lunch dinner picnic interview battle food drink drinks coffee tea snack""".split()  # noqa: SIM905
)
# Adverbs of the whole sentence behind an object.
WHERE_AND_HOW = frozenset(
    """together inside outside indoors outdoors again here well nearby upstairs downstairs online twice too now
    backstage fast hard live""".split()  # noqa: SIM905
)
# What the agent does and no thing can: "rides a bike wearing a helmet".
AGENT_ACTS = frozenset(
    """wearing using holding talking singing dancing smiling laughing explaining describing speaking trying sitting
    discussing""".split()  # noqa: SIM905
)
# Verbs that share an object: in "plays and discusses a game" it is played and discussed.
SHARING = frozenset(
    """play discuss describe review explain show demonstrate examine prepare make mix stir blend combine cut chop
    slice dice peel clean wash fold wrap hold push pull kick throw catch pick lift build fix test touch rub pet
    feed hug kiss inspect display open analyze unbox arrange decorate collect gather hit punch load shape roll
    season boil drain crush grind grate pour carry repair present observe unwrap unbox withdraw operate
    introduce interview assemble examine criticize paint taste season chase""".split()  # noqa: SIM905
)
# What someone does to a person who does something: "a man dancing on a stage is watched by people".
PERCEIVING = frozenset("watch see film record observe show feature hear showcase depict".split())  # noqa: SIM905
LANGUAGES = frozenset(
    """english french spanish german italian chinese japanese korean hindi russian arabic portuguese tamil""".split()  # noqa: SIM905
)
SPEECHES = frozenset("talk speech lecture presentation story report interview opinion".split())  # noqa: SIM905
KIN = frozenset(
    """father mother dad mom daddy mommy son daughter brother sister friend friends wife husband boyfriend
    girlfriend audience interviewer reporter soldier soldiers judge judges parents grandmother grandfather""".split()  # noqa: SIM905
)
TELLS_ITSELF = frozenset(
    "show read say contain hold feature depict include display cover involve star regard be have do".split()  # noqa: SIM905
)
OPENED = frozenset("cut break tear crack slice pull rip pry push".split())  # noqa: SIM905  "cuts open a bag"
PUTTING = frozenset(
    (
        ("put", "on"),
        ("put", "in"),
        ("turn", "on"),
        ("turn", "off"),
        ("switch", "on"),
        ("switch", "off"),
        ("try", "on"),
        ("work", "out"),
    )
)
OFF_PLACES = frozenset("screen stage camera road street hill side stairs ground floor".split())  # noqa: SIM905
POSTURES = frozenset("sit stand lay lie sleep lean swim pose".split())  # noqa: SIM905
