"""What is a verb, by its place in the caption: taggers read many nouns of captions as verbs, and verbs as nouns.

"in the children room" is no verb "room", "a kitchen talks as she ..." no plural "talks". Only what grammar or the
dictionary decides is read anew.
"""

from collections.abc import Sequence

from video_contrast.perturbations.english.forms import is_describing, is_noun
from video_contrast.perturbations.language import Token, lemma, verb_tags
from video_contrast.perturbations.text.clauses import FINITE
from video_contrast.perturbations.text.imperative import INSTRUCTIONS, imperatives
from video_contrast.perturbations.text.passive.lists import PERSONS

_OPENERS = frozenset(
    """that which who what where when while why how as if because until till once after before so whose then
    , ; . : and but or""".split()  # noqa: SIM905
)
_RELATIVE = frozenset("that which who whose where".split())  # noqa: SIM905
_STAND_ALONE = frozenset("this that these those all both some each".split())  # noqa: SIM905  "this looks good"
_TIMES = frozenset("until till when once while as".split())  # noqa: SIM905
_NOUNS_IN_ING = frozenset(
    """seasoning filling dressing topping frosting icing coating stuffing pudding dumpling clothing wedding building
    manufacturing ceiling painting lightning evening morning""".split()  # noqa: SIM905
)
_KITCHEN = frozenset("baking boiling cooking cutting dipping frying mixing rolling serving whipping".split())  # noqa: SIM905
_KITCHEN_THINGS = frozenset(
    "bag board bowl cream dish oil pan paper pin plate pot powder sauce sheet soda spray tray water".split()  # noqa: SIM905
)
_VESSELS = frozenset("pot pan wok bowl skillet plate oven tray dish shop work".split())  # noqa: SIM905
_BEFORE_BARE_VERBS = frozenset("let help make go come do see watch have be try get".split())  # noqa: SIM905
_SAYING = frozenset("say think know believe hope wish explain tell look".split())  # noqa: SIM905
_SHOWING = frozenset("see show watch let make help hear".split())  # noqa: SIM905  "shows a man dance", "shows dance moves"
_NOUN_PHRASE = ("DT", "JJ", "NN", "CD", "PR", "PO", "VB")
# Forms that end as plurals do, but are verbs in 85 % of their uses in MSR-VTT's training captions, and a few of 70 %.
_MOSTLY_VERBS = frozenset(
    """adds appears applies asks begins chases climbs comes cooks dances demonstrates depicts describes discusses does
    drives eats enters explains falls fights folds gets gives goes has hits holds introduces jumps kisses lays looks
    makes mixes narrates opens performs plays pours prepares pulls puts reads rides runs says seems shoots sings sits
    smiles speaks stands starts stirs takes talks teaches tells throws tries turns uses walks watches
    wears""".split()  # noqa: SIM905
)
_FOLLOWS_A_VERB = ("IN", "RP", "DT", "TO", "PR", "RB", "CC")
_FRONTED = frozenset("in on to for once when if after before while with using until as at from meanwhile".split())  # noqa: SIM905
_ENDS_FRONTED = ("NN", "NNS", "JJ", "VBN", "VBD", "RB", "RP", "PRP", "VBG")
# Words of instructions that open a clause of their own also behind a noun: they name no thing.
_ALWAYS_ORDERS = frozenset(
    """add adjust arrange bake beat blend boil bring chop combine continue crack cut deglaze dissolve drain flip
    fold fry garnish grate heat knead let make mash melt mince peel place pour preheat put remove rinse saute
    sautee serve shred sift simmer slice sprinkle stir strain take toss transfer trim turn use wash whisk""".split()  # noqa: SIM905
)


