"""The words of a verb in a parsed caption, its object, and what follows the two."""

from typing import NamedTuple

from video_contrast.perturbations.contrast.generators.frames.tree import NOUNS
from video_contrast.perturbations.language import lemma, verb_tags
from video_contrast.perturbations.language.morphology import is_noun
from video_contrast.perturbations.text.imperative import participle
from video_contrast.perturbations.text.passive_parsed.belongs import OF_PLACE
from video_contrast.perturbations.text.passive_parsed.number import is_plural
from video_contrast.perturbations.text.passive_parsed.sentence import Sentence, is_bound, is_person
from video_contrast.perturbations.text.passive_parsed.subjects import planned
from video_contrast.perturbations.text.passive_parsed.tails import Object, Tail, object_parts, tells_of, verb_tail
from video_contrast.perturbations.text.passive_parsed.words import EXPLAINING, LIGHT, REGARDING, SAID_OF, STATES
from video_contrast.perturbations.text.passive_words import ALONE, HAD, NO_PASSIVE, ROUTES, TWO_OBJECTS, WHERE_AND_HOW

_ACTS = frozenset(("play", "read", "drive", "lecture"))


class Predicate(NamedTuple):
    """The words of a verb: auxiliaries, adverbs in front of it, the verb, and what stays directly behind it."""

    auxiliaries: tuple[int, ...]
    adverbs: tuple[int, ...]
    verb: int
    particles: tuple[int, ...]
    plan: tuple[str, ...] = ()  # "going to"


class Done(NamedTuple):
    """A verb with an object that can be a subject. `gift` is what else is given: "is given | a ring"."""

    group: Predicate
    thing: Object
    gift: tuple[int, int] | None
    tails: tuple[Tail, ...]
    further: int | None  # a verb that "and" joins to it
    end: int


def done_by(tree: Sentence, verb: int) -> Done | None:
    """The object of a verb and what follows it; None where the two make no passive.

    Args:
        tree: of the caption.
        verb: the place of the verb.
    """
    word = tree.words[verb]
    if (
        word.tag not in ("VB", "VBZ", "VBP", "VBD", "VBG", "VBN")
        or not _is_verb(word.text, word.tag)
        or not participle(word.lemma).isalpha()
    ):
        return None
    right = [n for n in tree.children[verb] if n > verb]
    found = _object(tree, verb, right)
    if found is None:
        return None
    head, particles, gift, used = found
    unknown = ("dep", "parataxis", "auxpass", "attr", "agent", "ccomp")
    if any(tree.words[n].dep in unknown for n in tree.children[verb] if n not in used):
        return None
    if not _agrees(tree, verb, head):
        return None
    thing = object_parts(tree, verb, head)
    if thing is None or not can_be_subject(tree, thing):
        return None
    further, end = None, thing.end
    tails: list[Tail] = list(thing.tails)
    behind_preposition = bool(particles)
    if behind_preposition and tails:
        return None
    if tails:
        end = tails[-1].end
    if gift is not None:
        end = gift[1]
    behind = next((n for n in right if tree.descend(n)[0] == end), None)
    if behind is not None and not tails and gift is None and tells_of(tree, verb, head, behind):
        used.add(behind)
        end = tree.descend(behind)[1] + 1
        thing = thing._replace(end=end)
        if not can_be_subject(tree, thing):
            return None
    for child in right:
        dep = tree.words[child].dep
        if child in used or dep == "cc":
            continue
        if dep == "punct" and child > verb:
            if tree.words[child].text in (".", "!"):
                continue
            return None
        if dep == "prt" or (dep in ("advmod", "acomp") and child == verb + 1 < thing.start):
            if word.lemma in ROUTES | ALONE and tree.words[child].text not in said_of(word.lemma):
                return None
            particles = (*particles, child)
            end = max(end, child + 1)
            continue
        if dep == "conj":
            if further is not None:
                return None
            further = child
            continue
        if child < thing.start:
            return None
        tail = verb_tail(tree, verb, child)
        if tail is None or further is not None or (behind_preposition and not tail.late):
            return None
        tails.append(tail)
        end = max(end, tail.end)
    if behind_preposition and _holds_place(tree, thing):
        return None  # "talks about a story in a cartoon"
    group = group_of(tree, verb, particles)
    known = {*particles, *range(thing.start, thing.end), *(range(*gift) if gift else ())}
    known |= {n for tail in tails for n in range(tail.start, tail.end)}
    last = tree.descend(further)[0] - 1 if further is not None else tree.descend(verb)[1] + 1
    whole = [n for n in range(verb + 1, max(last, end)) if tree.words[n].dep != "punct"]
    return Done(group, thing, gift, tuple(tails), further=further, end=end) if known.issuperset(whole) else None


