"""With which word a phrase behind an object goes, which English leaves to sense: "cuts a cake | with a knife".

What goes with the object stays on it; what goes with the verb stays beside it, in front of the agent ("is cut with a
knife by a man"); what the agent does or wears comes right behind the agent, what the whole clause has, last. A phrase
that may go with either of two words has no safe place: the clause is refused.
"""

from enum import Enum, auto
from typing import NamedTuple

from video_contrast.perturbations.contrast.generators.frames.tree import NOUNS
from video_contrast.perturbations.language import verb_tags
from video_contrast.perturbations.text.passive import lists
from video_contrast.perturbations.text.passive.sentence import NounPhrase, Refused, Sentence, Why, refuse

_OF_VERB = frozenset(
    """into onto toward towards through across along against over off out up down around near behind beside next inside
    outside during after before under underneath beneath above between among amongst upon without via using as past
    until throughout besides in on at for from""".split()  # noqa: SIM905
)
_WHEN_AND_HOW = frozenset("during before after using through via".split())  # noqa: SIM905
_OF_DOER = frozenset("as around behind inside outside over along".split())  # noqa: SIM905
_TELLING = frozenset("ask tell question interview teach quiz show".split())  # noqa: SIM905
_ASKING = frozenset("ask tell teach instruct invite encourage urge train help".split())  # noqa: SIM905
_OF_WHAT = frozenset("accuse rob remind convince inform warn".split())  # noqa: SIM905
_LEADING = frozenset("video link introduction intro access guide trailer entrance".split())  # noqa: SIM905  lead "to"
_FOR = frozenset("make cook prepare cut chop slice perform sing do drive measure clean bake fry".split())  # noqa: SIM905


class Place(Enum):
    """Where a phrase stands in the passive."""

    OBJECT = auto()
    VERB = auto()
    AGENT = auto()
    LAST = auto()


class Tail(NamedTuple):
    """Words `start` to `end` (past the last) behind an object and where they go."""

    start: int
    end: int
    place: Place


def object_and_tails(tree: Sentence, verb: int, head: int) -> tuple[NounPhrase, list[Tail]]:
    """The words of the object and, in order, what the parser hung on it that does not belong to it.

    Args:
        tree: of the caption.
        verb: the place of the verb.
        head: the place of the object's chief noun.

    Raises:
        Refused: it is not known what belongs to the object.
    """
    start, end = tree.span(head)
    node, tails = head, list[Tail]()
    while True:
        right = [n for n in tree.children[node] if node < n < end]
        if not right or tree.words[head].tag[:2] == "VB":
            return NounPhrase(start, end, head), tails
        last = tree.words[right[-1]]
        inner = tree.child(right[-1], "pobj") if last.text == "of" else None
        if last.dep == "conj" and last.tag in (*NOUNS, "CD"):
            node = right[-1]
        elif inner is not None:
            node = inner
        else:
            tail = tail_of(tree, verb, node, child=right[-1])
            if tail.place is Place.OBJECT:
                return NounPhrase(start, end, head), tails
            tails.insert(0, tail)
            end = tail.start


