"""Which split a row of a table is of: what its column `split` says, as in tables that are scored as they are."""

import re
from collections.abc import Mapping
from typing import TypeVar

from video_contrast.builders.sources.caption_table import TableRow
from video_contrast.errors import UsageError, VideoContrastError

COLUMN = "split"  # that is used without being named
NO_COLUMN = "none"  # what a user gives to have it ignored
KNOWN = ("train", "validation", "test")
DEFAULT = "test"
Part = TypeVar("Part")


def column_of(row: TableRow, named: str | None) -> str | None:
    """The column that holds the split of a row; None where there is none.

    `named`: the column that the user names; `NO_COLUMN` for none, None for `COLUMN` where the row has it.
    """
    if named is None:
        return COLUMN if COLUMN in row.cells else None
    return None if named == NO_COLUMN else named


def split_of(row: TableRow, named: str | None) -> str | None:
    """The split of a row; None where no column says it, `DEFAULT` where its cell is empty.

    Raises UsageError: no such column; VideoContrastError: no name of a split, or none of `KNOWN` in a column that the
    user did not name.
    """
    column = column_of(row, named)
    if column is None:
        return None
    value = row.value(column, "--split-column")
    name = str(value).strip() if value is not None else ""
    if named is None and name and name not in KNOWN:
        raise VideoContrastError(
            f"{row.place}: the split {name!r} in the column {column!r} is none of {', '.join(KNOWN)}; rename it, or "
            f"give --split-column {column} for names of your own, --split-column {NO_COLUMN} for one split of all rows"
        )
    if name and not re.fullmatch(r"\w+", name, re.ASCII):
        raise VideoContrastError(f"{row.place}: the split {name!r} must be letters, digits and '_'")
    return name or DEFAULT


def check_split(row: TableRow, clip: str, split: str | None, *, former: str | None, place: str) -> None:
    """Raises a VideoContrastError where a clip that an earlier row has in one split stands in another."""
    if split != former:
        raise VideoContrastError(f"{row.place}: the clip {clip!r} is of {former or DEFAULT!r} too, at {place}")


def chosen(by_split: Mapping[str | None, Part], source: str, *, split: str | None) -> dict[str, Part]:
    """The splits to build: those of the column, or the one that is asked for; rows without a column are one split.

    `by_split`: what was read by split; under None where no column said it. `split`: the one that the user asks for.
    Raises UsageError: the column does not hold that split.
    """
    by_name = {name: part for name, part in by_split.items() if name is not None}
    if not by_name:
        return dict.fromkeys([split or DEFAULT], by_split[None])
    if split is None:
        order = {name: place for place, name in enumerate(KNOWN)}
        return {name: by_name[name] for name in sorted(by_name, key=lambda name: order.get(name, len(order)))}
    if split not in by_name:
        raise UsageError(
            f"{source} has no split {split!r}, only {', '.join(by_name)}; --split-column {NO_COLUMN} writes all rows "
            "under that name"
        )
    return {split: by_name[split]}
