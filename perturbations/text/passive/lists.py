"""Word lists of the passive by rules: what no parse tells of a verb, a noun or a preposition."""

# Verbs whose noun phrase is no object that could be the subject of a passive.
NO_PASSIVE = frozenset(
    """be have become seem look resemble lack cost weigh go get let include contain involve stand sit lie pose smile
    laugh talk come fall live lay say like appear happen pan zoom interest amaze keep need want mean fit suit hate
    prefer deserve equal cause begin participate double continue s re m ve ll""".split()  # noqa: SIM905
)
# Verbs without an object: in "singing and playing a guitar" the guitar is played only.
ALONE = frozenset(
    """sing dance talk speak walk run sit stand laugh smile jump skate commentate chat rap scream perform work lie
    lay pose move stop go come sleep cry yell swim compete stretch exercise wait shout cheer clap bounce kneel
    bow nod march joke giggle gesture gesticulate strut hum whistle pray celebrate rest travel drift lean relax
    wrestle swear""".split()  # noqa: SIM905
)
TWO_OBJECTS = frozenset("give show teach tell offer ask send hand feed serve bring buy make wish".split())  # noqa: SIM905
# "runs down the road", "dances out": what stands behind them is a way, no particle.
ROUTES = frozenset(
    """roll run walk drive speed ride climb dive move jump swim fly crawl slide skate step ski travel race stroll
    spin twirl orbit""".split()  # noqa: SIM905
)
EXPLAINING = frozenset(
    "show explain describe demonstrate illustrate teach discuss talk speak tell comment argue".split()  # noqa: SIM905
)
# Verbs of what is looked at or thought of: what follows their object most often tells of it.
REGARDING = EXPLAINING | frozenset(
    """review introduce present love like enjoy admire display showcase advertise compare examine analyze narrate
    feature test inspect criticize mention depict capture watch see film record observe hear look read
    listen""".split()  # noqa: SIM905
)
# Whom one watches doing something: in "watches a man dancing" the participle tells of the man.
PERCEIVING = frozenset("watch see film record observe show feature hear showcase depict".split())  # noqa: SIM905
TELLS_ITSELF = frozenset(
    "show read say contain hold feature depict include display cover involve star regard be have do".split()  # noqa: SIM905
)
# Verb and preposition with a passive: "is talked about"; nobody says "a track is raced around".
SAID_OF = {
    verb: tuple(prepositions.split())
    for verb, prepositions in {
        "talk": "about to into", "speak": "about to into", "look": "at for into through over", "stare": "at",
        "listen": "to", "play": "with against", "laugh": "at", "shoot": "at", "point": "at", "yell": "at",
        "scream": "at", "shout": "at", "bark": "at", "work": "on", "care": "for", "comment": "on",
        "commentate": "on", "sing": "about to", "argue": "about", "rap": "about", "joke": "about",
        "cheer": "for", "fight": "over with against", "experiment": "with", "lecture": "about on", "chat": "about",
        "flirt": "with", "react": "to", "search": "for through", "write": "on about", "draw": "on", "operate": "on",
        "knock": "on", "smile": "at", "wave": "at to", "wait": "for", "interact": "with", "scroll": "through",
        "flip": "through", "browse": "through", "jump": "on over", "bounce": "on", "ride": "on",
        "dance": "to", "report": "on", "show": "off", "mess": "with",
        "climb": "on over",
    }.items()
}  # fmt: skip
DEVICES = frozenset("camera microphone mic mike phone webcam mirror".split())  # noqa: SIM905  one talks to
_JUMPED_ON = frozenset(
    "couch bed sofa horse motorcycle bike camel cow elephant donkey trampoline skateboard scooter".split()  # noqa: SIM905
)
# Of these, those said of some things only: "a trampoline is jumped on", not "a stage".
SOME_ONLY = dict.fromkeys([(verb, "on") for verb in ("ride", "jump", "bounce", "climb")], _JUMPED_ON)
# Verb and noun that make no passive: "takes a look".
LIGHT = {
    verb: frozenset(nouns.split())
    for verb, nouns in {
        "take": "place part turn care look walk ride seat bath shower nap break drive notice advantage time dip trip "
        "step stroll run swim bow breath sip bite way",
        "make": "way fun love sure move sense contact eye entrance appearance living money use face sound",
        "give": "birth thumb way", "do": "run", "pay": "attention", "play": "role part", "say": "hello hi",
        "lose": "balance", "put": "smile", "catch": "fire breath", "hit": "road", "drive": "way", "score": "touch",
        "hold": "hand", "shake": "hand head", "clap": "hand", "run": "way", "work": "way", "wave": "hand",
        "cross": "arm leg",
    }.items()
}  # fmt: skip
# What "with" behind an object tells of the verb and not of the object: "cuts a potato with a knife", "with ease".
MEANS = frozenset(
    """knife spoon fork thumb finger foot sword gun rope tool brush scissors hammer machine hand stick device equipment
    pencil pen marker comb razor towel cloth spatula whisk tongs ladle shovel bat racket paddle club chopsticks camera
    blender voice help style humor passion excitement energy enthusiasm care ease speed skill language gesture joy fun
    accent smile""".split()  # noqa: SIM905
)
# Verbs with which "with" opens what is put into or onto the object: "fills a cup with water".
MIXING = frozenset(
    """mix fill cover cook decorate make stir cut clean paint wash wrap combine blend season color hit build fix serve
    garnish share top coat stuff spray rub prepare fry brush dip eat boil marinate mash grill spread dress connect
    compare replace attach tie provide wipe dry treat""".split()  # noqa: SIM905
)
# What they do has a goal: "is added to a pot by a man".
GIVING = frozenset(
    """add give show demonstrate apply attach bring carry connect deliver direct explain feed hand introduce lead move
    offer pass present pull push read return send serve speak take report teach tell throw tie transfer write put
    drag""".split()  # noqa: SIM905
)
SPEECHES = frozenset(  # "a lesson on cooking", "a song about love"
    """talk speech lecture presentation story report interview opinion advice tutorial lesson tip instruction
    information demonstration commentary explanation review guide video news introduction""".split()  # noqa: SIM905
)
# Where something is shown or said: behind verbs of telling, too, "on stage" tells of the verb.
LANGUAGES = frozenset(
    "language english french spanish german italian chinese japanese korean hindi russian arabic word line".split()  # noqa: SIM905
)
STAGES = LANGUAGES | frozenset(
    """way manner voice accent stage tv television show news camera screen room kitchen classroom studio street office
    video house field interview microphone lab court park garage conference podium front meeting detail""".split()  # noqa: SIM905
)
SITES = STAGES | frozenset("couch bed chair table car beach road sofa floor gym ground water pool".split())  # noqa: SIM905
SHOWING = frozenset(
    """video clip footage scene image picture photo montage commercial advertisement ad trailer movie film documentary
    view recording compilation episode demonstration tutorial vine show shot screenshot example""".split()  # noqa: SIM905
)
# What shows or tells by what is in it: "a man is shown in a video".
HOLDING = SHOWING | frozenset(
    """event slideshow program presentation graph chart interview broadcast segment preview promo graphic
    news""".split()  # noqa: SIM905
)
CROWDS = frozenset("variety group bunch couple lot number pair crowd team band class family gang series".split())  # noqa: SIM905
CLOTHES = frozenset(
    """shirt dress suit hat jacket coat uniform costume glasses sunglass jean pant skirt cap helmet tie hoodie sweater
    outfit clothes clothing bikini wig hair mask robe gown scarf apron shoe t-shirt vest tshirt attire jersey
    gear garb wear glove boot short sock blouse sari kimono pajamas tuxedo blazer cardigan leotard swimsuit legging
    sandal slipper turban veil""".split()  # noqa: SIM905
)
COLOURS = frozenset("white black red blue green yellow pink purple orange brown grey gray".split())  # noqa: SIM905
CLOTHES |= COLOURS
MALE = frozenset("man boy guy gentleman father dad son brother husband boyfriend male king policeman actor".split())  # noqa: SIM905
FEMALE = frozenset("woman girl lady mother mom daughter sister wife girlfriend female actress queen".split())  # noqa: SIM905
PEOPLE = frozenset(
    """man men woman women boy boys girl girls guy guys lady ladies person people kid kids child children baby babies
    someone somebody couple group band team player players singer dancer chef cook actor actress teacher student
    students teenager teenagers toddler player host reporter cartoon character""".split()  # noqa: SIM905
)
PERSONS = PEOPLE | MALE | FEMALE | frozenset(
    """athlete president anchor host journalist politician doctor nurse professor instructor coach gymnast gamer
    streamer commentator officer soldier worker mechanic artist painter musician guitarist drummer comedian rapper star
    celebrity model boxer wrestler swimmer runner racer rider driver biker surfer skier pilot farmer hunter customer
    guest contestant judge narrator speaker presenter newscaster scientist engineer photographer cameraman youngster
    youth blonde brunette individual human adult tourist passenger pedestrian bride groom prince princess dj vlogger
    blogger youtuber expert volunteer trainer stylist designer cowboy monk priest pastor friend audience interviewer
    parent grandmother grandfather daddy mommy member""".split()  # noqa: SIM905
)  # fmt: skip
ADVERB_NOUNS = frozenset("home today tonight tomorrow yesterday".split())  # noqa: SIM905  "drives a car home"
WHERE = frozenset(
    "outdoors indoors outside inside together online onstage backstage upstairs underwater".split()  # noqa: SIM905
)
CLAUSE_WORDS = frozenset("while as when because before after until so if since".split())  # noqa: SIM905
BOUND = frozenset(  # pronouns for what another phrase names
    """he she it they him her them his hers its their theirs himself herself itself themselves themself eachother
    thier""".split()  # noqa: SIM905
)
OTHERS = frozenset("other another others else opponent".split())  # noqa: SIM905  differ from someone named before
