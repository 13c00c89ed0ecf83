"""What the names inside `edits.scores` mean, for the card of a set."""

import json
from pathlib import Path

import pyarrow.parquet as pq

EDIT_SCORES = {
    "probability": "that a reader finds the edit natural and surely false of the clip",
    "falsity": "that it is surely false, if it is natural",
}


def score_names(files: list[Path]) -> list[str]:
    """The names that the edits of some tables have, sorted.

    Args:
        files: parquet files; those without the column `edits` have none.
    """
    names: set[str] = set()
    for path in files:
        if "edits" in pq.read_schema(path).names:
            edits = (edit for row in pq.read_table(path, columns=["edits"])["edits"].to_pylist() for edit in row or ())
            names.update(name for edit in edits if edit and edit["scores"] for name in json.loads(edit["scores"]))
    return sorted(names)
