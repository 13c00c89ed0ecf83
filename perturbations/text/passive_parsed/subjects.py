"""The subject of a verb in a parsed caption, where it could be the agent of a passive."""

from collections.abc import Iterator
from typing import NamedTuple

from video_contrast.perturbations.contrast.generators.frames.tree import NOUNS
from video_contrast.perturbations.text.passive_parsed.sentence import Sentence, is_person
from video_contrast.perturbations.text.passive_parsed.words import CLOTHES, CROWDS, SHOWING, TELLING_THAT
from video_contrast.perturbations.text.passive_words import TELLS_ITSELF

_NO_SUBJECT = frozenset("who that which what there whom whose this these those here it".split())  # noqa: SIM905


class Subject(NamedTuple):
    """The words of a subject and its head noun."""

    start: int
    end: int
    head: int


def verbs(tree: Sentence) -> Iterator[int]:
    """The places of verbs, those of outer clauses first."""
    depth = []
    for place, word in enumerate(tree.words):
        if word.tag[:2] == "VB" and word.lemma not in ("be",):
            steps, at = 0, place
            while tree.words[at].head != at and steps < 50:
                at, steps = tree.words[at].head, steps + 1
            depth.append((steps, place))
    return (place for _, place in sorted(depth))


def subject_of(tree: Sentence, verb: int) -> Subject | None:
    """The subject that stands right in front of a verb's words; None where there is none that could be an agent."""
    own = tree.child(verb, "nsubj")
    word = tree.words[verb]
    if planned(tree, verb):
        return subject_of(tree, word.head)
    if word.dep not in ("ROOT", "conj", "advcl", "ccomp", "acl", "relcl", "pcomp"):
        return None
    if own is not None:
        first, last = tree.descend(own)
        if last >= verb or tree.words[own].text in _NO_SUBJECT:
            return None
        if any(word.text in ("whom", "whose", "which") for word in tree.words[first : last + 1]):
            return None  # "one of whom"
        before = tree.words[first - 1] if first else None
        if before is not None and (
            (before.tag == "IN" and before.dep == "prep") or before.tag in ("DT", "JJ", "PRP$", "CD")
        ):
            return None
        if tree.words[verb - 1].tag == "VBG":
            return None  # "walking threw a forest"
        if (word.dep == "ccomp" and verb < word.head) or any(
            n < first for n in tree.children[verb] if tree.words[n].dep in ("ccomp", "parataxis")
        ):
            return None  # two sentences without a mark between them
        told = tree.child(verb, "mark", "advmod") is not None or tree.words[word.head].lemma in TELLING_THAT
        told = told or tree.child(word.head, "expl") is not None
        if word.dep == "ccomp" and not told:
            return None
        bare = word.tag in ("VB", "VBP") and word.dep in ("ccomp", "xcomp", "pcomp") and tree.child(verb, "aux") is None
        return None if bare else _checked(tree, Subject(first, last + 1, own))
    if word.dep == "acl" and word.tag == "VBG" and word.head < verb and tree.words[word.head].tag in NOUNS:
        return _described(tree, verb)
    return None


def planned(tree: Sentence, verb: int) -> bool:
    """Whether a verb stands behind "is going to"."""
    word = tree.words[verb]
    return word.dep == "xcomp" and verb == word.head + 2 and tree.words[word.head].text == "going" and word.tag == "VB"


def _described(tree: Sentence, verb: int) -> Subject | None:
    """The noun that a participle follows, where no other clause has that noun: "a man playing"."""
    head = _doer(tree, verb)
    top = head
    while tree.words[top].dep == "conj" and tree.words[tree.words[top].head].tag in NOUNS:
        top = tree.words[top].head
    if top != head and any(tree.words[n].dep in ("acl", "relcl") for n in tree.children[top]):
        top = head
    elif not _may_change(tree, top):
        return None
    itself = tree.words[verb].lemma in TELLS_ITSELF and not is_person(tree, head)
    if (itself or tree.words[verb].lemma == "wear") and tree.words[top].dep != "ROOT":
        return None
    first, whole = tree.descend(top)
    start, last = tree.descend(verb)
    if last != whole:
        return None
    while start < verb and tree.words[start].dep == "advmod" and not tree.words[start].text.endswith("ly"):
        start += 1  # "a girl outdoors | jumping"
    return _checked(tree, Subject(first, start, head))


