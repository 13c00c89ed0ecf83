"""The tables that pass between the rooms: their typed rows, their columns as `datasets.Features`, their validation.

Three tables: a multiple-choice set, pairs and a retrieval set. Pairs are a multiple-choice set whose rows belong to
groups: the n clips of a group share its n candidates, and each candidate is true of one clip. Some sets have columns
more (`OPTIONAL`). A row is a plain dict with a type; `validate_rows` names the row and the column that is wrong.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any, Literal, NotRequired, TypedDict, TypeVar, final

from video_contrast.errors import VideoContrastError
from video_contrast.files import JsonObject, is_safe_relative
from video_contrast.video.segments import segments_problem

if TYPE_CHECKING:
    import datasets

SCHEMA_VERSION = 1
_KIND = re.compile(r"[a-z][a-z0-9_]*")
AnyRow = Mapping[str, Any]  # of a table of the user: a column may hold anything until it is checked
Columns = Mapping[str, Any]  # argument of a transform of `datasets`: column -> its value, or the values of a batch
AnyRowType = TypeVar("AnyRowType", bound=AnyRow)
Layout = Literal["multiple_choice", "pairs", "retrieval"]


class EditRecord(TypedDict):
    """The change that makes a candidate."""

    old: str  # the words that were replaced
    new: str  # the words in their place
    start: int  # character span of `new` in the candidate
    end: int
    antonym: bool
    generator: str  # its maker: "table6", "lexicon", "t5-base", "human" ...
    scores: str  # JSON: what was measured of it


class TextRecipe(TypedDict):
    """The perturbation that a row's texts have undergone."""

    name: str
    profile: str
    seed: int
    version: NotRequired[str]  # of the rule, with what made the text; of rows of a built set it stands in `set.json`


class VideoRecipe(TypedDict):
    """The perturbation that a row's clip is to undergo when it is decoded."""

    name: str
    severity: int
    profile: str
    seed: int
    scope: str  # "video" or "clip": what T, fps and the index map refer to
    order: str  # "perturb_then_sample" or "sample_then_perturb"


class ClipColumns(TypedDict):
    """The columns that every table has."""

    id: str
    video_id: str
    video_path: str  # relative to the video root, POSIX
    start: float | None  # seconds; null = from the beginning
    end: float | None  # seconds; null = to the end
    meta: str  # JSON
    schema_version: int
    text_perturbation: NotRequired[TextRecipe | None]
    video_perturbation: NotRequired[VideoRecipe | None]
    segments: NotRequired[list[JsonObject]]  # of an edited clip, of `video.Segment`; `video_path` is of its first file


@final
class MultipleChoiceRow(ClipColumns):
    """One item: a clip, its candidates, and which of them is true."""

    group: NotRequired[str]  # of pairs: rows of one group have the same candidates and cluster, and other labels
    question: NotRequired[str]  # that the candidates answer; without one they are captions
    candidates: list[str]
    label: int
    kinds: list[str]  # one a candidate, of `KINDS` or a name of its own
    edits: list[EditRecord | None]  # one a candidate, null where nothing was edited
    replaced: str | None  # the random distractor that the contrast negative displaced; null if none
    cluster: str  # the source video


@final
class RetrievalRow(ClipColumns):
    """One clip and all of its captions."""

    captions: list[str]


Row = MultipleChoiceRow | RetrievalRow  # `"captions" in row` tells a type checker which

# The kinds that builders make. A set may have others of its own: any name that `_KIND` matches.
KINDS = (
    "true", "random", "gender", "person_id", "verb_lm", "verb_mlm", "verb_llm", "verb_lexical", "verb_human", "entity",
    "object", "role", "order", "direction", "count", "attribute", "place", "binding", "antonym", "counterfactual",
)  # fmt: skip


def contrast_places(kinds: Sequence[str]) -> list[int]:
    """The places of an item's contrasts: candidates that are neither the true one nor of another clip.

    >>> contrast_places(["random", "true", "gender"])
    [2]
    """
    return [n for n, kind in enumerate(kinds) if kind not in ("true", "random")]


# Each kind has figures of its own in a result: accuracy_low is the lower end of the interval of accuracy.
ENDINGS = ("best", "high", "low", "worst")


