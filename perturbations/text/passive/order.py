"""The order of the parts in a passive clause: object, verb, what goes with the verb, "by" and the doer, all the rest.

English puts the agent behind short phrases of the verb ("is stirred in a pot by a man") and in front of long ones.
"""

from collections.abc import Sequence
from typing import NamedTuple

from video_contrast.perturbations.contrast.generators.frames.tree import NOUNS
from video_contrast.perturbations.language import verb_tags
from video_contrast.perturbations.text.passive import lists
from video_contrast.perturbations.text.passive.doer import Doer, alike_verbs, doer_of, may_be_person
from video_contrast.perturbations.text.passive.number import is_plural
from video_contrast.perturbations.text.passive.object import Done, done_by
from video_contrast.perturbations.text.passive.sentence import Refused, Sentence, Why, refuse
from video_contrast.perturbations.text.passive.tails import Place, Tail
from video_contrast.perturbations.text.passive.verb_words import VerbGroup, be, group_of, passive_words

_MOST_EARLY = 12  # words between a verb and its agent


class NewClause(NamedTuple):
    """Words `start` to `end` (past the last) of a caption and what takes their place."""

    start: int
    end: int
    text: str
    plural: bool


def turned(tree: Sentence, verb: int) -> NewClause:
    """The clause of a verb in the passive.

    Raises:
        Refused: it has none, for the reason named.
    """
    if verb == 0 or (verb == 2 and [word.text for word in tree.words[:2]] == ["how", "to"]):
        return _without_agent(tree, verb)
    doer = doer_of(tree, verb)
    done = done_by(tree, verb)
    words = _words(tree, verb, doer, done=done)
    head = tree.words[doer.phrase.head]
    shows = tree.words[verb].lemma in lists.REGARDING
    if head.lemma in ("song", "music", "end", "beginning", "start") or (head.lemma in lists.HOLDING and not shows):
        raise Refused(Why.NO_SUBJECT)  # "a video of an artist created an advertisement"
    person = tree.is_person(doer.phrase.head)
    thing = not person or head.lemma == "cartoon"
    holds = shows and (head.lemma in lists.HOLDING or (tree.words[verb].lemma == "feature" and thing))
    refuse(Why.NO_SUBJECT, holds and head.dep == "pobj")  # "a preview of a movie | featuring a dinosaur"
    bare = tree.words[verb].tag == "VBG" and tree.child(verb, "aux") is None
    inside = tree.words[done.phrase.start : done.phrase.end]
    acting = any(word.tag == "VBG" and word.dep == "acl" for word in inside)
    refuse(Why.OBJECT, bare and acting)  # "a man running being shown"
    by = f"{'in' if holds else 'by'} {doer.agent}"
    refuse(Why.NO_SUBJECT, by.split()[-1] in ("while", "when", "as") or (holds and " and " in by))
    if not person and any(tail.place is Place.AGENT for tail in done.tails):
        raise Refused(Why.TAIL)  # "is held by two hands while driving"
    simple = person and doer.finite == verb
    early, late = _around_agent(tree, done.tails, simple=simple)
    loose = any(tree.words[tail.start].dep == "prep" for tail in done.tails if tree.text(tail.start, tail.end) in late)
    if holds and (early or late or done.further is not None):
        raise Refused(Why.TAIL)  # "people are shown in a music video in a clip"
    if late and (doer.finite != verb or (loose and doer.phrase.end > doer.phrase.head + 1)):
        raise Refused(Why.TAIL)  # "is held by a man in a kilt in his hand"
    subject = [tree.text(done.phrase.start, done.phrase.end), words]
    if done.further is None:
        return NewClause(doer.start, done.end, " ".join([*subject, *early, by, *late]), done.plural)
    text, end = _with_second(tree, verb, doer, done=done, parts=(" ".join([*subject, *early]), " ".join([by, *late])))
    return NewClause(doer.start, end, text, done.plural)


def _words(tree: Sentence, verb: int, doer: Doer, *, done: Done) -> str:
    """The passive words of a verb that may share auxiliaries with the first verb of its subject."""
    if doer.finite == verb:
        group = group_of(tree, verb, doer.phrase.end if doer.start == doer.phrase.start else doer.start)
        return passive_words(tree, group, done.particles, plural=done.plural, many=bool(is_plural(tree, doer.phrase)))
    first = tree.words[doer.finite]
    outer = group_of(tree, doer.finite, doer.phrase.end)
    tense = tree.words[outer.auxiliaries[0]].tag if outer.auxiliaries else first.tag
    words = passive_words(tree, VerbGroup((), (), verb), done.particles, plural=done.plural)
    return words if tense == "VBG" else f"{be(tense == 'VBD', done.plural)} {words}"


def _around_agent(tree: Sentence, tails: Sequence[Tail], *, simple: bool) -> tuple[list[str], list[str]]:
    """The texts in front of the agent and behind it; what the agent does stands right behind it.

    Behind a `simple` agent "while" falls: "by a man singing".
    """
    count = next((n for n, tail in enumerate(tails) if tail.place is not Place.VERB), len(tails))
    early, late = list(tails[:count]), list(tails[count:])
    if sum(tail.end - tail.start for tail in early) > _MOST_EARLY or any(tail.place is Place.VERB for tail in late):
        early, late = [], [*early, *late]
    refuse(Why.TAIL, any(tail.place is Place.AGENT for tail in late[1:]))
    texts = [tree.text(tail.start, tail.end) for tail in late]
    if late and late[0].place is Place.AGENT and simple:
        texts[0] = texts[0].removeprefix("while ")
    return [tree.text(tail.start, tail.end) for tail in early], texts


