"""Imperatives ("chop the onion and put it in a bowl"): which words are their verbs, and their passive.

Taggers read "heat oil" or "slice some bread" as nouns, so a list of verbs of instructions decides together with the
words around them. Captions that only begin with such a word ("cook mixing eggs", "toast is eaten") are no imperatives.
"""

from collections.abc import Sequence, Set
from typing import NamedTuple

from video_contrast.perturbations.english.forms import is_noun
from video_contrast.perturbations.language import Token, inflect, lemma, verb_tags
from video_contrast.perturbations.text.clauses import UNCOUNTED
from video_contrast.perturbations.text.words import put

INSTRUCTIONS = frozenset(
    """add adjust allow apply arrange attach bake baste beat blanch blend boil braise bread break brine bring broil
    brown brush bundle butter check chill chop clean close coat combine continue cook cool core cover crack
    crimp crumble crush cut deglaze dice dilute dip discard dissolve distribute divide drain drape dredge
    drizzle drop dry dump dunk dust enjoy fill flatten flip flour fluff fold form freeze fry garnish gather get
    give glaze grate grease grill grind heat hold insert juice julienne keep knead ladle lay layer leave let
    lift light line load lower make marinade marinate mash massage measure melt microwave mince mix moisten mold
    move oil open pack pat peel pick pierce pile pinch pipe place plate pluck poach poke pound pour preheat
    prepare press process pull pulse puree push put reduce refrigerate reheat remove repeat rest rinse rip roast
    roll rub salt saute sautee save scoop scramble scrape seal sear season secure separate serve set shake shape
    shave shred sieve sift simmer skewer skim slice slide smash smear smoke soak soften spoon spray spread
    sprinkle squeeze stack start steam stew stick stir strain stretch stuff submerge swirl switch take taste
    tear tenderize thread throw tie tilt toast top toss transfer trim tuck turn twist unroll use warm wash wet
    whip whisk wipe work wrap""".split()  # noqa: SIM905  as a tuple it is no easier to read
)
# Of these, words that are adjectives or name food and things: verbs only in front of an article and the like.
THINGS = frozenset(
    """bread brine brown butter coat core cream dice drop dry flour glaze ground juice line light mince oil paste pinch
    pipe plate puree rest salt skewer smoke spice steam stew stick stock toast top use warm wet work""".split()  # noqa: SIM905
)
_OPENING_NOUNS = THINGS | frozenset("clean close cool open slide break check save bundle bake".split())  # noqa: SIM905
_INTRODUCING = frozenset("then now next also finally lastly first".split())  # noqa: SIM905
COMPOUNDS = frozenset("deep stir pre dry slow shallow flash re".split())  # noqa: SIM905  "deep fry"
_OFTEN_NOUNS = frozenset("mix roast slice spread wrap roll dip cut press pinch cover cook stir grill mash".split())  # noqa: SIM905
_NEW_CLAUSE = frozenset(("stir", "serve"))  # verbs also without "and" in front: "add it to the pot stir and serve"
_MANY = frozenset("few couple lot bunch".split())  # noqa: SIM905  "a few peppers are"
_BEFORE_BARE_VERBS = frozenset(("let", "make", "help", "to"))
_OPENS_OBJECT = ("DT", "PRP", "PRP$", "CD", "PDT")
_PARTICLES = frozenset("off out up down away together apart aside".split())  # noqa: SIM905
_OPENING_WORDS = _PARTICLES | {"everything", "all", "with"}
_JOINING = frozenset(("and", "then", ",", "&", "or", ".", ";"))
_CLAUSES = frozenset("when while as if so that which who until till before after because once where".split())  # noqa: SIM905
_ENDS_OBJECT = _CLAUSES | frozenset(
    """in on at with from to into onto over under around through for by using along between inside against off out up
    down together well aside again away apart upside until per without across throughout above below toward towards
    back underneath atop among within about lengthwise crosswise besides during either like near next onto upon via
    then . ; !""".split()  # noqa: SIM905
)
_PRONOUNS = {"it": "it is", "them": "they are", "this": "this is", "these": "these are", "those": "those are"}
# Verbs whose object is not what a passive would be about: "let it rise", "make sure", "give it a stir".
_NO_PASSIVE = frozenset(
    """let make give get keep enjoy bring wait do have go try start begin continue rest
    allow""".split()  # noqa: SIM905
)
# "drizzle some oil and serve", "pour water into the pot and cover": what is served or covered is not what was added.
_OF_WHOLE = frozenset("serve cover roll fold wrap seal close garnish".split())  # noqa: SIM905
_ADDING = frozenset("add place put lay pour drizzle sprinkle spread squeeze melt drop insert brush line fill".split())  # noqa: SIM905
# "stir in flour": flour is stirred in; but "stir in a pan".
_TAKING_IN = frozenset("stir fold mix whisk beat add".split())  # noqa: SIM905
_VESSELS = frozenset(
    """pan pot bowl wok skillet oven oil water blender processor mixer saucepan cooker dish plate jar tray container
    mixture center middle bag cup motion direction heat microwave fridge refrigerator batch sauce board""".split()  # noqa: SIM905
)
_FINITE_BE = frozenset(("is", "are", "was", "were", "has"))


