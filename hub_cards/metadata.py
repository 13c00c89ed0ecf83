"""Croissant metadata (MLCommons, version 1.0) of a built set, as JSON-LD.

The Hub makes its own Croissant from the card's YAML once a set is pushed; this file serves a set on a disk, and says
with which checksums it was made. Field names and the context are the specification's.
"""

import json
from importlib.resources import files
from pathlib import Path

from video_contrast.files import sha256
from video_contrast.rows import Column, table_columns
from video_contrast.storage import SetFolder
from video_contrast.storage.set_records import SetRecord

_TYPES = {"string": "sc:Text", "int64": "sc:Integer", "float64": "sc:Float", "bool": "sc:Boolean"}


def croissant(record: SetRecord, folder: SetFolder) -> dict[str, object]:
    """The set's Croissant description: one file object a parquet file, one record set a config and split."""
    facts = record.get("facts", {})
    distribution, record_sets = [], []
    for config, entry in sorted(record["configs"].items()):
        for split in entry["splits"]:
            paths = [file.relative_to(folder.path).as_posix() for file in folder.files(config, split)]
            distribution += [_file(folder.path, path) for path in paths]
            path = paths[0]
            if len(paths) > 1:  # of a corpus: a record set reads all of them
                path = f"{config}/{split}-files"
                distribution.append(
                    {
                        "@type": "cr:FileSet",
                        "@id": path,
                        "name": path.replace("/", "_"),
                        "encodingFormat": "application/x-parquet",
                        "includes": f"{config}/{split}-*.parquet",
                    }
                )
            columns = table_columns(
                entry["layout"], entry["perturbed"], entry.get("questions", False), edited=entry.get("edited", False)
            )
            record_sets.append(
                {
                    "@type": "cr:RecordSet",
                    "@id": f"{config}/{split}",
                    "name": f"{config}/{split}",
                    "key": {"@id": f"{config}/{split}/id"},
                    "field": [_field(f"{config}/{split}", name, kind, path) for name, kind in columns.items()],
                }
            )
    tool = f"video-contrast {record.get('version', '')}".strip()
    return {
        "@context": json.loads((files(__package__) / "croissant_context.json").read_text(encoding="utf-8")),
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": record["builder"],
        "description": facts.get("summary") or f"A contrast set made by the builder {record['builder']}.",
        "version": record.get("version", "0.0.0"),
        "license": facts.get("licence") or "not stated; the licence of the source holds",
        "isLiveDataset": False,
        "distribution": distribution,
        "recordSet": record_sets,
        "citeAs": "\n".join([*facts.get("citations", ()), f"Made with {tool}."]),
    }


def _file(folder: Path, path: str) -> dict[str, object]:
    return {
        "@type": "cr:FileObject",
        "@id": path,
        "name": path.replace("/", "_"),
        "contentUrl": path,
        "contentSize": f"{(folder / path).stat().st_size} B",
        "encodingFormat": "application/x-parquet",
        "sha256": sha256(folder / path),
    }


def _field(record_set: str, name: str, kind: Column, file: str) -> dict[str, object]:
    """A column; lists are repeated fields, structs have sub-fields."""
    repeated = isinstance(kind, list)
    inner = kind[0] if isinstance(kind, list) else kind
    reference = "fileObject" if file.endswith(".parquet") else "fileSet"
    source = {reference: {"@id": file}, "extract": {"column": name.split("/")[0]}}
    field: dict[str, object] = {"@type": "cr:Field", "@id": f"{record_set}/{name}", "name": name}
    if repeated:
        field["repeated"] = True
    if isinstance(inner, dict):
        field["subField"] = [
            {
                "@type": "cr:Field",
                "@id": f"{record_set}/{name}/{key}",
                "name": key,
                "dataType": _TYPES[str(value)],
                "source": {**source, "transform": {"jsonPath": f"$.{key}" if not repeated else f"$[*].{key}"}},
            }
            for key, value in inner.items()
        ]
    else:
        field |= {"dataType": _TYPES[str(inner)], "source": source}
    return field
