"""With what a phrase behind an object goes: with the object, with the verb, or with the agent."""

from video_contrast.perturbations.language import verb_tags
from video_contrast.perturbations.text.noun_phrases import COLOURS
from video_contrast.perturbations.text.passive_parsed.sentence import Sentence, is_bound, is_person
from video_contrast.perturbations.text.passive_parsed.words import (
    CLOTHES,
    EXPLAINING,
    LEADS_TO,
    MANNERS,
    MIXING,
    PLANS,
    REGARDING,
    SHOWN,
    SPEECHES,
    STAGES,
)
from video_contrast.perturbations.text.passive_words import (
    AGENT_ACTS,
    ALONE,
    LANGUAGES,
    PERCEIVING,
    POSTURES,
    ROUTES,
    TELLING,
    TELLS_ITSELF,
    TOOLS,
)

_OF_VERB = frozenset(
    """into onto to toward towards through across along against over off out up down around near behind beside next
    inside outside during after before under underneath beneath above between among upon without via using as past
    until throughout besides""".split()  # noqa: SIM905
)


OF_PLACE = frozenset("in on at".split())  # noqa: SIM905


THINKING = EXPLAINING | REGARDING | PERCEIVING | {"look", "read", "listen", "comment", "argue"}


_ANIMALS = frozenset(
    "dog dogs cat cats horse horses animal animals monkey bird elephant puppy kitten pig cow tiger lion bear".split()  # noqa: SIM905
)


def goes_with(tree: Sentence, verb: int, noun: int, child: int) -> str | None:
    """With what a dependent of the object goes: "object", "verb" or "agent"; None if that is not known.

    Args:
        tree: of the caption.
        verb: the place of the verb.
        noun: the place of the noun.
        child: the place of its dependent.
    """
    word = tree.words[child]
    if word.dep == "prep":
        return phrase_goes_with(tree, verb, noun, child)
    if word.dep == "relcl":
        wh = tree.child(child, "nsubj", "nsubjpass", "dobj")
        return "object" if wh is not None and tree.words[wh].text in ("who", "that", "which") else None
    if word.dep == "acl" and word.tag == "VBN":
        return None if word.lemma in ("follow", "accompany") else "object"
    if word.dep == "acl" and word.tag == "VB":
        return "object" if tree.words[noun].lemma in PLANS else "agent"
    if word.dep == "acl" and word.tag == "VBG":
        return _participle_goes_with(tree, verb, noun, child)
    if word.dep in ("appos", "nummod", "poss", "case", "compound", "amod", "cc", "det"):
        return "object" if word.dep != "appos" else None
    return None


def _participle_goes_with(tree: Sentence, verb: int, noun: int, child: int) -> str | None:
    word, doer = tree.words[child], tree.words[noun]
    head = tree.words[verb]
    if head.lemma in PERCEIVING | TELLING or (
        head.lemma in ("talk", "speak", "look", "listen") and is_person(tree, noun)
    ):
        return "object"
    if doer.text in _ANIMALS:
        return None
    if is_person(tree, noun):
        return "object" if word.lemma in POSTURES | {"wear", "dress"} else None
    if word.lemma in TELLS_ITSELF | {"call", "name", "feature"} or tree.child(child, "auxpass") is not None:
        return "object"
    doing = (
        tree.child(child, "dobj") is not None or word.lemma in ALONE | TELLING | EXPLAINING or word.text in AGENT_ACTS
    )
    return "agent" if doing else None