class _Clause(NamedTuple):
    """Imperatives with one object: places of the first word (an adverb may lead), of the verbs, and of the end."""

    start: int
    verbs: tuple[int, ...]
    end: int


def imperatives(tokens: Sequence[Token]) -> list[int]:
    """Places of the imperative verbs of a caption, in order; empty if its main clause is no imperative.

    >>> from video_contrast.perturbations.language import tag
    >>> imperatives(tag(["heat oil in a pan and then add the onion"], tagger="hanta")[0])
    [0, 7]
    >>> imperatives(tag(["toast is being eaten"], tagger="hanta")[0])
    []
    """
    first = 0
    while first < len(tokens) - 1 and _leads(tokens, first):
        first += 1
    if not _opens(tokens, first):
        return []
    places = [first]
    for place in range(first + 1, len(tokens)):
        if _goes_on(tokens, place, places[-1]):
            places.append(place)
    return places


def orders_as_verbs(tokens: Sequence[Token]) -> Sequence[Token]:
    """The tokens with every imperative tagged as a verb: taggers read "mix the eggs" as nouns."""
    orders = set(imperatives(tokens))
    if not orders:
        return tokens
    return [
        token._replace(tag="VB", lemma=base(token)) if place in orders else token for place, token in enumerate(tokens)
    ]


def group_start(tokens: Sequence[Token], verb: int) -> int:
    """The place of the first word of a verb group: adverbs of manner and the like belong to it ("finely chop")."""
    while verb and _leads(tokens, verb - 1) and tokens[verb - 1].text.lower() not in _INTRODUCING:
        verb -= 1
    return verb


def base(token: Token) -> str:
    """The dictionary form of an imperative: the word itself."""
    return token.text.lower()


def past(token: Token) -> str:
    """The past of an imperative verb."""
    return inflect(base(token), "VBD")


def passive_imperative(caption: str, tokens: Sequence[Token], verbs: Sequence[int]) -> str:
    """The caption with its imperatives in the passive; unchanged if one of them has none.

    Args:
        caption: the text.
        tokens: of the caption.
        verbs: places of the imperatives (`imperatives`).
    """
    starts = [group_start(tokens, verb) for verb in verbs]
    clauses: list[_Clause] = []
    for start, verb, end in zip(starts, verbs, [*starts[1:], len(tokens)], strict=True):
        before = clauses[-1] if clauses else None
        between = tokens[before.verbs[-1] + 1 : start] if before else []
        if before and len(clauses) == 1 and all(token.text.lower() in _JOINING for token in between):
            clauses[-1] = _Clause(before.start, (*before.verbs, verb), end)  # "wash and soak the beans"
        else:
            clauses.append(_Clause(start, (verb,), end))
    changes: list[tuple[int, int, str]] = []
    before_it: set[str] = set()
    for clause in clauses:
        change = _passive_clause(caption, tokens, clause, before=before_it)
        if change is None:
            return caption
        changes.append(change)
        before_it.update(base(tokens[verb]) for verb in clause.verbs)
    text = put(caption, changes)
    return text[:1].upper() + text[1:] if caption[:1].isupper() else text


