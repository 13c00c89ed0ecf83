"""What was changed between two captions: the one span of words in which they differ; and whether both may be true.

Negatives that others made may be true of the clip: they are kept with the judge's numbers, counted and told.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from video_contrast.builders.assembly.sharding import is_writer
from video_contrast.console import note
from video_contrast.perturbations.contrast import Edit
from video_contrast.perturbations.contrast.edit import are_antonyms
from video_contrast.perturbations.contrast.generate import judged_edits
from video_contrast.perturbations.english.forms import lemma

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
    """How many words are the same at the beginning and, of the rest, at the end."""
    before, after = [word.lower() for word in before], [word.lower() for word in after]
    if before and after:
        before[-1], after[-1] = before[-1].rstrip(".!?"), after[-1].rstrip(".!?")
    most = min(len(before), len(after))
    head = next((n for n in range(most) if before[n] != after[n]), most)
    tail = next((n for n in range(most - head) if before[-1 - n] != after[-1 - n]), most - head)
    return head, tail


COUNT = "may_be_true"
DOUBTFUL = 0.5  # an edit of less falsity may be true


def judged(captions: Sequence[str], edits: Sequence[Edit]) -> tuple[list[Edit], list[bool]]:
    """The edits with what the judge says of them in their scores, and whether each may be true with its caption.

    `captions`: the true captions. `edits`: one a caption; those that do not replace a verb by a verb or a thing by a
    thing stay as they are.
    """
    scores = judged_edits(captions, edits)
    scored = [replace(edit, scores={**edit.scores, **own}) for edit, own in zip(edits, scores, strict=True)]
    return scored, [own.get("falsity", 1.0) < DOUBTFUL for own in scores]


def warn(config: str, count: int, total: int) -> None:
    """Says how many negatives may be true."""
    if count and is_writer():
        note(
            f"warning: {config}: {count:,} of {total:,} negatives may be true of the clip as well, by the judge of "
            f"contrasts (falsity below {DOUBTFUL} in their scores)"
        )
