"""Reads results of MTEB (`TASK.json`): means alone, since it writes no sample with its key."""

from collections.abc import Mapping
from pathlib import Path

from video_contrast.errors import VideoContrastError
from video_contrast.files import Json, read_json
from video_contrast.reports.foreign_logs.log import ForeignLog

NOTES = ("MTEB writes no samples: there is no interval and no test",)


def is_result(value: Mapping[str, Json]) -> bool:
    """Whether a JSON value is a result of MTEB, of this or a former version, or its predictions."""
    return "mteb_version" in value or "mteb_dataset_name" in value or "mteb_model_meta" in value


def read(path: Path, value: Mapping[str, Json], metric: str | None = None) -> list[ForeignLog]:
    """Reads a task's result: one log without samples for each split and subset.

    `path`: the file; a `model_meta.json` beside it names the model. `metric`: which figure; `main_score` where None.
    Raises VideoContrastError: predictions, a result of a version before 1.11, or a split without this figure.
    """
    if "mteb_model_meta" in value:
        raise VideoContrastError(
            f"{path}: holds predictions of MTEB without their key, so there is nothing to score; give the result file "
            "of the task, or score the set with `video-contrast score`"
        )
    if not isinstance(value.get("scores"), Mapping):
        raise VideoContrastError(f"{path}: is of MTEB before version 1.11; run the task again with a later one")
    name = metric or "main_score"
    meta, folder, logs = path.with_name("model_meta.json"), path.resolve().parent, []
    model = read_json(meta).get("name") if meta.is_file() else None
    if not model:  # results/ORG__MODEL/REVISION/TASK.json
        model = (folder.parent.name if "__" in folder.parent.name else folder.name).replace("__", "/")
    for split, entries in value["scores"].items():
        for number, entry in enumerate(entries):
            if not isinstance(entry.get(name), int | float):
                raise VideoContrastError(f"{path}: split {split}, entry {number}: no figure {name!r}")
            subset = str(entry.get("hf_subset", "default"))
            task = str(value.get("task_name", path.stem)) + ("" if subset == "default" else f" {subset}")
            task = task if len(value["scores"]) == 1 else f"{task} ({split})"
            logs.append(ForeignLog(path, "MTEB", str(model), task, name, {}, mean=float(entry[name]), notes=NOTES))
    if not logs:
        raise VideoContrastError(f"{path}: holds no scores")
    return logs


def predicted(value: Mapping[str, Json]) -> dict[str, tuple[float, ...]]:
    """Item -> the scores of its candidates, of predictions of a multiple-choice task that `export` wrote.

    {} of other values. Such predictions hold ITEM -> ITEM#NUMBER -> score, by subset and split.
    """
    if "mteb_model_meta" not in value:
        return {}
    splits = [split for name, subset in value.items() if name != "mteb_model_meta" for split in subset.values()]
    scores: dict[str, tuple[float, ...]] = {}
    for item, of_item in ((item, of_item) for split in splits for item, of_item in split.items()):
        names = [f"{item}#{number}" for number in range(len(of_item))]
        if of_item.keys() != set(names):
            return {}
        scores[item] = tuple(of_item[name] for name in names)
    return scores
