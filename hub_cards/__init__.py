"""Cards: the README of a data set, a metric's Space and a model's results, rendered from facts with Jinja."""

from pathlib import Path
from typing import Any


def dataset_card(record: dict[str, Any], root: Path) -> str:
    """The card of a built set as markdown; its YAML carries configs, splits and features.

    Args:
        record: the content of `set.json`.
        root: the folder of the set (example rows are read from it).
    """
    from importlib.resources import files

    import datasets
    import jinja2
    import yaml
    from datasets.info import DatasetInfosDict
    from huggingface_hub import DatasetCardData

    from video_contrast import tables

    facts = record.get("facts", {})
    infos = {}
    for config, entry in record["configs"].items():
        features = tables.features(entry["layout"], entry["perturbed"])
        splits = datasets.SplitDict()
        for split, size in entry["splits"].items():
            splits.add(datasets.SplitInfo(name=split, **size))
        total = sum(size["num_bytes"] for size in entry["splits"].values())
        infos[config] = datasets.DatasetInfo(
            features=features, splits=splits, config_name=config, download_size=total, dataset_size=total
        )
    data = DatasetCardData(
        pretty_name=facts.get("pretty_name", record["builder"]),
        language=["en"],
        task_categories=["video-text-to-text"],
        tags=["video", "contrast-set", "video-contrast"],
    )
    if facts.get("licence_id"):
        data.license = facts["licence_id"]
    DatasetInfosDict(infos).to_dataset_card_data(data)
    front = data.to_dict()
    front["configs"] = [
        {
            "config_name": config,
            "data_files": [
                {"split": split, "path": f"{config}/{split}-*.parquet"} for split in entry["splits"]
            ],
        }
        for config, entry in record["configs"].items()
    ]
    template = jinja2.Environment(
        keep_trailing_newline=True, trim_blocks=True, lstrip_blocks=True
    ).from_string((files(__name__) / "dataset.md.jinja").read_text(encoding="utf-8"))
    header = yaml.safe_dump(front, sort_keys=True, allow_unicode=True)
    return f"---\n{header}---\n" + template.render(record=record, facts=facts)
