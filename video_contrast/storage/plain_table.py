"""Rows of a multiple-choice set from a table made elsewhere: columns are named or guessed, the rest has defaults.

Candidates are a list, an object, several columns, or one of these as text. A label is the text of one, its name, its
letter, or its place from 0 or from 1. An id is the row's number where there is none; a video is its id.
"""

from __future__ import annotations

import ast
import json
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from math import prod
from pathlib import PurePosixPath
from typing import NamedTuple, cast

from video_contrast.console import counted
from video_contrast.errors import VideoContrastError
from video_contrast.files import Json
from video_contrast.rows import MultipleChoiceRow, Row, layout_of, multiple_choice_row, table_columns
from video_contrast.seeds import stream
from video_contrast.storage.table_columns import ENDING, ColumnRoles, TableColumns, TableRow, column_roles, with_ending

# Columns of candidates that are objects: of the text, of what a label calls it, and of whether it is true.
_TEXT = ("text", "choice", "option", "candidate", "caption", "content", "description", "sentence", "value", "answer")
_NAME = ("choice_id", "option_id", "id", "key", "letter", "label", "index")
_TRUE = ("correct", "is_correct", "is_answer", "is_true", "answer", "truth")
_NUMPY = re.compile(r"(?<=['\"])\s+(?=['\"])")  # between the texts of an array that was written as text
_MARKS = ("true", "1", "correct", "yes")
_LETTERED = re.compile(r"\s*\(?([A-Za-z])[).:]\s*(?=\S)")


class Fault(Exception):
    """Why a row is no item; its arguments are the kind of fault, and what it is here."""


class Candidates(NamedTuple):
    """The candidates of a row as the table has them."""

    texts: list[str]
    names: list[str]  # names by which a label may call each, apart from its text, its letter and its place
    true: int | None = None  # the one that is marked as true

    def without_letters(self) -> Candidates:
        """The candidates without the letters before their texts."""
        return self._replace(texts=[_LETTERED.sub("", text, count=1) for text in self.texts])

    @property
    def lettered(self) -> bool:
        """Whether each text begins with the letter of its place."""
        letters = [match.group(1).upper() if (match := _LETTERED.match(text)) else "" for text in self.texts]
        return bool(letters) and letters == [chr(ord("A") + n) for n in range(len(letters))]


Labels = list[int | Fault]  # the place of the true candidate of each row, or why there is none
Entry = Candidates | Fault  # the candidates of a row, or why it has none


def all_candidates(rows: Sequence[TableRow], roles: ColumnRoles) -> list[Entry]:
    """The candidates of every row, or why it has none."""
    # Among several columns one that holds a list of texts in every row adds all of them; "[1, 2]" may be an answer.
    cells = {name: [_parsed(row.get(name)) for row in rows] for name in roles.texts if roles.first is None}
    lists = {
        name
        for name, parts in cells.items()
        if all(isinstance(part, list | tuple) and all(isinstance(text, str) for text in part) for part in parts)
    }
    candidates: list[Entry] = []
    for row in rows:
        try:
            if len(roles.texts) > 1:
                candidates.append(_of_columns(row, roles.texts, lists))
            else:
                candidates.append(_of_cell(_parsed(row.get(roles.texts[0])), roles.texts[0]))
        except Fault as fault:
            candidates.append(fault)
    return candidates


def _of_columns(row: TableRow, columns: Sequence[str], lists: set[str]) -> Candidates:
    """Candidates of several columns, of which the last may be empty."""
    texts, names = [], []
    for name in columns:
        value = row.get(name)
        parts = _parsed(value) if name in lists else value
        parts = list(parts) if isinstance(parts, list | tuple) else [parts]
        texts += parts
        names += [name] * len(parts)
    while len(texts) > 2 and _is_absent(texts[-1]):
        texts.pop()
    return Candidates([as_text(text) for text in texts], names[: len(texts)])


