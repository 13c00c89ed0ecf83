"""Writing a set: changes are collected, checked, and then written together; equal content gives equal bytes."""

import io
import os
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import cast

from video_contrast.console import bar
from video_contrast.errors import VideoContrastError
from video_contrast.files import atomic_path, remove_abandoned, resolve_under, write_bytes, write_json
from video_contrast.rows import Row, layout_of, optional_parts, table_features, validate_rows
from video_contrast.storage.set_folder import BESIDE, RECORD, ConfigRecord, Facts, SetFolder, SetRecord, table_path
from video_contrast.version import __version__

ROW_GROUP = 1000  # rows
OF_A_BUILD = ("sources", "seed", "options", "counts", "warnings")  # facts of the set that another build may change
FileWriter = Callable[[Path], None]  # writes a file to the path that it is given


class SetDraft:
    """Configs to write into a folder, beside those that a former build of the same builder left there.

    Nothing is written before `save`, which makes the folder. `record` is what `set.json` will say; facts may be added
    to it. `builder`: whose set it is; that of the set in the folder where None. Raises VideoContrastError: the folder
    is a file, cannot be written, or holds another builder's set or other files.
    """

    def __init__(self, path: str | Path, builder: str | None = None) -> None:
        self.folder = SetFolder(Path(path))
        self.record = _former_record(self.folder, builder)
        self._former = deepcopy(self.record["configs"])
        self._added: set[str] = set()
        self._tables: list[tuple[str, bytes]] = []

    def add(self, config: str, splits: Mapping[str, Sequence[Row]], facts: Facts) -> ConfigRecord:
        """Adds a config, in place of a former one of that name, and returns its entry of the record.

        Raises VideoContrastError: as `add_written`, a split is without rows, or a row is invalid; names config, split,
        row and column.

        Args:
            config, splits, facts: its name, split -> rows, and what the card says of it.
        """
        entry: ConfigRecord | None = None
        for split, rows in splits.items():
            where = f"{self.record['builder']}, config {config}, split {split}"
            if not rows:
                raise VideoContrastError(f"{where}: no row could be built; see the counts by reason: {facts}")
            of_split, content = table_of(rows, where, split)
            before: ConfigRecord = entry or {**of_split, "splits": {}, "facts": facts}
            entry = {**of_split, **before, "splits": before["splits"] | of_split["splits"]}
            self._tables.append((table_path(config, split), content))
        if entry is None:
            raise VideoContrastError(f"{self.record['builder']}, config {config}: no split has rows")
        self.add_written(config, entry)
        return entry

    def add_written(self, config: str, entry: ConfigRecord) -> None:
        """Adds a config whose tables lie there. Raises VideoContrastError: a former one has a split that it lacks."""
        former = self._former.get(config)
        lacks = [split for split in former["splits"] if split not in entry["splits"]] if former else []
        if lacks:
            raise VideoContrastError(
                f"--output {self.folder.path}: its config {config} also has the split {', '.join(lacks)}, which would "
                "no longer be part of the set; give a new folder, or build all splits in one call"
            )
        self.record["configs"][config] = entry
        self._added.add(config)

    def save(self, files: Mapping[str, FileWriter] | None = None) -> SetFolder:
        """Writes the `files` (path -> writer) that are not there, the tables, and the record last; returns the set."""
        root = self.folder.path
        remove_abandoned(root)
        for relative, write in bar((files or {}).items(), desc="files", unit="file"):
            path = resolve_under(root, relative)
            if not path.exists():
                with atomic_path(path) as temporary:
                    write(temporary)
        for relative, content in self._tables:
            write_bytes(root / relative, content)
            config, _, name = relative.partition("/")
            for path in self.folder.files(config, name.rpartition("-00000-of-")[0]):
                if path != root / relative:  # of a former build in several files
                    path.unlink()
        self._keep_other_configs()
        write_json(root / RECORD, self.record)
        return self.folder

    def _keep_other_configs(self) -> None:
        """Takes the configs that this draft leaves as they are, with those that another process has written meanwhile.

        The facts of the set become those of this draft. Where a config was built with others (another seed, another
        table), its own facts say so under `built_with`.
        """
        there = _former_record(self.folder, self.record["builder"])
        configs = self.record["configs"]
        for config, entry in there["configs"].items():
            if config not in self._added and configs.get(config) == self._former.get(config):
                own = {**there["facts"], **entry["facts"].get("built_with", {})}
                facts = {key: value for key, value in entry["facts"].items() if key != "built_with"}
                now = self.record["facts"]
                if other := {key: own[key] for key in OF_A_BUILD if key in own and own[key] != now.get(key)}:
                    facts["built_with"] = other
                configs[config] = {**entry, "facts": facts}


def table_of(rows: Sequence[Row], where: str, split: str) -> tuple[ConfigRecord, bytes]:
    """The table of a split, or of a part of one: what the record says of it (without facts), and the file's content.

    Equal rows give equal bytes (parquet). Raises VideoContrastError: a row is invalid; names row and column.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    validate_rows(rows, where)
    features = table_features(layout_of(rows[0]), optional_parts(rows[0]))
    sink = io.BytesIO()
    table = pa.Table.from_pylist(list(rows), schema=features.arrow_schema)
    pq.write_table(table, sink, row_group_size=ROW_GROUP, compression="zstd")
    content = sink.getvalue()
    entry: ConfigRecord = {
        "layout": layout_of(rows[0]),
        "perturbed": False,
        **{part: True for part in optional_parts(rows[0])},  # type: ignore[typeddict-item]
        "splits": {split: {"num_examples": len(rows), "num_bytes": len(content)}},
        "facts": {},
    }
    return entry, content


def _former_record(folder: SetFolder, builder: str | None) -> SetRecord:
    path = folder.path
    nearest = next(place for place in (path, *path.absolute().parents) if place.exists())
    if not nearest.is_dir():
        raise VideoContrastError(f"--output {path}: {nearest} is a file; give a folder")
    if not os.access(nearest, os.W_OK):
        raise VideoContrastError(f"--output {path}: {nearest} cannot be written; give another folder")
    if builder is None:
        return SetFolder.built(path).record
    fresh = SetRecord(builder=builder, version=__version__, configs={}, facts={})
    if not folder.is_built:
        if folder.has_card:
            raise VideoContrastError(f"--output {path} holds a README.md that is not ours; give a new folder")
        files = path.glob("[!.]*") if path.is_dir() else ()
        others = sorted(file.name for file in files if file.is_file() and file.name not in BESIDE)
        if others:
            raise VideoContrastError(
                f"--output {path} holds other files ({', '.join(others[:3])}{' ...' if len(others) > 3 else ''}), "
                "among which a set would be lost; give a new folder (--video-root names that of the videos)"
            )
        return fresh
    former = folder.record
    if former.get("builder") != builder:
        raise VideoContrastError(f"--output {path} holds a set of {former.get('builder')!r}; give a new folder")
    return cast(SetRecord, {**fresh, "configs": former["configs"], "facts": former.get("facts", {})})
