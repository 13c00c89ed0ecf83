"""Reads what VLMEvalKit judged: `MODEL_DATASET_score.xlsx` (or tsv, json), and `..._result.xlsx` of image questions."""

import re
from collections.abc import Mapping
from pathlib import Path

from video_contrast.errors import VideoContrastError
from video_contrast.files import Json
from video_contrast.question_text import LETTERS
from video_contrast.reports.foreign_logs.log import ForeignLog, Sample, items_of, video_of

_SUFFIX = re.compile(r"_(score|result)$")
OWN = {"id", "kinds", "candidates"}  # columns of a table that `export` wrote: the id is the row's in its set


def is_table(row: Mapping[str, Json]) -> bool:
    """Whether the first row of a table is one of VLMEvalKit."""
    return "index" in row and "prediction" in row


def read(path: Path, rows: Mapping[int, Mapping[str, Json]]) -> ForeignLog:
    """Reads a table of judged predictions: the rows by their number in the file.

    Raises VideoContrastError: predictions that were not judged, or a row without a score; names file and row.
    """
    column = next((name for name in ("score", "hit") if name in next(iter(rows.values()))), None)
    if column is None:
        raise VideoContrastError(
            f"{path}: holds predictions that VLMEvalKit has not judged (no column score or hit); give the file ending "
            "in _score or _result that its evaluation writes beside it"
        )
    samples = [_sample(row, column, f"{path}: row {number}") for number, row in rows.items()]
    empty = sum(sample.failed for sample in samples)
    notes = (f"{empty} items without an answer count as wrong; its VALID figure leaves them out",) if empty else ()
    stem = _SUFFIX.sub("", path.stem)  # MODEL_DATASET; files lie in folders called as the model
    folders = (folder.name for folder in path.resolve().parents if stem.startswith(f"{folder.name}_"))
    model = next(folders, stem.partition("_")[0])
    task = stem.removeprefix(f"{model}_") or stem
    return ForeignLog(path, "VLMEvalKit", model, task, column, items_of(samples), empty, notes=notes)


def _sample(row: Mapping[str, Json], column: str, place: str) -> Sample:
    if "index" not in row:
        raise VideoContrastError(f"{place} has no index")
    try:
        value = float(row[column])
    except (TypeError, ValueError) as error:
        raise VideoContrastError(f"{place}: the {column} is {row[column]!r}, no number") from error
    options = [f"{letter}. {row[letter]}" for letter in LETTERS if row.get(letter)]  # or a list of them
    return Sample(
        str(row["id"] if row.keys() >= OWN else row["index"]), max(value, 0.0), place, video=video_of(row),
        answer=row.get("prediction"), reply=row.get("prediction"), key=row.get("answer"),
        asked="\n".join([str(row.get("question") or ""), *(options or [str(row.get("candidates") or "")])]),
        failed=value < 0,  # -1: no answer could be read
    )  # fmt: skip
