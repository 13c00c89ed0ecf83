"""The check of a group of pairs: its rows share their candidates, and each candidate is true of one clip."""

from collections.abc import Sequence

from video_contrast.errors import VideoContrastError
from video_contrast.row_parts import AnyRow

Member = tuple[int, AnyRow]  # the number of a row in its table, and the row, valid by itself


def check_group(name: str, members: Sequence[Member], where: str) -> None:
    """Checks the rows of one group.

    Args:
        name: of the group.
        members: its rows, at least one.
        where: what to call the table in the message.

    Raises:
        VideoContrastError: names `where`, the row (number and id), the group, the column, and what is wrong with it.
    """
    number, first = members[0]
    labels: dict[int, int] = {}  # -> the first row that has it
    for n, row in members:
        problem = _problem(row, first, number, same=labels.setdefault(row["label"], n), n=n)
        if problem:
            raise VideoContrastError(
                f"{where}: row {n} (id {row['id']!r}), group {name!r}, column {problem[0]!r}: {problem[1]}"
            )
    if len(members) != len(first["candidates"]):
        raise VideoContrastError(
            f"{where}: row {number} (id {first['id']!r}), column 'group': {name!r} has {len(members)} rows, but "
            f"{len(first['candidates'])} candidates; a group needs one row a candidate"
        )


def _problem(row: AnyRow, first: AnyRow, number: int, same: int, n: int) -> tuple[str, str] | None:
    """What is wrong with row `n` beside the first of its group, and the first with its label (`same`)."""
    if list(row["candidates"]) != list(first["candidates"]):
        return "candidates", f"differ from those of row {number}; the rows of a group share them"
    if row["cluster"] != first["cluster"]:
        return "cluster", f"is {row['cluster']!r}, that of row {number} is {first['cluster']!r}"
    if same != n:
        return "label", f"is {row['label']} as in row {same}; each candidate of a group is true of one clip"
    return None
