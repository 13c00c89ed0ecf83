"""A set on disk, as a builder writes it and the Hub gives it back.

    set.json                                   the record: builder, configs, splits, and the facts of the card
    <config>/<split>-00000-of-00001.parquet    the rows
    README.md, croissant.json, eval.yaml       the card
    clips/ ...                                 videos, where the builder made some
    local.json                                 where the videos lie on this machine; not published

A folder without `set.json` is read as `datasets.load_dataset` reads it, but never from that library's cache; columns
that its tables lack get defaults (`plain_table`).
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NotRequired, TypedDict, cast

from video_contrast.addresses import Address, filesystem
from video_contrast.addresses import read_json as read_remote_json
from video_contrast.errors import UsageError, VideoContrastError, unknown_name
from video_contrast.files import read_json, write_json, write_text
from video_contrast.rows import AnyRowType, Layout, MultipleChoiceRow, RetrievalRow, Row, layout_of, validate_rows
from video_contrast.storage.plain_table import SPLIT, completed_rows
from video_contrast.storage.table_columns import TableColumns
from video_contrast.storage.table_file import TableFile, parquet_rows, read_as_parquet, read_table_file

if TYPE_CHECKING:
    import datasets


Facts = dict[str, Any]  # JSON: what a builder tells the card, under names of its own

# Keys of an audit that hold the accuracy of a blind model, and what that is called.
BlindModelKey = Literal[
    "blind", "language_model", "text_features", "common_position", "large_language_model", "shorter_wins", "longer_wins"
]
BLIND_NAMES: dict[BlindModelKey, str] = {
    "blind": "blind classifier",
    "language_model": "trigram model",
    "text_features": "form of candidates",
    "common_position": "common position",
    "large_language_model": "language model",
    "shorter_wins": "shorter wins",
    "longer_wins": "longer wins",
}


class ConfigRecord(TypedDict):
    """One config of a set."""

    layout: Layout
    perturbed: bool
    questions: NotRequired[bool]  # whether its rows have a question
    edited: NotRequired[bool]  # whether its clips are put together from segments
    splits: dict[str, dict[str, int]]  # split -> num_examples, num_bytes
    facts: Facts


class SetRecord(TypedDict):
    """The content of `set.json`."""

    builder: str
    version: str
    configs: dict[str, ConfigRecord]
    facts: Facts


RECORD = "set.json"
CARD = "README.md"
CROISSANT = "croissant.json"
EVALUATION = "eval.yaml"
LOCAL = "local.json"
# Files that a killed build, `generate` before it writes its set, or a review leaves in a folder.
BESIDE = (CROISSANT, EVALUATION, "answers.jsonl", "rejected.jsonl", "review.html", "review.tsv")
PLAYED = "video"  # column of a set that was pushed with its videos, which the Hub's viewer plays; never of rows
# Endings that the datasets library reads as tables; of a folder of videos it would make a set of videos.
_TABLES = (".parquet", ".arrow", ".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".txt", ".zip", ".gz", ".zst", ".tar")


@dataclass(frozen=True)
class SetFolder:
    """A set on disk.

    folder = video_contrast.open_set("sets/msrvtt")
    folder.configs                                  # ["gender_mc", "random_mc", "retrieval"]
    folder.rows("gender_mc", "test")[0]["candidates"]
    """

    path: Path  # the folder
    columns: TableColumns | None = None  # roles of columns that the user names, of tables made elsewhere

    @classmethod
    def open(cls, path: str | Path, columns: TableColumns | None = None) -> SetFolder:
        """Opens a set; `columns`: what is what in tables made elsewhere. Raises UsageError: no such folder."""
        root = Path(path).expanduser()
        if root.is_file():
            raise UsageError(
                f"{root} is a file, and the folder of a set is needed: `video-contrast build captions` makes one "
                "of a table of captions, `build pairs` of pairs (score, audit, xray and check read tables as they are)"
            )
        if not root.is_dir():
            raise UsageError(f"no such folder: {root}")
        return cls(root, columns)

    @classmethod
    def built(cls, path: str | Path) -> SetFolder:
        """Opens a set that has a record. Raises UsageError: no such folder, or one without `set.json`."""
        folder = cls.open(path)
        if not folder.is_built:
            raise UsageError(f"{folder.path} is not a built set: holds no {RECORD}; `video-contrast build` makes one")
        return folder

    @property
    def is_built(self) -> bool:
        """Whether the set has a record; one from the Hub may come without."""
        return (self.path / RECORD).is_file()

    @property
    def video_root(self) -> Path:
        """The folder of video paths: the video root that the set was built with, or the set's folder."""
        local = self.path / LOCAL
        root = self.path / (str(read_json(local)["video_root"]) if local.is_file() else "")
        return root if root.is_dir() else self.path

    def remember_video_root(self, root: Path) -> None:
        """Keeps where the videos lie: relative to the set where both lie in one folder, so that this can be moved."""
        folder, place = self.path.resolve(), root.expanduser().resolve()
        together = Path(os.path.commonpath([folder, place])) != Path(folder.anchor)
        new_place = Path(os.path.relpath(place, folder)) if together else place
        write_json(self.path / LOCAL, {"video_root": new_place.as_posix()})

    @property
    def has_card(self) -> bool:
        """Whether the set has a card: without it `load_dataset` does not know configs and splits."""
        return (self.path / CARD).is_file()

    def has_on_card(self, config: str) -> bool:
        """Whether the card names a config; it is written last, so tables without it are those of a build that ended."""
        return self.has_card and f"config_name: {config}\n" in (self.path / CARD).read_text(encoding="utf-8")

    @property
    def record(self) -> SetRecord:
        """The content of `set.json`. Raises VideoContrastError: there is none, or it is damaged."""
        return cast(SetRecord, read_json(self.path / RECORD))

    @staticmethod
    def record_at(address: Address) -> SetRecord | None:
        """The record of a set in a folder or at an address; None where there is none yet."""
        path = f"{str(address).rstrip('/')}/{RECORD}"
        system, place = filesystem(path)
        return cast(SetRecord, read_remote_json(path)) if system.exists(place) else None

    @property
    def builder(self) -> str:
        """The builder that made the set; "" where there is no record."""
        return str(self.record.get("builder", "")) if self.is_built else ""

    @property
    def configs(self) -> list[str]:
        """The configs by name, sorted (of a folder without record: as its card has them).

        Raises VideoContrastError: a folder without record that the datasets library cannot read.
        """
        if self.is_built:
            return list(self.record["configs"])
        import datasets

        if not any(path.suffix.lower() in _TABLES for path in self.path.rglob("*")):
            raise VideoContrastError(f"{self.path}: no set, as no table lies in it (parquet, CSV, JSON lines)")
        with _explained(self.path):
            return list(datasets.get_dataset_config_names(str(self.path.absolute())))  # it cannot name a set "."

    def splits(self, config: str) -> list[str]:
        """The splits of a config. Raises UsageError: no such config."""
        if self.is_built:
            configs = self.record["configs"]
            if config not in configs:
                raise unknown_name(f"config of {self.path}", config, list(configs))
            return list(configs[config]["splits"])
        tables = [split for name, split in self.tables() if name == config]
        if tables and not self.has_card:
            return tables
        import datasets

        with _explained(self.path):
            return list(datasets.get_dataset_split_names(str(self.path.absolute()), config))

    def tables(self) -> list[tuple[str, str]]:
        """The (config, split) of every table that lies in the folder, sorted, whatever the record says."""
        # no hidden ones: a build that was killed leaves a file under its temporary name
        files = self.path.glob("[!.]*/[!.]*.parquet")
        return sorted({(path.parent.name, path.name.partition("-")[0].removesuffix(".parquet")) for path in files})

    def files(self, config: str, split: str) -> list[Path]:
        """The parquet files of a split, in order; none where there is no such table."""
        folder = self.path / config
        return [*sorted(folder.glob(f"{split}-*.parquet")), *folder.glob(f"{split}.parquet")]

    def layout(self, config: str) -> Layout:
        """The layout of a config's table. Raises UsageError: no such config."""
        splits = self.splits(config)
        return self.record["configs"][config]["layout"] if self.is_built else layout_of(self.rows(config, splits[0])[0])

    def rows(self, config: str, split: str) -> list[Row]:
        """The rows of a split, as on disk now. Raises UsageError: no such table; VideoContrastError: it is damaged."""
        return list(self.streamed_rows(config, split))

    def streamed_rows(self, config: str, split: str) -> Iterator[Row]:
        """The rows of a split, of a built set some at a time; of others, which may lack columns, all are read first."""
        files = self.files(config, split)
        read = (row for path in files for row in parquet_rows(path))
        if files and not self.is_built:
            yield from completed_rows(list(read), f"{self.path}, {config}, {split}", columns=self.columns)
        elif files:
            rows = 0
            for row in read:
                rows += 1
                row.pop(PLAYED, None)
                yield cast(Row, row)
            check_whole(self.record, config, split, list(map(str, files)), rows)
        else:
            yield from self._rows_without_files(config, split)

    def _rows_without_files(self, config: str, split: str) -> list[Row]:
        """The rows of a split that is not in files of its own. Raises UsageError: there is no such table."""
        if self.is_built:
            if split not in (splits := self.splits(config)):
                raise UsageError(f"{self.path} has no split {split!r} of {config}; it has {', '.join(splits)}")
            raise UsageError(
                f"{self.path} holds no table {config}/{split}-*.parquet: was the set moved or rebuilt? It has "
                f"{', '.join('/'.join(table) for table in self.tables()) or 'none'}"
            )
        import datasets

        # Streaming reads the files themselves: the library's cache does not notice every change of them.
        with _explained(self.path, config, split):
            table = datasets.load_dataset(str(self.path.absolute()), config, split=split, streaming=True)
            rows = [dict(row) for row in without_played(table)]
        return completed_rows(rows, f"{self.path}, {config}, {split}", columns=self.columns)

    def choice_rows(self, config: str, split: str) -> list[MultipleChoiceRow]:
        """The rows of a multiple-choice config, or of pairs. Raises UsageError: it is of retrieval, or not there."""
        rows = self.rows(config, split)
        if rows and layout_of(rows[0]) == "retrieval":
            raise UsageError(f"{self.path}: {config} is not a multiple-choice config")
        return cast(list[MultipleChoiceRow], rows)

    def retrieval_rows(self, config: str, split: str) -> list[RetrievalRow]:
        """The rows of a retrieval config. Raises UsageError: no such table, or it is of multiple choice."""
        rows = self.rows(config, split)
        if rows and layout_of(rows[0]) != "retrieval":
            raise UsageError(f"{self.path}: {config} is not a retrieval config")
        return cast(list[RetrievalRow], rows)

    def first_rows(self, config: str, split: str, n: int) -> list[Row]:
        """The first rows of a split; none where there is no such table.

        Args:
            config, split, n: which table, and how many rows at most.
        """
        rows = (cast(Row, row) for path in self.files(config, split) for row in parquet_rows(path))
        return list(islice(rows, n))

    def row_range(self, config: str, split: str, first: int, end: int) -> list[Row]:
        """Rows of a split by their place; only the row groups that hold them are read.

        Raises VideoContrastError: a file that may hold some of them is damaged; names each.

        Args:
            config, split, first, end: which table, and places in it, from 0; `end` is not among them.
        """
        import pyarrow.parquet as pq

        files, faults, sizes = self.files(config, split), list[str](), list[int]()
        for path in files:
            try:
                with read_as_parquet(path):
                    sizes.append(pq.read_metadata(path).num_rows)
            except VideoContrastError as error:
                faults.append(str(error))
                sizes.append(-1)
        if not faults:
            check_whole(self.record, config, split, list(map(str, files)), sum(sizes))
        # Places behind a damaged file, whose number of rows is unknown, are counted from the end.
        front = sizes.index(-1) if faults else len(files)
        back = len(files) - sizes[::-1].index(-1) if faults else front
        begin, rest = 0, self.record["configs"][config]["splits"][split]["num_examples"] - sum(sizes[back:])
        if faults and sum(sizes[:front]) < end and rest > first:
            raise VideoContrastError("\n".join(faults))
        rows: list[Row] = []
        for number in (*range(front), *range(back, len(files))):
            place = begin if number != back else rest
            begin = place + sizes[number]
            if place < end and begin > first:
                with read_as_parquet(files[number]), pq.ParquetFile(files[number]) as file:
                    for group in range(file.num_row_groups):
                        before, place = place, place + file.metadata.row_group(group).num_rows
                        if before < end and place > first:
                            rows += file.read_row_group(group).to_pylist()[max(first - before, 0) : end - before]
        return rows

    def validate(self) -> dict[str, dict[str, int]]:
        """Config -> split -> number of rows, of every table. Raises VideoContrastError: a row is wrong; says which."""
        counts: dict[str, dict[str, int]] = {}
        for config, split in self.tables():
            rows = self.rows(config, split)
            counts.setdefault(config, {})[split] = validate_rows(rows, f"{config}, split {split}")
        return counts

    def write_card(self, card: str, croissant: Mapping[str, object], evaluation: str) -> None:
        """Writes the card; it comes last, so a folder with a card is whole.

        Args:
            card, croissant, evaluation: markdown; JSON-LD; YAML that registers the set as a benchmark.
        """
        write_json(self.path / CROISSANT, croissant)
        write_text(self.path / EVALUATION, evaluation)
        write_text(self.path / CARD, card)

    def published_files(self) -> list[Path]:
        """The files that go to the Hub, in the order in which they go: tables, record, card."""
        folders = [self.path / config for config in self.record["configs"]]
        tables = [path for folder in folders for path in sorted(folder.glob("[!.]*.parquet"))]
        extra = [self.path / name for name in (RECORD, CROISSANT, EVALUATION) if (self.path / name).is_file()]
        return [*tables, *extra, self.path / CARD]


