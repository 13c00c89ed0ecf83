"""Writing a built set: parquet, card and record, so that plain `datasets.load_dataset(DIR, config)` works.

    DIR/README.md                          the card; its YAML carries configs, splits and features
    DIR/<config>/<split>-00000-of-00001.parquet
    DIR/set.json                           the facts the card is rendered from; a later build of another config merges

Equal inputs give equal bytes, and every file appears whole or not at all (the card last).
"""

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from video_contrast.builders.registry import BuiltSet
from video_contrast.errors import VideoContrastError
from video_contrast.files import atomic_path, read_json, resolve_under, write_bytes, write_json, write_text
from video_contrast.rows import layout_of, table_features, validate_rows
from video_contrast.version import __version__

RECORD = "set.json"
ROW_GROUP = 1000


def write_set(built: BuiltSet, output: str | Path) -> Path:
    """Writes a built set into the folder `output`, beside the configs that a former build of the same builder left.

    Raises:
        VideoContrastError: a row is invalid (the message names config, split, row and column), or the folder holds
            another builder's set or other files.
    """
    root = Path(output)
    record = _former_record(root, built.name)
    parts: list[tuple[Path, bytes]] = []
    for config, splits in built.tables.items():
        entry: dict[str, Any] = {"facts": built.facts.get("configs", {}).get(config, {}), "splits": {}}
        for split, rows in splits.items():
            where = f"{built.name}, config {config}, split {split}"
            if not rows:
                raise VideoContrastError(f"{where}: no row could be built; see the counts by reason: {entry['facts']}")
            validate_rows(rows, where)
            data = parquet_bytes(rows)
            layout = layout_of(rows[0])
            perturbed = "video_perturbation" in rows[0] or "text_perturbation" in rows[0]
            entry |= {"layout": layout, "perturbed": perturbed}
            entry["splits"][split] = {"num_examples": len(rows), "num_bytes": len(data)}
            parts.append((root / config / f"{split}-00000-of-00001.parquet", data))
        if entry.get("layout") == "multiple_choice" and not entry["perturbed"] and "audit" not in entry["facts"]:
            entry["facts"] = {**entry["facts"], "audit": audit_of(splits, built.facts.get("seed", 0))}
        record["configs"][config] = entry
    record["facts"] = {key: value for key, value in built.facts.items() if key != "configs"}
    from tqdm import tqdm

    for relative, write in tqdm(built.files.items(), desc="files", unit="file", delay=1, leave=False):
        path = resolve_under(root, relative)
        if not path.exists():
            with atomic_path(path) as temporary:
                write(temporary)
    for path, data in parts:
        write_bytes(path, data)
    write_json(root / RECORD, record)
    write_card(root)
    return root


def audit_of(splits: Mapping[str, Sequence[Mapping[str, Any]]], seed: int = 0) -> dict[str, Any]:
    """The blind audit that a card shows: of the split `test`, or of the first if there is none."""
    from video_contrast.audit.blind_audit import audit

    split = "test" if "test" in splits else next(iter(splits))
    return {"split": split, **audit(splits[split], seed=seed)}


def write_card(root: Path) -> None:
    """Renders `README.md` and `croissant.json` from `set.json` (again after something was added, say an audit)."""
    from video_contrast.hub_cards import croissant, dataset_card

    record = read_json(root / RECORD)
    write_json(root / "croissant.json", croissant(record, root))
    write_text(root / "README.md", dataset_card(record, root))


def parquet_bytes(rows: Sequence[Mapping[str, Any]]) -> bytes:
    """Rows of one table as parquet bytes with the features in the metadata; equal rows give equal bytes."""
    layout = layout_of(rows[0])
    perturbed = "video_perturbation" in rows[0] or "text_perturbation" in rows[0]
    schema = table_features(layout, perturbed).arrow_schema
    table = pa.Table.from_pylist([dict(row) for row in rows], schema=schema)
    sink = io.BytesIO()
    pq.write_table(table, sink, row_group_size=ROW_GROUP, compression="zstd")
    return sink.getvalue()


def _former_record(root: Path, name: str) -> dict[str, Any]:
    fresh: dict[str, Any] = {"builder": name, "configs": {}, "version": __version__}
    if root.is_file():
        raise VideoContrastError(f"--output {root} is a file; give a folder")
    if not (root / RECORD).exists():
        if (root / "README.md").exists():
            raise VideoContrastError(f"--output {root} holds a README.md that is not ours; give a new folder")
        return fresh
    former = read_json(root / RECORD)
    if former.get("builder") != name:
        raise VideoContrastError(f"--output {root} holds a set of {former.get('builder')!r}; give a new folder")
    return {**fresh, "configs": former["configs"]}
