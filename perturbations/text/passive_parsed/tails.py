"""What stands behind a verb in a parsed caption: what belongs to its object, to the verb, to the agent.

An "early" tail goes with the verb and stays beside it ("is cut with a knife by a man"); a "late" one goes with the
agent or the whole clause and stays behind them ("by a man wearing a hat", "by a man while music plays"). What may go
with either of two words makes no passive.
"""

from collections.abc import Iterable
from typing import NamedTuple

from video_contrast.perturbations.contrast.generators.frames.tree import NOUNS
from video_contrast.perturbations.text.passive_parsed.belongs import (
    OF_PLACE,
    THINKING,
    goes_with,
    has_clause,
    is_about,
    is_means,
    joins,
    phrase_goes_with,
    span,
)
from video_contrast.perturbations.text.passive_parsed.sentence import Sentence, is_bound, is_person
from video_contrast.perturbations.text.passive_parsed.words import EXPLAINING, GIVING, PLANS
from video_contrast.perturbations.text.passive_words import (
    CLAUSES,
    ROUTES,
    TELLING,
)

_BESIDE = frozenset("in on at with about to during while inside outside as using over near after before".split())  # noqa: SIM905


_MOST_EARLY = 8  # words between a verb and its agent


class Tail(NamedTuple):
    """Words `start` to `end` (past the last) behind a verb, and whether they stay behind the agent."""

    start: int
    end: int
    late: bool


class Object(NamedTuple):
    """The words of an object, its head noun, and what the parser hung on it that goes with the verb or the agent."""

    start: int
    end: int
    head: int
    tails: tuple[Tail, ...]


def object_parts(tree: Sentence, verb: int, head: int) -> Object | None:
    """The object whose head noun is `head`; None where it cannot be told what belongs to it.

    Args:
        tree: of the caption.
        verb: the place of the verb.
        head: the place of the noun.
    """
    first, last = tree.descend(head)
    end, node = last + 1, head
    tails: list[Tail] = []
    if first <= verb:
        return None
    if tree.words[head].tag[:2] == "VB":
        return Object(first, end, head, ())
    while True:
        right = [n for n in tree.children[node] if node < n < end]
        if not right:
            break
        child = tree.words[right[-1]]
        if child.dep == "conj" and child.tag in (*NOUNS, "CD"):
            node = right[-1]
            continue
        inner = tree.child(right[-1], "pobj") if child.dep == "prep" and child.text == "of" else None
        if inner is not None:
            node = inner
            continue
        goes = goes_with(tree, verb, node, right[-1])
        if goes == "verb" and node != head and child.text in ("for", "from", "with", "to"):
            goes = "object"  # "a video of a logo for a cafe"
        if goes is None:
            return None
        if goes == "object":
            break
        start = tree.descend(right[-1])[0]
        if joins(tree, start, end - 1) or is_bound(tree, start, end):
            return None  # "attacks a goat walking towards him"
        tails.insert(0, Tail(start, end, goes == "agent" or has_clause(tree, right[-1])))
        end = start
    return Object(first, end, head, tuple(tails))