def verbs_in_place(tokens: Sequence[Token]) -> list[Token]:
    """The tokens with nouns that were read as verbs tagged as nouns, and verbs read as nouns as verbs.

    >>> from video_contrast.perturbations.language import tag
    >>> sentence = tag(["a woman with a guitar sings"], tagger="hanta")[0]
    >>> verbs_in_place([*sentence[:-1], sentence[-1]._replace(tag="NNS")])[-1].tag
    'VBZ'
    """
    read = list(tokens)
    orders = set(imperatives(tokens))
    for place, token in enumerate(tokens):
        if place in orders:
            continue
        if token.tag[:2] == "VB" and token.tag != "VBG" and _stands_as_noun(read, place, orders):
            plural = token.text.lower().endswith("s") and "VBZ" in verb_tags(token.text)
            tag = "NNS" if plural else "NN"
            read[place] = token._replace(tag=tag, lemma=lemma(token.text.lower(), tag))
        elif token.tag in ("NNS", "NN") and "VBZ" in verb_tags(token.text) and _stands_as_verb(read, place):
            read[place] = token._replace(tag="VBZ", lemma=lemma(token.text.lower(), "VBZ"))
        elif token.tag == "VBD" and place and tokens[place - 1].text.lower() in ("home", "hand", "self", "pre"):
            read[place] = token._replace(tag="VBN")  # "home made"
        elif token.tag == "VBN" and _is_past(read, place):
            read[place] = token._replace(tag="VBD")
    return read


def with_orders(tokens: Sequence[Token]) -> list[Token]:
    """`verbs_in_place`, with the imperatives behind a phrase or clause as verbs too."""
    read = verbs_in_place(tokens)
    for place in all_orders(read):
        read[place] = read[place]._replace(tag="VB", lemma=read[place].text.lower())
    return read


def all_orders(tokens: Sequence[Token]) -> list[int]:
    """Places of the imperatives, also of those behind a phrase or clause ("in a pan add oil and stir")."""
    orders = imperatives(tokens)
    first = 0
    if not orders and tokens and tokens[0].text.lower() in _FRONTED:
        first = next((place for place in range(2, len(tokens)) if _opens_behind(tokens, place)), 0)
        orders = [first + place for place in imperatives(tokens[first:])] if first else []
    if not orders:
        return []
    hidden = [place for place in range(orders[0] + 2, len(tokens)) if _is_hidden_order(tokens, place, orders)]
    return sorted({*orders, *hidden})


def takes_adverb(tokens: Sequence[Token], place: int, in_orders: bool) -> bool:
    """Whether an adverb can stand before a verb form: none inside a noun phrase ("a serving bowl", "to hot pot").

    Args:
        tokens: as `with_orders` reads them.
        place: of a verb form that is no imperative.
        in_orders: whether the caption has imperatives; bare verbs behind its nouns are nouns ("chicken breast fillet").
    """
    token, low = tokens[place], tokens[place].text.lower()
    before, after = (tokens[at] if 0 <= at < len(tokens) else None for at in (place - 1, place + 1))
    noun_follows = after is not None and after.tag[:2] == "NN"
    if token.tag != "VBG" and not verb_tags(low) and token.lemma not in ("be", "have", "do"):
        return False  # "a blonde haired woman"
    if before is None:  # "recording artist"
        return not (token.tag == "VBG" and noun_follows and is_noun(low))
    if in_orders and token.tag == "VBD" and not low.endswith("ed") and before.tag[:2] == "NN" and is_noun(low):
        return False  # "clove pepper"
    if token.tag in ("VB", "VBP") and is_noun(low):
        if before.tag == "TO" and (low in _VESSELS or low == "taste"):
            return False
        if before.tag[:2] == "NN" and in_orders:
            return False
        if before.tag in ("VB", "VBP", "VBZ") and before.lemma not in _BEFORE_BARE_VERBS:
            return False  # "eat chicken wings"
    if token.tag == "VB" and before.tag == "TO" and noun_follows and is_describing(low):
        return False
    if token.tag != "VBG":
        return not (noun_follows and low in ("canned", "ground", "cast", "illustrated"))
    if before.lemma == "be":
        return True
    if low in _NOUNS_IN_ING:
        return False
    inside = before.tag in ("DT", "JJ", "PRP$", "CD", "POS")
    if inside and not noun_follows:
        return not is_noun(low) or (after is not None and after.tag in ("DT", "PRP", "PRP$"))  # "a wedding"
    if after is not None and low in _KITCHEN and after.lemma in _KITCHEN_THINGS:
        return False
    thing = after is not None and noun_follows and after.lemma not in PERSONS
    return not (thing and inside and is_noun(low))


