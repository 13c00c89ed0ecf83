"""The check of a group of pairs: its rows share their candidates, and each candidate is true of one clip."""

from collections.abc import Sequence

from video_contrast.errors import VideoContrastError
from video_contrast.row_parts import AnyRow


class GroupMember:
    """What the check keeps of a row of a group.

    Args:
        number: of the row in its table.
        row: valid by itself.
    """

    def __init__(self, number: int, row: AnyRow) -> None:
        self.number = number
        self.id = str(row["id"])
        self.candidates = tuple(row["candidates"])
        self.label = int(row["label"])
        self.cluster = row["cluster"]


def check_group(name: str, members: Sequence[GroupMember], where: str) -> None:
    """Checks the rows of one group.

    Args:
        name: of the group.
        members: its rows, at least one.
        where: what to call the table in the message.

    Raises:
        VideoContrastError: names `where`, the row (number and id), the group, the column, and what is wrong with it.
    """
    first = members[0]
    labels: dict[int, GroupMember] = {}
    for member in members:
        problem = _problem(member, first, labels.setdefault(member.label, member))
        if problem:
            raise VideoContrastError(
                f"{where}: row {member.number} (id {member.id!r}), group {name!r}, column {problem[0]!r}: {problem[1]}"
            )
    if len(members) != len(first.candidates):
        raise VideoContrastError(
            f"{where}: row {first.number} (id {first.id!r}), column 'group': {name!r} has {len(members)} rows, but "
            f"{len(first.candidates)} candidates; a group needs one row a candidate"
        )


def _problem(member: GroupMember, first: GroupMember, same: GroupMember) -> tuple[str, str] | None:
    """What is wrong with a row beside the first of its group, and the first with its label."""
    if member.candidates != first.candidates:
        return "candidates", f"differ from those of row {first.number}; the rows of a group share them"
    if member.cluster != first.cluster:
        return "cluster", f"is {member.cluster!r}, that of row {first.number} is {first.cluster!r}"
    if same is not member:
        return "label", f"is {member.label} as in row {same.number}; each candidate of a group is true of one clip"
    return None