def _of_cell(value: Json, column: str) -> Candidates:
    """Candidates of one cell: a list of texts or of objects, or an object of texts or of lists."""
    if isinstance(value, Mapping):
        if not value or not all(isinstance(part, list | tuple) for part in value.values()):
            parts_of = {key: re.findall(r"\d+|\D+", str(key)) for key in value}
            keys = sorted(value, key=lambda key: [(int(p), "") if p.isdigit() else (-1, p) for p in parts_of[key]])
            return Candidates([as_text(value[key]) for key in keys], [str(key) for key in keys])
        if len({len(part) for part in value.values()}) > 1:
            raise Fault("no list of candidates", f"column {column!r} holds lists of different lengths: {value!r}")
        value = [dict(zip(value, parts, strict=True)) for parts in zip(*value.values(), strict=True)]
    if not isinstance(value, list | tuple):
        raise Fault("no list of candidates", f"column {column!r} is no list of candidates: {value!r}")
    if value and all(isinstance(part, Mapping) for part in value):
        return _of_objects(value, column)
    parts = list(value)
    while len(parts) > 2 and _is_absent(parts[-1]):  # lists that were filled up to one length
        parts.pop()
    return Candidates([as_text(part) for part in parts], [])


def _of_objects(objects: Sequence[Mapping[str, Json]], column: str) -> Candidates:
    """Candidates that are objects, with a text and perhaps a name and a mark of the true one."""
    text = next((key for key in _TEXT if all(isinstance(part.get(key), str) for part in objects)), None)
    if text is None:
        raise Fault("no list of candidates", f"column {column!r} holds objects without a text: {objects[0]!r}")
    keys = [key for key in objects[0] if key != text and all(key in part for part in objects)]
    name = next((key for key in _NAME if key in keys), None)
    mark = next((key for key in _TRUE if key in keys), None)
    marks = [] if mark is None else [str(part[mark]).lower() in _MARKS for part in objects]
    if sum(marks) > 1:
        raise Fault("several true candidates", f"{sum(marks)} candidates are marked as true by {mark!r}")
    names = [] if name is None else [str(part[name]) for part in objects]
    return Candidates([part[text] for part in objects], names, marks.index(True) if any(marks) else None)


def as_text(value: Json) -> str:
    """A candidate as a text; numbers that spreadsheets and parquet made of "3" are whole again."""
    if _is_absent(value):
        return ""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _is_absent(value: Json) -> bool:
    return value is None or value == "" or (isinstance(value, float) and math.isnan(value))  # NaN: of pandas