def _doer(tree: Sentence, verb: int) -> int:
    """The noun that a participle tells of: not "shirt" in "a man in a shirt kicking", but the man."""
    at = noun = tree.words[verb].head
    if tree.words[noun].tag == "NNP":
        return noun
    while not is_person(tree, noun) or tree.words[tree.words[at].head].text == "of":
        word = tree.words[at]
        over = tree.words[word.head]
        if word.dep == "pobj" and tree.words[over.head].tag in NOUNS:
            if is_person(tree, noun) and tree.words[over.head].lemma not in CROWDS:
                break  # "a picture of players | swinging bats"
            at = over.head
            if tree.words[at].lemma in SHOWING - CROWDS or (over.text == "with" and not is_person(tree, at)):
                break
        elif word.dep == "pobj" and tree.words[over.head].dep == "acl" and tree.child(over.head, "dobj") is None:
            at = tree.words[over.head].head
            if tree.words[at].tag not in NOUNS:
                break
        else:
            break
        if is_person(tree, at) or tree.words[at].lemma in CROWDS:
            noun = at
    return noun


def _may_change(tree: Sentence, noun: int) -> bool:
    word = tree.words[noun]
    over = tree.words[word.head]
    if word.dep == "ROOT" or word.head == noun:
        return True
    if word.dep == "attr" and over.lemma == "be" and tree.child(word.head, "expl") is not None:
        return True
    if word.dep == "pobj":
        return over.text in ("of", "with", "about", "showing") and (
            (over.text == "with" and is_person(tree, noun) and tree.words[over.head].tag in NOUNS)
            or tree.words[over.head].lemma in SHOWING
        )
    shows = over.lemma in ("show", "feature", "depict", "display", "include", "involve", "watch", "see", "film")
    return word.dep == "dobj" and shows


def _checked(tree: Sentence, subject: Subject) -> Subject | None:
    head = tree.words[subject.head]
    if tree.words[subject.start].tag == "IN":
        return None  # "in the kitchen someone"
    if head.text == "you" or tree.words[subject.start].text in ("its", "it"):
        return None
    if head.tag not in (*NOUNS, "PRP", "DT", "CD", "JJ") or head.text in _NO_SUBJECT:
        return None
    inside = [tree.words[n] for n in range(subject.start, subject.end)]
    if head.lemma in CLOTHES:
        return None  # "a man wears a white dress explaining something"
    if inside[-1].tag == "CC" or inside[-1].text in ("test", "then"):
        return None  # "writing a letter and | adds", "a man test | driving"
    front = tree.words[: subject.start]
    if len(front) > 1 and front[-1].text == "as" and front[-2].tag == "VBN":
        return None  # "a person dressed as santa | is giving a lesson"
    if front and front[-1].tag in NOUNS and not any(word.tag in ("IN", "TO", "WRB", ",") for word in front):
        return None  # "a game show competition | the crowd waiting for results"
    if any(word.dep in ("dep", "appos", "npadvmod") and word.tag[:2] == "NN" for word in inside):
        return None
    if (
        not is_person(tree, subject.head)
        and head.tag == "NN"
        and any(word.tag == "VBG" and word.dep == "acl" for word in inside)
    ):
        return None  # "a broadcast showing a man giving a speech"
    if any(word.dep == "dep" or word.text == "displaying" for word in inside) or inside[-1].text == ",":
        return None  # "a girl sitting inside displaying on screen": notes, no sentence
    return subject