def verb_tail(tree: Sentence, verb: int, child: int) -> Tail | None:
    """A dependent of the verb behind its object as a tail; None where the rules do not know it.

    Args:
        tree: of the caption.
        verb: the place of the verb.
        child: the place of the dependent.
    """
    word = tree.words[child]
    first, last = tree.descend(child)
    if tree.words[first].text in ("such", "then") or (is_about(tree, verb) and word.text == "for"):
        return None
    if tree.words[first].text in ("how", "what", "why", "where") and tree.words[verb].lemma not in TELLING | {"show"}:
        return None
    if word.text == "as" and word.dep == "prep" and last > first + 2:
        return None  # "as the music plays"
    if (word.dep == "prep" and joins(tree, first, last)) or tree.words[last].tag == "CC":
        return None
    if word.dep in ("prep", "dative") and word.tag in ("IN", "TO", "RP", "RB", "VBG"):
        if word.text in ("by", "like", "than", "of", "because", "about") and not (
            word.text == "about" and tree.words[verb].lemma in TELLING | EXPLAINING | {"sing", "write"}
        ):
            return Tail(first, last + 1, True) if word.text in ("like", "because") else None
        if any(
            tree.words[n].tag in ("VBZ", "VBP", "VBD", "MD") and tree.words[n].dep == "conj"
            for n in range(first, last + 1)
        ):
            return None  # "onto her eyebrows and talks"
        if tree.child(verb, "dobj") is None and tree.words[verb].lemma not in ROUTES and word.text not in _BESIDE:
            return None  # "searches for an entry into a roof"
        its = tree.words[verb].lemma in THINKING and word.text in OF_PLACE and is_bound(tree, first, last + 1)
        if its or (word.text == "with" and (has_clause(tree, child) or tree.words[last].text in ("it", "them"))):
            return None  # "describes the console in their car", "fills a cup with something to eat"
        if word.text == "to" and tree.child(verb, "dobj") is not None and tree.words[verb].lemma not in GIVING:
            return None  # "is done to a song by a girl": the song is not hers
        if not has_clause(tree, child) and is_bound(tree, first, last + 1):
            return None  # "kisses a man on his cheek": whose?
        if word.text == "with" and not is_means(tree, verb, child):
            if tree.child(verb, "dobj") is not None:
                return None  # "handles a phone with a sticker"
            return Tail(first, last + 1, True)
        return Tail(first, last + 1, word.text == "while" or has_clause(tree, child))
    if word.dep in ("advmod", "npadvmod"):
        return (
            Tail(first, last + 1, has_clause(tree, child)) if word.tag[:2] in ("RB", "NN", "JJ", "IN", "RP") else None
        )
    if word.dep in ("oprd", "acomp") and word.tag in ("JJ", "VBN"):
        return Tail(first, last + 1, False)
    if word.dep == "xcomp" and tree.child(child, "aux") is not None:
        return Tail(first, last + 1, tree.words[verb].lemma not in TELLING)
    if word.dep == "advcl":
        thing = tree.child(verb, "dobj")
        unsure = thing is None or tree.words[verb].lemma in THINKING or is_person(tree, thing)
        unsure = unsure or is_bound(tree, first, last + 1)
        if word.tag == "VBG" and tree.child(child, "mark") is None and unsure:
            return None  # "talks about a creature sitting outside"
        marks = {tree.words[n].text for n in tree.children[child] if n < child}
        if any(tree.words[n].dep == "conj" and tree.words[n].tag in ("VBZ", "VBD") for n in range(first, last + 1)):
            return None  # "while holding a pot and chooses"
        if word.tag == "VBG":
            return None if marks & {"when", "as", "how"} else Tail(first, last + 1, True)
        opened = marks & ({"to"} if word.tag == "VB" else CLAUSES | {"so", "if", "since", "where", "that"})
        return Tail(first, last + 1, True) if opened else None
    return None


def tells_of(tree: Sentence, verb: int, noun: int, child: int) -> bool:
    """Whether a phrase that the parser hung on the verb tells of its object: "gives a lesson | on cooking".

    Args:
        tree: of the caption.
        verb: the place of the verb.
        noun: the head noun of the object, right in front of the phrase.
        child: the preposition.
    """
    word = tree.words[child]
    if word.dep in ("xcomp", "advcl") and tree.words[tree.descend(child)[0]].text == "to":
        return tree.words[noun].lemma in PLANS  # "the way | to hold a glass"
    thinks = tree.words[verb].lemma in THINKING
    if word.dep == "prep" and word.text == "with":
        its = tree.words[noun].dep == "dobj" and not thinks and not has_clause(tree, child)
        return its and not is_means(tree, verb, child) and not is_bound(tree, *span(tree, child))
    if word.dep != "prep" or (word.text not in ("about", "on", "from", "of", "for") and not thinks):
        return False
    return phrase_goes_with(tree, verb, noun, child) == "object" and not is_bound(tree, *span(tree, child))


def split(tails: Iterable[Tail], tree: Sentence, head: int) -> tuple[list[Tail], list[Tail]]:
    """The tails beside the verb and those behind the agent, in their order.

    Args:
        tails: behind the object, in order.
        tree: of the caption.
        head: the chief noun of the object: "his" in a tail is the agent's, who comes first.
    """
    early: list[Tail] = []
    rest = list(tails)
    while rest and not rest[0].late and not is_bound(tree, rest[0].start, rest[0].end):
        early.append(rest.pop(0))
    if sum(tail.end - tail.start for tail in early) > _MOST_EARLY or any(not tail.late for tail in rest):
        return [], [*early, *rest]
    return early, rest
