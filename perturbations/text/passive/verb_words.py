"""The words of a passive verb: its auxiliaries stay, "be" in the form of the old verb comes in, then the participle."""

from typing import NamedTuple

from video_contrast.perturbations.language import inflect
from video_contrast.perturbations.text.passive.sentence import Refused, Sentence, Why, refuse

_BEFORE_BE = frozenset("not also still always never now just then".split())  # noqa: SIM905
_NOT = ("n't", "n’t")


class VerbGroup(NamedTuple):
    """The words of a verb as they are: auxiliaries and adverbs in front of it, the verb."""

    auxiliaries: tuple[int, ...]
    adverbs: tuple[int, ...]
    verb: int


def group_of(tree: Sentence, verb: int, start: int) -> VerbGroup:
    """The words of a verb between its subject and the verb itself.

    Args:
        tree: of the caption.
        verb: the place of the verb.
        start: past the last word of the subject.

    Raises:
        Refused: other words stand there.
    """
    before = [n for n in tree.children[verb] if start <= n < verb]
    auxiliaries = tuple(n for n in before if tree.words[n].dep == "aux")
    adverbs = tuple(n for n in before if tree.words[n].dep in ("neg", "advmod"))
    marks = tuple(n for n in before if tree.words[n].text == "while")
    refuse(Why.TWO_CLAUSES, {*auxiliaries, *adverbs, *marks} != set(range(start, verb)))
    return VerbGroup(auxiliaries, adverbs, verb)


def passive_words(
    tree: Sentence, group: VerbGroup, particles: tuple[int, ...], *, plural: bool, many: bool = False
) -> str:
    """ "is done", "was being done", "can be done", "has been done", "being done".

    Args:
        tree: of the caption.
        group: the words of the verb as they are.
        particles: places of what stays directly behind the verb.
        plural: whether the new subject is.
        many: whether the old one is.

    Raises:
        Refused: the words of the verb have no passive.
    """
    verb = tree.words[group.verb]
    adverbs = ["not" if tree.words[n].text in _NOT else tree.words[n].text for n in group.adverbs]
    before = [text for text in adverbs if text in _BEFORE_BE]
    manner = [text for text in adverbs if text not in _BEFORE_BE]
    done = [*manner, inflect(verb.lemma, "VBN"), *(tree.words[n].text for n in particles)]
    first = tree.words[group.auxiliaries[0]] if len(group.auxiliaries) == 1 else None
    if group.auxiliaries and first is None:
        raise Refused(Why.VERB_WORDS)
    if first is None and verb.tag == "VBG":
        words = [*before, "being", *done]
    elif first is None or first.lemma == "do":
        refuse(Why.VERB_WORDS, verb.tag == "VBN")
        past = (first or verb).tag == "VBD" and not (many and verb.text == verb.lemma)
        words = [be(past, plural), *before, *done]  # "boys hit a ball": now, as most captions tell
    elif first.tag == "MD" and first.text.isalpha() and first.text not in ("wo", "ca", "sha"):
        words = [first.text, *before, "be", *done]
    elif first.lemma == "have" and verb.tag == "VBN":
        words = ["had" if first.tag == "VBD" else "have" if plural else "has", *before, "been", *done]
    elif (first.lemma == "be" or first.text in ("'s", "’s", "s")) and verb.tag == "VBG":
        words = [be(first.tag == "VBD", plural), *before, "being", *done]
    else:
        raise Refused(Why.VERB_WORDS)
    return " ".join(words)


def be(past: bool, plural: bool) -> str:
    """The form of "be"."""
    return ("were" if plural else "was") if past else ("are" if plural else "is")
