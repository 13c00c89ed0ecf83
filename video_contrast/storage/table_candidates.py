"""The candidates of a row of a table made elsewhere: a list, an object, several columns, or one of these as text."""

from __future__ import annotations

import ast
import json
import math
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from video_contrast.files import Json
from video_contrast.storage.table_columns import ColumnRoles, TableRow

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
    names: list[str]  # what a label may call each, apart from its text, its letter and its place
    true: int | None = None  # the one that is marked as true

    def without_letters(self) -> Candidates:
        """The same without the letters before the texts."""
        return self._replace(texts=[_LETTERED.sub("", text, count=1) for text in self.texts])

    @property
    def lettered(self) -> bool:
        """Whether each text begins with the letter of its place."""
        letters = [match.group(1).upper() if (match := _LETTERED.match(text)) else "" for text in self.texts]
        return bool(letters) and letters == [chr(ord("A") + n) for n in range(len(letters))]


def all_candidates(rows: Sequence[TableRow], roles: ColumnRoles) -> list[Candidates | Fault]:
    """The candidates of every row, or why it has none."""
    # Among several columns one that holds a list of texts in every row adds all of them; "[1, 2]" may be an answer.
    lists = {
        name
        for name in roles.texts
        if roles.first is None and all(_is_list_of_texts(_parsed(row.get(name))) for row in rows)
    }
    candidates: list[Candidates | Fault] = []
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
            keys = sorted(value, key=lambda key: [(int(p), "") if p.isdigit() else (-1, p) for p in _parts(key)])
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


def _parts(key: object) -> list[str]:
    return re.findall(r"\d+|\D+", str(key))


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


def _is_list_of_texts(value: Json) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(part, str) for part in value)
