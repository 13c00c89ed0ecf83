"""WordNet 3.0's single words: which share a sense, which have several parts of speech, how often each is used.

`lexicon/wordnet.xz` holds a sense a line: its part of speech and its words, each with the number of this sense among
its own (none if it is the first of a word never counted) and, behind ":", how often a tagged corpus uses it so.
"""

import lzma
import re
from functools import cache, lru_cache
from importlib.resources import files
from typing import NamedTuple

PARTS = ("n", "v", "a", "r")
_CELL = re.compile(r"([A-Za-z'-]+)(\d*):?(\d*)")


class Sense(NamedTuple):
    """One sense."""

    line: int  # its line of the table: two senses may have the same words
    words: tuple[str, ...]  # single words that share it
    uses: dict[str, int]  # word in lower case -> how often a tagged corpus of English (SemCor) uses it in this sense


@cache
def _table() -> tuple[list[str], dict[str, dict[str, list[int]]]]:
    """The lines, and by part of speech those of each word in lower case."""
    packed = files("video_contrast.perturbations.english.lexicon").joinpath("wordnet.xz").read_bytes()
    lines = lzma.decompress(packed).decode("ascii").splitlines()
    lines_of: dict[str, dict[str, list[int]]] = {part: {} for part in PARTS}
    for number, line in enumerate(lines):
        part, *cells = line.split()
        for cell in cells:
            lines_of[part].setdefault(cell.rstrip("0123456789:").lower(), []).append(number)
    return lines, lines_of


@cache
def several_parts(part: str) -> tuple[str, ...]:
    """All lemmas of letters alone that have `part` and at least one other part of speech, sorted."""
    _, lines_of = _table()
    others = [words for other, words in lines_of.items() if other != part]
    return tuple(sorted(w for w in lines_of[part] if w.isalpha() and any(w in other for other in others)))


@lru_cache(1 << 14)
def senses(lemma: str, part: str) -> tuple[Sense, ...]:
    """The senses of a lemma as a part of speech, commonest first; empty if it has none."""
    lines, lines_of = _table()
    by_rank = {}
    for number in lines_of[part].get(lemma, ()):
        cells = _CELL.findall(lines[number][2:])
        rank = next(int(rank or 1) for word, rank, _ in cells if word.lower() == lemma)
        uses = {word.lower(): int(count or 0) for word, _, count in cells}
        by_rank[rank] = Sense(number, tuple(word for word, _, _ in cells), uses)
    return tuple(sense for _, sense in sorted(by_rank.items()))