def _stands_as_noun(tokens: Sequence[Token], place: int, orders: set[int]) -> bool:
    token, low = tokens[place], tokens[place].text.lower()
    if token.lemma in ("be", "have", "do") or low[:1] in "'’":
        return False
    if place and tokens[place - 1].text.lower() in ("n't", "n’t", "not"):
        return False
    known = verb_tags(low)
    if any(sign.isdigit() for sign in low):
        return True
    if not known and not low.endswith(("s", "ed", "ing", "en")) and low.isalpha():
        return True  # "bill murray"
    after = tokens[place + 1] if place + 1 < len(tokens) else None
    if place == 0 or not is_noun(low) or (after is not None and after.tag in ("DT", "PRP", "PRP$")):
        return False
    before = tokens[place - 1].tag
    if token.tag in ("VB", "VBP", "VBZ"):
        if tokens[place - 1].text.lower() in _STAND_ALONE:
            return False
        if before in ("DT", "PRP$", "POS") or (before == "IN" and tokens[place - 1].text.lower() not in _OPENERS):
            return True
        if (
            before == "JJ"
            and place > 1
            and low not in _MOSTLY_VERBS
            and tokens[place - 2].tag in ("DT", "PRP$", "IN", "JJ", "CD")
        ):
            return any(other.tag in FINITE for at, other in enumerate(tokens) if at != place)
    if token.tag == "VBZ" and before in ("VB", "VBP", "VBZ", "VBD"):
        return True  # "take turns", "does flips"
    if token.tag == "VBD" and not low.endswith("ed"):
        return after is not None and after.tag == "VBG" and before == "NN"  # "a pit crew working"
    if token.tag == "VB" or (token.tag in ("VBN", "VBD") and low.endswith("ed")):
        return False
    if before[:2] not in ("NN", "JJ"):
        return token.tag == "VBP" and after is not None and after.tag == "VBZ" and before == "PRP"  # "i man shows"
    if after is not None and after.tag in ("VBZ", "VBP", "MD"):
        if token.tag == "VBP" and before == "NNS" and is_noun(after.text):
            return False  # "models take turns"
        return token.tag != "VBZ" or after.lemma == "be" or after.tag == "VBP"  # "runway models take turns"
    earlier = _clause(tokens, place)
    relative = earlier.start and tokens[earlier.start - 1].text.lower() in _RELATIVE
    verbs = [at for at in earlier if tokens[at].tag in ("VBZ", "VBP", "VB") or at in orders] if not relative else []
    if verbs:  # a second verb in one clause: "has a dogs head"
        if low in _MOSTLY_VERBS or any(tokens[at].lemma in _SAYING for at in verbs):
            return False
        doer = tokens[place - 1].lemma in PERSONS or tokens[place - 1].text.lower() in PERSONS
        return not (doer and any(tokens[at].lemma in _SHOWING for at in verbs))
    return before in ("NN", "NNS") and after is None and _in_phrase_of_place(tokens, place)


def _is_past(tokens: Sequence[Token], place: int) -> bool:
    """Whether a participle without an auxiliary, in front of its object, is a past: "a man used a knife"."""
    if place == 0 or place + 1 == len(tokens) or "VBD" not in verb_tags(tokens[place].text):
        return False
    if tokens[place - 1].tag not in ("NN", "NNS", "PRP") or tokens[place + 1].tag not in ("DT", "PRP$", "PRP"):
        return False
    alone = not any(tokens[at].tag in FINITE for at in range(len(tokens)))
    return alone and tokens[place].lemma not in ("call", "name", "title")


def _clause(tokens: Sequence[Token], place: int) -> range:
    """The places before `place` in its clause."""
    for at in range(place - 1, -1, -1):
        if tokens[at].text.lower() in _OPENERS or tokens[at].tag in ("WDT", "WP", "WRB"):
            return range(at + 1, place)
    return range(place)


def _in_phrase_of_place(tokens: Sequence[Token], place: int) -> bool:
    """Whether a preposition other than "of" opens the noun phrase that ends before `place`: "in the children room"."""
    for at in range(place - 1, 0, -1):
        if tokens[at].tag == "IN":
            return tokens[at].text.lower() not in ("of", *_OPENERS)
        if tokens[at].tag[:2] not in ("DT", "JJ", "NN", "CD", "PR"):
            return False
    return False


