"""Reading a table from a file of any usual kind: JSON, JSON lines, CSV, TSV, parquet, or one of these in a zip."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import is_safe_relative
from video_contrast.storage.table_columns import TableRow
from video_contrast.storage.table_text import delimited_rows, json_line_rows
from video_contrast.storage.xlsx import read_xlsx

DELIMITERS = {",": "comma", "\t": "tab", ";": "semicolon", "|": "bar"}
_OPTION = (
    "; save it with commas, or give `xray` --delimiter"  # of the commands that read such files only that one has it
)
SUFFIXES = (".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".parquet", ".xlsx", ".zip")
_MEMBER_BYTES = 1 << 31  # of a member of a zip: a larger one is not a table of captions


@dataclass
class TableFile:
    """The rows of a file as they are.

    Attributes:
        path: the file.
        rows: a dict a row, values as the format gives them (text in CSV).
        notes: what was guessed of the format, a sentence each.
        first: number of the first row as people count it: a line of a text file, 0 elsewhere.
    """

    path: Path
    rows: list[TableRow]
    notes: list[str] = field(default_factory=list)
    first: int = 0


@dataclass
class TableRows:
    """The rows of a file as they are read.

    Attributes:
        rows: with the number of each as people count it: its line in a text file, else its row.
        unit: what is counted.
        notes: what was guessed of the format, a sentence each.
        first: number of the first row where all are numbered in turn.
    """

    rows: Iterator[tuple[int, TableRow]]
    unit: Literal["line", "row"] = "row"
    notes: list[str] = field(default_factory=list)
    first: int = 0


def read_table_file(path: str | Path, *, encoding: str = "utf-8-sig", delimiter: str | None = None) -> TableFile:
    """Reads a table.

    Args:
        path: the file; its suffix names the format, of `SUFFIXES`.
        encoding: of text files.
        delimiter: of CSV files; the one that the header holds most of where None.

    Returns:
        The rows with notes on what was guessed.

    Raises:
        UsageError: no such file, another suffix, or an unknown encoding.
        VideoContrastError: the file is damaged, empty or not in this encoding; the message names file and row.
    """
    source = Path(path).expanduser()
    table = open_table_file(source, encoding=encoding, delimiter=delimiter, hint=_OPTION)
    rows = [row for _, row in table.rows]
    if not rows:
        raise VideoContrastError(f"{source}: holds no rows")
    if table.unit == "line" and len(rows[0]) == 1 and _is_csv(source):
        single = f"{source}: line 1 holds a single column {next(iter(rows[0]))[:60]!r}"
        raise VideoContrastError(f"{single}{_OPTION}")
    return TableFile(source, rows, table.notes, table.first)


def open_table_file(
    path: str | Path, *, encoding: str = "utf-8-sig", delimiter: str | None = None, marks: bool = True, hint: str = ""
) -> TableRows:
    """Reads a table row by row.

    Args:
        path, encoding, delimiter: as of `read_table_file`.
        marks: whether quotation marks of tab-separated files may enclose fields; else they are text.
        hint: what to do where fields are missing, behind the message.

    Raises:
        UsageError, VideoContrastError: as of `read_table_file`; what is wrong with a row when it is reached.
    """
    source = Path(path).expanduser()
    if not source.is_file():
        raise UsageError(f"no such file: {source}")
    suffix = source.suffix.lower()
    if suffix == ".parquet":
        return TableRows(_parquet_rows(source))
    content = source.read_bytes()
    notes: list[str] = []
    if suffix == ".zip":
        suffix, content, notes = _only_member(source)
    table = _parsed(source, suffix, content, encoding=encoding, delimiter=delimiter, marks=marks, hint=hint)
    table.notes[:0] = notes
    return table


def zip_member(archive: zipfile.ZipFile, path: Path, name: str) -> bytes:
    """The content of a member of a zip.

    Args:
        archive: the open zip.
        path: of the zip, for messages.
        name: of the member.

    Raises:
        VideoContrastError: no such member, it is damaged or too large.
    """
    try:
        if archive.getinfo(name).file_size > _MEMBER_BYTES:
            raise VideoContrastError(f"{path}: {name} holds more than 2 GB")
        return archive.read(name)
    except (KeyError, zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError) as error:
        raise VideoContrastError(f"{path}: {name} cannot be read: {error}") from error


def open_zip(path: Path) -> zipfile.ZipFile:
    """Opens a zip whose members all stay below its root.

    Raises:
        VideoContrastError: not a zip, or a member's path is absolute or has `..`; the message names it.
    """
    try:
        archive = zipfile.ZipFile(path)
    except (zipfile.BadZipFile, OSError) as error:
        raise VideoContrastError(f"{path}: is no zip file: {error}") from error
    for name in archive.namelist():
        if not is_safe_relative(name):
            archive.close()
            raise VideoContrastError(f"{path}: the member {name!r} leaves the root of the zip; such a file is not read")
    return archive


def _only_member(path: Path) -> tuple[str, bytes, list[str]]:
    """The suffix and the content of the one table in a zip, and a note on it."""
    with open_zip(path) as archive:
        names = [n for n in archive.namelist() if Path(n).suffix.lower() in SUFFIXES[:-1] and "__MACOSX" not in n]
        if len(names) != 1:
            raise VideoContrastError(
                f"{path}: holds {len(names)} tables ({', '.join(names[:5]) or 'none'}), not one: unpack it and name one"
            )
        return Path(names[0]).suffix.lower(), zip_member(archive, path, names[0]), [f"read {names[0]} of the zip"]


def _parsed(
    path: Path, suffix: str, content: bytes, *, encoding: str, delimiter: str | None, marks: bool, hint: str
) -> TableRows:
    if suffix == ".parquet":
        return TableRows(enumerate(parquet_rows(path, content)))
    if suffix == ".xlsx":
        return TableRows(enumerate(read_xlsx(path, content), 2), first=2)
    if suffix not in SUFFIXES:
        raise UsageError(f"{path}: unknown kind of table; known are {', '.join(SUFFIXES)}")
    text = _text(path, content, encoding)
    if suffix in (".jsonl", ".ndjson"):
        return TableRows(json_line_rows(text.split("\n"), path), "line", first=1)
    if suffix == ".json":
        return _json(path, text)
    return _delimited(path, text, "\t" if suffix == ".tsv" and not delimiter else delimiter, marks=marks, hint=hint)


def _text(path: Path, content: bytes, encoding: str) -> str:
    if content[:2] in (b"\xff\xfe", b"\xfe\xff") and encoding == "utf-8-sig":
        encoding = "utf-16"
    try:
        return content.decode(encoding)
    except LookupError as error:
        raise UsageError(f"--encoding {encoding}: no such encoding") from error
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise VideoContrastError(
            f"{path}: line {line} is not {encoding.removesuffix('-sig')} (byte {content[error.start]:#04x}); save it "
            "as UTF-8 (`xray` also takes its encoding, as in --encoding cp1252)"
        ) from error


def _delimited(path: Path, text: str, delimiter: str | None, *, marks: bool, hint: str) -> TableRows:
    header = text.partition("\n")[0]
    notes = []
    if delimiter is None:
        delimiter = max(DELIMITERS, key=header.count)
        if delimiter != ",":
            notes.append(f"delimiter: {DELIMITERS[delimiter]}")
    parted = f" (fields are parted by a {DELIMITERS.get(delimiter, repr(delimiter))}){hint}"
    # Captions of tab-separated files hold quotation marks of their own.
    quoted = delimiter != "\t" or (marks and '\t"' in text)
    lines = io.StringIO(text, newline="" if quoted else "\n")
    rows = delimited_rows(lines, path, delimiter, quoted=quoted, hint=parted)
    return TableRows(rows, "line", notes, first=2)


def _is_csv(path: Path) -> bool:
    return path.suffix.lower() in (".csv", ".tsv")


def _json(path: Path, text: str) -> TableRows:
    try:
        value = json.loads(text)
    except ValueError as error:
        if text.lstrip().startswith("{") and "\n{" in text:
            return TableRows(json_line_rows(text.split("\n"), path), "line", ["JSON lines"], first=1)
        raise VideoContrastError(f"{path}: is not JSON: {error}") from error
    notes = []
    if isinstance(value, Mapping):
        tables = [name for name, part in value.items() if _is_table(part)]
        if len(tables) == 1:
            notes.append(f"rows: the list under {tables[0]!r}")
            value = value[tables[0]]
        elif value and all(isinstance(row, Mapping) for row in value.values()):
            notes.append("rows: the values of the object, their keys are ids")
            value = [{"id": name, **row} for name, row in value.items()]
    if not _is_table(value):
        raise VideoContrastError(f"{path}: holds no list of rows (objects with columns)")
    return TableRows(enumerate(dict(row) for row in value), notes=notes)


def _is_table(value: object) -> bool:
    return isinstance(value, Sequence) and bool(value) and all(isinstance(row, Mapping) for row in value)


def _parquet_rows(path: Path) -> Iterator[tuple[int, TableRow]]:
    """The rows of a parquet file with their numbers, some at a time."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        batches = pq.ParquetFile(path).iter_batches(1000)
        yield from enumerate(row for batch in batches for row in batch.to_pylist())
    except (pa.ArrowException, OSError) as error:
        raise VideoContrastError(f"{path}: cannot be read as parquet: {error}") from error


def parquet_rows(path: Path, content: bytes | None = None) -> list[TableRow]:
    """The rows of a parquet file, or of its content where it has been read."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        # The file alone: a path within a set would be read as a partitioned one, with a column more.
        source = path if content is None else pa.BufferReader(content)
        return pq.ParquetFile(source).read().to_pylist()  # type: ignore[no-any-return]
    except (pa.ArrowException, OSError) as error:
        raise VideoContrastError(f"{path}: cannot be read as parquet: {error}") from error