def _leads(tokens: Sequence[Token], place: int) -> bool:
    """Whether the word stands before an imperative: "then", "finely", the first part of "deep fry"."""
    low = tokens[place].text.lower()
    after = tokens[place + 1].text.lower() if place + 1 < len(tokens) else ""
    compound = low in COMPOUNDS and after in ("fry", "heat", "roast", "boil", "cook")
    return low in _INTRODUCING or compound or _is_manner(tokens[place])


def _is_manner(token: Token) -> bool:
    return token.text.lower().endswith("ly") and token.tag.startswith("RB")


def _can_be_order(word: str) -> bool:
    return word in INSTRUCTIONS or ("VB" in verb_tags(word) and word not in ("clip", "film", "video"))


def _opens(tokens: Sequence[Token], place: int) -> bool:
    """Whether the word at `place`, the first but for adverbs, is an imperative."""
    if place >= len(tokens) or not _can_be_order(tokens[place].text.lower()) or _has_finite(tokens, place):
        return False
    low = tokens[place].text.lower()
    after = tokens[place + 1] if place + 1 < len(tokens) else None
    if after is None:
        return place > 0 or low in INSTRUCTIONS
    if low not in INSTRUCTIONS:
        return tokens[place].tag in ("VB", "VBP") and after.tag in _OPENS_OBJECT
    if after.text.lower() in ("of", "s", "'s", "’s") or (low in ("make", "close") and after.text.lower() == "up"):
        return False
    if after.tag == "VBG" and tokens[place].tag[:2] != "VB":
        return False
    if low == "top" and after.tag == "CD":
        return False  # "top ten movies"
    return low not in _OPENING_NOUNS or after.tag in _OPENS_OBJECT or (low == "top" and after.text.lower() == "with")


def _goes_on(tokens: Sequence[Token], place: int, last: int) -> bool:
    """Whether the word at `place` is a further imperative after the one at `last`."""
    token, before = tokens[place], tokens[place - 1]
    low = token.text.lower()
    if not _can_be_order(low) or before.text.lower() == "to" or before.tag in ("DT", "PRP$", "MD"):
        return False
    between = tokens[last + 1 : place]
    joined = before.text.lower() in _JOINING or (_leads(tokens, place - 1) and place - last > 2)
    if low in COMPOUNDS and _leads(tokens, place):
        return False  # "and stir fry": "fry" is the verb
    if any(word.text.lower() in _CLAUSES for word in between) and not joined:
        return False
    if not joined and base(tokens[last]) in _BEFORE_BARE_VERBS:
        return False
    after = tokens[place + 1] if place + 1 < len(tokens) else None
    object_follows = after is not None and (after.tag in _OPENS_OBJECT or after.text.lower() in _OPENING_WORDS)
    if joined and _is_manner(before) and tokens[place - 2].text.lower() in _JOINING and low in INSTRUCTIONS:
        return True  # "and finely mince"
    if joined:
        if low not in INSTRUCTIONS:
            return token.tag in ("VB", "VBP") and not is_noun(low)
        if low in THINGS:
            behind = after.text.lower() if after is not None else ""
            if (low == "top" and behind == "with") or (low == "drop" and behind in ("in", "into", "onto")):
                return True
            return after is not None and after.tag in _OPENS_OBJECT
        if token.tag in ("VB", "VBP") or object_follows or after is None or low not in _OFTEN_NOUNS:
            return True
        return after.text.lower() in _ENDS_OBJECT or after.text.lower() in _JOINING
    if low in _NEW_CLAUSE and place - last > 1:
        return after is None or after.text.lower() in _JOINING
    if low not in INSTRUCTIONS or low in THINGS or before.tag in ("JJ", "IN", "CC") or place - last < 2:
        return False
    return (token.tag in ("VB", "VBP") and not is_noun(low)) or (object_follows and token.tag[:2] in ("VB", "NN"))