def _parsed(value: Json) -> Json:
    """A list or an object that was written as text, as JSON or in Python's form; other values as they are."""
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{", "("):
        with suppress(ValueError, RecursionError):
            return json.loads(value)
        with suppress(ValueError, SyntaxError, MemoryError, RecursionError):
            return ast.literal_eval(_NUMPY.sub(", ", value))
    return value


# Text may follow a letter only behind a mark: "a dog runs" is no letter A.
_LETTER = re.compile(r"\(?([A-Za-z])(?:[).:](\s.*)?)?", re.S)
_NUMBER = re.compile(r"\d+(\.0*)?")
_BY_WORD = ("text", "name", "letter")  # ways of reading a label that may stand beside each other in a column
_SURE = 0.01  # below, it is no accident that 0 is no label of a table
_WAYS = {
    "text": "texts of candidates",
    "name": "keys or columns of candidates",
    "letter": "letters from A",
    "place0": "places, counted from 0",
    "place1": "places, counted from 1",
}


def true_places(rows: Sequence[TableRow], candidates: Sequence[Entry], roles: ColumnRoles, where: str) -> Labels:
    """The place of the true candidate of each row, or why there is none; what was taken for what joins the guesses.

    A column is read in one way: that which names a candidate in most rows. A label may be the text of a candidate, its
    key, its letter, or its place; where a text is a number too, the text counts, unless places fit more rows. `where`:
    what to call the table in messages. Raises VideoContrastError: nothing says which candidate is true.
    """
    if roles.constant is not None:
        outside = Fault("a label outside the candidates", f"the label {roles.constant} is outside the candidates")
        fits = [isinstance(entry, Candidates) and roles.constant < len(entry.texts) for entry in candidates]
        return [roles.constant if fit else outside for fit in fits]
    if roles.labels:
        return _read_labels(rows, candidates, roles)
    places = [None if isinstance(entry, Fault) else entry.true for entry in candidates]
    if any(place is not None for place in places):
        return [Fault("no true candidate", "none is marked as true") if n is None else n for n in places]
    raise VideoContrastError(
        f"{where}: needs which candidate is true; none of its columns ({', '.join(rows[0])}) looks like it: "
        "name it with --label, or call it label"
    )


def _read_labels(rows: Sequence[TableRow], candidates: Sequence[Entry], roles: ColumnRoles) -> Labels:
    """The labels of the column that fits most rows; others that say something else join the guesses."""
    columns = {name: _Column([row.get(name) for row in rows], candidates, roles) for name in roles.labels}
    name = max(roles.labels, key=lambda name: sum(map(bool, columns[name].ways)))  # the first of equal ones
    column = columns[name]
    labels: Labels = []
    for row, entry, place in zip(rows, candidates, column.places, strict=True):
        among = "" if isinstance(entry, Fault) else f"{len(entry.texts)} "
        what = f"the label {row.get(name)!r} is outside the {among}candidates ({name} holds {_WAYS[column.way]})"
        if row.get(name) is None:
            labels.append(Fault("no label", f"it has no {name}"))
        else:
            labels.append(Fault("a label outside the candidates", what) if place is None else place)
    if name != "label":
        roles.guesses.append(f"label: {name}")
    roles.guesses.append(f"labels of {name}: {_WAYS[column.way]}{column.doubt()}")
    for other in roles.labels:
        pairs = zip(columns[other].places, column.places, strict=True)
        both = [(first, second) for first, second in pairs if first is not None and second is not None]
        differ = sum(first != second for first, second in both)
        if len(both) > len(rows) / 2 > differ > 0:
            roles.guesses.append(f"{other} names another candidate than {name} in {differ:,} rows")
    return labels


class _Column:
    """A column of labels, and the way in which it is read (`way`); `places` are those that the labels then name."""

    def __init__(self, values: Sequence[Json], candidates: Sequence[Entry], roles: ColumnRoles) -> None:
        pairs = list(zip((as_text(value).strip() for value in values), candidates, strict=True))
        self.ways = [{} if isinstance(entry, Fault) else _ways(text, entry) for text, entry in pairs]
        self.fits = Counter(way for ways in self.ways for way in ways)  # rows in which a label names a candidate
        whole = [(text, len(entry.texts)) for text, entry in pairs if isinstance(entry, Candidates)]
        numbers = [(int(float(text)), size) for text, size in whole if _NUMBER.fullmatch(text)]
        base, self.why = _base(numbers, roles.first)
        # A number of JSON or parquet is a place rather than a text, where both fit as many rows; "3" is the text.
        self.typed = all(isinstance(value, int | float) for value in values if value is not None)
        order = ("name", base, "text", "letter") if self.typed else ("text", "name", "letter", base)
        self.order = order if roles.label_is is None else (roles.label_is,)
        self.way = max(self.order, key=lambda way: self.fits[way])
        words = _BY_WORD if self.way in _BY_WORD and roles.label_is is None else ()
        self.places = [next((ways[w] for w in (self.way, *words) if w in ways), None) for ways in self.ways]

    def doubt(self) -> str:
        """The doubts about the way that is taken, in brackets."""
        doubts = [self.why] if self.why and self.way == "place1" and len(self.order) > 1 else []
        for other in self.order:
            differ = sum(other in ways and ways[other] != ways.get(self.way, ways[other]) for ways in self.ways)
            if differ:
                equal = self.fits[other] == self.fits[self.way]
                why = f", since its labels are {'numbers' if self.typed else 'texts'}" if equal else ""
                doubts.append(
                    f"they fit {self.fits[self.way]:,} of {len(self.ways):,} rows; {_WAYS[other]} fit "
                    f"{self.fits[other]:,} and would give {differ:,} another key{why}: --label-is decides"
                )
        return f" ({'; '.join(doubts)})" if doubts else ""


def _base(numbers: Sequence[tuple[int, int]], first: int | None) -> tuple[str, str]:
    """Whether places count from 0 or from 1, and what that was told from where the labels do not settle it.

    `numbers`: labels that are numbers, and how many candidates their rows have. `first`: of `ColumnRoles`.
    """
    if not numbers or any(number == 0 for number, _ in numbers):
        return "place0", ""
    last = sum(number == size for number, size in numbers)
    accident = prod(1 - 1 / size for _, size in numbers if size)  # that no label is 0, if they counted from 0
    if last <= 1 and first != 1 and accident >= _SURE:
        return "place0", ""
    ends = "neither 0 nor the last place ever stands there"
    return "place1", "" if last else f"{ends}; --label-is place0 if they count from 0"


def _ways(text: str, entry: Candidates) -> dict[str, int]:
    """Way of reading a label -> the place of the candidate that it then names."""
    ways: dict[str, int] = {}
    size = len(entry.texts)
    for form in (str, lambda t: " ".join(t.split()), lambda t: " ".join(t.lower().split()).rstrip(" .")):
        for texts in (entry.texts, entry.without_letters().texts if entry.lettered else []):
            same = [n for n, candidate in enumerate(texts) if form(candidate) == form(text)]
            if len(same) == 1:
                ways.setdefault("text", same[0])
    if entry.names.count(text) == 1:
        ways["name"] = entry.names.index(text)
    letter = _LETTER.fullmatch(text)
    if letter and (place := ord(letter.group(1).upper()) - ord("A")) < size:
        ways["letter"] = place
    if _NUMBER.fullmatch(text):
        number = int(float(text))
        ways |= {way: number - base for base, way in enumerate(("place0", "place1")) if base <= number < size + base}
    return ways


_SPAN = re.compile(r"\d[\d.:]*")  # a time in a text
SPLIT = "test"  # of a table without a column `split`


@dataclass
class PlainTable:
    """Valid rows of a foreign table."""

    splits: dict[str, list[MultipleChoiceRow]] = field(default_factory=dict)  # split -> its rows, complete
    guesses: list[str] = field(default_factory=list)  # which column was read as what, a sentence each
    left_out: dict[str, list[str]] = field(default_factory=dict)  # reason -> places of rows that are no item
    has_kinds: bool = False  # whether the table says of each candidate what kind it is
    has_videos: bool = True  # whether a column says of which source video a row is
    columns: tuple[str, ...] = ()  # that hold the candidates
    numbers: dict[str, list[int]] = field(default_factory=dict)  # split -> the number of each of its rows in the file
    faulty: dict[int, str] = field(default_factory=dict)  # number of a row that is left out -> reason

    @property
    def rows(self) -> list[MultipleChoiceRow]:
        """The rows of all splits."""
        return [row for rows in self.splits.values() for row in rows]


Rows = Mapping[int, TableRow] | Sequence[TableRow]  # by their number in the file, or numbered from 0


def plain_table(rows: Rows, where: str, *, columns: TableColumns | None = None, strict: bool = False) -> PlainTable:
    """Completes the rows of a foreign table.

    `where`: what to call the table. `columns`: None where the caller has no such options, which messages then do not
    name. Raises UsageError: a named column is not there; VideoContrastError: no candidates or label, or no item at all;
    with `strict` also the first row that is none, where such rows are counted else.
    """
    numbers = list(rows) if isinstance(rows, Mapping) else range(len(rows))
    rows = list(rows.values()) if isinstance(rows, Mapping) else rows
    roles = column_roles(rows, where, columns)
    table = PlainTable(
        guesses=roles.guesses, has_videos=bool(roles.column["cluster"] or roles.column["video"]), columns=roles.texts
    )
    table.has_kinds = all(isinstance(row.get("kinds"), list | tuple) for row in rows)
    candidates = all_candidates(rows, roles)
    labels = true_places(rows, candidates, roles, where)
    if {entry.lettered for entry in candidates if isinstance(entry, Candidates)} == {True}:
        table.guesses.append("letters before the candidates (A. B. ...) are left out")
        candidates = [entry if isinstance(entry, Fault) else entry.without_letters() for entry in candidates]
    seen: dict[tuple[str, str], str] = {}
    in_split: Counter[str] = Counter()
    for number, row, entry, label in zip(numbers, rows, candidates, labels, strict=True):
        split, place = str(row.get("split") or SPLIT), f"row {number}"
        item = _given(row, roles.column["id"]) or str(in_split[split])
        in_split[split] += 1
        try:
            if (split, item) in seen:
                hint = " (--id names another column)" if columns else ""
                raise Fault("a repeated id", f"the id {item!r} was that of {seen[split, item]} already{hint}")
            texts, key = _checked(entry, label)
            complete = _row(row, texts, key, roles=roles, item=item, own_kinds=table.has_kinds)
        except Fault as fault:
            reason, what = fault.args
            if strict:
                raise VideoContrastError(f"{where}: {place} (id {item!r}): {what}") from fault
            table.faulty[number] = reason
            table.left_out.setdefault(reason, []).append(f"{place} (id {item!r}): {what}")
            continue
        seen[split, item] = place
        table.splits.setdefault(split, []).append(complete)
        table.numbers.setdefault(split, []).append(number)
    if not table.splits:
        reasons = "; ".join(f"{len(of)} with {reason}, first {of[0]}" for reason, of in table.left_out.items())
        raise VideoContrastError(f"{where}: no item is left of {len(rows)} rows: {reasons}")
    return table


def completed_rows(
    rows: Rows, where: str, *, columns: TableColumns | None = None, split: str | None = None
) -> list[Row]:
    """The rows of a table that may lack columns: as they are where none is missing, else with defaults.

    Raises VideoContrastError: there are no candidates or no label, or they do not fit; names the row. `where, columns`:
    as of `plain_table`. `split`: only its rows; how labels are read is told from all of them.
    """
    row_list = list(rows.values()) if isinstance(rows, Mapping) else list(rows)
    first = row_list[0] if row_list else {"captions": None}
    layout = layout_of(first) if {"candidates", "captions"} & first.keys() else "multiple_choice"
    if "captions" in first or layout == "pairs" or all(name in first for name in table_columns(layout)):
        return cast(list[Row], [r for r in row_list if split is None or str(r.get("split") or SPLIT) == split])
    table = plain_table(rows, where, columns=columns, strict=True)
    return cast(list[Row], table.rows if split is None else table.splits[split])


def _checked(entry: Entry, label: int | Fault) -> tuple[list[str], int]:
    """The candidates of an item and the place of the true one; raises the fault of a row that is none."""
    if isinstance(entry, Fault):
        raise entry
    texts = entry.texts
    for n, text in enumerate(texts):
        if not text.strip():
            raise Fault("an empty candidate", f"candidate {n} is empty")
    if len(texts) < 2:
        raise Fault("fewer than two candidates", f"it has {counted(len(texts), 'candidate')}")
    places: dict[str, int] = {}
    for n, text in enumerate(texts):
        if (first := places.setdefault(text, n)) < n:
            raise Fault("identical candidates", f"candidate {n} equals candidate {first}: {text!r}")
    if isinstance(label, Fault):
        raise label
    return texts, label


def _clip_seconds(row: TableRow, roles: ColumnRoles) -> tuple[float | None, float | None]:
    """Start and end of the clip in seconds, from their columns or from the one that has both."""
    start, end = _seconds(row, roles.column["start"]), _seconds(row, roles.column["end"])
    if start is None and end is None and (span := _given(row, roles.column["span"])):
        both = dict(zip(("start", "end"), _SPAN.findall(span), strict=False))
        start, end = _seconds(both, "start"), _seconds(both, "end")
    if end is not None and end <= (start or 0):
        raise Fault("a clip that ends before it starts", f"the clip ends at {end:g} s, not after {start or 0:g} s")
    return start, end


def _row(
    row: TableRow, texts: list[str], label: int, *, roles: ColumnRoles, item: str, own_kinds: bool
) -> MultipleChoiceRow:
    if roles.constant is not None:  # columns of true and false captions have no order of their own
        order = stream(0, "plain-table", item).permutation(len(texts)).tolist()
        texts, label = [texts[n] for n in order], order.index(label)
    kinds = row["kinds"] if own_kinds else ["true" if n == label else "distractor" for n in range(len(texts))]
    video = _given(row, roles.column["video"]) or item
    start, end = _clip_seconds(row, roles)
    task = _given(row, roles.column["task"])
    result = multiple_choice_row(
        id=item, candidates=texts, label=label, kinds=list(map(str, kinds)), start=start, end=end,
        video_id=_given(row, "video_id") or ENDING.sub("", PurePosixPath(video).name) or item,
        video_path=_given(row, "video_path") or with_ending(video),
        cluster=_given(row, roles.column["cluster"]) or ENDING.sub("", video),
        question=_given(row, roles.column["question"]) or None, meta={"task": task} if task else None,
    )  # fmt: skip
    if isinstance(row.get("meta"), str) and row["meta"]:
        result["meta"] = row["meta"]
    return result


def _given(row: TableRow, column: str | None) -> str:
    """A cell as a text, "" where there is none; the path of what the datasets library makes of a video."""
    value = None if column is None else row.get(column)
    value = value.get("path") if isinstance(value, Mapping) else value
    return "" if value is None else str(value)


def _seconds(row: TableRow, column: str | None) -> float | None:
    """A time of a row: seconds, or hours, minutes and seconds with colons."""
    value = row.get(column) if column is not None else None
    if value in (None, ""):
        return None
    fault = Fault("a time that is none", f"column {column!r} must hold seconds, not {value!r}")
    try:
        parts = [float(part) for part in str(value).split(":")]
    except ValueError as error:
        raise fault from error
    time = math.fsum(part * 60**n for n, part in enumerate(reversed(parts))) if len(parts) <= 3 else math.inf
    if not 0 <= time < math.inf:
        raise fault
    return time
