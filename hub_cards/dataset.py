"""The card of a built set: the YAML that `load_dataset` reads, and what a person should know before using the set.

Beside it `eval.yaml`, which registers the set as a benchmark on the Hub; its tasks are those that `.eval_results` name;
and Croissant metadata (MLCommons, version 1.0) as JSON-LD. The Hub makes its own Croissant from the card's YAML once a
set is pushed; this file serves a set on a disk, and says with which checksums it was made.
"""

import hashlib
import json
import re
import uuid
from collections.abc import Iterable, Sequence
from importlib.resources import files
from pathlib import Path

import pyarrow.compute as pc
import pyarrow.parquet as pq
import yaml

from video_contrast.files import Json, JsonObject, sha256
from video_contrast.hub_cards.licences import licence_fields
from video_contrast.hub_cards.markdown import render
from video_contrast.rows import OPTIONAL, table_columns, table_features
from video_contrast.seeds import digest
from video_contrast.storage import SetFolder
from video_contrast.storage.run_figures import ACCURACY, MAIN, Score
from video_contrast.storage.set_folder import BLIND_NAMES, ConfigRecord, SetRecord
from video_contrast.version import __version__

EXAMPLES = 2  # rows a config
# Shown in places of their own; everything else a builder says of a config is listed as it is.
_SHOWN = {"negatives", "splits", "counts", "audit", "word_edits", "kind", "options", "caption", "paper", "checks"}
_SHOWN_TOP = {
    "pretty_name", "summary", "sources", "licence", "licence_id", "citations", "seed", "options", "warnings",
    "left_out", "checks", "limits", "canary", "counts", "language",
}  # fmt: skip
# Name inside `edits.scores` -> its meaning.
EDIT_SCORES = {
    "probability": "that a reader finds the edit natural and surely false of the clip",
    "falsity": "that it is surely false, if it is natural",
}
_SIZES = (10**3, 10**4, 10**5, 10**6, 10**7, 10**8)
_NAMES = ("n<1K", "1K<n<10K", "10K<n<100K", "100K<n<1M", "1M<n<10M", "10M<n<100M", "n>100M")


def write_card(folder: SetFolder) -> None:
    """Renders `README.md`, `croissant.json` and `eval.yaml` from a set's record, again after something was added."""
    record = folder.record
    folder.write_card(dataset_card(record, folder), croissant(record, folder), evaluation(record))


def dataset_card(record: SetRecord, folder: SetFolder) -> str:
    """The card of a built set as markdown, with example rows; its YAML carries configs, splits and features."""
    facts = record.get("facts", {})
    header = yaml.safe_dump(front_matter(record, folder), sort_keys=True, allow_unicode=True, width=100)
    scores = _score_names([path for table in folder.tables() for path in folder.files(*table)])
    body = render(
        "dataset.md.jinja",
        record=record,
        facts=facts,
        title=facts.get("pretty_name") or record["builder"],
        configs={name: _config(name, entry, folder) for name, entry in record["configs"].items()},
        layouts={entry["layout"]: True for entry in record["configs"].values()},
        questions=any(entry.get("questions") for entry in record["configs"].values()),
        edit_scores={name: EDIT_SCORES.get(name, "") for name in scores},
        blind=BLIND_NAMES,
        canary=canary(record, folder),
        differing=[name for name, entry in record["configs"].items() if "built_with" in entry.get("facts", {})],
        other={key: value for key, value in facts.items() if key not in _SHOWN_TOP},
        citations=[text for text in facts.get("citations", ()) if not text.lstrip().startswith("@")],
        bibtex=[text.strip() for text in facts.get("citations", ()) if text.lstrip().startswith("@")],
        version=record.get("version", __version__),
    )
    return f"---\n{header}---\n\n{body}"


def front_matter(record: SetRecord, folder: SetFolder) -> JsonObject:
    """The card's YAML as a dict: what the Hub and `datasets` read."""
    import datasets
    from datasets.info import DatasetInfosDict
    from huggingface_hub import DatasetCardData

    facts = record.get("facts", {})
    infos = {}
    configs: list[JsonObject] = []
    for config, entry in record["configs"].items():
        splits = {split: datasets.SplitInfo(name=split, **size) for split, size in entry["splits"].items()}
        total = sum(size["num_bytes"] for size in entry["splits"].values())
        infos[config] = datasets.DatasetInfo(
            features=table_features(entry["layout"], filter(entry.get, OPTIONAL)), splits=datasets.SplitDict(splits),
            config_name=config, download_size=total, dataset_size=total,
        )  # fmt: skip
        # `datasets` takes a folder for one that it has read before where the cards are equal, not the tables
        content = f"rows {_content(folder, config, list(splits))}"
        files = [{"split": split, "path": f"{config}/{split}-*.parquet"} for split in splits]
        configs.append({"config_name": config, "description": content, "data_files": files})
    rows = sum(size["num_examples"] for entry in record["configs"].values() for size in entry["splits"].values())
    card = DatasetCardData(
        pretty_name=facts.get("pretty_name") or record["builder"],
        language=facts.get("language", ["en"]),
        task_categories=["video-text-to-text"],
        size_categories=[_NAMES[sum(rows >= size for size in _SIZES)]],
        tags=["video", "contrast-set", "video-text-retrieval", "robustness", "video-contrast"],
    )
    DatasetInfosDict(infos).to_dataset_card_data(card)
    front: JsonObject = card.to_dict()  # type: ignore[no-untyped-call]  # of huggingface_hub
    if configs:
        configs[0]["default"] = True  # loaded by `load_dataset(REPO)` without a config
    licence = facts.get("licence_id") or facts.get("licence")
    return front | (licence_fields(licence) if licence else {}) | {"configs": configs}