def _has_finite(tokens: Sequence[Token], place: int) -> bool:
    """Whether a clause behind `place` has a finite verb of its own that no clause word opens: then it is no order."""
    for at in range(place + 1, len(tokens)):
        low = tokens[at].text.lower()
        if low in _CLAUSES:
            return False
        modal = tokens[at].tag == "MD" and tokens[at - 1].tag not in ("DT", "CD", "JJ")  # "a can of tomatoes"
        if low in _FINITE_BE or modal or (tokens[at].tag == "VBZ" and not is_noun(low)):
            return True
    return False


def _passive_clause(
    caption: str, tokens: Sequence[Token], clause: _Clause, *, before: Set[str]
) -> tuple[int, int, str] | None:
    """The span of a clause that changes, behind verbs `before`, and what takes its place; None if it has no passive."""
    first, verb, end = clause.start, clause.verbs[-1], clause.end
    if any(base(tokens[place]) in _NO_PASSIVE for place in clause.verbs):
        return None
    at = verb + 1
    shift = tokens[first].start
    spans = [(tokens[v].start - shift, tokens[v].end - shift, participle(base(tokens[v]))) for v in clause.verbs]
    participles = put(caption[shift : tokens[verb].end], spans)
    particle = ""
    if at < end and tokens[at].text.lower() in _PARTICLES and at + 1 < end and _is_object(tokens, at + 1, end):
        particle = " " + tokens[at].text.lower()
        at += 1
    elif at + 1 < end and tokens[at].text.lower() == "in" and base(tokens[verb]) in _TAKING_IN:
        inner = _object_end(tokens, at + 1, end)
        if inner > at + 1 and tokens[inner - 1].lemma not in _VESSELS:
            particle, at = " in", at + 1
    last = _object_end(tokens, at, end)
    if _hides_order(tokens, at, last=last, end=end):
        return None
    if last == at:  # "chop the onion and fry in a pan": what is fried was named before
        other = base(tokens[verb]) in _OF_WHOLE and not before.isdisjoint(_ADDING)
        other = other or ("remove" in before and base(tokens[verb]) not in _ADDING | {"set", "transfer", "discard"})
        return (shift, tokens[verb].end, participles) if before and not other else None
    doing = [n for n in range(at, last - 1) if "VBG" in verb_tags(tokens[n].text.lower())]
    if any(tokens[n + 1].tag in ("DT", "PRP$") or lemma(tokens[n].text.lower(), "VBG") == "drizzle" for n in doing):
        return None  # "roll the dosa enclosing the potato", "serve drizzling oil on top"
    if tokens[last - 1].lemma in ("second", "minute", "hour"):
        return None  # "and cook 10 minutes"
    rest = [token.text.lower() for token in tokens[last:end]]
    if rest and rest[0] in _JOINING and not all(word in _JOINING for word in rest):
        return None  # "add tomatoes and then the bun"
    if rest and (rest[0] in ("all", "both") or (len(rest) > 1 and rest[-1] in INSTRUCTIONS and rest[-2] == "and")):
        return None  # "beat them all", "put it into a blender and puree"
    starts_order = INSTRUCTIONS - THINGS - _OFTEN_NOUNS
    if tokens[at].text.lower() in starts_order and at + 1 < end and tokens[at + 1].tag in _OPENS_OBJECT:
        return None  # "stir put the lid on"
    if rest and rest[0] in starts_order and last > at:
        return None  # "chop some lettuce put with croutons"
    words = caption[tokens[at].start : tokens[last - 1].end]
    subject = _PRONOUNS.get(words.lower()) or f"{words} {'are' if _is_plural(tokens, at, last) else 'is'}"
    return shift, tokens[last - 1].end, f"{subject} {participles}{particle}"


