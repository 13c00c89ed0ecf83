"""Rows of a multiple-choice set from a table made elsewhere: columns are named or guessed, the rest has defaults.

Needed are candidates and which of them is true. An id is the row's number where there is none; a video is its id.
"""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import cast

from video_contrast.console import counted
from video_contrast.errors import VideoContrastError
from video_contrast.rows import MultipleChoiceRow, Row, layout_of, multiple_choice_row, table_columns
from video_contrast.seeds import stream
from video_contrast.storage.table_candidates import Candidates, Fault, all_candidates, true_places
from video_contrast.storage.table_columns import ColumnRoles, TableColumns, TableRow, column_roles
from video_contrast.storage.video_names import ENDING, with_ending

_SPAN = re.compile(r"\d[\d.:]*")  # a time in a text
SPLIT = "test"  # of a table without a column `split`


@dataclass
class PlainTable:
    """Valid rows of a foreign table."""

    splits: dict[str, list[MultipleChoiceRow]] = field(default_factory=dict)  # split -> its rows, complete
    guesses: list[str] = field(default_factory=list)  # which column was taken for what, a sentence each
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

    Returns valid rows, what was guessed, and what was left out. Raises UsageError: a named column is not there;
    VideoContrastError: no candidates or label, or no item at all; with `strict` a row that is none, by its place.

    Args:
        where: what to call the table in messages.
        columns: which column is what; None where the caller has no such options, which messages then do not name.
        strict: refuse rows that are no item instead of counting them.
    """
    numbers = list(rows) if isinstance(rows, Mapping) else range(len(rows))
    rows = list(rows.values()) if isinstance(rows, Mapping) else rows
    roles = column_roles(rows, where, columns)
    table = PlainTable(guesses=roles.guesses, has_videos=bool(roles.cluster or roles.video), columns=roles.texts)
    table.has_kinds = all(isinstance(row.get("kinds"), list | tuple) for row in rows)
    candidates = all_candidates(rows, roles)
    labels = true_places(rows, candidates, roles, where)
    candidates = _without_letters(candidates, table)
    seen: dict[tuple[str, str], str] = {}
    in_split: Counter[str] = Counter()
    for number, row, entry, label in zip(numbers, rows, candidates, labels, strict=True):
        split, place = str(row.get("split") or SPLIT), f"row {number}"
        item = _given(row, roles.id) or str(in_split[split])
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

    Raises VideoContrastError: there are no candidates or no label, or they do not fit; names the row.

    Args:
        where: what to call the table in messages.
        columns: which column is what, where the user says so.
        split: only its rows; how labels are read is told from all of them.
    """
    listed = list(rows.values()) if isinstance(rows, Mapping) else list(rows)
    first = listed[0] if listed else {"captions": None}
    layout = layout_of(first) if {"candidates", "captions"} & first.keys() else "multiple_choice"
    if "captions" in first or layout == "pairs" or all(name in first for name in table_columns(layout)):
        return cast(list[Row], [r for r in listed if split is None or str(r.get("split") or SPLIT) == split])
    table = plain_table(rows, where, columns=columns, strict=True)
    return cast(list[Row], table.rows if split is None else table.splits[split])


def _without_letters(candidates: list[Candidates | Fault], table: PlainTable) -> list[Candidates | Fault]:
    """Leaves out the letters before the candidates where all rows have them, and says so."""
    whole = [entry for entry in candidates if isinstance(entry, Candidates)]
    if not whole or not all(entry.lettered for entry in whole):
        return candidates
    table.guesses.append("letters before the candidates (A. B. ...) are left out")
    return [entry if isinstance(entry, Fault) else entry.without_letters() for entry in candidates]


def _checked(entry: Candidates | Fault, label: int | Fault) -> tuple[list[str], int]:
    """The candidates of an item and the place of the true one; raises the fault of a row that is none."""
    if isinstance(entry, Fault):
        raise entry
    texts = entry.texts
    empty = next((n for n, text in enumerate(texts) if not text.strip()), None)
    if empty is not None:
        raise Fault("an empty candidate", f"candidate {empty} is empty")
    if len(texts) < 2:
        raise Fault("fewer than two candidates", f"it has {counted(len(texts), 'candidate')}")
    first: dict[str, int] = {}
    for n, text in enumerate(texts):
        if first.setdefault(text, n) != n:
            raise Fault("identical candidates", f"candidate {n} equals candidate {first[text]}: {text!r}")
    if isinstance(label, Fault):
        raise label
    return texts, label


def _clip_seconds(row: TableRow, roles: ColumnRoles) -> tuple[float | None, float | None]:
    """Start and end of the clip in seconds, from their columns or from the one that has both."""
    start, end = _seconds(row, roles.start), _seconds(row, roles.end)
    if start is None and end is None and (span := _given(row, roles.span)):
        both = dict(zip(("start", "end"), _SPAN.findall(span), strict=False))
        start, end = _seconds(both, "start"), _seconds(both, "end")
    if end is not None and end <= (start or 0):
        raise Fault("a clip that ends before it starts", f"the clip ends at {end:g} s, not after {start or 0:g} s")
    return start, end


def _row(
    row: TableRow, texts: list[str], label: int, *, roles: ColumnRoles, item: str, own_kinds: bool
) -> MultipleChoiceRow:
    """The row of an item, complete."""
    if roles.constant is not None:  # columns of true and false captions have no order of their own
        order = stream(0, "plain-table", item).permutation(len(texts)).tolist()
        texts, label = [texts[n] for n in order], order.index(label)
    video = _given(row, roles.video) or item
    start, end = _clip_seconds(row, roles)
    task = _given(row, roles.task)
    result = multiple_choice_row(
        id=item,
        video_id=_given(row, "video_id") or ENDING.sub("", PurePosixPath(video).name) or item,
        video_path=_given(row, "video_path") or with_ending(video),
        candidates=texts,
        label=label,
        kinds=[str(kind) for kind in row["kinds"]]
        if own_kinds
        else ["true" if n == label else "distractor" for n in range(len(texts))],
        cluster=_given(row, roles.cluster) or ENDING.sub("", video),
        start=start,
        end=end,
        question=_given(row, roles.question) or None,
        meta={"task": task} if task else None,
    )
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
