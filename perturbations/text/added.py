"""AddText: words that say nothing about the video (robustness paper, A.2)."""

from functools import cache

from numpy.random import Generator

from video_contrast.perturbations.english.forms import fix_article
from video_contrast.perturbations.language import Token
from video_contrast.perturbations.registry import text_perturbation
from video_contrast.perturbations.text import tables
from video_contrast.perturbations.text.imperative import COMPOUNDS, INSTRUCTIONS, THINGS
from video_contrast.perturbations.text.verb_places import all_orders, takes_adverb, with_orders
from video_contrast.perturbations.text.words import FUNCTION_WORDS, pick, put

PROVERB_FROM = 10  # words from which on a caption also gets a closing proverb

# Entries of the adverb table that are no adverbs; only `released` inserts them.
_NO_ADVERBS = frozenset(
    """
    eleven rely beverly assembly sphere billy belly premiere norway sally nose oven elderly atmosphere double kelly
    holly emily mere prior friendly deadly
    """.split()  # noqa: SIM905
)
# Adverbs of the table that cannot stand before a verb in a statement about what is seen; only `released` inserts them.
_NOT_BEFORE_A_VERB = frozenset(
    """
    abroad down anywhere too yet not alike everywhere nowhere differently northwest here back ever overseas offshore
    ago else enough timely less namely very up far there apart anymore somewhere away nearby anyway ahead aside
    late early forward quite together long close more instead meanwhile however moreover even so
    """.split()  # noqa: SIM905
)

# Adverbs that negate, weaken or contradict what is seen, or are sexual; only `released` inserts them.
_BENDS_THE_MEANING = frozenset(
    """
    sexually never hardly barely rarely almost nearly merely virtually only just solely exclusively partially partly
    maybe perhaps possibly probably potentially apparently necessarily formerly previously otherwise alternatively
    nevertheless regardless once soon shortly later thereafter approximately roughly relatively elsewhere
    """.split()  # noqa: SIM905
)

# Adverbs of degree, of the calendar and of a time that no present has fit few verbs; only `released` inserts them.
_FITS_FEW_VERBS = frozenset(
    """
    extremely highly very fairly quite rather reasonably monthly yearly annually quarterly hourly internationally
    nationally newly lately recently earlier originally periodically forever twice double absolutely
    """.split()  # noqa: SIM905
)


@text_perturbation("append_irr", category="AddText", origin="natural", version="2")
def append_irr(caption: str, rng: Generator, *, profile: str = "paper") -> str:
    """An irrelevant phrase opens the caption; one of 10 words or more also ends with a proverb."""
    text = caption.strip()
    opening = pick(tables.lines("openings.txt"), rng)
    first, _, rest = text.partition(" ")
    if profile != "released" and first.istitle() and first.lower() in FUNCTION_WORDS and first != "I":
        text = f"{first.lower()} {rest}"
    if profile != "released" and first.lower() in INSTRUCTIONS:  # no "it is said that add oil"
        opening = opening.removesuffix(" that").removesuffix(" but")
    comma = "" if opening.endswith((" that", " but")) else ","
    text = f"{opening}{comma} {text}"
    if len(caption.split()) < PROVERB_FROM:
        return text
    return f"{text.rstrip(' .,;')}. {pick(tables.lines('proverbs.txt'), rng)}."


@text_perturbation("insert_adv", category="AddText", origin="natural", version="4", requirements=("tags",))
def insert_adv(caption: str, rng: Generator, *, tokens: list[Token], profile: str = "paper") -> str:
    """A neutral adverb stands before every verb (none that negates, none that is sexual or violent)."""
    adverbs = _adverbs(profile)
    if profile == "released":
        verbs = [token for token in tokens if token.tag.startswith("VB") and token.text[:1] not in "'’"]
    else:
        verbs = _verbs(tokens)
    changes = []
    for token in verbs:
        adverb = pick(adverbs, rng)
        if profile != "released":
            if len(token.text) > 1 and token.text.isupper():
                adverb = adverb.upper()
            head = caption[: token.start]
            fixed = fix_article(head, adverb)
            if fixed != head:  # "a smiling man": the article meets the adverb
                start = len(head.rstrip()) - len(head.split()[-1])
                changes.append((start, token.start, fixed[start:] + adverb + " "))
                continue
            if token.start == 0 and token.text.istitle():
                changes.append((0, token.end, f"{adverb.capitalize()} {token.text.lower()}"))
                continue
        changes.append((token.start, token.start, adverb + " "))
    return put(caption, changes)


def _verbs(tokens: list[Token]) -> list[Token]:
    """What an adverb can stand before: verbs, no parts of nouns ("a serving bowl", "a recording artist")."""
    read = with_orders(tokens)
    orders = all_orders(read)
    verbs = []
    for place, token in enumerate(read):
        if place in orders:
            if place and token.text.lower() in THINGS and read[place - 1].tag[:2] == "NN":
                continue  # "almond flour"
            compound = place and read[place - 1].text.lower() in COMPOUNDS  # "pre heat", "deep fry"
            verbs.append(read[place - 1] if compound else token)
        elif token.tag[:2] == "VB" and token.text[:1] not in "'’" and takes_adverb(read, place, bool(orders)):
            verbs.append(token)
    return list(dict.fromkeys(verbs))


@cache
def _adverbs(profile: str) -> tuple[str, ...]:
    left_out = _NO_ADVERBS | _NOT_BEFORE_A_VERB | _BENDS_THE_MEANING | _FITS_FEW_VERBS
    left_out = frozenset() if profile == "released" else left_out
    return tuple(word for word in tables.lines("adverbs.txt") if word not in left_out)
