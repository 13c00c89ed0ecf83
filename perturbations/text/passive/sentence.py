"""A parsed caption, what the rules ask of single words, and the reasons why a clause stays active."""

from enum import StrEnum
from typing import NamedTuple

from video_contrast.perturbations.contrast.generators.frames.tree import Tree
from video_contrast.perturbations.contrast.generators.frames.words import Parse
from video_contrast.perturbations.text.passive import lists


class Why(StrEnum):
    """Why a clause has no passive."""

    NO_VERB = "its word in the place of a verb may be a noun"
    NO_SUBJECT = "nothing that could be the agent stands in front of its verb"
    NO_OBJECT = "its verb has no object"
    NO_PASSIVE = "verb and object make no passive"
    BOUND = "a pronoun would come before whom it means"
    NUMBER = "it is not known whether the object is plural"
    OBJECT = "it is not known what belongs to the object"
    TAIL = "it is not known with which word a phrase behind the object goes"
    VERB_WORDS = "its auxiliaries have no passive"
    SECOND_VERB = "a second verb would lose its subject"
    TWO_CLAUSES = "two clauses run together"
    LONG = "its caption is long: of as many words a parse is often wrong somewhere"


class Refused(Exception):
    """A clause has no passive; `args[0]` is the reason (`Why`)."""


def refuse(why: Why, fault: object) -> None:
    """Raises `Refused` where there is a fault."""
    if fault:
        raise Refused(why)


class WordSpan(NamedTuple):
    """Words `start` to `end` (past the last)."""

    start: int
    end: int


class NounPhrase(NamedTuple):
    """Words `start` to `end` (past the last) and the chief one of them."""

    start: int
    end: int
    head: int


class Sentence(Tree):
    """A caption with its parse."""

    def __init__(self, caption: str, words: Parse) -> None:
        super().__init__(words)
        self.caption = caption

    def text(self, start: int, end: int) -> str:
        """The caption's text of words `start` to `end` (past the last)."""
        return self.caption[self.words[start].start : self.words[end - 1].end] if end > start else ""

    def span(self, place: int) -> WordSpan:
        """The words that hang on a word, with it."""
        inner = [self.span(child) for child in self.children[place]]
        return WordSpan(min([place, *(span.start for span in inner)]), max([place + 1, *(span.end for span in inner)]))

    def deps(self, start: int, end: int) -> set[str]:
        """The labels of words `start` to `end`."""
        return {word.dep for word in self.words[start:end]}

    def is_person(self, place: int) -> bool:
        """Whether a noun names one person or more."""
        return bool({self.words[place].text, self.words[place].lemma} & lists.PERSONS)

    def is_bound(self, start: int, end: int) -> bool:
        """Whether a pronoun or "another" in these words may mean what is named outside of them."""
        return not (lists.BOUND | lists.OTHERS).isdisjoint(word.text for word in self.words[start:end])
