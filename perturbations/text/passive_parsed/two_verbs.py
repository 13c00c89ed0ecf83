"""Clauses of two verbs: "sings and plays a guitar", "cuts an onion and fries it", "sits on a bed playing a guitar"."""

from video_contrast.perturbations.contrast.generators.frames.tree import NOUNS
from video_contrast.perturbations.language import inflect
from video_contrast.perturbations.text.imperative import participle
from video_contrast.perturbations.text.passive_parsed.objects import Done, Predicate, done_by, group_of
from video_contrast.perturbations.text.passive_parsed.sentence import Sentence, is_bound, is_person
from video_contrast.perturbations.text.passive_parsed.subjects import Subject, subject_of
from video_contrast.perturbations.text.passive_parsed.tails import Tail, split, verb_tail
from video_contrast.perturbations.text.passive_parsed.verb_words import (
    NewClause,
    agent_of,
    be,
    covers,
    plural_of,
    texts,
    verb_words,
    who_of,
)
from video_contrast.perturbations.text.passive_words import ALONE, POSTURES, SHARING


def joined(
    tree: Sentence, subject: Subject, *, done: Done, parts: list[str], late: list[Tail], agent: str
) -> NewClause | None:
    """A clause whose verb has another joined to it by "and".

    Args:
        tree: of the caption.
        subject: whose words stand in front of the verb.
        done: the first verb and its object.
        parts: the words of the new clause so far.
        late: the tails behind the agent.
        agent: "by" and the subject.
    """
    second = done.further
    if second is None:
        return None
    word, verb = tree.words[second], tree.words[done.group.verb]
    first, last = tree.descend(second)
    joint = tree.child(done.group.verb, "cc")
    if joint is None or joint != first - 1 or word.tag[:2] != "VB" or last != tree.descend(done.group.verb)[1]:
        return None
    if tree.child(second, "nsubj", "nsubjpass", "expl") is not None:  # a clause of its own
        comma = "" if tree.words[joint].text != "and" else ","
        parts += [agent, *texts(tree, late)]
        return NewClause(subject.start, last + 1, " ".join(parts) + f"{comma} {tree.text(joint, last + 1)}")
    if late or tree.words[joint].text not in ("and", "then", "&") or _form(word.tag) != _form(verb.tag):
        return None
    other, between = done_by(tree, second), tree.text(joint, second)
    tail_early, tail_late = ([], []) if other is None else split(other.tails, tree, other.thing.head)
    simple = other is not None and other.further is None and not other.group.auxiliaries and other.gift is None
    if other is not None and simple and not any(tree.words[tail.start].tag in ("IN", "TO") for tail in tail_late):
        words = verb_words(
            tree, Predicate(done.group.auxiliaries, (), second, other.group.particles), plural_of(tree, other)
        )
        if words is None or other.thing.start < second:
            return None
        parts += [between, tree.text(other.thing.start, other.thing.end), words]
        parts += [*texts(tree, tail_early), agent, *texts(tree, tail_late)]
        return NewClause(subject.start, last + 1, " ".join(parts))
    merged = _same_object(tree, done, second=second)
    if merged is not None:
        return NewClause(subject.start, last + 1, " ".join([*parts, between, merged, agent]))
    return None  # "by a man who is then adding oil" tells of the man, not of what comes next


def _same_object(tree: Sentence, done: Done, *, second: int) -> str | None:
    """ "cuts an onion and | puts it in a pan": "put in a pan"; None where the second verb has another object."""
    thing = tree.child(second, "dobj")
    if thing is None or tree.words[thing].text not in ("it", "them"):
        return None
    if (tree.words[thing].text == "them") != bool(plural_of(tree, done)):
        return None
    behind = [n for n in tree.children[second] if n > second and n != thing]
    if any(tree.words[n].dep not in ("prep", "advmod", "prt") for n in behind) or is_bound(
        tree, thing + 1, tree.descend(second)[1] + 1
    ):
        return None
    if tree.children[thing] or (thing != second + 1 and tree.words[thing - 1].dep != "prt"):
        return None
    particle = tree.text(second + 1, thing)
    rest = tree.text(thing + 1, tree.descend(second)[1] + 1)
    return " ".join(w for w in (participle(tree.words[second].lemma), particle, rest) if w)


