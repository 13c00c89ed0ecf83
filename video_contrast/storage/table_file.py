"""Reading a table from a file: JSON, JSON lines, CSV, TSV, parquet, xlsx, or one of these in a zip.

CSV is not read by pandas: it fills short rows with NaN, takes the first column of longer ones for an index and renames
a column that is named twice, all in silence, and says neither in which line a bad byte is nor on which one a row stood.
"""

import codecs
import csv
import io
import json
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Literal, NamedTuple

from video_contrast.addresses import Address, explained, is_remote, open_binary
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import Json, is_safe_relative, parse_json
from video_contrast.storage.table_columns import TableRow

DELIMITERS = {",": "comma", "\t": "tab", ";": "semicolon", "|": "bar"}
SUFFIXES = (".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".parquet", ".xlsx", ".zip")
ENCODING = "utf-8-sig"  # UTF-8 with or without a mark at its start
_LARGEST = 1 << 31  # bytes of a member of a zip, or of a workbook: a larger one is not a table of captions
_HINT = "; save it with commas, or name the delimiter: --delimiter"
Opener = Callable[[], BinaryIO]  # opens a file, or what it held where that has been read
Numbered = Iterable[tuple[int, TableRow]]  # rows with their numbers as people count them

csv.field_size_limit(2**31 - 1)


@dataclass
class TableFile:
    """A table in a file."""

    path: Address  # the file
    # its rows as they are read, once, with values as the format gives them, and the number of the line, or from 0.
    numbered: Numbered
    unit: Literal["line", "row"] = "row"  # counted in messages
    notes: list[str] = field(default_factory=list)  # guesses at the format, a sentence each

    @cached_property
    def rows(self) -> dict[int, TableRow]:
        """All rows by their number. Raises VideoContrastError: there are none, or they are of a single column."""
        if not (rows := dict(self.numbered)):
            raise VideoContrastError(f"{self.path}: holds no rows")
        first = next(iter(rows.values()))
        if len(first) == 1 and PurePosixPath(str(self.path)).suffix.lower() in (".csv", ".tsv"):
            raise VideoContrastError(f"{self.path}: line 1 holds a single column {next(iter(first))[:60]!r}{_HINT}")
        return rows


class DelimitedText(NamedTuple):
    """A text file whose fields are parted by a delimiter."""

    delimiter: str
    quotes: bool  # whether quotation marks enclose fields; else they are text
    records: Iterator[tuple[int, list[str], str]]  # read once: last line, cells (none of a blank line), text with end


def read_table_file(
    path: str | Path, *, encoding: str = ENCODING, delimiter: str | None = None, marks: bool = True
) -> TableFile:
    """Opens a table.

    Raises UsageError: no such file, another suffix, or an unknown encoding; VideoContrastError: the file is damaged or
    not in this encoding; what is wrong with a row when it is read, with its number. `path`: the file, or its address
    (`s3://...`). `delimiter`: the one that the header holds most of where None. `marks`: whether quotation marks of
    tab-separated files may enclose fields; else they are text.
    """
    source = path if is_remote(path) else Path(path).expanduser()
    if isinstance(source, Path) and not source.is_file():
        raise UsageError(f"no such file: {source}")
    suffix, content, notes = PurePosixPath(str(source)).suffix.lower(), None, list[str]()
    if suffix not in SUFFIXES:
        raise UsageError(f"{source}: unknown kind of table; known are {', '.join(SUFFIXES)}")
    if suffix == ".zip":
        suffix, content, notes = _only_member(Path(source))
    opener: Opener = partial(open_binary, source) if content is None else partial(io.BytesIO, content)
    if suffix == ".parquet":
        table = TableFile(source, enumerate(parquet_rows(source, content)))
    elif suffix == ".xlsx":
        with opener() as handle:
            table = TableFile(source, _workbook_rows(source, handle.read()))
    elif suffix == ".json":
        table = _json(source, "".join(_lines(source, opener, encoding, "")))
    elif suffix in (".jsonl", ".ndjson"):
        table = TableFile(source, _line_rows(source, _lines(source, opener, encoding, "\n")), "line")
    else:
        given = delimiter or ("\t" if suffix == ".tsv" else None)
        text = delimited_text(source, opener, encoding=encoding, delimiter=given, marks=marks)
        guess = [f"delimiter: {DELIMITERS[text.delimiter]}"] if given is None and text.delimiter != "," else []
        table = TableFile(source, _delimited_rows(source, text), "line", guess)
    table.notes[:0] = notes
    return table


def open_zip(path: Path) -> zipfile.ZipFile:
    """Opens a zip. Raises VideoContrastError: it is none, or the path of a member, which it names, leaves its root."""
    try:
        archive = zipfile.ZipFile(path)
    except (zipfile.BadZipFile, OSError) as error:
        raise VideoContrastError(f"{path}: is no zip file: {error}") from error
    for name in archive.namelist():
        if not is_safe_relative(name):
            archive.close()
            raise VideoContrastError(f"{path}: the member {name!r} leaves the root of the zip; such a file is not read")
    return archive


def zip_member(archive: zipfile.ZipFile, path: Path, name: str) -> bytes:
    """The content of a member of a zip. Raises VideoContrastError: no such member, it is damaged or too large."""
    try:
        if archive.getinfo(name).file_size > _LARGEST:
            raise VideoContrastError(f"{path}: {name} holds more than 2 GB")
        return archive.read(name)
    except (KeyError, zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError) as error:
        raise VideoContrastError(f"{path}: {name} cannot be read: {error}") from error


def _only_member(path: Path) -> tuple[str, bytes, list[str]]:
    """The suffix and the content of the one table in a zip, and a note on it."""
    with open_zip(path) as archive:
        names = [n for n in archive.namelist() if Path(n).suffix.lower() in SUFFIXES[:-1] and "__MACOSX" not in n]
        if len(names) != 1:
            raise VideoContrastError(
                f"{path}: holds {len(names)} tables ({', '.join(names[:5]) or 'none'}), not one: unpack it and name one"
            )
        return Path(names[0]).suffix.lower(), zip_member(archive, path, names[0]), [f"read {names[0]} of the zip"]


def parquet_rows(path: Address, content: bytes | None = None) -> Iterator[TableRow]:
    """The rows of a parquet file, or of its content, some at a time. Raises VideoContrastError: it cannot be read."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    # The file alone: a path within a set would be read as a partitioned one, with a column more.
    source = pa.BufferReader(content) if content is not None else open_binary(path) if is_remote(path) else path
    with read_as_parquet(path), pq.ParquetFile(source) as file, explained(path):
        for batch in file.iter_batches(1000):
            yield from batch.to_pylist()


@contextmanager
def read_as_parquet(path: Address) -> Iterator[None]:
    """Inside, a file is read by pyarrow, whose errors do not name it. Raises VideoContrastError: it cannot be read."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError) as error:
        raise VideoContrastError(f"{path}: cannot be read as parquet: {error}") from error


def _workbook_rows(path: Address, content: bytes) -> Numbered:
    """The rows of the first sheet below its header; empty cells are None, formulas what they last gave."""
    from openpyxl import load_workbook

    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            if sum(member.file_size for member in archive.infolist()) > _LARGEST:
                raise VideoContrastError(f"{path}: holds more than 2 GB")
        sheet = load_workbook(io.BytesIO(content), read_only=True, data_only=True).worksheets[0]
        sheet_rows = enumerate(sheet.iter_rows(values_only=True), 1)
        lines = [(number, cells) for number, cells in sheet_rows if set(cells) != {None}]
    except VideoContrastError:
        raise
    except Exception as error:  # of the library, of many classes
        raise VideoContrastError(f"{path}: cannot be read as an xlsx workbook: {error}") from error
    if not lines:
        return
    places = [place for place, name in enumerate(lines[0][1]) if name is not None]
    names = _header(path, [str(lines[0][1][place]) for place in places])
    for number, cells in lines[1:]:
        yield number, {name: cells[place] for name, place in zip(names, places, strict=True)}


def delimited_text(
    path: Address, opener: Opener, *, encoding: str, delimiter: str | None, marks: bool = True
) -> DelimitedText:
    """A text file whose fields are parted by a delimiter; arguments as of `read_table_file`."""
    if delimiter is None:
        delimiter = max(DELIMITERS, key=next(_lines(path, opener, encoding, "\n"), "").count)
    # Captions of tab-separated files hold quotation marks of their own.
    quotes = delimiter != "\t" or (marks and any('\t"' in line for line in _lines(path, opener, encoding, "\n")))
    lines = _lines(path, opener, encoding, "" if quotes else "\n")
    return DelimitedText(delimiter, quotes, _records(path, lines, delimiter, quotes))


def _lines(path: Address, opener: Opener, encoding: str, newline: str) -> Iterator[str]:
    """The lines of a text file with their ends; `newline` as of `open`."""
    try:
        codecs.lookup(encoding)
    except LookupError as error:
        raise UsageError(f"--encoding {encoding}: no such encoding") from error
    with opener() as handle:
        if handle.read(2) in (b"\xff\xfe", b"\xfe\xff") and encoding == ENCODING:
            encoding = "utf-16"
        handle.seek(0)
        try:
            yield from io.TextIOWrapper(handle, encoding, newline=newline)
        except UnicodeDecodeError as error:
            decoder, line = codecs.getincrementaldecoder(encoding)(), 1
            with opener() as handle, suppress(UnicodeDecodeError):
                for number, content in enumerate(handle, 1):  # an incomplete character at the end is on the last line
                    line = number
                    decoder.decode(content)
            raise VideoContrastError(
                f"{path}: line {line} is not {encoding.removesuffix('-sig')} (byte {error.object[error.start]:#04x}); "
                "save it as UTF-8, or name its encoding: --encoding cp1252"
            ) from error


def _line_rows(path: Address, lines: Iterable[str]) -> Numbered:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = _parsed(line)
        except ValueError as error:
            reason = str(error).replace("line 1 column", "column")  # of the text that is the line
            raise VideoContrastError(f"{path}: line {number} is not JSON: {reason}") from error
        if not isinstance(row, dict):
            raise VideoContrastError(f"{path}: line {number} is no object of columns but {type(row).__name__}")
        yield number, row


def _parsed(text: str) -> Json:
    """JSON whose texts have UTF-8. Raises ValueError: it is none, or half of a surrogate pair stands alone."""
    value = parse_json(text)
    if "\\u" in text:
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError as error:
            raise ValueError(f"{error.object[error.start]!a} is half of a character") from error
    return value


def _json(path: Address, text: str) -> TableFile:
    try:
        value = _parsed(text)
    except ValueError as error:
        if text.lstrip().startswith("{") and "\n{" in text:
            return TableFile(path, _line_rows(path, text.split("\n")), "line", ["JSON lines"])
        raise VideoContrastError(f"{path}: is not JSON: {error}") from error
    notes = []
    if isinstance(value, Mapping):
        table = only_table(value)
        if (caption_rows := _captioned(path, value)) is not None:
            value = caption_rows
        elif table is not None:
            notes.append(f"rows: the list under {table!r}")
            value = value[table]
        elif value and all(isinstance(row, Mapping) for row in value.values()):
            key = "id" if questions_of(list(value.values())) is None else "video"
            notes.append(f"rows: the values of the object, their keys are {key}s")
            value = [{key: name, **row} for name, row in value.items()]
    if not _is_table(value):
        raise VideoContrastError(f"{path}: holds no list of rows (objects with columns)")
    if (name := questions_of(value)) is not None:
        notes.append(f"rows: the list {name!r} of each")
        value = [{**row, name: None, **inner} for row in value for inner in row.get(name) or []]
    return TableFile(path, enumerate(dict(row) for row in value), notes=notes)


def _captioned(path: Address, videos: Mapping[str, Json]) -> list[TableRow] | None:
    """The rows of captions by video: texts, or ActivityNet's `timestamps` and `sentences`; None of another object."""
    rows: list[TableRow] = []
    if not videos.keys().isdisjoint(("caption", "captions", "sentence", "text")):
        return None  # columns
    for video, entry in videos.items():
        if isinstance(entry, Mapping) and {"timestamps", "sentences"} <= entry.keys():
            spans, texts = entry["timestamps"], entry["sentences"]
            if len(spans) != len(texts):
                raise VideoContrastError(f"{path}: {video!r} has {len(spans)} timestamps, but {len(texts)} sentences")
            if other := [span for span in spans if not (isinstance(span, list) and len(span) == 2)]:
                raise VideoContrastError(f"{path}: {video!r} has the timestamp {other[0]}, not a start and an end")
            rows += [{"video": video, "timestamps": s, "sentence": t} for s, t in zip(spans, texts, strict=True)]
        elif isinstance(entry, list) and all(isinstance(text, str) for text in entry):
            rows.append({"video": video, "captions": entry})
        else:
            return None
    return rows


def only_table(value: Mapping[str, Json]) -> str | None:
    """The name of the only list of rows of an object; None where there is none, or several."""
    names = [name for name, part in value.items() if _is_table(part)]
    return names[0] if len(names) == 1 else None


def questions_of(rows: Sequence[Mapping[str, Json]]) -> str | None:
    """The column that holds a list of questions in each row (a video); None where there is none."""
    for name in dict.fromkeys(name for row in rows for name in row):
        parts = [row.get(name) or [] for row in rows]
        if any(parts) and all(part == [] or (_is_table(part) and "question" in part[0]) for part in parts):
            return name
    return None


def _is_table(value: Json) -> bool:
    return isinstance(value, Sequence) and bool(value) and all(isinstance(row, Mapping) for row in value)


def _records(path: Address, lines: Iterable[str], delimiter: str, quotes: bool) -> Iterator[tuple[int, list[str], str]]:
    of_record: list[str] = []

    def read() -> Iterator[str]:
        for line in lines:
            of_record.append(line)
            yield line if quotes else line.removesuffix("\n").rstrip("\r")  # it ends nowhere else

    # strict: a mark that is never closed would swallow the rows after it in silence
    quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE
    reader = csv.reader(read(), delimiter=delimiter, strict=True, quoting=quoting)
    try:
        for cells in reader:
            yield reader.line_num, cells, "".join(of_record)
            of_record.clear()
    except csv.Error as error:
        first = reader.line_num - len(of_record) + 1
        raise VideoContrastError(
            f"{path}: line {first}: a quotation mark that is not closed, or text after one ({error})"
        ) from error


def _delimited_rows(path: Address, text: DelimitedText) -> Numbered:
    """The rows below the header, by the last line of each."""
    names = None
    for line, cells, _ in text.records:
        if names is None and cells:
            names = _header(path, cells)
        elif cells and names is not None:
            if len(cells) != len(names):
                what = f"{len(cells)} fields, but the header names {len(names)}"
                separator = f"fields are parted by a {DELIMITERS.get(text.delimiter, repr(text.delimiter))}"
                raise VideoContrastError(f"{path}: line {line}: {what} ({separator})")
            yield line, dict(zip(names, cells, strict=True))
    if names is None:
        _header(path, [])


def _header(path: Address, cells: Sequence[str]) -> list[str]:
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