def tail_of(tree: Sentence, verb: int, noun: int, *, child: int) -> Tail:
    """A phrase behind an object and where it goes.

    Args:
        tree: of the caption.
        verb: the place of the verb.
        noun: the noun right in front of the phrase, or the object's.
        child: the chief word of the phrase, which hangs on either of the two.

    Raises:
        Refused: it is not known with which word it goes.
    """
    start, end = tree.span(child)
    word = tree.words[child]
    refuse(Why.TAIL, start <= noun or _joins(tree, start, end))  # "to a friend and scores"
    refuse(Why.TAIL, tree.words[start].text in ("such", "then", "than", "by"))
    if word.dep in ("prep", "dative"):
        place = _of_phrase(tree, verb, noun, child=child)
    elif word.text == "else":
        place = Place.OBJECT
    elif word.tag in NOUNS and child == noun + 1 and word.text not in lists.ADVERB_NOUNS:
        place = None  # "using a fire extinguisher": a compound that the parser took apart
    elif word.dep in ("advmod", "npadvmod") and word.head == verb:
        place = Place.VERB if word.tag[:2] in ("RB", "IN", "RP") or word.text in lists.ADVERB_NOUNS else None
    elif word.dep == "relcl" and (tree.words[start].text != "to" or tree.words[verb + 1].dep == "prep"):
        who = tree.child(child, "nsubj", "nsubjpass", "dobj")
        place = Place.OBJECT if who is not None and tree.words[who].text in ("who", "that", "which") else None
    elif word.dep in ("nummod", "poss", "case", "compound", "amod", "cc", "det"):
        place = Place.OBJECT
    elif tree.words[start].text in ("how", "what", "why", "where") and tree.words[verb].lemma in _TELLING:
        place = Place.VERB  # "are taught how to dance"
    elif word.dep in ("acl", "advcl", "xcomp", "relcl"):
        place = _of_clause(tree, verb, noun, child=child)
    else:
        place = None
    bound = tree.is_bound(start, end)
    own = place is Place.OBJECT or (place is Place.VERB and tree.words[verb].lemma in lists.REGARDING)
    whose = bound and (tree.is_person(noun) or own)
    if place is None or whose:
        raise Refused(Why.TAIL if place is None else Why.BOUND)  # "kisses a man on his cheek"
    return Tail(start, end, Place.LAST if bound and place is Place.VERB else place)


def _of_phrase(tree: Sentence, verb: int, noun: int, *, child: int) -> Place | None:
    """Where a prepositional phrase goes."""
    low, does = tree.words[child].text, tree.words[verb].lemma
    inner, end = tree.child(child, "prep"), tree.span(child)[1]
    place = tree.child(child if inner is None else inner, "pobj")  # "out of an oven"
    if low in ("of", "between"):
        return None if does in _OF_WHAT else Place.OBJECT
    adjacent = child == noun + 1 or tree.words[child].head != verb
    speech = adjacent and tree.words[noun].lemma in lists.SPEECHES
    if place is None:
        doing = tree.child(child, "pcomp") is not None
        later = low in ("before", "after", "without") and does not in lists.REGARDING
        later = later or (low == "for" and does == "use")  # not "lists ingredients for cooking"
        return None if not doing else Place.OBJECT if speech else Place.LAST if later else None  # "tips on how to cook"
    where = {tree.words[place].text, tree.words[place].lemma}
    clause = not {"relcl", "acl", "advcl", "ccomp", "pcomp"}.isdisjoint(tree.deps(*tree.span(child)))
    if speech and low in ("on", "about", "for") and not where & lists.STAGES:
        return Place.OBJECT  # "a lesson on cooking"
    speech = speech or tree.words[noun].lemma in lists.SHOWING | {"question", "call", "letter", "message"}
    if low in ("for", "from") and adjacent and (low == "for" or speech or tree.is_person(noun)):
        beside = low == "for" and (tree.words[verb + 1].dep == "prep" or tree.is_person(noun))
        if low == "for" and (where & {"time", "while", "minute", "hour", "day"} or (does in _FOR and not speech)):
            return Place.LAST if clause else Place.VERB
        return None if beside else Place.OBJECT  # "a dish for guests", "a guy from the news"; "looks at a camera for"
    if low == "about":
        person = tree.is_person(noun) or tree.words[noun].tag == "NNP"
        to_whom = person or does in _TELLING or tree.words[verb + 1].dep == "prep"
        return Place.VERB if to_whom else Place.OBJECT if adjacent else None
    if low == "with":
        company = where & lists.MEANS or tree.is_person(place) or does in lists.MIXING
        whose = (adjacent and tree.is_person(noun)) or tree.words[end - 1].text == "it" or does == "wear"
        return Place.VERB if company and not (clause or whose) else None  # "leaves a house with a dog"
    if low in ("in", "on") and where & lists.CLOTHES:
        worn = end == place + 1 or tree.words[end - 1].lemma in lists.CLOTHES  # not "in a shirt about politics"
        return None if not worn else Place.OBJECT if tree.is_person(noun) else Place.AGENT
    if low == "to":
        gives = (does in lists.GIVING or speech) and tree.words[noun].lemma not in _LEADING
        return (Place.LAST if clause else Place.VERB) if gives else None
    thinks = does in lists.REGARDING and tree.words[noun].text not in ("something", "someone", "somebody")
    if thinks and tree.words[verb + 1].text not in ("to", "with"):
        staged = low in ("in", "on", "at") and where & lists.STAGES
        if staged or low in _WHEN_AND_HOW:
            return Place.VERB
        told = does in lists.EXPLAINING
        apart = low in _OF_DOER or (where & lists.SITES if told else low == "from")
        return Place.OBJECT if adjacent and not apart else None  # not "discuss politics around a desk"
    if low == "as" and "VBZ" in verb_tags(tree.words[end - 1].text):
        return None  # "as a building collapses"
    definite = tree.is_person(noun) and adjacent and "the" in {tree.words[n].text for n in tree.children[noun]}
    who = {"that", "who", "which"} & {word.text for word in tree.words[child:end]}
    if (definite or who) and low in ("in", "on", "at"):
        return None  # "touches the person in the driver seat"
    return (Place.LAST if clause else Place.VERB) if low in _OF_VERB else None