def behind_be(tree: Sentence, verb: int) -> NewClause | None:
    """ "is in his house and recording the rooms", "gets up and opens a door": the first verb goes to the agent."""
    word = tree.words[verb]
    if word.dep != "conj" or tree.child(verb, "nsubj", "nsubjpass", "expl", "aux") is not None:
        return None
    first = word.head
    return shared(tree, first, subject_of(tree, first)) if tree.words[first].lemma == "be" else None


def shared(tree: Sentence, verb: int, subject: Subject | None) -> NewClause | None:
    """The first of two verbs has no object: "plays and discusses a game", "is singing and playing a guitar".

    Args:
        tree: of the caption.
        verb: the place of the verb.
        subject: whose words stand in front of the verb.
    """
    second, joint = tree.child(verb, "conj"), tree.child(verb, "cc")
    if second is None or joint is None or subject is None or tree.words[joint].text != "and":
        return None
    first, last = tree.descend(second)
    done = done_by(tree, second)
    one, two = tree.words[verb], tree.words[second]
    if done is None or done.further is not None or joint != first - 1 or done.group.auxiliaries:
        return None
    if tree.child(second, "nsubj", "nsubjpass", "expl") is not None:
        return None
    own = group_of(tree, verb, ())
    right = [n for n in tree.children[verb] if n > verb and n not in (second, joint)]
    if any(tree.words[n].dep == "prep" and not tree.children[n] for n in right):
        return None  # "talk about and eat hot dogs"
    agent, plural = agent_of(tree, subject), plural_of(tree, done)
    known = all(tree.words[n].dep in ("prep", "advmod", "prt", "npadvmod") for n in right if n < second)
    if agent is None or not known or not covers(tree, subject, own) or own.adverbs:
        return None
    tails = [verb_tail(tree, verb, n) for n in right if n > second]
    right = [n for n in right if n < second]
    early, late = split([*done.tails, *(tail for tail in tails if tail is not None)], tree, done.thing.head)
    last = max([last, *(tail.end - 1 for tail in tails if tail is not None)])
    moved = any(tree.words[tail.start].tag in ("IN", "TO") and tree.words[tail.start].dep == "prep" for tail in late)
    if None in tails or last != tree.descend(verb)[1] or moved:
        return None
    late_own = any(
        tree.child(n, "nsubj") is None
        for tail in late[:1]
        for n in range(tail.start, tail.end)
        if tree.words[n].dep == "advcl"
    )
    pronoun = who_of(tree, subject, own)
    clause = None if pronoun is None else f" {pronoun} {tree.text(verb, joint)}"
    alike = _form(one.tag) == _form(two.tag)
    what, who = verb_words(tree, done.group, plural), clause
    if not right and alike and {one.lemma, two.lemma} <= SHARING | {"serve", "eat", "cook", "film"}:
        what, who = verb_words(tree, own, plural), ""
        if what is None or done.group.particles:
            return None
        what += f" {tree.text(joint, second)} {participle(two.lemma)}"
    elif one.tag == two.tag == "VBG" and (one.lemma in ALONE or right) and not late_own:  # at the same time
        what = verb_words(tree, done.group._replace(auxiliaries=own.auxiliaries), plural)
    elif one.lemma != "be" or one.tag not in ("VBZ", "VBP") or not right or late or two.tag not in ("VBG", "VBZ"):
        return None
    elif what is not None and two.tag == "VBG":
        what = f"{be(False, plural)} {what}"
    if what is None or who is None:
        return None
    parts = [tree.text(done.thing.start, done.thing.end), what]
    if done.gift is not None:
        parts.append(tree.text(*done.gift))
    parts += [*texts(tree, early), f"{agent}{who}", *texts(tree, late)]
    return NewClause(subject.start, last + 1, " ".join(parts))


def _form(tag: str) -> str:
    return "VB" if tag == "VBP" else tag


