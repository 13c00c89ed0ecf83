"""The object of a verb, direct or behind a preposition that stays with the verb ("is talked about"), and its passive.

Most verbs with an object have a passive, but for states ("costs a lot"), light verbs ("takes a look") and objects that
name someone through the agent ("his hands", "each other"), since the object would come before whom it means.
"""

from collections.abc import Container
from typing import NamedTuple

from video_contrast.perturbations.contrast.generators.frames.tree import NOUNS
from video_contrast.perturbations.language import lemma, verb_tags
from video_contrast.perturbations.text.passive import lists
from video_contrast.perturbations.text.passive.number import is_plural
from video_contrast.perturbations.text.passive.sentence import NounPhrase, Refused, Sentence, Why, refuse
from video_contrast.perturbations.text.passive.tails import Place, Tail, object_and_tails, tail_of

_QUESTION = ("how", "what", "why", "where")


class Done(NamedTuple):
    """What is done: the object, the particles of its verb, what follows, and a verb joined to its own by "and"."""

    phrase: NounPhrase
    plural: bool
    particles: tuple[int, ...]
    tails: tuple[Tail, ...]
    further: int | None
    end: int


def done_by(tree: Sentence, verb: int) -> Done:
    """What a verb does to its object, with all that follows the two.

    Raises:
        Refused: the two make no passive, or a word behind them has no known part.
    """
    word = tree.words[verb]
    refuse(Why.NO_VERB, word.tag not in verb_tags(word.text) and word.lemma != "preform")
    head, preposition = _object(tree, verb)
    phrase, tails = object_and_tails(tree, verb, head)
    particles: list[int] = [] if preposition is None else [preposition]
    further: int | None = None
    for child in (n for n in tree.children[verb] if n > verb):
        dep = tree.words[child].dep
        if child in (head, preposition) or dep in ("dobj", "cc"):
            continue
        if child < phrase.start and (dep == "prt" or child == verb + 1 == phrase.start - 1):
            refuse(Why.NO_VERB, tree.words[child].text == "about")  # "are taking about a woman"
            particles.append(child)
        elif dep == "prt" and child == phrase.end:
            particles.append(child)  # "takes his hat off": "is taken off"
        elif dep == "conj" and further is None:
            further = child
        else:
            tail = tail_of(tree, verb, phrase.head if tails else phrase.end - 1, child=child)
            if tail.place is Place.OBJECT:
                phrase = phrase._replace(end=tail.end)
            else:
                tails.append(tail)
    if particles and preposition is None and word.lemma in lists.ROUTES | lists.ALONE:
        raise Refused(Why.NO_PASSIVE)  # "drives down a road"
    to = {"talk": "to", "speak": "to", "dance": "to", "play": "with", "show": "off"}
    about = preposition is not None and tree.words[preposition].text != to.get(word.lemma)
    about = about and (tree.words[preposition or 0].text not in ("to", "with", "at") or not tree.is_person(phrase.head))
    aside = [tail for tail in tails if tree.words[tail.start].dep == "prep" and tree.words[tail.start].text != "about"]
    aside += [tail for tail in tails if tail.place is Place.VERB and tree.words[tail.start].dep != "prep"]
    if about and (aside or _holds_place(tree, phrase.start, phrase.end)):
        raise Refused(Why.TAIL)  # "talks about a story in a cartoon"
    if {tree.words[n].text for n in particles} & {tree.words[tail.start].text for tail in tails}:
        raise Refused(Why.TAIL)  # "is pointed at at a picture"
    _check(tree, verb, phrase)
    plural = is_plural(tree, phrase)
    if plural is None:
        raise Refused(Why.NUMBER)
    end = max([phrase.end, *(n + 1 for n in particles), *(tail.end for tail in tails)])
    known = {*particles, *range(phrase.start, phrase.end)}
    known |= {n for tail in tails for n in range(tail.start, tail.end)}
    last = tree.span(verb)[1] if further is None else tree.span(further)[0] - 1
    refuse(Why.TAIL, any(n not in known for n in range(verb + 1, max(last, end))))
    return Done(phrase, plural, tuple(sorted(particles)), tuple(tails), further=further, end=end)


def _object(tree: Sentence, verb: int) -> tuple[int, int | None]:
    """The chief word of the object, and the preposition in front of it."""
    base = tree.words[verb].lemma
    right = [n for n in tree.children[verb] if n > verb]
    objects = [n for n in right if tree.words[n].dep == "dobj"]
    if objects:
        noun = tree.words[objects[0]]
        spoken = base == "speak" and noun.lemma not in lists.LANGUAGES
        refuse(Why.OBJECT, noun.tag[:2] == "VB" or noun.text == "make" or spoken)
        light = {noun.lemma, noun.text} & lists.LIGHT.get(base, frozenset())
        refuse(Why.NO_PASSIVE, len(objects) > 1 or base in lists.NO_PASSIVE or light)
        if any(tree.words[n].dep == "dative" and tree.words[n].tag in (*NOUNS, "PRP") for n in right):
            raise Refused(Why.OBJECT)  # "gives a girl a ring"
        return objects[0], None
    clause = next((n for n in right if tree.words[n].dep in ("xcomp", "ccomp")), None)
    if clause is not None and base in lists.EXPLAINING - {"talk", "speak", "comment", "argue"}:
        return _told(tree, verb, clause), None
    first = right[0] if right else verb
    by = tree.words[first].text
    place = tree.child(first, "pobj", "pcomp")
    if place is None or first != verb + 1 or len(tree.children[first]) > 1 or by not in lists.SAID_OF.get(base, ()):
        raise Refused(Why.NO_OBJECT)
    device = by == "to" and tree.words[place].lemma in lists.DEVICES
    refuse(Why.NO_PASSIVE, device)  # "the camera is talked to"
    some = lists.SOME_ONLY.get((base, by))
    if some and tree.words[place].lemma not in some and not tree.is_person(place):
        raise Refused(Why.NO_OBJECT)  # "rides on a road"
    if tree.words[place].dep == "pcomp":
        return _told(tree, first, place), first
    return place, first