def _of_clause(tree: Sentence, verb: int, noun: int, *, child: int) -> Place | None:
    """Where a participle, an infinitive or a clause of its own goes."""
    word, does = tree.words[child], tree.words[verb].lemma
    start = tree.span(child)[0]
    marks = {tree.words[n].text for n in tree.children[child] if n < child and tree.words[n].dep in ("mark", "aux")}
    if word.dep == "acl" and word.tag == "VBN":
        own = tree.is_person(noun) or word.lemma != "dress"  # "raps a song dressed as a ninja"
        return Place.OBJECT if own and word.lemma not in ("follow", "accompany", "set", "join") else None
    if tree.words[start].text == "to" and tree.words[noun].lemma in {"way", *lists.SPEECHES} and start == noun + 1:
        return Place.OBJECT  # "instructions to use a tool"
    if tree.words[start].text == "to":
        asked = tree.is_person(noun) and does not in _ASKING
        return None if tree.child(child, "auxpass") is not None or does in lists.REGARDING or asked else Place.LAST
    if word.tag == "VBG" and word.dep == "acl" and _tells_of_object(tree, verb, noun, child=child):
        return Place.OBJECT
    if word.tag == "VBG" and not marks - {"to", "while", "whilst"}:
        if tree.child(child, "nsubj") is not None:
            return Place.LAST  # "while others watching"
        stays = word.lemma in ("wear", "sit", "stand") and not tree.is_person(noun) and does not in lists.PERCEIVING
        return Place.AGENT if marks or word.text == "using" or does == "wear" or stays else None
    when = word.dep == "advcl" and word.tag != "VBG" and marks & lists.CLAUSE_WORDS
    if when or tree.words[start].text in lists.CLAUSE_WORDS:
        return Place.LAST if tree.child(child, "nsubj", "nsubjpass") is not None else None
    return None


def _tells_of_object(tree: Sentence, verb: int, noun: int, *, child: int) -> bool:
    word, does = tree.words[child], tree.words[verb].lemma
    if does in lists.PERCEIVING | _TELLING or (does in ("talk", "speak", "look", "listen") and tree.is_person(noun)):
        return True
    return word.lemma in lists.TELLS_ITSELF | {"call", "name"} or tree.child(child, "auxpass") is not None


def _joins(tree: Sentence, start: int, end: int) -> bool:
    """Whether what "and" joins in a phrase may be joined to something else: "to a friend and scores"."""
    for n in range(start, end - 1):
        before, word = tree.words[n - 1], tree.words[n + 1]
        after = tree.words[n + 2].tag if n + 2 < len(tree.words) else ""
        acts = before.tag != "NNS" or after in ("DT", "IN", "RP", "TO", "PRP$")
        forms = verb_tags(word.text) if acts else verb_tags(word.text) - {"VBZ"}
        if tree.words[n].dep == "cc" and (word.tag in ("DT", "PRP$") or forms & {"VBG", "VBZ"}):
            return True
    return False
