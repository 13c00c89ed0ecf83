"""What every contrast generator returns: the changed caption and what was changed in it; and antonyms of verbs.

Those of WordNet 3.0 are shipped as a table of 477 pairs (VerbNet, which the paper names, has none).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

from video_contrast.perturbations.english.forms import replaced_spans
from video_contrast.perturbations.english.lexicon import both_ways, lines
from video_contrast.rows import EditRecord, edit_record


@dataclass(frozen=True, slots=True)
class Edit:
    """A contrast to a caption."""

    text: str  # the changed caption; `text[start : start + len(new)] == new`
    old: str  # the words that were replaced and what stands in their place
    new: str
    start: int  # character offset of `new` in `text`
    generator: str  # what proposed it, e.g. "table6", "cast", "lexicon", "t5-base"
    antonym: bool = False  # whether `new` is a WordNet antonym of `old`
    scores: Mapping[str, float] = field(default_factory=dict)  # what was measured of it, by name
    # further replacements that follow from the first (pronouns, later ids), as (old, new) in reading order.
    also: tuple[tuple[str, str], ...] = ()

    def row(self) -> EditRecord:
        """Returns the edit as a multiple-choice table stores it."""
        return edit_record(
            self.old, self.new, self.start, generator=self.generator, antonym=self.antonym, scores=self.scores
        )


@dataclass(frozen=True, slots=True)
class Contrast:
    """One false caption."""

    text: str  # `text[start : start + len(new)] == new`, which stands where `old` stood
    start: int
    old: str
    new: str
    # what the caption says, and what the contrast says instead, in dictionary form ("red", "blue"; "dog chase
    # cat", "cat chase dog"): a set is balanced over them, and a caption that says `other` of the same clip speaks
    # against the contrast.
    unit: str
    other: str

    def as_edit(self, generator: str) -> Edit:
        """The edit as a set's table stores it."""
        return Edit(self.text, self.old, self.new, self.start, generator)


def replace_spans(caption: str, changes: list[tuple[int, int, str]], main: int, *, generator: str) -> Edit:
    """The edit that makes all `changes` (start, end, new text; in reading order, not overlapping).

    `changes`: character spans and what takes their place. `main`: index of the change that the edit is about; the
    others go into `Edit.also`.

    >>> replace_spans("he sees his dog", [(0, 2, "she"), (8, 11, "her")], 0, generator="g").text
    'she sees her dog'
    """
    old = [caption[start:end] for start, end, _ in changes]
    also = tuple((old[n], new) for n, (_, _, new) in enumerate(changes) if n != main)
    place = changes[main][0] + sum(len(new) - (end - start) for start, end, new in changes[:main])
    text = replaced_spans(caption, changes)
    return Edit(text, old[main], new=changes[main][2], start=place, generator=generator, also=also)


@cache
def table() -> dict[str, frozenset[str]]:
    """Verb -> its antonyms, both ways."""
    return both_ways(tuple(line.split("\t")) for line in lines("video_contrast.perturbations.contrast", "antonyms.tsv"))


def antonyms(base: str) -> frozenset[str]:
    """The antonyms of a verb in its dictionary form, also of several words.

    >>> sorted(antonyms("sit")), sorted(antonyms("push")), sorted(antonyms("eat"))
    (['lie', 'stand'], ['pull'], [])
    """
    return table().get(base, frozenset())


def are_antonyms(first: str, second: str) -> bool:
    """Whether two phrases in dictionary form are antonyms, as they stand or by their verbs.

    Where both have particles and differ in them, the verbs alone do not tell.

    >>> are_antonyms("sit", "stand"), are_antonyms("sit in", "stand in"), are_antonyms("sit", "sing")
    (True, True, False)
    """
    if second in antonyms(first):
        return True
    (verb, _, rest), (other, _, other_rest) = first.partition(" "), second.partition(" ")
    return other in antonyms(verb) and (rest == other_rest or not rest or not other_rest)