def _told(tree: Sentence, before: int, clause: int) -> int:
    """A clause as what is told: "shows | how to fold a plane"; of "X being shown" the X is a thing, no clause."""
    start, end = tree.span(clause)
    finite = tree.words[before].tag != "VBG" or tree.child(before, "aux") is not None
    head = tree.words[before].head if tree.words[before].dep == "prep" else before
    finite = finite and (tree.words[head].tag != "VBG" or tree.child(head, "aux") is not None)
    dancers = tree.child(clause, "dobj") == clause + 1  # "dancing children"
    doing = tree.words[start].tag == "VBG" and start == clause and not dancers
    whole = start == before + 1 and tree.span(head)[1] == end and not _holds_place(tree, start, end, lists.SITES)
    inside = tree.words[start + 1 : end]
    whole = whole and not any(w.text in ("while", "as", "when") and w.dep in ("mark", "advmod") for w in inside)
    refuse(Why.OBJECT, not whole or not finite or not (doing or tree.words[start].text in _QUESTION))
    return clause


def _holds_place(tree: Sentence, start: int, end: int, places: Container[str] | None = None) -> bool:
    """Whether words hold "in", "on" or "at" (with one of these places)."""
    nouns = [tree.child(n, "pobj") for n in range(start, end) if tree.words[n].text in ("in", "on", "at")]
    return any(noun is not None and (places is None or tree.words[noun].lemma in places) for noun in nouns)


def _check(tree: Sentence, verb: int, phrase: NounPhrase) -> None:
    """Refuses objects that cannot open a clause, and those that the parser is known to misread."""
    head, does = tree.words[phrase.head], tree.words[verb]
    inside = tree.words[phrase.start : phrase.end]
    is_clause = head.tag[:2] == "VB"
    joined = next((n for n in tree.children[phrase.head] if tree.words[n].dep == "cc"), phrase.end)
    texts = [word.text for word in inside]
    apart = {"other"} & set(texts[joined - phrase.start :])  # "plots and other data"
    refuse(Why.BOUND, (lists.BOUND | lists.OTHERS - apart).intersection(texts))
    one = head.text == "one" and "of" in texts[1:2]
    named = {word.tag for word in inside if word.text not in ("you", "your")} & {"PRP", "PRP$"}
    refuse(Why.BOUND, (head.tag not in NOUNS and not is_clause and not one) or named)
    refuse(Why.NO_PASSIVE, texts[-1] in lists.WHERE | lists.ADVERB_NOUNS or head.text.endswith(("self", "selves")))
    if not is_clause and (
        {"dep", "nsubj"} & {word.dep for word in inside if word.text not in ("who", "that", "which")}
        or inside[0].tag in ("IN", "TO", "WRB")
        or any(word.dep == "conj" and word.tag == "JJ" and word.start > head.start for word in inside)
        or {"something", "as"} & {tree.words[n].text for n in tree.children[phrase.head] if n < phrase.end}
        or any(word.text == "with" and word.dep == "prep" for word in inside)
    ):
        raise Refused(Why.OBJECT)
    refuse(Why.NO_VERB, does.tag == "VBD" and inside[0].tag == "NN")  # "a plant covered hillside"
    last = tree.words[phrase.end - 1]
    acting = last is head and "VBG" in verb_tags(last.text) and len(inside) > 1 and inside[-2].tag in NOUNS
    acting = acting and does.lemma not in lists.REGARDING | {"do", "practice", "play"}
    refuse(Why.SECOND_VERB, acting)  # "drives a jeep talking"
    two = does.lemma in ("feed", "serve", "hand", "offer", "send", "ask", "tell")
    compound = inside[0].dep == "det" and "compound" in {word.dep for word in inside}
    refuse(Why.OBJECT, two and compound)  # "feeding an animal grass"
    taken = does.lemma in ("remove", "take", "pull", "get", "pick")
    if taken and any(word.dep == "prep" and word.text in ("from", "out") for word in inside):
        raise Refused(Why.TAIL)  # "removes a mug full of apples from a microwave"
    refuse(Why.OBJECT, does.lemma == "help" and "VB" in verb_tags(inside[0].text))  # "are helping rescue dogs"
    people = lists.MALE | lists.FEMALE | {"people", "person"}
    person = any(word.text in people and word.dep == "compound" for word in inside)
    act = does.lemma in lists.PERCEIVING | {"listen", "look"} and "VB" in verb_tags(head.text)
    if person and (act or does.lemma in lists.TWO_OBJECTS or head.text.endswith("ing")):
        raise Refused(Why.OBJECT)  # "offers a girl alcohol", "listens to a man talk"
    for n in range(phrase.start + 1, phrase.end):
        word, before = tree.words[n], tree.words[n - 1]
        forms = {word.text, lemma(word.text, "VBZ")} if word.tag in NOUNS else set()
        act = "VBG" in verb_tags(word.text) or not forms.isdisjoint(lists.ALONE | lists.REGARDING | {"sign", "score"})
        worn = does.lemma == "wear" and act
        moved = word.tag == "VBG" and (word.dep == "conj" or (word.dep == "amod" and before.tag in NOUNS))
        if act and (worn or before.dep == "cc" or moved):
            raise Refused(Why.SECOND_VERB)  # "driving a car and speaking spanish", "the air collecting coins"
