"""Words that the passive by parses goes by, beside those of the passive by tags."""

EXPLAINING = frozenset(
    """show explain describe demonstrate illustrate teach discuss talk speak tell""".split()  # noqa: SIM905
)
# Verbs of what is looked at or thought of: what follows their object most often tells of it.
REGARDING = frozenset(
    """review introduce present love like enjoy admire display showcase advertise compare examine analyze
    narrate feature test inspect criticize mention depict capture""".split()  # noqa: SIM905
)
SPEECHES = frozenset(
    """talk speech lecture presentation story report interview opinion advice tutorial lesson tip instruction
    information demonstration commentary explanation review guide video news introduction""".split()  # noqa: SIM905
)
PLANS = frozenset(
    """way method technique recipe tip time ability attempt plan step instruction trick process""".split()  # noqa: SIM905
)
LEADS_TO = frozenset("door introduction guide entrance way answer solution key approach reaction".split())  # noqa: SIM905
# Verb and preposition that people use together in the passive: "is talked about".
SAID_OF = {
    verb: tuple(prepositions.split())
    for verb, prepositions in {
        "talk": "about to with", "speak": "about to with", "look": "at for into through", "stare": "at", "listen": "to",
        "play": "with", "laugh": "at", "shoot": "at", "point": "at", "yell": "at", "scream": "at", "shout": "at",
        "bark": "at", "work": "on", "care": "for", "comment": "on", "sing": "about", "argue": "about",
        "rap": "about", "joke": "about", "cheer": "for", "fight": "over with against",
        "experiment": "with",
        "lecture": "about on", "chat": "about with", "flirt": "with", "reply": "to", "respond": "to", "react": "to",
        "search": "for through", "write": "on about", "draw": "on",
        "operate": "on", "knock": "on", "smile": "at", "wave": "at",
        "wait": "for", "interact": "with", "scroll": "through", "flip": "through", "browse": "through",
    }.items()
}  # fmt: skip
# Verb and noun that make no passive: "takes a look".
LIGHT = frozenset(
    (verb, noun)
    for verb, nouns in {
        "take": "place part turn care look walk ride seat bath shower nap break drive notice advantage time dip trip "
        "step stroll run swim bow breath sip bite way",
        "make": "way fun love sure move sense contact eye entrance appearance living money use",
        "give": "birth thumb way",
        "do": "run",
        "pay": "attention",
        "play": "role part",
        "have": "fun",
        "say": "hello hi",
        "lose": "balance",
        "catch": "fire breath",
        "hit": "road",
        "drive": "way",
        "score": "touch",
        "hold": "hand",
        "shake": "hand head",
        "clap": "hand",
        "run": "way",
        "go": "way",
        "work": "way",
        "wave": "hand",
    }.items()
    for noun in nouns.split()
)
SHOWING = frozenset(
    """video videos clip clips footage scene scenes image images picture pictures photo photos montage
    commercial advertisement ad trailer movie film documentary view recording episode demonstration tutorial vine show
    shot screenshot screenshots series group bunch example""".split()  # noqa: SIM905
)
CROWDS = frozenset("variety group bunch couple lot number pair crowd team band class family gang".split())  # noqa: SIM905
# What shows or tells by what is in it: "a man is shown in a video".
HOLDING = (SHOWING - CROWDS) | frozenset(
    """event slideshow program presentation graph chart interview broadcast segment preview promo graphic montage news
    channel""".split()  # noqa: SIM905
)
SHOWN = frozenset(
    """scene clip song character movie trailer music part quote story shot picture video interview game""".split()  # noqa: SIM905
)
STAGES = frozenset(
    """way manner voice accent stage tv television show news camera screen room kitchen classroom studio street
    office video house field interview microphone lab court park garage conference podium front""".split()  # noqa: SIM905
)
CLOTHES = frozenset(
    """shirt dress suit hat jacket coat uniform costume glass sunglass jean pant skirt cap helmet tie hoodie sweater
    outfit clothes clothing bikini wig hair mask robe gown scarf apron shoe tank top t-shirt vest""".split()  # noqa: SIM905
)
# Words for persons beside those of `noun_phrases.PEOPLE`.
PERSONS = frozenset(
    """athlete president reporter anchor host journalist politician doctor nurse professor instructor coach
    dancer gymnast gamer streamer commentator officer policeman soldier worker mechanic artist painter
    musician guitarist drummer comedian rapper star celebrity model boxer wrestler swimmer runner racer
    rider driver biker surfer skier pilot farmer hunter customer guest contestant judge narrator speaker
    presenter newscaster scientist engineer photographer cameraman youngster youth gentleman blonde brunette
    individual human adult female male tourist passenger pedestrian bride groom king queen prince princess
    girl woman man boy dj vlogger blogger youtuber expert volunteer trainer stylist designer beautician
    cowboy monk priest pastor""".split()  # noqa: SIM905
)
MANNERS = frozenset(
    """style humor passion excitement energy enthusiasm care ease speed skill language gesture gestures joy music fun
    accent voice smile""".split()  # noqa: SIM905
)
MIXING = frozenset(
    """mix fill cover cook decorate make stir cut clean paint wash wrap combine blend season color hit build fix serve
    garnish share top coat stuff spray rub prepare fry brush dip eat boil marinate mash grill spread decorate dress
    connect compare replace attach tie provide clean wipe dry treat""".split()  # noqa: SIM905
)
# What they do has a goal: "is added to a pot by a man".
GIVING = frozenset(
    """add give show apply attach bring carry connect deliver direct explain feed hand introduce lead move offer pass
    present pull push read return send serve speak take teach tell throw tie transfer write""".split()  # noqa: SIM905
)
STATES = frozenset("keep need want mean fit suit hate prefer deserve equal".split())  # noqa: SIM905
TELLING_THAT = frozenset(
    """say tell show think believe explain claim state report note see watch film feature reveal mean hope know hear
    announce predict imagine mention depict""".split()  # noqa: SIM905
)
