"""The record that every contrast generator returns: the changed caption and its edit; antonyms of verbs; the edit
that lies between two captions that others made.

Those of WordNet 3.0 are shipped as a table of 477 pairs (VerbNet, which the paper names, has none).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

from video_contrast.perturbations.english.forms import lemma, replaced_spans
from video_contrast.perturbations.english.lexicon import both_ways, lines
from video_contrast.rows import EditRecord, edit_record


@dataclass(frozen=True, slots=True)
class Edit:
    """A contrast to a caption."""

    text: str  # the changed caption; `text[start : start + len(new)] == new`
    old: str  # the words that were replaced and what stands in their place
    new: str
    start: int  # character offset of `new` in `text`
    generator: str  # its maker, e.g. "table6", "cast", "lexicon", "t5-base"
    antonym: bool = False  # whether `new` is a WordNet antonym of `old`
    scores: Mapping[str, float] = field(default_factory=dict)  # measurements of it, by name
    # further replacements that follow from the first (pronouns, later ids), as (old, new) in reading order.
    following_replacements: tuple[tuple[str, str], ...] = ()

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
    others go into `Edit.following_replacements`.

    >>> replace_spans("he sees his dog", [(0, 2, "she"), (8, 11, "her")], 0, generator="g").text
    'she sees her dog'
    """
    old = [caption[start:end] for start, end, _ in changes]
    others = tuple((old[n], new) for n, (_, _, new) in enumerate(changes) if n != main)
    place = changes[main][0] + sum(len(new) - (end - start) for start, end, new in changes[:main])
    text = replaced_spans(caption, changes)
    return Edit(text, old[main], changes[main][2], start=place, generator=generator, following_replacements=others)


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


_OPENING, _CLOSING = "\"'(", ".,;:!?\"')"  # marks


def changed_words(old: str, new: str) -> tuple[int, int]:
    """Returns the lengths, in words, of the one span in which two captions differ: (in the old, in the new).

    >>> changed_words("a boy sits down", "a boy stands")
    (2, 1)
    """
    before, after = old.split(), new.split()
    head, tail = _common(before, after)
    return len(before) - head - tail, len(after) - head - tail


def difference(old: str, new: str, generator: str) -> Edit:
    """Returns what was changed between two captions, as one edit of whole words.

    Marks and quotes around the words that both captions have, capitals and a closing mark are no change. `new`: the
    caption that was made of it. `generator`: what made it, for the record.

    >>> edit = difference("a boy plugs it in", "a boy pulls it in", "human")
    >>> edit.old, edit.new, edit.text[edit.start:]
    ('plugs', 'pulls', 'pulls it in')
    >>> edit = difference("A door opens.", "a door closes.", "human")
    >>> edit.old, edit.new, edit.antonym
    ('opens', 'closes', True)
    """
    before, after = old.split(), new.split()
    head, tail = _common(before, after)
    gone, put = before[head : len(before) - tail], after[head : len(after) - tail]
    places = [match.span() for match in re.finditer(r"\S+", new)]  # of the words of `after`
    start = places[head][0] if head < len(after) else len(new)
    end = places[len(after) - tail - 1][1] if put else start
    former, antonym = " ".join(gone), False
    if gone and put:
        opening = _marks_of_both(gone[0], put[0], _OPENING)
        closing = _marks_of_both(gone[-1][::-1], put[-1][::-1], _CLOSING)
        former, start, end = former[opening : len(former) - closing], start + opening, end - closing
        # By the whole phrase or by its first word: "sitting on" against "standing in" is an antonym as well.
        first, second = _base(gone), _base(put)
        antonym = are_antonyms(first, second) or are_antonyms(first.split()[0], second.split()[0])
    return Edit(new, former, new=new[start:end], start=start, generator=generator, antonym=antonym)


def _marks_of_both(word: str, other: str, marks: str) -> int:
    """How many marks two words both begin with; one that has no letter is left as it is."""
    if not any(map(str.isalnum, word)) or not any(map(str.isalnum, other)):
        return 0
    return next((n for n, (a, b) in enumerate(zip(word, other, strict=False)) if a != b or a not in marks), 0)


def _base(words: list[str]) -> str:
    """The dictionary form of a verb phrase that is given in words, with the marks of its sentence."""
    words = [word.strip(_OPENING + _CLOSING) or word for word in words]
    return " ".join([lemma(words[0].lower(), "VB"), *(word.lower() for word in words[1:])])


def _common(before: list[str], after: list[str]) -> tuple[int, int]:
    """The number of equal words at the beginning and, of the rest, at the end."""
    before, after = [word.lower() for word in before], [word.lower() for word in after]
    if before and after:
        before[-1], after[-1] = before[-1].rstrip(".!?"), after[-1].rstrip(".!?")
    most = min(len(before), len(after))
    head = next((n for n in range(most) if before[n] != after[n]), most)
    tail = next((n for n in range(most - head) if before[-1 - n] != after[-1 - n]), most - head)
    return head, tail
