"""Pushed clips beside their rows: a column `video` of the type `datasets.Video`, which the Hub's viewer plays.

A row names its clip's file in the repository, so each file is there once, however many rows are about it. The set on a
disk stays as it is; whoever reads a pushed set with this package gets the rows without the column.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from video_contrast.files import sha256
from video_contrast.hub_cards.licences import licence_fields
from video_contrast.storage.set_folder import PLAYED

if TYPE_CHECKING:
    import datasets


def with_videos(table: Path, repo: str) -> pa.Table:
    """A table with the column; its schema tells `datasets` the type. Empty for edited clips, which are no file.

    `table`: a parquet file of a set.
    """
    rows = pq.read_table(table)
    edited = rows["segments"].to_pylist() if "segments" in rows.column_names else [None] * len(rows)
    videos = [
        None if segments else {"bytes": None, "path": f"hf://datasets/{repo}/{path}"}
        for path, segments in zip(rows["video_path"].to_pylist(), edited, strict=True)
    ]
    field = _feature().arrow_schema.field(PLAYED)
    whole = rows.append_column(field, pa.array(videos, field.type))
    metadata = {key: value for key, value in (rows.schema.metadata or {}).items() if key != b"huggingface"}
    return whole.replace_schema_metadata(metadata)  # the card has the features, of all columns


def pushed_card(card: str, *, licence: str | None, videos: bool) -> str:
    """The card of a set as it is pushed.

    `card`: markdown with YAML, as it lies on the disk. `licence`: written where the card has none.
    """
    _, header, body = card.split("---\n", 2)
    front = yaml.safe_load(header)
    if licence:
        front |= licence_fields(licence)
        body = body.replace("not stated by the builder: the licence of the source holds", licence)
    if videos:
        infos = front["dataset_info"]
        for info in [infos] if isinstance(infos, dict) else infos:
            info["features"] += _feature()._to_yaml_list()
        body = body.replace(
            "not included, unless this folder holds them; rows hold ids and relative paths",
            "in the column `video` (the whole file, of which `start` and `end` say the span)",
        )
    return f"---\n{yaml.safe_dump(front, sort_keys=True, allow_unicode=True, width=100)}---\n{body}"


def pushed_croissant(text: str, *, licence: str | None, tables: Mapping[str, Path]) -> str:
    """The Croissant description of a set as it is pushed.

    Args:
        text: JSON, as it lies on the disk.
        licence: written where the card has none.
        tables: path in the repository -> the file that is pushed.
    """
    described = json.loads(text)
    if licence:
        described["license"] = licence
    for file in described["distribution"]:
        if path := tables.get(file["contentUrl"]):
            file |= {"contentSize": f"{path.stat().st_size} B", "sha256": sha256(path)}
    return json.dumps(described, indent=2, ensure_ascii=False) + "\n"


def _feature() -> "datasets.Features":
    import datasets

    return datasets.Features({PLAYED: datasets.Video()})