def _stands_as_verb(tokens: Sequence[Token], place: int) -> bool:
    low = tokens[place].text.lower()
    after = tokens[place + 1] if place + 1 < len(tokens) else None
    if place == 0 or (after is not None and after.tag in ("VBZ", "VBP", "MD", "VBD")):
        return False
    if after is not None and after.tag not in _FOLLOWS_A_VERB:
        return False
    at = place - 1
    while at and tokens[at].tag == "RB":
        at -= 1
    if tokens[at].text.lower() in ("and", ",", "then"):  # "wears sunglasses and stands on the beach"
        clause = [n for n in range(at) if tokens[n].tag in FINITE]
        return low in _MOSTLY_VERBS and bool(clause) and tokens[clause[-1]].tag == "VBZ"
    earlier = _clause(tokens, place)
    if any(tokens[n].tag in (*FINITE, "VB") for n in earlier) or tokens[place - 1].tag not in ("NN", "PRP"):
        return False
    opener = tokens[earlier.start - 1].text.lower() if earlier.start else ""
    if opener in _TIMES and low in _MOSTLY_VERBS:
        return True
    if opener in _TIMES and len(earlier) > 1:  # "until the bottom browns"
        phrase = all(tokens[n].tag in ("DT", "PRP$", "JJ", "NN", "CD") for n in earlier)
        return phrase and tokens[earlier.start].tag in ("DT", "PRP$")
    return low in _MOSTLY_VERBS and not any(token.tag in FINITE for token in tokens[:place])


def _opens_behind(tokens: Sequence[Token], place: int) -> bool:
    """Whether an imperative stands at `place`, behind a phrase or clause that opens the caption."""
    token, before = tokens[place], tokens[place - 1]
    low, after = token.text.lower(), tokens[place + 1] if place + 1 < len(tokens) else None
    if low not in _ALWAYS_ORDERS or after is None or token.tag in ("VBZ", "VBD", "VBG", "VBN"):
        return False
    if before.tag not in (*_ENDS_FRONTED, ",", "CD") and before.text.lower() != "then":
        return False
    if before.lemma in PERSONS or before.text.lower() in PERSONS or before.text.lower() in ("i", "you", "we", "they"):
        return False
    if after.tag[:2] not in ("DT", "PR", "CD", "NN", "JJ", "VB", "RP") and after.text.lower() not in ("in", "with"):
        return False
    if any(n.lemma in PERSONS for n in tokens[:place]):
        return False
    clause = tokens[0].text.lower() in _OPENERS  # "once it is brown add ..." has a verb of its own
    finite = [at for at in range(place) if tokens[at].tag in (*FINITE, "VB") and tokens[max(at - 1, 0)].tag != "TO"]
    if finite and not clause:
        return False
    return imperatives(tokens[place:])[:1] == [0]


def _is_hidden_order(tokens: Sequence[Token], place: int, orders: Sequence[int]) -> bool:
    """Whether an order without "and" stands at `place`, where the object before it has ended."""
    if place in orders or place - 1 in orders:
        return False
    low, before = tokens[place].text.lower(), tokens[place - 1]
    after = tokens[place + 1] if place + 1 < len(tokens) else None
    if before.text.lower() == "and" and place - 2 in orders and after is not None:  # "rinse and scrub the mussels"
        return "VB" in verb_tags(low) and low.isalpha() and after.tag in ("DT", "PRP", "PRP$")
    if low not in INSTRUCTIONS or before.tag not in ("NN", "NNS", "PRP", "JJ", "RB", "CD", "RP"):
        return False
    last = max((n for n in orders if n < place), default=place)
    if any(token.text.lower() in ("let", "help", "make", "to") for token in tokens[last:place]):
        return False
    behind = after.text.lower() if after is not None else ""
    if low in ("keep", "chop", "mince", "add", "remove", "transfer", "put", "pour") and after is not None:
        return after.tag in ("DT", "PRP", "PRP$", "CD", "RB", "PDT") or behind in ("finely", "roughly")
    if low in ("mix", "stir", "blend", "toss", "whisk") and before.tag in ("NN", "NNS", "PRP"):
        ends = behind == "well" or (
            place - last > 3 and behind == "and" and any(n in orders for n in (place + 2, place + 3))
        )
        return ends and not (low == "mix" and before.lemma in ("cake", "spice", "pancake", "muffin"))
    return False
