"""The columns of a table made elsewhere: named by the user, or guessed by the names that data sets use."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from video_contrast.errors import UsageError, VideoContrastError

TableRow = dict[str, Any]  # of a table of any format: column -> value as the format has it (text, number, list, None)
LabelIs = Literal["text", "letter", "place0", "place1"]

# Role of a column -> the names that data sets give it, the likeliest first (`plain_name`).
_ROLES = {
    role: tuple(names.split())
    for line in files(__package__).joinpath("column_names.tsv").read_text(encoding="utf-8").splitlines()
    for role, _, names in [line.partition("\t")]
    if not line.startswith("#")
}
_CANDIDATES, _LABEL = _ROLES.pop("candidates"), _ROLES.pop("label")
_PAIRS = tuple(pair.split("/") for pair in _ROLES.pop("pairs"))  # columns of a true caption, and of its negatives
_NUMBERED = (
    r"(?:ending|option|choice|candidate|answer|answer_choice|ans)_?(\d+)", r"a(\d+)",
    r"(?:option|choice|candidate|answer|answer_choice|opt)_?([a-z])", r"([a-z])",
)  # fmt: skip
_TASKS = 100  # values of a column of tasks, at most


@dataclass(frozen=True, kw_only=True)
class TableColumns:
    """The columns of a foreign table by what they hold; guessed where None."""

    PANEL: ClassVar[str] = "Columns of a table (guessed where not given)"
    candidates: Annotated[str | None, "the candidates, or columns by commas, the true one first with --label 0"] = None
    label: Annotated[str | None, "which candidate is true (number, letter, text), or a number for all rows"] = None
    label_is: Annotated[LabelIs | None, "what labels are: texts of candidates, letters, places from 0 or 1"] = None
    id: Annotated[str | None, "the item's id"] = None  # as the builders call them
    video: Annotated[str | None, "the clip: a path or an id"] = None
    cluster: Annotated[str | None, "the source video"] = None
    question: Annotated[str | None, "what the candidates answer"] = None
    task: Annotated[str | None, "the task or category"] = None
    encoding: Annotated[str, "encoding of a text file"] = "utf-8-sig"
    delimiter: Annotated[str | None, "delimiter of a CSV file"] = None


@dataclass
class ColumnRoles:
    """The roles of a table's columns."""

    texts: tuple[str, ...]  # of the candidates: one that holds them all, or several
    labels: tuple[str, ...] = ()  # that may say which candidate is true; none where `constant` does
    label_is: LabelIs | None = None  # how a label is to be read; None to tell it from the column
    constant: int | None = None  # the place of the true candidate in all rows
    first: int | None = None  # number of the first of numbered columns of candidates, 0 or 1; None of others
    # "id", "video", "span" (of both times: "1.5-3", or a list of two) ... -> the column that holds it, None without one
    column: dict[str, str | None] = field(default_factory=dict)
    guesses: list[str] = field(default_factory=list)  # which column was read as what, a sentence each


def column_roles(rows: Sequence[TableRow], where: str, named: TableColumns | None) -> ColumnRoles:
    """The roles of a table's columns, named or guessed.

    `where, named`: as `where, columns` of `plain_table`. Raises UsageError: a named column is not there;
    VideoContrastError: none looks like the candidates or the label.
    """
    columns = named or TableColumns()
    names = list(dict.fromkeys(name for row in rows[:100] for name in row))
    by_name = {plain_name(name): name for name in reversed(names)}  # of two that are alike the first

    def given(flag: str, name: str) -> str:
        if name not in names:
            raise UsageError(f"--{flag} {name}: {where} has no such column; it has {', '.join(names)}")
        return name

    if (roles := _candidates(columns, names, by_name, given)) is None:
        raise _no_candidates(names, where, named)
    roles.label_is = columns.label_is
    if columns.label is not None and columns.label not in names and columns.label.isdigit():
        roles.constant = int(columns.label)
    elif columns.label is not None:
        roles.labels = (given("label", columns.label),)
    elif roles.constant is None:
        roles.labels = tuple(by_name[n] for n in _LABEL if n in by_name and by_name[n] not in roles.texts)
    for role, usual in _ROLES.items():
        if (name := getattr(columns, role, None)) is not None:
            given(role, name)
        else:
            name = _guessed(role, [by_name[n] for n in usual if n in by_name], roles, rows)
        roles.column[role] = name
    return roles


