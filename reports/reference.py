"""Lines to compare with: how well people do, and what the papers published, a config of a builder."""

import json
from functools import cache
from importlib.resources import files
from pathlib import Path

from video_contrast.files import read_json
from video_contrast.reports.layout import Cell, Column, Table
from video_contrast.reports.runs import SetKey

# Accuracy of people in percent, from the papers: contrast sets (MSR-VTT and LSMDC-IDs), RCAD (Feint6K).
_PEOPLE = {
    ("msrvtt", "verb_lm_mc"): 92.7,
    ("msrvtt", "verb_human_mc"): 94.5,
    ("lsmdc_ids", "verb_mc"): 90.2,
    ("lsmdc_ids", "verb_human_mc"): 92.8,
    ("feint6k", "rcad_msrvtt"): 95.2,
    ("feint6k", "rcad_vatex"): 96.8,
}


def human(key: SetKey) -> float | None:
    """Accuracy of people on a config in percent, or None where nobody measured it.

    A set that was judged here (`video-contrast annotate judge`) carries its own figure.
    """
    record = set_record(key.dataset)
    judged = record.get("configs", {}).get(key.config, {}).get("facts", {}).get("human", {})
    if isinstance(judged, dict) and judged.get("accuracy") is not None:
        return 100 * float(judged["accuracy"])
    return _PEOPLE.get((str(record.get("builder", key.dataset)), key.config))


@cache
def set_record(dataset: str) -> dict:  # type: ignore[type-arg]
    """The record `set.json` of a set on disk; empty for one on the Hub."""
    from video_contrast.reports.runs import set_folder

    root = set_folder(dataset)
    path = (root or Path(dataset)) / "set.json"
    return read_json(path) if path.is_file() else {}


def published(key: SetKey) -> list[Table]:
    """What the papers report for a config, as tables of a report; empty where they say nothing."""
    builder = str(set_record(key.dataset).get("builder", key.dataset))
    tables: list[Table] = []
    for entry in _published():
        if builder == entry["builder"] and key.config in entry["configs"]:
            column = entry["configs"][key.config]
            rows = [
                [Cell(name), Cell(f"{values[column]:.1f}", values[column])] for name, values in entry["rows"].items()
            ]
            tables.append(
                Table(f"published-{key.config}-{len(tables)}", f"Published, {entry['what']}, {key.config}",
                      [Column("model", numeric=False), Column("accuracy, %")], rows, entry["source"])
            )  # fmt: skip
    return tables


@cache
def _published() -> list[dict]:  # type: ignore[type-arg]
    here = files("video_contrast.reports")
    return json.loads((here / "published.json").read_text(encoding="utf-8"))