def group_of(tree: Sentence, verb: int, particles: tuple[int, ...]) -> Predicate:
    """The words of a verb in front of its object.

    Args:
        tree: of the caption.
        verb: the place of the verb.
        particles: the places of what stays directly behind the verb.
    """
    if planned(tree, verb):
        outer = group_of(tree, tree.words[verb].head, ())
        return outer._replace(verb=verb, particles=tuple(sorted(particles)), plan=("going", "to"))
    subject = tree.child(verb, "nsubj")
    before = [n for n in tree.children[verb] if (-1 if subject is None else subject) < n < verb]
    auxiliaries = [n for n in before if tree.words[n].dep == "aux"]
    adverbs = [n for n in before if tree.words[n].dep in ("neg", "advmod") and tree.words[n].text != "how"]
    return Predicate(tuple(auxiliaries), tuple(adverbs), verb, tuple(sorted(particles)))


def _holds_place(tree: Sentence, thing: Object) -> bool:
    return any(word.dep == "prep" and word.text in OF_PLACE for word in tree.words[thing.start : thing.end])


def said_of(verb: str) -> tuple[str, ...]:
    """The prepositions with which a verb has a passive: "is talked about"; nobody says "a track is raced around"."""
    return SAID_OF.get(verb, ())


def _is_verb(text: str, tag: str) -> bool:
    return tag in verb_tags(text) or text in ("preforming", "preforms", "preform")


def _agrees(tree: Sentence, verb: int, head: int) -> bool:
    """Whether a verb agrees with its subject or an article follows ("a man play a guitar"); else it may be a noun."""
    word, own = tree.words[verb], tree.child(verb, "nsubj")
    opens = tree.words[tree.descend(head)[0]].tag in ("DT", "CD", "PRP$")
    if tree.words[head].tag[:2] == "VB":
        return True
    ing = tree.words[tree.descend(head)[0]].tag == "VBG" and word.lemma in EXPLAINING | REGARDING
    opens = opens and word.tag != "VBZ"
    if own is None or opens or word.tag not in ("VBZ", "VBP", "VB") or tree.child(verb, "aux") is not None:
        return not ing  # "demonstrates cooking skewers"
    first, last = tree.descend(own)
    if (
        is_noun(word.text)
        and any(tree.words[n].dep == "acl" for n in range(first, last + 1))
        and tree.words[head - 1] == word
    ):
        return False  # "women evaluating a young mans fashion style"
    plural = is_plural(tree, first, last + 1, own)
    return tree.words[own].tag == "PRP" or (plural in (None, word.tag != "VBZ") and not ing)


def _object(
    tree: Sentence, verb: int, right: list[int]
) -> tuple[int, tuple[int, ...], tuple[int, int] | None, set[int]] | None:
    """The head noun of the object, the preposition in front of it, what is given, and the places that are used up."""
    base = tree.words[verb].lemma
    things = [n for n in right if tree.words[n].dep == "dobj"]
    given = [n for n in right if tree.words[n].dep == "dative" and tree.words[n].tag in NOUNS]
    if len(things) > 1:
        return None
    if not things and base in EXPLAINING:
        told = next((n for n in right if tree.words[n].dep in ("xcomp", "ccomp")), None)
        finite = tree.words[verb].tag != "VBG" or tree.child(verb, "aux") is not None
        if told is not None and not finite:
            return None  # "how to use a toy being shown" is a toy being shown
        if told is not None:
            return (told, (), None, {told}) if _told(tree, verb, told) and tree.descend(told)[0] == verb + 1 else None
    if things and tree.words[things[0]].tag[:2] == "VB":
        return None
    if things:
        if (
            (base in NO_PASSIVE | STATES and not (base == "have" and tree.words[things[0]].lemma in HAD))
            or (base, tree.words[things[0]].lemma) in LIGHT
            or (base, tree.words[things[0]].text) in LIGHT
        ):
            return None
        if given:
            gift = tree.descend(things[0])
            if base not in TWO_OBJECTS or given[0] > things[0] or tree.descend(given[0])[1] + 1 != gift[0]:
                return None
            return given[0], (), (gift[0], gift[1] + 1), {given[0], things[0]}
        return things[0], (), None, {things[0]}
    if given:
        return None
    for child in right:
        word = tree.words[child]
        if word.dep == "prep" and word.text in said_of(base):
            thing = tree.child(child, "pobj", "pcomp")
            if thing is not None and tree.words[thing].dep == "pcomp":
                return None  # "talks about having a cold"
            if word.text == "to" and thing is not None and tree.words[thing].lemma == "camera":
                return None
            between = [n for n in right if n < child and tree.words[n].dep not in ("prt", "prep")]
            later = next((tree.words[n] for n in right if n > child), None)
            if (
                later is not None
                and later.tag == "VBG"
                and thing is not None
                and tree.descend(child)[1] + 1 == right[right.index(child) + 1]
            ):
                return None  # "talking about someone winning an award"
            if thing is None or between or len([n for n in tree.children[child] if n != thing]) or child != verb + 1:
                return None
            return thing, (child,), None, {child}
        if word.dep == "prep":
            return None
    return None


