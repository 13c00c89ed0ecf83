"""Reading the first sheet of an xlsx workbook as a table, without a spreadsheet library: the first row is the header.

Only values are read: text (shared or in place), numbers, booleans, and what formulas last gave.
"""

from __future__ import annotations

import io
import re
import zipfile
from pathlib import Path
from xml.etree import ElementTree

from video_contrast.errors import VideoContrastError
from video_contrast.storage.table_columns import TableRow

_MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_LARGEST = 1 << 29  # bytes of a sheet
CellValue = str | bool | int | float | None


def read_xlsx(path: Path, content: bytes) -> list[TableRow]:
    """The rows below the header, empty cells None.

    Raises:
        VideoContrastError: not a workbook, a sheet that is too large, or a header with an empty or repeated name.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as book:
            sheets = [name for name in book.namelist() if re.fullmatch(r"xl/worksheets/sheet\d+\.xml", name)]
            sheet = min(sheets, key=lambda name: int(re.sub(r"\D", "", name)))
            shared = (
                _shared(_xml(book, path, "xl/sharedStrings.xml")) if "xl/sharedStrings.xml" in book.namelist() else []
            )
            lines = [_line(row, shared) for row in _xml(book, path, sheet).iter(f"{_MAIN}row")]
    except (zipfile.BadZipFile, ElementTree.ParseError, KeyError, IndexError, ValueError) as error:
        if isinstance(error, VideoContrastError):
            raise
        raise VideoContrastError(f"{path}: cannot be read as an xlsx workbook: {error}") from error
    if not lines:
        return []
    names = {column: str(value) for column, value in lines[0].items() if value is not None}
    if len(set(names.values())) < len(names):
        raise VideoContrastError(f"{path}: row 1: two columns have one name: {', '.join(names.values())}")
    return [{name: line.get(column) for column, name in names.items()} for line in lines[1:] if line]


def _xml(book: zipfile.ZipFile, path: Path, name: str) -> ElementTree.Element:
    if book.getinfo(name).file_size > _LARGEST:
        raise VideoContrastError(f"{path}: {name} is larger than 512 MB")
    text = book.read(name)
    if b"<!DOCTYPE" in text[:1000] or b"<!ENTITY" in text[:1000]:
        raise VideoContrastError(f"{path}: {name} declares entities, which no workbook does")
    return ElementTree.fromstring(text)


def _shared(root: ElementTree.Element) -> list[str]:
    return ["".join(part.text or "" for part in entry.iter(f"{_MAIN}t")) for entry in root.iter(f"{_MAIN}si")]


def _line(row: ElementTree.Element, shared: list[str]) -> dict[int, CellValue]:
    values: dict[int, CellValue] = {}
    column = -1
    for cell in row.iter(f"{_MAIN}c"):
        reference = re.match(r"[A-Z]+", cell.get("r", ""))
        column = _number(reference.group()) if reference else column + 1
        values[column] = _value(cell, shared)
    return values


def _value(cell: ElementTree.Element, shared: list[str]) -> CellValue:
    kind = cell.get("t", "n")
    if kind == "inlineStr":
        return "".join(part.text or "" for part in cell.iter(f"{_MAIN}t"))
    stored = cell.findtext(f"{_MAIN}v")
    if stored is None:
        return None
    if kind == "s":
        return shared[int(stored)]
    if kind == "b":
        return stored == "1"
    if kind in ("str", "e", "d"):
        return stored
    number = float(stored)
    return int(number) if number.is_integer() else number


def _number(letters: str) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - 64
    return number - 1