class Fingerprint:
    """A digest of a table's content, the same for a folder and for the Hub, taken while its rows pass by."""

    def __init__(self) -> None:
        self._whole = hashlib.sha256()
        self._encode = json.JSONEncoder(sort_keys=True, ensure_ascii=False, default=str).encode

    def passing(self, rows: Iterable[AnyRowType]) -> Iterator[AnyRowType]:
        """The rows as they are."""
        for row in rows:
            self._whole.update(f"{self._encode(row)}\n".encode("utf-8", "surrogatepass"))
            yield row

    def __str__(self) -> str:
        """32 hexadecimal digits."""
        return self._whole.hexdigest()[:32]


def without_played(rows: datasets.Dataset | datasets.IterableDataset) -> datasets.Dataset | datasets.IterableDataset:
    """A pushed set's rows without the column that plays its clips, which would be decoded where it is read."""
    both = {PLAYED, "video_path"} <= set(rows.features or ())
    return rows.remove_columns(PLAYED) if both else rows


def check_whole(record: SetRecord, config: str, split: str, files: Sequence[str], rows: int) -> None:
    """Raises a VideoContrastError where files of a table are missing: a block of a corpus may have none, but no rows.

    `files`: that are there, by their names or addresses. `rows`: how many they hold.
    """
    match = re.search(r"-of-(\d{5})\.parquet$", files[0])
    n_rows = record["configs"][config]["splits"][split]["num_examples"]
    if match and len(files) < int(match[1]) and rows < n_rows:
        there = ", ".join(file.rpartition(f"{split}-")[2].partition("-of-")[0] for file in files[:100])
        raise VideoContrastError(
            f"{files[0].rpartition('/')[0]}: of the {n_rows:,} rows of {split} there are {rows:,}: one of its files "
            f"{split}-*-of-{match[1]}.parquet is missing (there are {there}); copy the set again"
        )


@contextmanager
def _explained(path: Path, *table: str) -> Iterator[None]:
    """Turns the errors of the datasets library, which are of many classes, into one."""
    try:
        yield
    except Exception as error:
        where = f"{path} ({', '.join(table)})" if table else str(path)
        raise VideoContrastError(f"{where} cannot be loaded: {error}") from error


def table_path(config: str, split: str, number: int = 0, of: int = 1) -> str:
    """The file of a split's table, or its file `number` of `of`, relative to the set's folder."""
    return f"{config}/{split}-{number:05d}-of-{of:05d}.parquet"


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
        columns = self.columns or TableColumns()
        return read_table_file(self.file, encoding=columns.encoding, delimiter=columns.delimiter)

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
        """The rows of a split. Raises UsageError: no such split; VideoContrastError: the file, or a row, is faulty."""
        if split not in self.splits(config):
            raise unknown_name(f"split of {self.file}:", split, self.splits(config))
        yield from completed_rows(self._table.rows, str(self.file), columns=self.columns, split=split)
