"""Rows of a multiple-choice set from a table made elsewhere: columns are named or guessed, the rest has defaults.

Needed are candidates and which of them is true. An id is the row's number where there is none; a video is its id.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Annotated, ClassVar, cast

from video_contrast.console import counted
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import Json
from video_contrast.options import Flag
from video_contrast.rows import MultipleChoiceRow, Row, layout_of, multiple_choice_row, table_columns
from video_contrast.seeds import stream
from video_contrast.storage.video_names import ENDING, with_ending
from video_contrast.storage.xlsx import TableRow

_CANDIDATES = ("candidates", "options", "choices", "answers", "endings")
_NUMBERED = (r"(?:ending|option|choice|candidate)_?(\d+)", r"a(\d)", r"option_?([a-h])", r"([A-H])")
# A true caption and its negatives in columns of their own.
_PAIRS = (
    ("caption", "counterfactual"), ("pos_cap", "neg_cap"), ("positive_text", "negative_text"), ("pos", "neg"),
    ("caption", "neg_caption"), ("caption", "foils"), ("caption", "foil"), ("caption", "negative"),
    ("positive", "negative"), ("label_caption", "negative_caption"), ("caption", "negative_caption"), ("true", "false"),
)  # fmt: skip
_LABEL = ("label", "answer", "correct_choice", "correct_answer", "correct", "answer_idx", "answer_id", "ground_truth",
          "gt", "target", "key", "truth")  # fmt: skip
_ID = ("id", "question_id", "item_id", "qid", "uid", "index")
_VIDEO = ("video_path", "video", "video_id", "video_name", "videopath", "video_file", "videoID", "video_uid", "clip",
          "vid", "youtube_id", "key")  # fmt: skip
_CLUSTER = ("cluster", "source_video", "youtube_id", "youtube_key", "videoID", "video_id", "video")
_QUESTION = ("question", "query", "prompt")


@dataclass(frozen=True, kw_only=True)
class TableColumns:
    """Which column of a foreign table is what; guessed where None."""

    PANEL: ClassVar[str] = "Columns of a table (guessed where not given)"
    candidates: Annotated[
        str | None, "the list of candidates, or several columns by commas, the true one first with --label 0"
    ] = None
    label: Annotated[str | None, "which candidate is true (number, letter or its text), or a number for all rows"] = (
        None
    )
    id: Annotated[str | None, "the item's id", Flag(former=("id_column",))] = None  # as the builders call them
    video: Annotated[str | None, "the clip: a path or an id", Flag(former=("video_column",))] = None
    cluster: Annotated[str | None, "the source video"] = None
    question: Annotated[str | None, "what the candidates answer"] = None
    encoding: Annotated[str, "encoding of a text file"] = "utf-8-sig"
    delimiter: Annotated[str | None, "delimiter of a CSV file"] = None


@dataclass
class PlainTable:
    """Valid rows of a foreign table.

    Attributes:
        rows: the rows, complete.
        guesses: which column was taken for what, a sentence each.
        left_out: reason -> places of rows that are no item.
    """

    rows: list[MultipleChoiceRow] = field(default_factory=list)
    guesses: list[str] = field(default_factory=list)
    left_out: dict[str, list[str]] = field(default_factory=dict)
    has_kinds: bool = False


def plain_table(
    rows: Sequence[TableRow],
    where: str,
    *,
    columns: TableColumns | None = None,
    numbers: Sequence[int] | None = None,
    strict: bool = False,
) -> PlainTable:
    """Completes the rows of a foreign table.

    Args:
        rows: dicts by column.
        where: what to call the table in messages.
        columns: which column is what; None where the caller has no such options, which messages then do not name.
        numbers: of each row in its file, for messages; by default from 0.
        strict: refuse rows with empty or repeated candidates instead of counting them.

    Returns:
        Valid rows, what was guessed, and what was left out.

    Raises:
        UsageError: a named column is not there.
        VideoContrastError: no candidates or label, a label outside the candidates, a repeated id; names the row.
    """
    reader = _Reader(rows, where, columns)
    table = PlainTable(guesses=reader.guesses)
    table.has_kinds = all(isinstance(row.get("kinds"), list | tuple) for row in rows)
    seen: dict[str, str] = {}
    places = [f"row {number}" for number in (numbers if numbers is not None else range(len(rows)))]
    lists = [reader.candidates(row, f"{where}: {place}") for row, place in zip(rows, places, strict=True)]
    base = reader.label_base(lists)
    for number, (row, candidates, of_row) in enumerate(zip(rows, lists, places, strict=True)):
        place = f"{where}: {of_row}"
        item = str(row[reader.id]) if reader.id is not None and row.get(reader.id) not in (None, "") else str(number)
        if item in seen:
            raise VideoContrastError(
                f"{place}: the id {item!r} was that of {seen[item]} already; ids must be unique"
                + (" (--id names another column)" if columns else "")
            )
        seen[item] = of_row
        problem = _fault(candidates)
        if problem:
            if strict:
                raise VideoContrastError(f"{place} (id {item!r}): {problem[1]}")
            table.left_out.setdefault(problem[0], []).append(f"{of_row} (id {item!r}): {problem[1]}")
            continue
        label = reader.label_of(row, candidates, place, base)
        if reader.label is None:  # columns of true and false captions have no order of their own
            order = stream(0, "plain-table", item).permutation(len(candidates)).tolist()
            candidates, label = [candidates[n] for n in order], order.index(label)
        table.rows.append(_row(reader, row, item=item, candidates=candidates, label=label, kinds=table.has_kinds))
    if not table.rows:
        raise VideoContrastError(f"{where}: no item is left of {len(rows)} rows: {_counted(table.left_out)}")
    return table


def completed_rows(rows: Sequence[TableRow], where: str, numbers: Sequence[int] | None = None) -> list[Row]:
    """The rows of a table that may lack columns: as they are where none is missing, else with defaults.

    Args:
        rows: dicts by column.
        where: what to call the table in messages.
        numbers: of each row in its file, for messages; by default from 0.

    Raises:
        VideoContrastError: there are no candidates or no label, or they do not fit; names the row.
    """
    if not rows or "captions" in rows[0]:
        return cast(list[Row], list(rows))
    layout = layout_of(rows[0]) if "candidates" in rows[0] else "multiple_choice"
    if layout == "pairs" or all(name in rows[0] for name in table_columns(layout)):
        return cast(list[Row], list(rows))
    return cast(list[Row], plain_table(rows, where, numbers=numbers, strict=True).rows)


def _counted(reasons: Mapping[str, Sequence[str]]) -> str:
    return "; ".join(f"{len(places)} with {reason}, first {places[0]}" for reason, places in reasons.items())


def _fault(candidates: Sequence[str]) -> tuple[str, str] | None:
    """The kind of a fault that makes a row no item, and what it is here."""
    empty = next((n for n, text in enumerate(candidates) if not text.strip()), None)
    if empty is not None:
        return "an empty candidate", f"candidate {empty} is empty"
    if len(candidates) < 2:
        return "fewer than two candidates", f"it has {counted(len(candidates), 'candidate')}"
    first: dict[str, int] = {}
    for n, text in enumerate(candidates):
        if first.setdefault(text, n) != n:
            return "identical candidates", f"candidate {n} equals candidate {first[text]}: {text!r}"
    return None


def _row(
    reader: _Reader, row: TableRow, *, item: str, candidates: list[str], label: int, kinds: bool
) -> MultipleChoiceRow:
    video = str(row.get(reader.video) or item) if reader.video is not None else item
    path = row["video_path"] if isinstance(row.get("video_path"), str) and row["video_path"] else None
    path = path or (with_ending(video))
    source = row.get(reader.cluster) if reader.cluster is not None else None
    own = [str(kind) for kind in row["kinds"]] if kinds else []
    question = row.get(reader.question) if reader.question is not None else None
    meta = row.get("meta")
    result = multiple_choice_row(
        id=item,
        video_id=str(row.get("video_id") or ENDING.sub("", PurePosixPath(video).name) or item),
        video_path=path,
        candidates=candidates,
        label=label,
        kinds=own or ["true" if n == label else "distractor" for n in range(len(candidates))],
        cluster=str(source) if source not in (None, "") else ENDING.sub("", video),
        start=_seconds(row.get("start")),
        end=_seconds(row.get("end")),
        question=str(question) if question not in (None, "") else None,
    )
    if isinstance(meta, str) and meta:
        result["meta"] = meta
    return result


def _seconds(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None


class _Reader:
    """Which columns hold what, and how their values are read."""

    def __init__(self, rows: Sequence[TableRow], where: str, named: TableColumns | None) -> None:
        self.rows, self.where, self.options = rows, where, named is not None
        columns = named or TableColumns()
        self.guesses: list[str] = []
        self.names = list(dict.fromkeys(name for row in rows[:100] for name in row))
        self.constant: int | None = None
        self.texts = self._candidate_columns(columns)
        self.label = self._label_column(columns)
        self.id = self._optional("id", columns.id, _ID, unique=True)
        self.video = self._optional("video", columns.video, _VIDEO)
        self.cluster = self._optional("source video", columns.cluster, _CLUSTER)
        self.question = self._optional("question", columns.question, _QUESTION)

    def _named(self, flag: str, name: str) -> str:
        if name not in self.names:
            raise UsageError(f"--{flag} {name}: {self.where} has no such column; it has {', '.join(self.names)}")
        return name

    def _candidate_columns(self, columns: TableColumns) -> tuple[str, ...]:
        if columns.candidates:
            return tuple(self._named("candidates", name.strip()) for name in columns.candidates.split(","))
        for name in _CANDIDATES:
            if name in self.names:
                return self._guessed("candidates", (name,), plain="candidates")
        for pattern in _NUMBERED:
            numbered = {match.group(1): n for n in self.names if (match := re.fullmatch(pattern, n))}
            if len(numbered) > 1:
                order = sorted(numbered, key=lambda key: (len(key), key))
                return self._guessed("candidates", tuple(numbered[key] for key in order))
        for true, false in _PAIRS:
            if true in self.names and false in self.names and columns.label is None:
                self.constant = 0
                return self._guessed("candidates, the true one first (then shuffled)", (true, false))
        captioned = any("caption" in name.lower() or "sentence" in name.lower() for name in self.names)
        built = "; of rows of a video and a caption, `video-contrast build captions` makes a set" if captioned else ""
        raise VideoContrastError(
            f"{self.where}: needs the candidates of each item and which of them is true; none of its columns "
            f"({', '.join(self.names)}) looks like candidates: "
            + ("name them with --candidates and --label" if self.options else f"call them candidates and label{built}")
        )

    def _label_column(self, columns: TableColumns) -> str | None:
        if columns.label is not None and columns.label not in self.names and columns.label.isdigit():
            self.constant = int(columns.label)
        elif columns.label is not None:
            return self._named("label", columns.label)
        if self.constant is not None:
            return None
        for name in _LABEL:
            if name in self.names and name not in self.texts:
                return self._guessed("label", (name,), plain="label")[0]
        raise VideoContrastError(
            f"{self.where}: needs which candidate is true; none of its columns ({', '.join(self.names)}) looks like "
            + ("it: name it with --label" if self.options else "it: call it label")
        )

    def _optional(self, what: str, column: str | None, names: Sequence[str], *, unique: bool = False) -> str | None:
        if column is not None:
            return self._named({"source video": "cluster"}.get(what, what), column)
        for name in names:
            if name in self.names and name not in (*self.texts, self.label):
                values = [row.get(name) for row in self.rows]
                if unique and name != "id" and len({str(value) for value in values}) < len(values):
                    continue
                return self._guessed(what, (name,), plain={"source video": "cluster"}.get(what, what))[0]
        return None

    def _guessed(self, what: str, names: tuple[str, ...], plain: str = "") -> tuple[str, ...]:
        if names != (plain,):
            self.guesses.append(f"{what}: {', '.join(names)}")
        return names

    def candidates(self, row: TableRow, place: str) -> list[str]:
        """The candidates of a row: a list, its text form, or several columns of which the last may be empty."""
        if len(self.texts) > 1:
            values: list[object] = []
            for name in self.texts:
                value = row.get(name)
                values += value if isinstance(value, list | tuple) else [value]
            while len(values) > 2 and values[-1] in (None, ""):
                values.pop()
            return ["" if value is None else str(value) for value in values]
        value = row.get(self.texts[0])
        if isinstance(value, str):
            value = _list_of_text(value)
        if isinstance(value, Mapping):
            value = [value[key] for key in sorted(value)]
        if not isinstance(value, Iterable) or isinstance(value, str):
            raise VideoContrastError(f"{place}: column {self.texts[0]!r} is no list of candidates: {value!r}")
        return ["" if text is None else str(text) for text in value]

    def label_base(self, lists: Sequence[Sequence[str]]) -> int:
        """Number of the first candidate in the label column: 1 where 0 never stands there but one past the last."""
        if self.label is None:
            return 0
        values = [row.get(self.label) for row in self.rows]
        if not all(_is_number(value) for value in values):
            return 0
        numbers = [int(float(str(value))) for value in values]
        sizes = [len(candidates) for candidates in lists]
        past = sum(number == size for number, size in zip(numbers, sizes, strict=True))
        within = all(1 <= number <= size for number, size in zip(numbers, sizes, strict=True))
        if within and past > 1:
            self.guesses.append(f"labels of {self.label} count from 1")
            return 1
        return 0

    def label_of(self, row: TableRow, candidates: Sequence[str], place: str, base: int) -> int:
        """The number of the true candidate of a row."""
        value = self.constant if self.label is None else row.get(self.label)
        label: int | None = None
        if _is_number(value):
            label = int(float(str(value))) - base
        elif isinstance(value, str):
            text = value.strip()
            # Text may follow a letter only behind a mark: "a dog runs" is no letter A.
            letter = re.fullmatch(r"\(?([A-Ha-h])(?:[).:](\s.*)?)?", text, re.S)
            if text in candidates:
                label = list(candidates).index(text)
            elif letter:
                label = ord(letter.group(1).upper()) - ord("A")
        if label is None or not 0 <= label < len(candidates):
            raise VideoContrastError(
                f"{place}: the label {value!r} is outside the {len(candidates)} candidates (numbers from {base}, "
                "letters from A, or the text of one)"
            )
        return label


def _is_number(value: object) -> bool:
    if isinstance(value, bool) or value is None:
        return False
    return (
        isinstance(value, int)
        or (isinstance(value, float) and value.is_integer())
        or (isinstance(value, str) and re.fullmatch(r"-?\d+(\.0*)?", value.strip()) is not None)
    )


def _list_of_text(text: str) -> Json:
    """A list that was written as text: JSON, or Python's form."""
    import ast
    import json

    for parse in (json.loads, ast.literal_eval):
        with suppress(ValueError, SyntaxError, MemoryError, RecursionError):
            return parse(text)
    return text
