"""The table that makes pushed clips playable: a config `videos` with a column of the type `datasets.Video`.

The viewer of the Hub plays such a column. The set's own tables stay as they are, so a set has one content on a disk and
on the Hub; `video_path` is the same in both.
"""

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

import yaml

from video_contrast.storage.set_folder import PLAYED, table_path

if TYPE_CHECKING:
    import datasets

CONFIG, SPLIT = PLAYED, "clips"
TABLE = table_path(CONFIG, SPLIT)


def video_table(paths: Sequence[str], repo: str) -> bytes:
    """The table as parquet: `video_path`, and `video`, which names the file in the repository USER/NAME."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    videos = [{"bytes": None, "path": f"hf://datasets/{repo}/{path}"} for path in paths]
    table = pa.Table.from_pydict({"video_path": list(paths), "video": videos}, schema=_features().arrow_schema)
    sink = io.BytesIO()
    pq.write_table(table, sink)
    return sink.getvalue()


def with_video_config(card: str, count: int, size: int) -> str:
    """The card of a set with the config in its YAML.

    Args:
        card: markdown with YAML.
        count: clips.
        size: bytes of the table.
    """
    import datasets
    from datasets.info import DatasetInfosDict
    from huggingface_hub import DatasetCardData

    _, header, body = card.split("---\n", 2)
    front = yaml.safe_load(header)
    splits = datasets.SplitDict()
    splits.add(datasets.SplitInfo(name=SPLIT, num_examples=count, num_bytes=size))
    info = datasets.DatasetInfo(
        features=_features(), splits=splits, config_name=CONFIG, download_size=size, dataset_size=size
    )
    card_data = DatasetCardData()
    DatasetInfosDict({CONFIG: info, "-": info}).to_dataset_card_data(card_data)
    infos = card_data.to_dict()["dataset_info"]  # type: ignore[no-untyped-call]  # of huggingface_hub
    described = next(entry for entry in infos if entry["config_name"] == CONFIG)
    former = front["dataset_info"]
    if isinstance(former, dict):  # of a set with a single config
        former = [{"config_name": front["configs"][0]["config_name"], **former}]
    front["dataset_info"] = [*former, described]
    front["configs"].append(
        {"config_name": CONFIG, "data_files": [{"split": SPLIT, "path": f"{CONFIG}/{SPLIT}-*.parquet"}]}
    )
    return f"---\n{yaml.safe_dump(front, sort_keys=True, allow_unicode=True, width=100)}---\n{body}"


def _features() -> "datasets.Features":
    import datasets

    return datasets.Features({"video_path": datasets.Value("string"), "video": datasets.Video()})
