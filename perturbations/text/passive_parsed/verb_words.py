"""The new words of a passive: the verb, the agent, and whether the verb is plural."""

from typing import NamedTuple

from video_contrast.perturbations.language.fitting import within
from video_contrast.perturbations.text.imperative import participle
from video_contrast.perturbations.text.passive_parsed.number import is_plural
from video_contrast.perturbations.text.passive_parsed.objects import Done, Predicate
from video_contrast.perturbations.text.passive_parsed.sentence import Sentence, is_person
from video_contrast.perturbations.text.passive_parsed.subjects import Subject
from video_contrast.perturbations.text.passive_parsed.tails import Tail

_AFTER = {"i": "me", "he": "him", "she": "her", "we": "us", "they": "them", "you": "you"}


_BEFORE_BE = frozenset("not n't also still always never now just then".split())  # noqa: SIM905


class NewClause(NamedTuple):
    """Words `start` to `end` of a caption and what takes their place."""

    start: int
    end: int
    text: str
    plural: bool | None = False


def verb_words(tree: Sentence, group: Predicate, plural: bool | None) -> str | None:
    """The passive words of a verb: "is done", "was being done", "can be done", "has been done", "being done".

    Args:
        tree: of the caption.
        group: the words of the verb as they are.
        plural: whether its new subject is; None if that is not known.
    """
    if plural is None:
        return None
    verb = tree.words[group.verb]
    texts = [tree.words[n].text for n in group.auxiliaries]
    adverbs = [tree.words[n].text for n in group.adverbs]
    adverbs = ["not" if text in ("n't", "n’t") else text for text in adverbs]
    before = [text for text in adverbs if text in _BEFORE_BE]
    manner = [text for text in adverbs if text not in _BEFORE_BE]
    done = [*manner, participle(verb.lemma), *(tree.words[n].text for n in group.particles)]
    first = tree.words[group.auxiliaries[0]] if group.auxiliaries else None
    if first is None:
        if verb.tag == "VBG":
            return " ".join([*before, "being", *done])
        if verb.tag == "VBN":
            return None
        return " ".join([be(verb.tag == "VBD", plural), *before, *done])
    if group.plan:
        return (
            " ".join([be(first.tag == "VBD", plural), *before, *group.plan, "be", *done])
            if first.lemma == "be"
            else None
        )
    if len(texts) > 1:
        return None
    if (first.tag == "MD" and not first.text.isalpha()) or first.text in ("wo", "ca", "sha"):
        return None
    if first.tag == "MD":
        return " ".join([first.text, *before, "be", *done])
    if first.lemma == "do":
        return " ".join([be(first.tag == "VBD", plural), *before, *done])
    if first.lemma == "have" and verb.tag == "VBN":
        had = "had" if first.tag == "VBD" else "have" if plural else "has"
        return " ".join([had, *before, "been", *done])
    if first.lemma == "be" or first.text in ("'s", "’s", "s"):
        return " ".join([be(first.tag == "VBD", plural), *before, "being", *done]) if verb.tag == "VBG" else None
    return None


def be(past: bool, plural: bool | None) -> str:
    """The form of "be"."""
    if past:
        return "were" if plural else "was"
    return "are" if plural else "is"


def agent_of(tree: Sentence, subject: Subject) -> str | None:
    """ "by" and the subject as it stands behind it; None where it has no such form."""
    text = tree.text(subject.start, subject.end)
    if tree.words[subject.head].tag == "PRP":
        return f"by {_AFTER[text.lower()]}" if text.lower() in _AFTER else None
    return f"by {within(text, tree.words[subject.start].tag)}"


def who_of(tree: Sentence, subject: Subject, group: Predicate) -> str | None:
    """What joins a relative clause to the agent: "who is", "that"; None for pronouns and names.

    Args:
        tree: of the caption.
        subject: whose words stand in front of the verb.
        group: the words of the verb as they are.
    """
    head = tree.words[subject.head]
    if head.tag not in ("NN", "NNS") or group.adverbs:
        return None
    who = "who" if people(tree, subject) else "that"
    if who == "that" and tree.words[subject.start].tag in ("NN", "NNP"):
        return None  # a name: "sheryl crow sings and plays guitar"
    finite = [tree.words[n].text for n in group.auxiliaries]
    if not finite:
        if tree.words[group.verb].tag != "VBG":
            return who
        return f"{who} {'are' if is_plural(tree, subject.start, subject.end, subject.head) else 'is'}"
    return f"{who} {' '.join(finite)}" if len(finite) == 1 and finite[0] in ("is", "are", "was", "were") else None


def people(tree: Sentence, subject: Subject) -> bool:
    """Whether a subject names persons."""
    return any(is_person(tree, n) for n in range(subject.start, subject.end))


def covers(tree: Sentence, subject: Subject, group: Predicate) -> bool:
    """Whether nothing but auxiliaries and adverbs stands between subject and verb.

    Args:
        tree: of the caption.
        subject: whose words stand in front of the verb.
        group: the words of the verb as they are.
    """
    between = set(range(subject.end, group.verb))
    return between == {n for n in (*group.auxiliaries, *group.adverbs) if n >= subject.end}


def plural_of(tree: Sentence, done: Done) -> bool | None:
    """Whether an object is plural; None where its words disagree."""
    return is_plural(tree, done.thing.start, done.thing.end, done.thing.head)


def texts(tree: Sentence, tails: list[Tail]) -> list[str]:
    """The words of tails."""
    return [tree.text(tail.start, tail.end) for tail in tails]
