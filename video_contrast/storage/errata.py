"""Errata of a set against its authors' own file: which distractors are replaced, which rows are left out, and why.

`corrected` applies them: cells that the errata do not name keep their bytes in text files.
"""

import ast
import codecs
import csv
import io
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from hashlib import sha256
from itertools import chain, count
from pathlib import Path
from typing import Any

from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import Json, read_json, write_text
from video_contrast.storage.plain_table import as_text
from video_contrast.storage.table_columns import TableRow
from video_contrast.storage.table_file import (
    ENCODING,
    DelimitedText,
    delimited_text,
    only_table,
    questions_of,
    read_table_file,
)

CORRECTED = (".csv", ".tsv", ".json", ".jsonl", ".ndjson")  # suffixes of files that can be corrected
_LETTER = re.compile(r"\s*\(?[A-Za-z][).:]\s*(?=\S)")
_SERIAL = ("[", "{", "(")
Cells = Mapping[int, Callable[[TableRow], TableRow] | None]  # row -> its correction; None leaves the row out


@dataclass(frozen=True)
class Erratum:
    """A distractor that is replaced, or a row that is left out."""

    row: int  # its line in a text file, else its number from 0
    id: str  # of the item
    reason: str  # "won blind", "repeats", "same as true", "key wrong", or what makes the row no item
    old: str | None = None  # the distractor; None where the row is left out
    new: str | None = None  # the new text in its place; None where the row is left out
    kind: str | None = None  # of the new distractor


@dataclass(frozen=True)
class Errata:
    """The errata of a set."""

    file: str  # the authors' file; "" where the set is none
    sha256: str  # of its content; "" likewise
    columns: tuple[str, ...]  # that hold candidates
    errata: tuple[Erratum, ...]  # in the order of the rows
    encoding: str = ENCODING
    delimiter: str | None = None


def write_errata(errata: Errata, path: Path) -> Path:
    """Writes errata as JSON, one a line."""
    head = {name: value for name, value in asdict(errata).items() if name != "errata"}
    lines = [
        json.dumps({k: v for k, v in asdict(e).items() if v is not None}, ensure_ascii=False) for e in errata.errata
    ]
    text = json.dumps(head, ensure_ascii=False)[:-1] + ', "errata": [\n' + ",\n".join(lines) + "\n]}\n"
    return write_text(path, text)


def read_errata(path: Path) -> Errata:
    """Reads what `write_errata` wrote. Raises UsageError: no such file; VideoContrastError: it holds no errata."""
    if not path.is_file():
        raise UsageError(f"no such file: {path}")
    value: Any = read_json(path)
    try:
        entries = tuple(Erratum(**entry) for entry in value["errata"])
        head = {name: part for name, part in value.items() if name not in ("errata", "columns")}
        errata = Errata(columns=tuple(value["columns"]), errata=entries, **head)
        for name, text in (("file", errata.file), ("encoding", errata.encoding), ("delimiter", errata.delimiter or "")):
            if not isinstance(text, str):
                raise TypeError(f"{name!r} must be a text, not {text!r}")
        codecs.lookup(errata.encoding)
        return errata
    except (KeyError, TypeError, LookupError) as error:
        raise VideoContrastError(f"{path}: holds no errata of `video-contrast repair`: {error}") from error


def corrected(errata: Errata, path: Path) -> bytes:
    """The content of the authors' file with the errata applied.

    Raises UsageError: no file that can be corrected; VideoContrastError: it is another one, or a row does not fit.
    """
    if path.suffix.lower() not in CORRECTED:
        raise UsageError(f"{path}: only {', '.join(CORRECTED)} can be corrected; save the table as one of them")
    rows = read_table_file(path, encoding=errata.encoding, delimiter=errata.delimiter).rows
    content = path.read_bytes()
    if errata.sha256 and sha256(content).hexdigest() != errata.sha256:
        raise VideoContrastError(f"{path}: is not the file that the errata are of ({errata.file}): its content differs")
    by_row: dict[int, list[Erratum]] = {}
    for erratum in errata.errata:
        if erratum.row not in rows:
            raise VideoContrastError(f"{path}: has no row {erratum.row}, which the errata name")
        by_row.setdefault(erratum.row, []).append(erratum)
    changes: dict[int, Callable[[TableRow], TableRow] | None] = {
        number: None if any(e.new is None for e in of_row) else partial(_with_errata, of_row, errata.columns, path)
        for number, of_row in by_row.items()
    }
    if content[:2] in (b"\xff\xfe", b"\xfe\xff") and errata.encoding == ENCODING:
        raise UsageError(f"{path}: is UTF-16; save it as UTF-8 and repair that file")
    mark = codecs.BOM_UTF8 if content.startswith(codecs.BOM_UTF8) else b""
    encoding = errata.encoding.removesuffix("-sig")
    text = content[len(mark) :].decode(encoding)
    value = None
    with suppress(ValueError):  # a .json file may hold a row a line, too
        value = json.loads(text) if path.suffix.lower() == ".json" else None
    if value is not None:
        result = _json(value, text, changes)
    elif path.suffix.lower() in (".csv", ".tsv"):
        given = errata.delimiter or ("\t" if path.suffix.lower() == ".tsv" else None)
        opener = partial(io.BytesIO, content[len(mark) :])
        result = "".join(_delimited(delimited_text(path, opener, encoding=errata.encoding, delimiter=given), changes))
    else:
        result = "".join(_lines(text, changes))
    return mark + result.encode(encoding)


