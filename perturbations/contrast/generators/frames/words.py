"""The words of a parsed caption, and a parse as one line of text."""

from collections.abc import Sequence
from typing import NamedTuple

from video_contrast.perturbations.language import lemma


class Word(NamedTuple):
    """One word of a parsed caption: `caption[start:end]` is its text; `head` is the place of its head (its own: root).

    `text` and `lemma` are lower case; `tag` is a Penn tag; `dep` a label of spaCy's English models.
    """

    text: str
    tag: str
    lemma: str
    dep: str
    head: int
    start: int
    end: int


Parse = tuple[Word, ...]


def encode(words: Sequence[tuple[int, int, str, str, int]]) -> str:
    """(start, end, tag, dep, head) of each word as one line."""
    return " ".join(f"{start},{end - start},{tag},{dep},{head}" for start, end, tag, dep, head in words)


def decode(caption: str, code: str) -> Parse:
    """The words of a line made by `encode`."""
    words = []
    for item in code.split():
        place, length, *tag_parts, dep, head = item.split(",")  # a comma's tag is a comma
        tag, start = ",".join(tag_parts), int(place)
        end = start + int(length)
        text = caption[start:end].lower()
        words.append(Word(text, tag, lemma(text, tag), dep, head=int(head), start=start, end=end))
    return tuple(words)
