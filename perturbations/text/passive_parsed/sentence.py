"""A parsed caption, and what its rules ask of single words."""

from video_contrast.perturbations.contrast.generators.frames.tree import Tree
from video_contrast.perturbations.contrast.generators.frames.words import Parse
from video_contrast.perturbations.text.noun_phrases import PEOPLE
from video_contrast.perturbations.text.passive_parsed.words import PERSONS
from video_contrast.perturbations.text.passive_words import KIN

BOUND = frozenset(  # pronouns for what another phrase names
    "he she it they him her them his hers its their theirs himself herself itself themselves eachother".split()  # noqa: SIM905
)


_OTHERS = frozenset("other another others else opponent".split())  # noqa: SIM905  they are fronted before whom they differ from


class Sentence(Tree):
    """A caption with its parse."""

    def __init__(self, caption: str, words: Parse) -> None:
        super().__init__(words)
        self.caption = caption

    def text(self, start: int, end: int) -> str:
        """The caption's text of words `start` to `end` (past the last)."""
        return self.caption[self.words[start].start : self.words[end - 1].end] if end > start else ""


def is_bound(tree: Sentence, start: int, end: int, *, other: int | None = None) -> bool:
    """Whether a pronoun or "another" in these words may mean what is named outside of them.

    Args:
        tree: of the caption.
        start: the first word.
        end: past the last.
        other: from here on "other" differs from what these words name themselves: "a singer and other people".
    """
    texts = [word.text for word in tree.words[start:end]]
    return bool(BOUND.intersection(texts)) or bool(
        _OTHERS.intersection(texts[: (end if other is None else other) - start])
    )


def is_person(tree: Sentence, place: int) -> bool:
    """Whether a noun names one person or more."""
    return bool({tree.words[place].text, tree.words[place].lemma} & (PEOPLE | KIN | PERSONS))