def _without_agent(tree: Sentence, verb: int) -> NewClause:
    """ "chopping onion and celery": onion and celery being chopped; "how to use a tool": how a tool is used."""
    refuse(Why.NO_SUBJECT, verb == 0 and tree.words[0].tag != "VBG")
    done = done_by(tree, verb)
    if verb == 0 and done.phrase.head == 1 and tree.words[1].tag == "NNS":
        raise Refused(Why.NO_VERB)  # "shooting scenes": the verb may describe them
    rest = done.further is not None or any(tail.place is not Place.VERB for tail in done.tails)
    refuse(Why.TAIL, rest or done.end < len(tree.words))
    words = passive_words(tree, VerbGroup((), (), verb), done.particles, plural=done.plural)
    early, late = _around_agent(tree, done.tails, simple=False)
    parts = [tree.text(done.phrase.start, done.phrase.end), words, *early, *late]
    return NewClause(max(verb - 1, 0), done.end, " ".join(parts), done.plural)


def _with_second(tree: Sentence, verb: int, doer: Doer, *, done: Done, parts: tuple[str, str]) -> tuple[str, int]:
    """The clause with a verb that "and" joins to its own, and where it ends; `parts` stand around the agent's place.

    A clause of its own follows as it is; a second object is turned too ("an onion is cut and oil is added by a man");
    else the verb stays with the doer ("an onion is cut by a man, who sits down").
    """
    second, joint = done.further, tree.child(verb, "cc")
    if second is None or joint is None:
        raise Refused(Why.SECOND_VERB)
    word, (start, end) = tree.words[second], tree.span(second)
    before, behind = parts
    if joint != start - 1 or word.tag[:2] != "VB" or end != tree.span(verb)[1] or tree.words[joint].text == "or":
        raise Refused(Why.SECOND_VERB)
    own = tree.child(second, "nsubj", "nsubjpass", "expl")
    if own is not None and any(
        word.tag[0] in "WV" or word.dep in ("mark", "aux") for word in tree.words[start : tree.span(own)[0]]
    ):
        raise Refused(Why.SECOND_VERB)  # "reviews a car and how it drives"
    if own is not None:
        refuse(Why.SECOND_VERB, own == joint + 1 and "VBZ" in verb_tags(tree.words[own].text))  # "and | cooks chicken"
        comma = "," if tree.words[joint].text == "and" else ""
        return f"{before} {behind}{comma} {tree.text(joint, end)}", end
    refuse(Why.SECOND_VERB, tree.child(second, "aux", "auxpass") is not None)
    both = _both_turned(tree, verb, doer, second=second, between=tree.text(joint, second), parts=parts)
    if both is not None:
        return both, end
    refuse(Why.SECOND_VERB, done.tails and behind != f"by {doer.agent}")
    return f"{before} {behind} {_who(tree, verb, doer, second=second)}".replace(" ,", ","), end


def _both_turned(
    tree: Sentence, verb: int, doer: Doer, *, second: int, between: str, parts: tuple[str, str]
) -> str | None:
    """ "an onion is cut and oil is added by a man"; None where the second verb has no passive that fits the first's."""
    before, behind = parts
    try:
        other = done_by(tree, second)
        early, late = _around_agent(tree, other.tails, simple=True)
        moved = behind != f"{behind.split()[0]} {doer.agent}" or any(tail.place is Place.LAST for tail in other.tails)
        if other.further is not None or moved or not alike_verbs(tree.words[verb], tree.words[second]):
            return None
        group = VerbGroup(group_of(tree, verb, doer.phrase.end).auxiliaries, (), second)
        words = passive_words(tree, group, other.particles, plural=other.plural)
    except Refused:
        return None
    subject = tree.text(other.phrase.start, other.phrase.end)
    return " ".join([before, between, subject, words, *early, behind, *late])


def _who(tree: Sentence, verb: int, doer: Doer, *, second: int) -> str:
    """ ", who sits down": the second verb as what else is said of the doer."""
    head = tree.words[doer.phrase.head]
    end = tree.span(second)[1]
    refuse(Why.SECOND_VERB, head.tag not in NOUNS or any(tree.words[n].dep == "punct" for n in range(second, end)))
    people = tree.is_person(doer.phrase.head) or tree.words[doer.phrase.start].tag == "NNP"
    refuse(Why.SECOND_VERB, not people and may_be_person(head))
    group = group_of(tree, verb, doer.phrase.end)
    helps = [tree.words[n].text for n in group.auxiliaries]
    if any(tree.words[n].tag[:2] != "RB" for n in range(tree.span(second)[0], second)):
        raise Refused(Why.SECOND_VERB)  # "takes a photo and then the clip pans"
    if tree.words[second].tag in ("VBD", "VBN") and tree.words[verb].tag != tree.words[second].tag:
        raise Refused(Why.SECOND_VERB)  # "uses brown and burnt orange paint"
    if not alike_verbs(tree.words[verb], tree.words[second]):
        refuse(Why.SECOND_VERB, tree.words[second].tag not in ("VBZ", "VBP", "VBD"))
        helps = []  # "is blending bananas and pours them out"
    elif tree.words[verb].tag == "VBG" and not helps:  # "a woman playing a piano and singing"
        return " ".join(
            (
                "who" if people else "that",
                be(False, bool(is_plural(tree, doer.phrase))),
                tree.text(tree.span(second)[0], end),
            )
        )
    return " ".join((", who" if people else ", which", *helps, tree.text(tree.span(second)[0], end)))