def clash(kinds: Set[str]) -> tuple[str, str] | None:
    """The first kind, in alphabetical order, whose figure is one of something else.

    Returns the kind and the name of the figure; None where every kind has figures of its own. `kinds`: all kinds of a
    table of contrasts.

    >>> clash({"noun", "noun_low"}), clash({"noun_low"}), clash({"ties"})
    (('noun_low', 'accuracy_noun_low'), None, ('ties', 'n_ties'))
    """
    for kind in sorted(kinds):
        other, _, ending = kind.rpartition("_")
        if ending in ENDINGS and (not other or other in kinds):
            return kind, f"accuracy_{kind}"
        if kind == "ties":
            return kind, "n_ties"
    return None


# A column's type: a name of Arrow's, a list of one type, or a struct.
Column = str | list["Column"] | dict[str, "Column"]
_EDIT: dict[str, Column] = {
    "old": "string", "new": "string", "start": "int64", "end": "int64", "antonym": "bool", "generator": "string",
    "scores": "string",
}  # fmt: skip
_CLIP: dict[str, Column] = {
    "id": "string", "video_id": "string", "video_path": "string", "start": "float64", "end": "float64",
}  # fmt: skip
_LAST: dict[str, Column] = {"meta": "string", "schema_version": "int64"}
_CHOICE: dict[str, Column] = {
    "candidates": ["string"], "label": "int64", "kinds": ["string"], "edits": [_EDIT], "replaced": "string",
    "cluster": "string", **_LAST,
}  # fmt: skip
_COLUMNS: dict[Layout, dict[str, Column]] = {
    "multiple_choice": {**_CLIP, **_CHOICE},
    "pairs": {**_CLIP, "group": "string", **_CHOICE},
    "retrieval": {**_CLIP, "captions": ["string"], **_LAST},
}
_SEGMENT: dict[str, Column] = {
    "video_path": "string", "start": "float64", "end": "float64", "speed": "float64", "reversed": "bool",
    "mirrored": "bool", "fade": "float64",
}  # fmt: skip
# Columns that only some sets have, by the name of the entry in the set's record that says so.
OPTIONAL: dict[str, dict[str, Column]] = {
    "questions": {"question": "string"},
    "perturbed": {
        "text_perturbation": {"name": "string", "profile": "string", "seed": "int64"},
        "video_perturbation": {
            "name": "string", "severity": "int64", "profile": "string", "seed": "int64", "scope": "string",
            "order": "string",
        },
    },
    "edited": {"segments": [_SEGMENT]},
}  # fmt: skip


def table_columns(layout: Layout, parts: Iterable[str] = ()) -> dict[str, Column]:
    """Names and types of columns, with those of some of the `OPTIONAL` parts."""
    return {**_COLUMNS[layout], **{name: column for part in parts for name, column in OPTIONAL[part].items()}}


def table_features(layout: Layout, parts: Iterable[str] = ()) -> datasets.Features:
    """`table_columns` as `datasets.Features`."""
    import datasets

    def convert(spec: Column) -> Any:  # the library has no common class of its types
        if isinstance(spec, str):
            return datasets.Value(spec)
        if isinstance(spec, list):
            return datasets.List(convert(spec[0]))
        return {name: convert(inner) for name, inner in spec.items()}

    return datasets.Features({name: convert(spec) for name, spec in table_columns(layout, parts).items()})


def optional_parts(names: Iterable[str]) -> list[str]:
    """The `OPTIONAL` parts that a table with these columns has."""
    present = set(names)
    return [part for part, columns in OPTIONAL.items() if not columns.keys().isdisjoint(present)]


def layout_of(names: Iterable[str]) -> Layout:
    """The layout of a table by its columns. Raises VideoContrastError: neither `candidates` nor `captions` is there."""
    present = set(names)
    if "candidates" in present:
        return "pairs" if "group" in present else "multiple_choice"
    if "captions" in present:
        return "retrieval"
    raise VideoContrastError(
        f"columns {sorted(present)} are neither a multiple-choice set (candidates, label, kinds ...) "
        "nor a retrieval set (captions ...)"
    )