def behind_places(tree: Sentence, verb: int) -> NewClause | None:
    """A participle behind a first verb and its places: "sits on a bed playing a guitar", "is shown cutting wood"."""
    word = tree.words[verb]
    first = word.head
    if word.tag != "VBG" or word.dep not in ("advcl", "xcomp", "conj"):
        return None
    if tree.words[first].tag[:2] != "VB" or word.lemma in POSTURES:
        return None
    own = tree.child(first, "nsubj", "nsubjpass")
    done = done_by(tree, verb)
    if own is None or done is None or done.further is not None or done.group.auxiliaries or done.group.adverbs:
        return None
    if tree.descend(verb)[1] != tree.descend(first)[1] and tree.descend(verb)[1] != tree.descend(word.head)[1]:
        return None
    start, last = tree.descend(own)
    subject = Subject(start, last + 1, own)
    if last >= first or tree.words[own].tag not in NOUNS:
        return None
    agent, tail = agent_of(tree, subject), _doing(tree, first, verb=verb, subject=subject)
    if agent is None or tail is None:
        return None
    shown, tense, doing = tail
    if not shown and not is_person(tree, own):
        return None
    plural = plural_of(tree, done)
    finite = "" if not tense else be(tense == "VBD", plural)
    if done.further is not None:
        return None
    group = " ".join(
        w
        for w in (finite, shown, "being", participle(word.lemma), *(tree.words[n].text for n in done.group.particles))
        if w
    )
    early, late = split(done.tails, tree, done.thing.head)
    if doing and any(
        tree.words[tail.start].tag in ("IN", "TO") and tree.words[tail.start].dep == "prep" for tail in late
    ):
        return None
    parts = [tree.text(done.thing.start, done.thing.end), group]
    if done.gift is not None:
        parts.append(tree.text(*done.gift))
    parts += [*texts(tree, early), f"{agent}{doing}", *texts(tree, late)]
    return NewClause(start, done.end, " ".join(parts))


def _doing(tree: Sentence, first: int, *, verb: int, subject: Subject) -> tuple[str, str, str] | None:
    """Of a first verb: what stands before "being" ("shown"), its tense, and what the agent is said to do."""
    head = tree.words[first]
    auxiliaries = [n for n in tree.children[first] if tree.words[n].dep in ("aux", "auxpass")]
    if auxiliaries and [tree.words[n].text for n in auxiliaries] not in (["is"], ["are"], ["was"], ["were"]):
        return None
    if any(n != subject.head and subject.end <= n < first and n not in auxiliaries for n in range(subject.end, first)):
        return None
    tense = tree.words[auxiliaries[0]].tag if auxiliaries else head.tag
    tense = "VBD" if tense == "VBD" else "VBZ" if tense in ("VBZ", "VBP") else ""
    between = range(first + 1, verb)
    if tree.child(verb, "mark") == verb - 1 and tree.words[verb - 1].text == "while" and tense:
        between = range(first + 1, verb - 1)
        if any(tree.words[n].dep in ("punct", "dobj", "cc", "ccomp") for n in between) or is_bound(
            tree, first + 1, verb
        ):
            return None
        if head.tag == "VBN" or head.lemma in ("be", "have"):
            return None
        doing = head.text if head.tag == "VBG" else inflect(head.lemma, "VBG")
        return "", tense, " " + " ".join(w for w in ("while", doing, tree.text(first + 1, verb - 1)) if w)
    if any(tree.words[n].dep in ("punct", "dobj", "cc", "mark", "ccomp") for n in between):
        return None
    if any(is_person(tree, n) for n in between) or is_bound(tree, first + 1, verb):
        return None
    if head.tag == "VBN" and auxiliaries:
        if head.lemma not in ("show", "see", "film") or verb != first + 1:
            return None
        return head.text, tense, ""
    if verb == first + 1 or (not tense and auxiliaries):
        return None
    if head.lemma == "be":
        return "", tense, f" {tree.text(first + 1, verb)}"
    if head.lemma in (
        "start",
        "begin",
        "try",
        "keep",
        "go",
        "get",
        "have",
        "continue",
        "stop",
        "like",
        "enjoy",
        "come",
    ):
        return None
    doing = head.text if head.tag == "VBG" else inflect(head.lemma, "VBG")
    return "", tense, f" {doing} {tree.text(first + 1, verb)}"