def _hides_order(tokens: Sequence[Token], at: int, last: int, end: int) -> bool:
    """Whether a word behind a verb, whose object ends at `last`, may be a further imperative: no passive holds one."""
    for place in range(at + 1, end):
        low, tag, before = tokens[place].text.lower(), tokens[place].tag, tokens[place - 1]
        after = tokens[place + 1] if place + 1 < end else None
        opens = after is not None and (after.tag in _OPENS_OBJECT or after.text.lower() in ("with", "to"))
        verb = tag in ("VB", "VBP") or (low.isalpha() and not verb_tags(low) and not is_noun(low))
        if before.text.lower() in _JOINING and opens and verb:
            return True  # "and masage it", "and return to the water"
        if low not in INSTRUCTIONS - THINGS or before.tag == "TO":
            continue
        if low == "add" or (place > last and tag in ("VB", "VBP")):
            return True
        if tag == "NN" and before.tag in ("NN", "NNS", "PRP") and after is not None:
            behind = place > last and after.tag[:2] in ("NN", "DT", "PR")  # "place sausage in bun cover sausage"
            inside = after.tag in ("DT", "PRP$", "VBN", "JJ") or after.text.lower() in _PARTICLES
            inside = inside or (after.text.lower() in _JOINING and place + 2 == end)  # "and beans heat and | mix"
            if behind or (inside and low not in _OFTEN_NOUNS):
                return True  # "place a slice of ham sprinkle grated cheese", "peel the cucumber scoop off the seeds"
    return False


def participle(word: str) -> str:
    """The past participle of a verb."""
    return inflect(word, "VBN")


def _is_object(tokens: Sequence[Token], at: int, end: int) -> bool:
    return tokens[at].tag in _OPENS_OBJECT or _object_end(tokens, at, end) > at


def _object_end(tokens: Sequence[Token], at: int, end: int) -> int:
    """Where the object that begins at `at` ends; `at` itself if there is none. Only what cannot be in it ends it."""
    place = at
    while place < end:
        low = tokens[place].text.lower()
        manner = _is_manner(tokens[place]) and not _describes(tokens, place)
        if low in _ENDS_OBJECT or tokens[place].tag == "RP" or manner:
            break
        if low in _PRONOUNS and tokens[place].tag == "PRP":
            return place + 1 if place == at else at
        place += 1
    while place > at and not _ends_object_well(tokens, place - 1):
        place -= 1
    return place


def _describes(tokens: Sequence[Token], place: int) -> bool:
    """ "thinly" of "thinly sliced onions"."""
    return place + 1 < len(tokens) and tokens[place + 1].tag[:2] in ("JJ", "VB", "NN")


def _ends_object_well(tokens: Sequence[Token], place: int) -> bool:
    token, low = tokens[place], tokens[place].text.lower()
    if not low[0].isalpha() or low in _JOINING:
        return False
    before = tokens[place - 1]
    if token.tag.startswith("JJ") and before.tag.startswith("NN"):
        return False  # "pat the fish dry"
    joined = before.text.lower() in ("and", ",")  # "cumin seeds and hing"
    return joined or token.tag[:2] == "NN" or (token.tag != "RB" and is_noun(low))


def _is_plural(tokens: Sequence[Token], start: int, end: int) -> bool:
    words = [token.text.lower() for token in tokens[start:end]]
    whole = words[: words.index("of")] if "of" in words[1:] else words
    if whole in (["all"], ["most"], ["some"]) and len(words) > 2:
        return _is_plural(tokens, start + 2, end)  # "all of the ingredients"
    if any(word in ("and", ",", "&") for word in whole):
        return True
    if sum(token.tag == "NN" for token in tokens[start : start + len(whole)]) > 4:
        return True  # "wheat mint salt lemon juice olive oil"
    head = tokens[start + len(whole) - 1]
    low = head.text.lower()
    if (
        _MANY & set(whole)
        or words.count("some") > 1
        or any(token.tag == "NNS" for token in tokens[start : start + len(whole) - 1])
    ):
        return True  # "onions carrots sauce": a list without "and"
    if low in UNCOUNTED or words[0] in ("a", "an", "one", "each", "another", "every"):
        return False
    if low in ("all", "some", "both", "tbsp", "tsp"):
        return low == "both" or (len(whole) > 1 and whole[0] not in ("1", "1/2", "half"))
    return head.tag in ("NNS", "NNPS") or (low.endswith("s") and not low.endswith("ss") and lemma(low, "NNS") != low)
