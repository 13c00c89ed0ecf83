"""Reads tables of captions: files of every kind that `table_file` reads, or a data set of the Hub, row by row.

Every row comes with its place in the file, so that an error can name it.
"""

import math
import re
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from video_contrast.addresses import explained, filesystem, is_remote
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import Json
from video_contrast.row_parts import AnyRow
from video_contrast.storage.table_columns import plain_name
from video_contrast.storage.table_file import ENCODING, SUFFIXES, read_table_file

_HUB_NAME = re.compile(r"[\w.-]+(/[\w.-]+)?")


class TableRow(NamedTuple):
    """A row of a table, and where it stands ("captions.csv, line 2")."""

    place: str
    cells: AnyRow

    def value(self, column: str, option: str) -> Json:
        """The value of a column; one that the table lacks is an error that lists those it has and names the option."""
        if column not in self.cells:
            names = ", ".join(map(str, self.cells))
            how = f"Choose with {option}" if option.startswith("--") else f"It needs {option}"
            raise UsageError(f"{self.place}: no column {column!r}; the table has {names}. {how}")
        return self.cells[column]

    def usual(self, named: str | None, usual: Sequence[str]) -> str:
        """The column that the user names; else the first of usual names that the table has, or the first of all."""
        if named is not None or usual[0] in self.cells:
            return named or usual[0]
        columns = {plain_name(column): column for column in reversed(list(self.cells))}  # the first of two
        return next((columns[name] for name in usual if name in columns), usual[0])

    def texts(self, column: str, option: str) -> list[str]:
        """The captions in a cell: one text, or a list of texts (JSON, parquet, Hub). Raises VideoContrastError: deeper.

        >>> TableRow("line 2", {"caption": [" a man  runs ", None, " "]}).texts("caption", "--caption-column")
        ['a man runs']
        """
        value = self.value(column, option)
        cells: Sequence[Json] = value if isinstance(value, list | tuple) else [value]
        if nested := [cell for cell in cells if isinstance(cell, dict | list)]:
            what = f"column {column!r} must hold a text or a list of texts, not {str(nested[0])[:80]}"
            raise VideoContrastError(f"{self.place}: {what}")
        return [text for cell in cells if cell is not None and (text := " ".join(str(cell).split()))]

    def text(self, column: str, option: str) -> str:
        """The one caption in a cell. Raises VideoContrastError: it holds none, or several."""
        texts = self.texts(column, option)
        if len(texts) != 1:
            raise VideoContrastError(f"{self.place}: the column {column!r} must hold one text")
        return texts[0]

    def clip_name(self) -> str:
        """What a row calls its clip, in a column `clip`, `video_id` or `id`."""
        return self.text(self.usual(None, ("clip", "video_id", "id")), "a column clip, video_id or id")


def read_table(
    source: str | Path,
    *,
    split: str | None = None,
    encoding: str = ENCODING,
    delimiter: str | None = None,
    streamed: bool = False,
    faults: list[VideoContrastError] | None = None,
) -> Iterator[TableRow]:
    """Yields the rows of a table in the order of the file.

    `source`: a file with a suffix of `table_file.SUFFIXES` (in .tsv quotation marks are text, as in the released
    contrast sets), its address (`s3://...`), a pattern of several (`captions-*.parquet`), or the name of a data set of
    the Hub (`owner/name`, or `owner/name:config`), of which `split` is read (`test` by default), if `streamed` as it
    comes and not as a whole first. `encoding`, `delimiter`: as of `read_table_file`. `faults`: as of `read_files`.

    Raises UsageError: neither a file nor the name of a data set; a suffix that is not known; VideoContrastError: the
    file is not UTF-8, a column is named twice, a quotation mark is never closed, a row has another number of fields
    than the header, or a line is not JSON; the message names the line.
    """
    path = Path(source)
    if files := _files(source):
        yield from read_files(files, encoding=encoding, delimiter=delimiter, faults=faults)
        return
    if path.is_dir():
        raise UsageError(f"{path} is a folder; give the file of captions in it")
    name, _, config = str(source).partition(":")
    if path.suffix.lower() in SUFFIXES or not _HUB_NAME.fullmatch(name):
        raise UsageError(f"no such file: {source}")
    yield from _hub(name, config or None, split or "test", streamed=streamed)


def read_files(
    files: Sequence[str | Path],
    *,
    encoding: str = ENCODING,
    delimiter: str | None = None,
    faults: list[VideoContrastError] | None = None,
) -> Iterator[TableRow]:
    """Yields the rows of one file after the other.

    `encoding`, `delimiter`: as of `read_table_file`. `faults`: takes what is wrong with each of several files that
    cannot be read, while the others are; without it, all that is raised as one error at the end.
    """
    found: list[VideoContrastError] = [] if faults is None else faults
    for file in files:
        try:
            table = read_table_file(file, encoding=encoding, delimiter=delimiter, marks=False)
            for number, row in table.numbered:
                yield TableRow(f"{PurePosixPath(file).name}, {table.unit} {number}", row)
        except VideoContrastError as error:
            if len(files) == 1:
                raise
            found.append(error)
    if found and faults is None:
        raise VideoContrastError("\n".join(map(str, found)))


def _files(source: str | Path) -> list[str]:
    """The files of a table by their addresses; none where the source is no file and no pattern of files."""
    if not any(mark in str(source) for mark in "*?["):
        return [str(source)] if is_remote(source) or Path(source).is_file() else []
    if not is_remote(source) and Path(source).is_file():
        return [str(source)]
    with explained(source):
        system, path = filesystem(source)
        paths = sorted(map(str, system.glob(path)))
        return [system.unstrip_protocol(file) if is_remote(source) else file for file in paths]


def utf8_text(path: Path) -> str:
    """The text of a file, line ends as they are; one that is not UTF-8 is an error that names the line."""
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line, byte = error.object.count(b"\n", 0, error.start) + 1, error.object[error.start]
        raise VideoContrastError(
            f"{path}, line {line}: not UTF-8 text (byte 0x{byte:02x}); convert it first"
        ) from error


def seconds(value: Json, name: str, place: str) -> float | None:
    """A time in seconds from a cell; empty means none. Raises VideoContrastError: no number; names row and column."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    try:
        time = float(value)
    except (TypeError, ValueError):
        time = math.nan
    if not math.isfinite(time):
        raise VideoContrastError(f"{place}: column {name!r} must be seconds, not {value!r}")
    return time


def _hub(name: str, config: str | None, split: str, *, streamed: bool) -> Iterator[TableRow]:
    import datasets

    from video_contrast.hub import set_of_hub

    with set_of_hub(name):
        rows = datasets.load_dataset(name, config, split=split, streaming=streamed)
    # Reading a Video or Image column would decode it; only its path is wanted.
    for column_name, feature in (rows.features or {}).items():
        if isinstance(feature, datasets.Video | datasets.Image | datasets.Audio):
            rows = rows.cast_column(column_name, type(feature)(decode=False))
    for number, row in enumerate(rows):
        yield TableRow(f"{name}, row {number}", {key: _path_of(value) for key, value in row.items()})


def _path_of(value: Json) -> Json:
    return value["path"] if isinstance(value, dict) and set(value) == {"bytes", "path"} else value