def _with_errata(of_row: Sequence[Erratum], columns: Sequence[str], path: Path, row: TableRow) -> TableRow:
    new = dict(row)
    for erratum in of_row:
        hits = 0
        for column in columns:
            new[column], n = _exchanged(new.get(column), str(erratum.old), str(erratum.new))
            hits += n
        if hits != 1:
            wrong = f"row {erratum.row} (id {erratum.id!r}) holds {erratum.old!r} {hits} times, not once"
            raise VideoContrastError(f"{path}: {wrong}")
    return new


def _exchanged(value: Json, old: str, new: str) -> tuple[Json, int]:
    """A value with a candidate exchanged, and how often it stood there."""
    if isinstance(value, list | tuple):
        parts = [_exchanged(part, old, new) for part in value]
        return type(value)(part for part, _ in parts), sum(n for _, n in parts)
    if isinstance(value, Mapping):
        entries, n = _exchanged(list(value.values()), old, new)
        return dict(zip(value, entries, strict=True)), n
    if value is None or isinstance(value, bool):
        return value, 0
    if as_text(value) == old:
        with suppress(ValueError):  # a number stays one, so that a column keeps its type
            return type(value)(new) if isinstance(value, int | float) else new, 1
        return new, 1
    if isinstance(value, str) and value.lstrip().startswith(_SERIAL):
        for parse, write in ((json.loads, partial(json.dumps, ensure_ascii=False)), (ast.literal_eval, repr)):
            try:
                part, n = _exchanged(parse(value), old, new)
            except (ValueError, SyntaxError):
                continue
            return (write(part) if n else value), n
    if isinstance(value, str) and (letter := _LETTER.match(value)) and value[letter.end() :] == old:
        return letter.group() + new, 1
    return value, 0


def _lines(text: str, changes: Cells) -> Iterator[str]:
    for number, line in enumerate(io.StringIO(text, newline="\n"), 1):
        if (correct := changes.get(number, _same)) is _same:
            yield line
        elif correct is not None:
            yield _like(correct(json.loads(line)), line) + "\n" * line.endswith("\n")


def _same(row: TableRow) -> TableRow:
    return row


def _like(row: Json, text: str) -> str:
    """A row as JSON in the manner of a text."""
    separators = (", ", ": ") if '": ' in text else (",", ":")
    return json.dumps(row, ensure_ascii=text.isascii(), separators=separators)


def _json(value: Json, text: str, changes: Cells) -> str:
    """The value of a JSON file with its rows corrected, indented as its text."""
    table = only_table(value) if isinstance(value, dict) else None
    rows = value if isinstance(value, list) else list(value.values()) if table is None else value[table]
    name = questions_of(rows)
    numbers = count()

    def kept(items: Sequence[TableRow]) -> list[TableRow]:
        return [correct(item) for item in items if (correct := changes.get(next(numbers), _same)) is not None]

    new = [kept([row]) if name is None else [{**row, name: kept(row.get(name) or [])}] for row in rows]  # one, or none
    result: Any = list(chain.from_iterable(new))
    if table is not None:
        result = {**value, table: result}
    elif isinstance(value, dict):  # of rows by their ids
        result = {key: row for key, of_row in zip(value, new, strict=True) for row in of_row}
    match = re.match(r"[\[{]\r?\n([ \t]+)", text)
    end = "\n" if text.endswith("\n") else ""
    if match is None:
        return _like(result, text) + end
    return json.dumps(result, ensure_ascii=text.isascii(), indent=match.group(1)) + end


def _delimited(text: DelimitedText, changes: Cells) -> Iterator[str]:
    """The records of a delimited file; only those that change are written anew."""
    names: list[str] = []
    for line, cells, record in text.records:
        correct = changes.get(line, _same)  # of no line that is blank or the header
        names = names or [cell.strip() for cell in cells]
        if correct is _same:
            yield record
        if correct is _same or correct is None:
            continue
        end = record[len(record.rstrip("\r\n")) :]
        new = list(correct(dict(zip(names, cells, strict=True))).values())
        if not text.quotes:
            yield text.delimiter.join(map(str, new)) + end
            continue
        sink = io.StringIO()
        csv.writer(sink, delimiter=text.delimiter, lineterminator=end).writerow(new)
        yield sink.getvalue()
