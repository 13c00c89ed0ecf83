"""Croissant metadata (MLCommons, version 1.0) of a built set, as JSON-LD.

The Hub makes its own Croissant from the card's YAML once a set is pushed; this file serves a set on a disk, and says
with which checksums it was made.
"""

import json
from importlib.resources import files

from video_contrast.files import Json, sha256
from video_contrast.hub_cards.markdown import render
from video_contrast.rows import table_columns
from video_contrast.storage import SetFolder
from video_contrast.storage.set_records import SetRecord

_TYPES = {"string": "sc:Text", "int64": "sc:Integer", "float64": "sc:Float", "bool": "sc:Boolean"}


def croissant(record: SetRecord, folder: SetFolder) -> dict[str, object]:
    """The set's Croissant description: one file object a parquet file, one record set a config and split."""
    tables: list[dict[str, Json]] = []
    for config, entry in sorted(record["configs"].items()):
        columns = table_columns(
            entry["layout"], entry["perturbed"], entry.get("questions", False), edited=entry.get("edited", False)
        )
        for split in entry["splits"]:
            parts = [
                {"path": path.relative_to(folder.path).as_posix(), "bytes": path.stat().st_size, "sha256": sha256(path)}
                for path in folder.files(config, split)
            ]
            # of a corpus: a record set reads all files
            whole = f"{config}/{split}-files" if len(parts) > 1 else ""
            tables.append({"name": f"{config}/{split}", "files": parts, "set": whole, "columns": columns})
    context = json.loads((files(__package__) / "croissant_context.json").read_text(encoding="utf-8"))
    tool = f"video-contrast {record.get('version', '')}".strip()
    text = render(
        "croissant.json.jinja", record=record, facts=record.get("facts", {}), tables=tables, types=_TYPES,
        context=context, tool=tool,
    )  # fmt: skip
    described: dict[str, object] = json.loads(text)
    return described