def _guessed(role: str, names: Sequence[str], roles: ColumnRoles, rows: Sequence[TableRow]) -> str | None:
    """The first of columns of usual names that can have a role, which joins the guesses unless it is called so."""
    own_columns = {*roles.texts, *roles.labels[:1]}
    name = next((name for name in names if name not in own_columns and _fits(role, name, rows)), None)
    if name not in (None, role):
        roles.guesses.append(f"{'source video' if role == 'cluster' else role}: {name}")
    return name


def _no_candidates(names: Sequence[str], where: str, named: TableColumns | None) -> VideoContrastError:
    has_captions = any(word in name.lower() for name in names for word in ("caption", "sentence"))
    return VideoContrastError(
        f"{where}: needs the candidates of each item and which of them is true; none of its columns "
        f"({', '.join(names)}) looks like candidates: "
        + ("name them with --candidates and --label" if named else "call them candidates and label")
        + ("; of rows of a video and a caption, `video-contrast build captions` makes a set" if has_captions else "")
    )


@lru_cache
def plain_name(name: str) -> str:
    """A column's name in lower case with "_" for spaces: as usual names of columns are written."""
    return re.sub(r"[\s-]+", "_", str(name).strip().lower())


def _fits(role: str, name: str, rows: Sequence[TableRow]) -> bool:
    """Whether the values of a column can be what its name says."""
    values = [(row.get("split"), str(row.get(name))) for row in rows if row.get(name) not in (None, "")]
    distinct = len(set(values))
    if role == "id":  # few that repeat are faults of a column `id`; many say that it is of something else
        return distinct >= len(rows) * (0.5 if plain_name(name) == "id" else 1)
    return distinct > 0 and (role != "task" or 1 < distinct <= min(_TASKS, len(values) // 2))


def _candidates(columns: TableColumns, names: Sequence[str], by_name: dict[str, str], given: Any) -> ColumnRoles | None:
    """The columns of the candidates; None where no name is that of such."""
    if columns.candidates:
        return ColumnRoles(tuple(given("candidates", name.strip()) for name in columns.candidates.split(",")))
    for plain in _CANDIDATES:
        if plain in by_name:
            guesses = [] if by_name[plain] == "candidates" else [f"candidates: {by_name[plain]}"]
            return ColumnRoles((by_name[plain],), guesses=guesses)
    for pattern in _NUMBERED:
        name_of = {m.group(1): name for plain, name in by_name.items() if (m := re.fullmatch(pattern, plain))}
        numbers = {int(key) if key.isdigit() else ord(key) - ord("a"): name for key, name in name_of.items()}
        first = min(numbers, default=0)
        run: list[str] = []
        while first + len(run) in numbers:  # in turn: a column X beside A to D is none of them
            run.append(numbers[first + len(run)])
        from_number = next(iter(name_of), "").isdigit()
        if len(run) > 1 and first <= from_number:
            guesses = [f"candidates: {', '.join(run)}"]
            return ColumnRoles(tuple(run), first=first if from_number else None, guesses=guesses)
    for true, false in _PAIRS:
        if true in by_name and false in by_name and columns.label is None:
            pair = (by_name[true], by_name[false])
            guess = f"candidates, the true one first (then shuffled): {', '.join(pair)}"
            return ColumnRoles(pair, constant=0, guesses=[guess])
    return None


ENDINGS = (
    "mp4", "m4v", "mov", "3gp", "3g2", "mkv", "webm", "avi", "wmv", "asf", "flv", "f4v", "mpg", "mpeg", "vob", "ts",
    "mts", "m2ts", "ogv", "ogg", "gif", "mxf", "rm", "rmvb", "dv",
)  # fmt: skip
ENDING = re.compile(rf"\.({'|'.join(ENDINGS)}|jpe?g|png|webp)$", re.I)  # of files: sets of images are read, too


def with_ending(video: str, root: Path | None = None) -> str:
    """The file of a video that may be named without its ending: the one that lies there, else .mp4.

    `video`: the name, relative to `root`. `root`: the folder of the videos, where it is known.

    >>> with_ending("clips/a"), with_ending("a.webm"), with_ending("film_00.01")
    ('clips/a.mp4', 'a.webm', 'film_00.01.mp4')
    """
    if ENDING.search(video):
        return video
    names = (video, *(f"{video}.{ending}" for ending in ENDINGS))
    return next((name for name in names if lies_there(name, root)), f"{video}.mp4")


def lies_there(video: str, root: Path | None) -> bool:
    """Whether a file lies below a folder; False where the folder is not known."""
    try:
        return root is not None and (root / video).is_file()
    except OSError:  # a name that is too long for the file system
        return False