def multiple_choice_row(
    *, id: str, video_id: str, video_path: str, candidates: list[str], label: int, kinds: list[str],
    edits: Iterable[EditRecord | None] | None = None, replaced: str | None = None, cluster: str | None = None,
    start: float | None = None, end: float | None = None, meta: Mapping[str, object] | None = None,
    group: str | None = None, question: str | None = None, segments: list[JsonObject] | None = None,
) -> MultipleChoiceRow:  # fmt: skip
    """A row of a multiple-choice set, or of pairs where it has a `group`; its `cluster` is by default the video."""
    row: MultipleChoiceRow = {
        "id": id, "video_id": video_id, "video_path": video_path, "start": start, "end": end,
        "candidates": candidates, "label": label, "kinds": kinds,
        "edits": list(edits) if edits is not None else [None] * len(candidates),
        "replaced": replaced, "cluster": cluster if cluster is not None else video_id,
        "meta": json.dumps(meta or {}, sort_keys=True, ensure_ascii=False), "schema_version": SCHEMA_VERSION,
    }  # fmt: skip
    optional = {"group": group, "question": question, "segments": segments}
    row.update({name: value for name, value in optional.items() if value is not None})  # type: ignore[typeddict-item]
    return row


def retrieval_row(
    *, id: str, video_id: str, video_path: str, captions: list[str], start: float | None = None,
    end: float | None = None, meta: Mapping[str, object] | None = None,
) -> RetrievalRow:  # fmt: skip
    """Returns a row of a retrieval set; the columns are described at `RetrievalRow`."""
    return {
        "id": id, "video_id": video_id, "video_path": video_path, "start": start, "end": end, "captions": captions,
        "meta": json.dumps(meta or {}, sort_keys=True, ensure_ascii=False), "schema_version": SCHEMA_VERSION,
    }  # fmt: skip


def edit_record(
    old: str, new: str, start: int, *, generator: str, antonym: bool = False, scores: Mapping[str, float] | None = None
) -> EditRecord:
    """The record of one edit; `start`: where `new` begins in the candidate, in characters."""
    return {
        "old": old, "new": new, "start": start, "end": start + len(new), "antonym": antonym,
        "generator": generator, "scores": json.dumps(scores or {}, sort_keys=True),
    }  # fmt: skip


def validate_rows(rows: Iterable[AnyRow], where: str = "the set") -> int:
    """Checks every row of a set as `checked_rows`, and returns how many there are."""
    return sum(1 for _ in checked_rows(rows, where))


def checked_rows(rows: Iterable[AnyRowType], where: str, *, any_path: bool = False) -> Iterator[AnyRowType]:
    """Yields the rows of a set that are right; checks a group of pairs when it is whole, names of kinds after the last.

    Raises VideoContrastError: names `where` (a file, a config), the row (number and id), the column, and what is wrong
    with it. `any_path`: let video paths pass that lead out of the video root; whoever reads the videos counts them as
    unreadable.
    """
    ids: dict[str, None] = {}  # the ids of the rows before, in their order
    layout: Layout | None = None
    groups: dict[str, list[tuple[int, AnyRow]]] = {}  # that lack rows
    whole: set[str] = set()  # the others
    kinds: dict[str, tuple[int, str]] = {}  # -> number and id of the first row that has it
    for n, row in enumerate(rows, 1):
        if layout is None:
            layout = layout_of(row)
        for column, what in _problems(row, layout, ids, n, any_path=any_path):
            raise VideoContrastError(f"{where}: row {n - 1} (id {row.get('id')!r}), column {column!r}: {what}")
        if layout == "pairs":
            name = row["group"]
            groups.setdefault(name, []).append((n - 1, row))
            if name in whole or len(groups[name]) == len(row["candidates"]):
                _check_group(name, groups.pop(name), where, too_many=name in whole)
                whole.add(name)
        for kind in row["kinds"] if layout != "retrieval" else ():
            kinds.setdefault(kind, (n - 1, row["id"]))
        yield row
    if (other := clash(kinds.keys())) is not None:
        number, name = kinds[other[0]]
        what = f"{other[0]!r} cannot be a kind here: {other[1]} is another figure of the scores"
        raise VideoContrastError(f"{where}: row {number} (id {name!r}), column 'kinds': {what}")
    for name, members in groups.items():
        _check_group(name, members, where)


Problems = Iterator[tuple[str, str]]  # columns, and what is wrong with each; behind the first nothing is sure


