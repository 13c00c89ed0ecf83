"""The contrast of an item's true candidate where a set names none: the nearest candidate."""

from collections import Counter
from collections.abc import Sequence
from typing import cast

from video_contrast.rows import MultipleChoiceRow

SHARE = 0.9  # of the items must have one contrast that stands out
KIND = "contrast"


def mark_nearest(rows: Sequence[MultipleChoiceRow]) -> tuple[list[MultipleChoiceRow], int]:
    """Marks the candidate that differs from the true one in the fewest words, in sets that were built that way.

    It stands out where it shares more than half of the words, and no other candidate does. Returns the rows, the
    nearest candidate of each with the kind "contrast" and the others "random", and in how many one stands out; the rows
    as they are and 0 where that are fewer than `SHARE` of them.
    """
    several = [row for row in rows if len(row["candidates"]) > 2]
    alone = sum(sum(2 * _common(row, n)[0] > _common(row, n)[1] for n in _others(row)) == 1 for row in several)
    if not several or alone < SHARE * len(rows):
        return list(rows), 0
    new_rows = []
    for row in rows:
        nearest = min(_others(row), key=lambda n: (_common(row, n)[1] - _common(row, n)[0], n))
        kinds = ["true" if n == row["label"] else KIND if n == nearest else "random" for n in range(len(row["kinds"]))]
        new_rows.append(cast(MultipleChoiceRow, {**row, "kinds": kinds}))
    return new_rows, alone


def _others(row: MultipleChoiceRow) -> list[int]:
    return [n for n in range(len(row["candidates"])) if n != row["label"]]


def _common(row: MultipleChoiceRow, candidate: int) -> tuple[int, int]:
    """Words that a candidate has in common with the true one, and the words of the longer of both."""
    true, other = (Counter(row["candidates"][n].lower().split()) for n in (row["label"], candidate))
    return (true & other).total(), max(true.total(), other.total())
