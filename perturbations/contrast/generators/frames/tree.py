"""Walks in a parsed caption: children, the noun that a phrase is about, who does what."""

import itertools
from collections.abc import Sequence

from video_contrast.perturbations.contrast.generators.frames.words import Parse, Word

NOUNS = ("NN", "NNS", "NNP", "NNPS")
# "a piece of paper" is paper: words of amount and kind are looked through.
QUANTITIES = frozenset(
    """piece bit slice cup glass bowl bottle plate pot pan spoon spoonful tablespoon teaspoon bunch lot couple pair
    group number kind type sort variety set series part half stack pile pack packet bag box can jar amount handful dozen
    sheet row line collection team crowd herd flock load bucket stick clove drop dash pinch layer chunk""".split()  # noqa: SIM905
)
PEOPLE = frozenset("people they we men women boys girls group band crowd audience family".split())  # noqa: SIM905
# Words for grown or growing persons, which may be anything that a person is: counted as one subject.
ANYONE = frozenset(
    """man woman boy girl guy lady person someone somebody child kid he she who male female one gentleman dude
    teenager host people they we i you""".split()  # noqa: SIM905
)


class Tree:
    """A parse with the children of every word."""

    def __init__(self, words: Parse) -> None:
        self.words = words
        self.children: list[list[int]] = [[] for _ in words]
        for place, word in enumerate(words):
            if word.head != place:
                self.children[word.head].append(place)

    def child(self, place: int, *deps: str) -> int | None:
        """The first child of a word with one of the labels."""
        return next((n for n in self.children[place] if self.words[n].dep in deps), None)

    def through(self, place: int) -> int:
        """The noun that a phrase is about: "piece of paper" -> paper; else the head itself."""
        word = self.words[place]
        if word.lemma in QUANTITIES:
            of = next((n for n in self.children[place] if self.words[n].text == "of"), None)
            inner = self.child(of, "pobj") if of is not None else None
            if inner is not None and self.words[inner].tag in NOUNS:
                return inner
        return place

    def noun(self, place: int) -> str:
        """The noun phrase's key: its head's lemma, with its compound ("video game"); pronouns and numbers are "*"."""
        head = self.words[self.through(place)]
        return head.lemma if head.tag in NOUNS else "*"

    def compound(self, place: int) -> str:
        """The last compound word before a noun, or ""."""
        inner = self.through(place)
        before = [n for n in self.children[inner] if self.words[n].dep == "compound" and n < inner]
        return self.words[before[-1]].lemma if before and before[-1] == inner - 1 else ""

    def determiner(self, place: int) -> str:
        """How a noun is introduced: "pl" plural, "bare" singular without any determiner, else "det"."""
        word = self.words[place]
        if word.tag in ("NNS", "NNPS"):
            return "pl"
        deps = [self.words[n].dep for n in self.children[place]]
        return "det" if any(dep in ("det", "poss", "nummod", "predet") for dep in deps) else "bare"

    def subject(self, place: int, depth: int = 0) -> int | None:
        """The word that does what the verb at `place` says; None for imperatives and where the parse does not tell."""
        own = self.child(place, "nsubj", "nsubjpass")
        if own is not None:
            if self.words[own].lemma in ("who", "that", "which") and self.words[place].dep == "relcl":
                return self.words[place].head
            return own
        word = self.words[place]
        if depth > 4 or word.head == place:
            return None
        if word.dep in ("acl", "relcl") and self.words[word.head].tag in (*NOUNS, "PRP"):
            return word.head
        if word.dep in ("conj", "advcl", "xcomp", "ccomp", "pcomp", "dep"):
            head = self.words[word.head]
            if head.tag.startswith("VB"):
                if word.dep == "xcomp":
                    seen = self.child(word.head, "dobj")
                    if seen is not None and word.tag == "VBG":
                        return seen
                return self.subject(word.head, depth + 1)
            if word.dep in ("conj", "advcl", "dep") and head.tag in NOUNS:
                return word.head
        return None

    def is_plural(self, place: int) -> bool:
        """Whether a subject is more than one: a plural, a group, or two joined by "and"."""
        word = self.words[place]
        return (
            word.tag in ("NNS", "NNPS")
            or word.lemma in PEOPLE
            or word.text in PEOPLE
            or word.lemma in ("couple", "pair", "group")
            or any(self.words[n].dep == "conj" and self.words[n].tag in NOUNS for n in self.children[place])
        )


def subject_key(tree: Tree, place: int | None) -> str:
    """How a subject is counted: one key for persons, one for several persons, else the noun's lemma."""
    if place is None:
        return "-"
    plural = tree.is_plural(place)
    inner = tree.through(place)
    word = tree.words[inner]
    if inner != place or word.lemma in ANYONE or word.text in ANYONE:
        known = word.lemma in ANYONE or word.text in ANYONE
        if known:
            return "people" if plural else "person"
    if word.lemma in ("couple", "pair", "group"):
        return "people"
    if word.tag in NOUNS or word.text in ("it", "this", "that", "which"):
        return word.lemma
    return "people" if plural else "person"


def verb_lemmas(words: Sequence[Word]) -> frozenset[str]:
    """The lemmas of all verbs of a caption."""
    return frozenset(word.lemma for word in words if word.tag.startswith("VB"))


def noun_lemmas(words: Sequence[Word]) -> frozenset[str]:
    """The lemmas of all nouns of a caption, and its compounds ("video game")."""
    lemmas = {word.lemma for word in words if word.tag in NOUNS}
    for first, second in itertools.pairwise(words):
        if first.tag in NOUNS and second.tag in NOUNS:
            lemmas.add(f"{first.lemma} {second.lemma}")
    return frozenset(lemmas)