def _problems(row: AnyRow, layout: Layout, ids: dict[str, None], n: int, *, any_path: bool) -> Problems:
    yield from ((name, "is missing") for name in table_columns(layout) if name not in row)
    for name in ("id", "video_id", "video_path"):
        if not isinstance(row[name], str) or not row[name]:
            yield name, f"must be a non-empty string, not {row[name]!r}"
    ids[row["id"]] = None
    if len(ids) != n:
        yield "id", f"is a duplicate of row {list(ids).index(row['id'])}; ids must be unique"
    yield from _of_span(row["start"], row["end"])
    if row["schema_version"] != SCHEMA_VERSION:
        yield "schema_version", f"is {row['schema_version']!r}; this version reads {SCHEMA_VERSION}"
    if "segments" in row and (wrong := segments_problem(row["segments"])):
        yield "segments", wrong
    for name in ("group", "question"):
        if name in row and (not isinstance(row[name], str) or not row[name].strip()):
            yield name, f"must be a non-empty string, not {row[name]!r}"
    yield from _of_texts(row["captions"], "captions", 1) if layout == "retrieval" else _of_choice(row)
    if not any_path and not is_safe_relative(row["video_path"]):
        yield "video_path", f"{row['video_path']!r} must be relative, with '/' and without '..'"


def _of_span(start: Any, end: Any) -> Problems:  # what a table held
    for name, value in (("start", start), ("end", end)):
        if value is not None and not (isinstance(value, int | float) and math.isfinite(value) and value >= 0):
            yield name, f"must be null or seconds from 0 on, not {value!r}"
    if start is not None and end is not None and end <= start:
        yield "end", f"{end} is not after start {start}"


def _of_texts(texts: Any, column: str, at_least: int) -> Problems:  # what a table held
    if texts is None or isinstance(texts, str) or len(texts) < at_least:
        yield column, f"needs at least {at_least} texts, not {texts!r}"
    for position, text in enumerate(texts):
        if not isinstance(text, str) or not text.strip():
            yield column, f"text {position} is empty"


def _of_choice(row: AnyRow) -> Problems:
    candidates, label, kinds = row["candidates"], row["label"], row["kinds"]
    yield from _of_texts(candidates, "candidates", 2)
    places: dict[str, int] = {}
    for position, text in enumerate(candidates):
        if (first := places.setdefault(text, position)) < position:
            yield "candidates", f"{position} equals {first}: {text!r}"
    if not isinstance(label, int) or not 0 <= label < len(candidates):
        yield "label", f"{label!r} is not one of 0..{len(candidates) - 1}"
    if kinds is None or len(kinds) != len(candidates):
        yield "kinds", f"needs one kind a candidate ({len(candidates)}), not {kinds!r}"
    for position, kind in enumerate(kinds):
        if not isinstance(kind, str) or not _KIND.fullmatch(kind):
            yield "kinds", f"{kind!r} must be a name of lower-case letters, digits and _: {', '.join(KINDS[:4])} ..."
        if (kind == "true") != (position == label):
            yield "kinds", f"candidate {position} is {kind!r} but the label is {label}"
    if row["edits"] is None or len(row["edits"]) != len(candidates):
        yield "edits", f"needs one entry (or null) a candidate ({len(candidates)})"
    if not row["cluster"]:
        yield "cluster", "must be a non-empty string"


def _check_group(name: str, members: Sequence[tuple[int, AnyRow]], where: str, *, too_many: bool = False) -> None:
    """Checks that the rows of a group share their candidates, each of which is true of one clip."""
    number, first = members[0]
    labels: dict[int, int] = {}  # -> the first row that has it
    for n, row in members:
        same = labels.setdefault(row["label"], n)
        if list(row["candidates"]) != list(first["candidates"]):
            wrong = f"'candidates': differ from those of row {number}; the rows of a group share them"
        elif row["cluster"] != first["cluster"]:
            wrong = f"'cluster': is {row['cluster']!r}, that of row {number} is {first['cluster']!r}"
        elif same != n:
            wrong = f"'label': is {row['label']} as in row {same}; each candidate of a group is true of one clip"
        else:
            continue
        raise VideoContrastError(f"{where}: row {n} (id {row['id']!r}), group {name!r}, column {wrong}")
    if too_many or len(members) != len(first["candidates"]):
        raise VideoContrastError(
            f"{where}: row {number} (id {first['id']!r}), column 'group': {name!r} has "
            f"{'more' if too_many else len(members)} rows, but {len(first['candidates'])} candidates; "
            "a group needs one row a candidate"
        )