def _told(tree: Sentence, verb: int, told: int) -> bool:
    """Whether a clause is what is told and nothing else follows the verb: "shows | how to fold a plane"."""
    first, last = tree.descend(told)
    words = tree.words[first : last + 1]
    if len(words) < 2:
        return False
    doing = words[0].tag == "VBG" and first == told
    wh = words[0].text in ("how", "what", "why", "where")
    others = ("advcl", "punct", "relcl", "dep", *(("ccomp", "nsubj") if doing or words[1].text == "to" else ()))
    return (doing or wh) and tree.descend(verb)[1] == last and not any(word.dep in others for word in words)


def can_be_subject(tree: Sentence, thing: Object) -> bool:
    """Whether an object can open a clause: no pronoun of someone who comes later, number that its words agree on."""
    head = tree.words[thing.head]
    if any(word.dep == "prep" and word.text == "with" for word in tree.words[thing.head : thing.end]):
        return False  # "leaves a house with a dog": who has the dog?
    if head.text in ("something", "someone", "somebody", "anything") and thing.end > thing.head + 1:
        return False  # "explains something showing a board"
    first = next((n for n in tree.children[thing.head] if tree.words[n].dep == "conj"), thing.end)
    if any(
        tree.words[n].dep == "compound" and tree.words[n].tag == "NNS" and is_person(tree, n)
        for n in tree.children[thing.head]
    ):
        return False  # "asks three girls questions"
    before = tree.words[thing.head - 1]
    someone = thing.head > thing.start and before.tag == "NN" and is_person(tree, thing.head - 1)
    if someone and (tree.words[head.head].lemma in TWO_OBJECTS or lemma(head.text, "VB") in ALONE | _ACTS):
        return False  # "offers a girl alcohol", "listens to a man talk"
    told = head.tag[:2] == "VB"
    some = head.text == "one" and tree.words[thing.head - 1].text == "some"
    if (head.tag not in NOUNS and not told and not some) or is_bound(tree, thing.start, thing.end, other=first):
        return False
    inside = [tree.words[n] for n in range(thing.start, thing.end)]
    if any(word.dep in ("dep", "nsubj") and word.text not in ("who", "that", "which") and not told for word in inside):
        return False
    if inside[0].tag in ("IN", "TO", "WRB") and not told:
        return False  # "about a couple" is read as a number
    of = next((n for n in tree.children[thing.head] if tree.words[n].text == "of"), None)
    if of is not None and tree.words[head.head].lemma in ("accuse", "rob", "remind", "convince", "inform", "warn"):
        return False
    if tree.words[head.head].tag == "VBD" and inside[0].tag == "NN":
        return False  # "a plant covered hillside"
    if head.text in WHERE_AND_HOW | {"underwater", "home", "overseas"} and thing.end == thing.start + 1:
        return False
    if head.text.endswith("ing") and is_person(tree, thing.head - 1) and thing.head > thing.start:
        return False  # "holding a baby kissing and ..."
    ing = [
        n for n in range(thing.start, thing.end) if tree.words[n].text.endswith("ing") and tree.words[n].tag != "VBN"
    ]
    if tree.words[head.head].lemma == "wear" and ing:
        return False  # "a team wearing red playing football"
    acts = ALONE | EXPLAINING
    if any(word.dep == "conj" and word.tag == "NNS" and lemma(word.text, "VBZ") in acts for word in inside):
        return False  # "wears glasses and talks about movies"
    if any(tree.words[n].tag == "VBG" and tree.words[n - 1].tag in NOUNS and tree.words[n].dep == "amod" for n in ing):
        return False  # "flies through the air collecting coins"
    if any(tree.words[n - 1].dep == "cc" and "VBG" in verb_tags(tree.words[n].text) for n in ing if n > thing.start):
        return False  # "driving a car and speaking spanish"
    return not any(word.tag in ("PRP", "PRP$") and word.text not in ("you", "your") for word in inside)
