"""A table in a file of its own as a set: one config called as the file, a split for each value of a column `split`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from video_contrast.errors import unknown_name
from video_contrast.rows import Row
from video_contrast.storage.plain_table import SPLIT, completed_rows
from video_contrast.storage.set_folder import SetFolder
from video_contrast.storage.table_columns import TableColumns
from video_contrast.storage.table_file import TableFile, read_table_file


@dataclass(frozen=True)
class FileSet(SetFolder):
    """A set that is a file (JSON, JSON lines, CSV, TSV, parquet, xlsx or a zip of one); videos lie beside it."""

    file: Path = Path()

    @classmethod
    def of(cls, file: Path, columns: TableColumns | None = None) -> FileSet:
        """The set in a file; `columns` says what is what, where the user does."""
        return cls(file.parent, columns, file)

    @cached_property
    def _table(self) -> TableFile:
        given = self.columns or TableColumns()
        return read_table_file(self.file, encoding=given.encoding, delimiter=given.delimiter)

    @property
    def is_built(self) -> bool:
        """Never: it has no record."""
        return False

    @property
    def configs(self) -> list[str]:
        """One, called as the file."""
        return [self.file.stem]

    def splits(self, config: str) -> list[str]:
        """The values of the column `split`; "test" where there is none."""
        return list(dict.fromkeys(str(row.get("split") or SPLIT) for row in self._table.rows.values()))

    def tables(self) -> list[tuple[str, str]]:
        """The splits of the one config."""
        return [(self.file.stem, split) for split in self.splits(self.file.stem)]

    def streamed_rows(self, config: str, split: str) -> Iterator[Row]:
        """The rows of a split.

        Raises UsageError: no such split; VideoContrastError: the file is damaged, or a row is no item; names file and
        row.
        """
        if split not in self.splits(config):
            raise unknown_name(f"split of {self.file}:", split, self.splits(config))
        yield from completed_rows(self._table.rows, str(self.file), columns=self.columns, split=split)