def phrase_goes_with(tree: Sentence, verb: int, noun: int, child: int) -> str | None:
    """With what a prepositional phrase behind an object goes, as `goes_with`.

    Args:
        tree: of the caption.
        verb: the place of the verb.
        noun: the place of the noun.
        child: the place of its dependent.
    """
    low, head = tree.words[child].text, tree.words[verb]
    place = tree.child(child, "pobj")
    speech = tree.words[noun].lemma in SPEECHES and tree.words[noun].dep == "dobj"
    if low in ("of", "between") or (
        speech and low in ("on", "about", "for") and (place is None or tree.words[place].lemma not in STAGES)
    ):
        return "object"  # "a lesson on how to cook"
    if low in ("by", "like", "than", "because") or place is None or tree.words[child - 1].text == "such":
        return None
    where = tree.words[place]
    thinks = head.lemma in THINKING
    said_of = tree.words[noun].dep == "pobj" and tree.words[tree.words[noun].head].head == verb
    if low in ("about", "for") and said_of:
        told = tree.words[tree.words[noun].head].text == "about"  # "about a need for writers"
        return None if told or tree.words[tree.words[noun].head].text == low else "verb"
    if low == "about":
        return "verb" if is_person(tree, noun) or tree.words[noun].tag == "NNP" else "object"
    if low == "with" and any(tree.words[n].text == "background" for n in range(*span(tree, child))):
        return None
    if low == "with" and ({where.text, where.lemma} & (TOOLS | MANNERS) or is_person(tree, place)):
        return "verb"
    if low == "with" and said_of and not thinks:
        if head.lemma in ROUTES:
            return "agent"  # "walks down a runway with a bag"
        return None if is_bound(tree, *span(tree, child)) else "object"
    if low == "with":
        return None if is_bound(tree, *span(tree, child)) else "object"
    if low in OF_PLACE and is_person(tree, noun) and {where.text, where.lemma} & (COLOURS | CLOTHES):
        return "object"
    if low == "to":
        return "object" if tree.words[noun].lemma in LEADS_TO else "verb"
    if thinks:
        of_verb = low in OF_PLACE and (where.lemma in STAGES or where.text in LANGUAGES)
        of_verb = of_verb or (low == "for" and is_person(tree, place))
        return (
            "verb"
            if of_verb or low in ("during", "before", "after", "while", "using", "through", "over", "via")
            else "object"
        )
    if low == "from":
        return "object" if tree.words[noun].lemma in SHOWN else "verb"
    if low == "without":
        return "object"
    return "verb" if low in _OF_VERB | OF_PLACE | {"for"} else None


def span(tree: Sentence, place: int) -> tuple[int, int]:
    """The first word that hangs on a word, and past the last."""
    first, last = tree.descend(place)
    return first, last + 1


def has_clause(tree: Sentence, place: int) -> bool:
    """Whether what hangs on a word holds a clause."""
    first, last = tree.descend(place)
    return any(tree.words[n].dep in ("relcl", "acl", "advcl", "ccomp", "pcomp") for n in range(first, last + 1))


def joins(tree: Sentence, first: int, last: int) -> bool:
    """Whether what "and" joins in a tail may be joined to something else: "to a friend and scores", "and the sink".

    Args:
        tree: of the caption.
        first: the place of the first word.
        last: the place of the last word.
    """
    if tree.words[last].tag == "NNS" and tree.words[last - 1].dep == "cc" and "VBZ" in verb_tags(tree.words[last].text):
        return True
    return any(
        tree.words[n].dep == "cc"
        and (tree.words[n + 1].tag in ("DT", "PRP$") or tree.words[n + 1].text.endswith("ing"))
        for n in range(first, last)
        if n + 1 <= last
    )


def is_means(tree: Sentence, verb: int, child: int) -> bool:
    """Whether "with" opens a tool, company, or what is mixed in: "cuts with a knife", "plays with friends".

    Args:
        tree: of the caption.
        verb: the place of the verb.
        child: the place of "with".
    """
    place = tree.child(child, "pobj")
    if place is None:
        return False
    where = tree.words[place]
    return (
        bool({where.text, where.lemma} & (TOOLS | MANNERS))
        or is_person(tree, place)
        or tree.words[verb].lemma in MIXING
    )


def is_about(tree: Sentence, verb: int) -> bool:
    """Whether "about" stands right behind a verb: in "talks about a need for money" no phrase goes with the verb."""
    return verb + 1 < len(tree.words) and tree.words[verb + 1].text == "about"