def _content(folder: SetFolder, config: str, splits: Sequence[str]) -> str:
    """A digest of a config's tables as they lie on disk."""
    whole = hashlib.sha256()
    for split in splits:
        for path in folder.files(config, split):
            with path.open("rb") as file:
                while part := file.read(1 << 20):
                    whole.update(part)
    return whole.hexdigest()[:16]


def canary(record: SetRecord, folder: SetFolder) -> str:
    """An id that names this very build: equal builds share it, and it should occur nowhere but in their cards.

    A model that completes it has read the set. What an audit adds beside the built configs does not change it.
    """
    facts = record.get("facts", {})
    if facts.get("canary"):
        return str(facts["canary"])
    options = json.dumps(facts.get("options", {}), sort_keys=True, default=str)
    content = [
        f"{config} {_content(folder, config, sorted(entry['splits']))}"
        for config, entry in sorted(record["configs"].items())
        if "refined_from" not in entry.get("facts", {})
    ]
    key = digest("canary", record["builder"], str(record.get("version")), str(facts.get("seed")), options, *content)
    return f"video-contrast canary {uuid.UUID(bytes=key[:16])}"


def _score_names(files: Sequence[Path]) -> list[str]:
    """The names that the edits of some parquet files have, sorted."""
    names: set[str] = set()
    for path in files:
        with pq.ParquetFile(path) as file:
            for n in range(file.num_row_groups if "edits" in file.schema_arrow.names else 0):
                scores = pc.struct_field(pc.list_flatten(file.read_row_group(n, ["edits"])["edits"]), "scores")
                # millions of values, few names: what stands before the colons
                kinds = pc.unique(pc.replace_substring_regex(scores, r": [^,}]*", ""))
                names.update(name for kind in kinds.to_pylist() if kind for name in re.findall(r'"([^"]+)"', kind))
    return sorted(names)


def _config(name: str, entry: ConfigRecord, folder: SetFolder) -> dict[str, object]:
    facts = entry.get("facts", {})
    shown = scored_split(entry["splits"])
    counts = {"all": facts["counts"]} if "counts" in facts else {}
    for split, size in facts.get("splits", {}).items():
        if "counts" in size:
            counts[split] = size["counts"]
    return {
        **entry,
        "facts": facts,
        "counts": counts,
        "audit": facts.get("audit"),
        "other": {key: value for key, value in facts.items() if key not in _SHOWN},
        "shown": shown,
        "examples": folder.first_rows(name, shown, EXAMPLES),
    }


FRAMEWORK = "video-contrast"


def scored_split(splits: Iterable[str]) -> str:
    """The split to be scored on, where there is one; else the first."""
    names = list(splits)
    return next((name for name in ("test", "validation") if name in names), names[0])


def task_ending(score: Score) -> str:
    """The ending of a config's name where it has several figures: "_t2v", "_group"; "" for the accuracy."""
    return "" if score == ACCURACY else f"_{score.kind or score.name.removesuffix('_score')}"


def evaluation(record: SetRecord) -> str:
    """The set's `eval.yaml`: a task a config and score, on the split that is scored."""
    facts = record.get("facts", {})
    tasks: list[dict[str, object]] = []
    for config, entry in record["configs"].items():
        split = scored_split(entry["splits"])
        tasks += [
            {"id": f"{config}{task_ending(score)}", "config": config, "split": split} for score in MAIN[entry["layout"]]
        ]
    content = {
        "name": facts.get("pretty_name") or record["builder"],
        "description": facts.get("summary") or f"A contrast set made by the builder {record['builder']}.",
        "evaluation_framework": FRAMEWORK,
        "tasks": tasks,
    }
    return yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=1000)


_TYPES = {"string": "sc:Text", "int64": "sc:Integer", "float64": "sc:Float", "bool": "sc:Boolean"}


def croissant(record: SetRecord, folder: SetFolder) -> dict[str, object]:
    """The set's Croissant description: one file object a parquet file, one record set a config and split."""
    tables: list[dict[str, Json]] = []
    for config, entry in sorted(record["configs"].items()):
        columns = table_columns(entry["layout"], filter(entry.get, OPTIONAL))
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
