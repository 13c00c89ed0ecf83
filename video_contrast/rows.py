"""The tables that pass between the rooms: their columns as `datasets.Features`, and their validation.

Three tables: a multiple-choice set, a retrieval set, and either of them with the two perturbation columns
(a perturbed set). Rows are plain dicts; `validate` names the row and the column that is wrong.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from video_contrast.errors import VideoContrastError
from video_contrast.files import is_safe_relative

if TYPE_CHECKING:
    import datasets

SCHEMA_VERSION = 1
Row = dict[str, Any]
Layout = Literal["multiple_choice", "retrieval"]

KINDS = (
    "true", "random", "gender", "person_id", "verb_lm", "verb_mlm", "verb_llm", "verb_lexical", "verb_human",
    "entity", "object", "role", "antonym", "counterfactual",
)  # fmt: skip

EDIT: dict[str, Any] = {
    "old": "string",  # the words that were replaced
    "new": "string",  # what stands in their place
    "start": "int64",  # character span of `new` in the candidate
    "end": "int64",
    "antonym": "bool",
    "generator": "string",  # what proposed it: "table6", "lexical", "t5-base", "human" ...
    "scores": "string",  # JSON: what each constraint measured
}
_CLIP: dict[str, Any] = {
    "id": "string",
    "video_id": "string",
    "video_path": "string",  # relative to the video root, POSIX
    "start": "float64",  # seconds; null = from the beginning
    "end": "float64",  # seconds; null = to the end
}
MULTIPLE_CHOICE: dict[str, Any] = {
    **_CLIP,
    "candidates": ["string"],
    "label": "int64",
    "kinds": ["string"],  # one a candidate
    "edits": [EDIT],  # one a candidate, null where nothing was edited
    "replaced": "string",  # the random distractor that the contrast negative displaced; null if none
    "cluster": "string",  # the source video
    "meta": "string",  # JSON
    "schema_version": "int64",
}
RETRIEVAL: dict[str, Any] = {**_CLIP, "captions": ["string"], "meta": "string", "schema_version": "int64"}
PERTURBED: dict[str, Any] = {
    "text_perturbation": {"name": "string", "profile": "string", "seed": "int64"},
    "video_perturbation": {
        "name": "string",
        "severity": "int64",
        "profile": "string",
        "seed": "int64",
        "scope": "string",  # "video" or "clip": what T, fps and the index map refer to
        "order": "string",  # "perturb_then_sample" or "sample_then_perturb"
    },
}


def columns(layout: Layout, perturbed: bool = False) -> dict[str, Any]:
    """Column names and types of a table."""
    base = MULTIPLE_CHOICE if layout == "multiple_choice" else RETRIEVAL
    return {**base, **(PERTURBED if perturbed else {})}


def features(layout: Layout, perturbed: bool = False) -> datasets.Features:
    """The table as `datasets.Features`."""
    import datasets

    def convert(spec: Any) -> Any:
        if isinstance(spec, str):
            return datasets.Value(spec)
        if isinstance(spec, list):
            return datasets.List(convert(spec[0]))
        return {name: convert(inner) for name, inner in spec.items()}

    return datasets.Features({name: convert(spec) for name, spec in columns(layout, perturbed).items()})


def layout_of(names: Iterable[str]) -> Layout:
    """Which table the column names belong to.

    Raises:
        VideoContrastError: neither `candidates` nor `captions` is among them.
    """
    present = set(names)
    if "candidates" in present:
        return "multiple_choice"
    if "captions" in present:
        return "retrieval"
    raise VideoContrastError(
        f"columns {sorted(present)} are neither a multiple-choice set (candidates, label, kinds ...) "
        "nor a retrieval set (captions ...)"
    )


def multiple_choice_row(
    *,
    id: str,
    video_id: str,
    video_path: str,
    candidates: list[str],
    label: int,
    kinds: list[str],
    edits: list[Mapping[str, Any] | None] | None = None,
    replaced: str | None = None,
    cluster: str | None = None,
    start: float | None = None,
    end: float | None = None,
    meta: Mapping[str, Any] | None = None,
) -> Row:
    """A row of a multiple-choice set with its defaults filled in (`cluster` defaults to the video)."""
    return {
        "id": id, "video_id": video_id, "video_path": video_path, "start": start, "end": end,
        "candidates": candidates, "label": label, "kinds": kinds,
        "edits": list(edits) if edits is not None else [None] * len(candidates),
        "replaced": replaced, "cluster": cluster if cluster is not None else video_id,
        "meta": json.dumps(meta or {}, sort_keys=True, ensure_ascii=False), "schema_version": SCHEMA_VERSION,
    }  # fmt: skip


def retrieval_row(
    *,
    id: str,
    video_id: str,
    video_path: str,
    captions: list[str],
    start: float | None = None,
    end: float | None = None,
    meta: Mapping[str, Any] | None = None,
) -> Row:
    """A row of a retrieval set: one clip and all of its captions."""
    return {
        "id": id, "video_id": video_id, "video_path": video_path, "start": start, "end": end, "captions": captions,
        "meta": json.dumps(meta or {}, sort_keys=True, ensure_ascii=False), "schema_version": SCHEMA_VERSION,
    }  # fmt: skip


def edit(
    old: str,
    new: str,
    start: int,
    *,
    generator: str,
    antonym: bool = False,
    scores: Mapping[str, float] | None = None,
) -> Row:
    """The record of one edit: `new` stands at `start` (characters) of the candidate where `old` stood."""
    return {
        "old": old, "new": new, "start": start, "end": start + len(new), "antonym": antonym,
        "generator": generator, "scores": json.dumps(scores or {}, sort_keys=True),
    }  # fmt: skip


def validate(rows: Iterable[Mapping[str, Any]], where: str = "the set") -> int:
    """Checks every row of a multiple-choice or retrieval set, and returns how many there are.

    Args:
        rows: dicts with the columns of `columns(...)`; the layout is taken from the first row.
        where: what to call the table in the message (a file, a config).

    Raises:
        VideoContrastError: names `where`, the row (number and id), the column, and what is wrong with it.
    """
    seen: dict[str, int] = {}
    layout: Layout | None = None
    n = 0
    for n, row in enumerate(rows, 1):
        if layout is None:
            layout = layout_of(row)
        problem = _problem(row, layout, seen, n)
        if problem:
            column, what = problem
            raise VideoContrastError(f"{where}: row {n - 1} (id {row.get('id')!r}), column {column!r}: {what}")
    return n


def _problem(row: Mapping[str, Any], layout: Layout, seen: dict[str, int], n: int) -> tuple[str, str] | None:
    for name in columns(layout):
        if name not in row:
            return name, "is missing"
    for name in ("id", "video_id", "video_path"):
        if not isinstance(row[name], str) or not row[name]:
            return name, f"must be a non-empty string, not {row[name]!r}"
    first = seen.setdefault(row["id"], n)
    if first != n:
        return "id", f"is a duplicate of row {first - 1}; ids must be unique"
    if not is_safe_relative(row["video_path"]):
        return "video_path", f"{row['video_path']!r} must be relative, with '/' and without '..'"
    start, end = row["start"], row["end"]
    for name, value in (("start", start), ("end", end)):
        if value is not None and not (isinstance(value, int | float) and math.isfinite(value) and value >= 0):
            return name, f"must be null or seconds from 0 on, not {value!r}"
    if start is not None and end is not None and end <= start:
        return "end", f"{end} is not after start {start}"
    if row["schema_version"] != SCHEMA_VERSION:
        return "schema_version", f"is {row['schema_version']!r}; this version reads {SCHEMA_VERSION}"
    return _choice_problem(row) if layout == "multiple_choice" else _texts_problem(row["captions"], "captions", 1)


def _texts_problem(texts: Any, column: str, at_least: int) -> tuple[str, str] | None:
    if texts is None or isinstance(texts, str) or len(texts) < at_least:
        return column, f"needs at least {at_least} texts, not {texts!r}"
    for position, text in enumerate(texts):
        if not isinstance(text, str) or not text.strip():
            return column, f"text {position} is empty"
    return None


def _choice_problem(row: Mapping[str, Any]) -> tuple[str, str] | None:
    candidates = row["candidates"]
    problem = _texts_problem(candidates, "candidates", 2)
    if problem:
        return problem
    first: dict[str, int] = {}
    for position, text in enumerate(candidates):
        if first.setdefault(text, position) != position:
            return "candidates", f"{position} equals {first[text]}: {text!r}"
    label, kinds = row["label"], row["kinds"]
    if not isinstance(label, int) or not 0 <= label < len(candidates):
        return "label", f"{label!r} is not one of 0..{len(candidates) - 1}"
    if kinds is None or len(kinds) != len(candidates):
        return "kinds", f"needs one kind a candidate ({len(candidates)}), not {kinds!r}"
    for position, kind in enumerate(kinds):
        if kind not in KINDS:
            return "kinds", f"{kind!r} is unknown; known: {', '.join(KINDS)}"
        if (kind == "true") != (position == label):
            return "kinds", f"candidate {position} is {kind!r} but the label is {label}"
    if row["edits"] is None or len(row["edits"]) != len(candidates):
        return "edits", f"needs one entry (or null) a candidate ({len(candidates)})"
    if not row["cluster"]:
        return "cluster", "must be a non-empty string"
    return None
