"""Reads tables of captions: files of every kind that `table_file` reads, or a data set of the Hub, row by row.

Every row comes with its place in the file, so that an error can name it.
"""

import math
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import Json
from video_contrast.row_parts import AnyRow
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
            raise UsageError(f"{self.place}: no column {column!r}; the table has {names}. Choose with {option}")
        return self.cells[column]

    def usual(self, named: str | None, usual: Sequence[str]) -> str:
        """The column that the user names; else the first of usual names that the table has, or the first of all."""
        return named if named is not None else next((name for name in usual if name in self.cells), usual[0])

    def texts(self, column: str, option: str) -> list[str]:
        """The captions in a cell: one text, or a list of texts (JSON lines, parquet, Hub).

        >>> TableRow("line 2", {"caption": [" a man  runs ", None, " "]}).texts("caption", "--caption-column")
        ['a man runs']
        """
        value = self.value(column, option)
        cells: Sequence[Json] = value if isinstance(value, list | tuple) else [value]
        return [text for cell in cells if cell is not None and (text := " ".join(str(cell).split()))]


def read_table(
    source: str | Path, *, split: str | None = None, encoding: str = ENCODING, delimiter: str | None = None
) -> Iterator[TableRow]:
    """Yields the rows of a table in the order of the file.

    Args:
        source: a file with a suffix of `table_file.SUFFIXES` (in .tsv quotation marks are text, as in the released
            contrast sets), or the name of a data set of the Hub (`owner/name`, or `owner/name:config`), which
            `datasets.load_dataset` loads.
        split: the split of a Hub data set; `test` if not given.
        encoding, delimiter: of a file, as of `read_table_file`.

    Raises:
        UsageError: neither a file nor the name of a data set; a suffix that is not known.
        VideoContrastError: the file is not UTF-8, a column is named twice, a quotation mark is never closed, a row has
            another number of fields than the header, or a line is not JSON; the message names the line.
    """
    path = Path(source)
    if path.is_file():
        table = read_table_file(path, encoding=encoding, delimiter=delimiter, marks=False)
        for number, row in table.numbered:
            yield TableRow(f"{path.name}, {table.unit} {number}", row)
        return
    if path.is_dir():
        raise UsageError(f"{path} is a folder; give the file of captions in it")
    name, _, config = str(source).partition(":")
    if path.suffix.lower() in SUFFIXES or not _HUB_NAME.fullmatch(name):
        raise UsageError(f"no such file: {path}")
    yield from _hub(name, config or None, split or "test")


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
    """A time in seconds from a cell; empty means none.

    `name`: of the column, for the message. `place`: of the row, for the message. Raises VideoContrastError: not a
    number.
    """
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    try:
        time = float(value)
    except (TypeError, ValueError):
        time = math.nan
    if not math.isfinite(time):
        raise VideoContrastError(f"{place}: column {name!r} must be seconds, not {value!r}")
    return time


def _hub(name: str, config: str | None, split: str) -> Iterator[TableRow]:
    import datasets

    from video_contrast.hub import set_of_hub

    with set_of_hub(name):
        rows = datasets.load_dataset(name, config, split=split)
    # Reading a Video or Image column would decode it; only its path is wanted.
    for column_name, feature in rows.features.items():
        if isinstance(feature, datasets.Video | datasets.Image | datasets.Audio):
            rows = rows.cast_column(column_name, type(feature)(decode=False))
    for number, row in enumerate(rows):
        yield TableRow(f"{name}, row {number}", {key: _path_of(value) for key, value in row.items()})


def _path_of(value: Json) -> Json:
    return value["path"] if isinstance(value, dict) and set(value) == {"bytes", "path"} else value
