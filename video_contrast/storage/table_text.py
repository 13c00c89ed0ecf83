"""Rows of tables in text (CSV, TSV, JSON lines), each with the number of its line."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from video_contrast.errors import VideoContrastError
from video_contrast.storage.table_columns import TableRow

csv.field_size_limit(2**31 - 1)


def delimited_rows(
    lines: Iterable[str], path: Path, delimiter: str, *, quoted: bool = True, hint: str = ""
) -> Iterator[tuple[int, TableRow]]:
    """Yields the rows below the header, which names the columns.

    Args:
        lines: of the file, with their ends as they are.
        path: for messages.
        delimiter: between fields.
        quoted: whether fields may stand in quotation marks; else these are text.
        hint: what to do where the number of fields is wrong.

    Raises:
        VideoContrastError: a column is named twice, a quotation mark is never closed, or a row has another number of
            fields than the header; the message names the line.
    """
    header = None
    for number, cells in _quoted(lines, path, delimiter) if quoted else _plain(lines, delimiter):
        if header is None:
            header = _header(path, cells)
        elif len(cells) != len(header):
            raise VideoContrastError(
                f"{path}: line {number}: {len(cells)} fields, but the header names {len(header)}{hint}"
            )
        else:
            yield number, dict(zip(header, cells, strict=True))
    if header is None:
        _header(path, [])


def json_line_rows(lines: Iterable[str], path: Path) -> Iterator[tuple[int, TableRow]]:
    """Yields the objects of JSON lines; a line that is none is an error that names it."""
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            raise VideoContrastError(f"{path}: line {number} is not JSON: {error}") from error
        if not isinstance(row, dict):
            raise VideoContrastError(f"{path}: line {number} is no object of columns but {type(row).__name__}")
        yield number, row


def _quoted(lines: Iterable[str], path: Path, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    # strict: a mark that is never closed would swallow the rows after it in silence
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    first = 1
    try:
        for cells in reader:
            if cells:
                yield reader.line_num, cells
            first = reader.line_num + 1
    except csv.Error as error:
        raise VideoContrastError(
            f"{path}: line {first}: a quotation mark that is not closed, or text after one ({error})"
        ) from error


def _plain(lines: Iterable[str], delimiter: str) -> Iterator[tuple[int, list[str]]]:
    for number, line in enumerate(lines, 1):
        if text := line.rstrip("\r\n"):
            yield number, text.split(delimiter)


def _header(path: Path, cells: list[str]) -> list[str]:
    names = [cell.strip() for cell in cells]
    if not any(names):
        raise VideoContrastError(f"{path}: empty; the first line must name the columns")
    if len(names) == 1 and any(mark in names[0] for mark in "\t;"):
        raise VideoContrastError(
            f"{path}: the columns are not separated by commas; save it with commas, or, if they are tabs, name it .tsv"
        )
    if twice := sorted(name for name in set(names) if name and names.count(name) > 1):
        raise VideoContrastError(f"{path}: the first line names the column {twice[0]!r} twice")
    return names
