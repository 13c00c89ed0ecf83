"""What must not be published: bytes of videos in the tables, and paths of the machine that made the set."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from video_contrast.errors import VideoContrastError
from video_contrast.files import Json, is_safe_relative, resolve_under
from video_contrast.storage import SetFolder
from video_contrast.video import Clip

# An absolute path of two or more parts as a whole value: "/data/x.mp4", "C:\\videos\\x.mp4", "file:///...", "~/x"
_ABSOLUTE = re.compile(r"(?:file://|~/|[A-Za-z]:[\\/]|\\\\|/)[^\s/\\]+[/\\].*", re.S)
_AS_WRITTEN = ("candidates", "captions", "replaced", "kinds")  # people's words, which may look like anything


def refusals(folder: SetFolder) -> list[str]:
    """Why a built set must not be published, a sentence each; empty if it may."""
    problems = [
        f"set.json, {where}: holds the absolute path {value!r}; build the set again with relative paths"
        for where, value in _strings(folder.record)
        if _ABSOLUTE.fullmatch(value)
    ]
    tables = [file for file in folder.published_files() if file.suffix == ".parquet"]
    for file in tables:
        problems += _in_table(file, file.relative_to(folder.path).as_posix())
    if not tables:
        problems.append("it holds no parquet file")
    return problems


def clips(folder: SetFolder, root: Path, tables: Sequence[tuple[str, str]] | None = None) -> list[tuple[str, Path]]:
    """The distinct clips of a set that lie under `root`: (relative path, file), sorted.

    `tables`: (config, split) of those that are asked for; all where None. Raises VideoContrastError: one is missing;
    the message says how many are.
    """
    rows = (row for table in tables or folder.tables() for row in folder.rows(*table))
    files = [
        (path, resolve_under(root, path)) for path in sorted({path for row in rows for path in Clip.of(row).paths})
    ]
    missing = [path for path, file in files if not file.is_file()]
    if missing:
        raise VideoContrastError(
            f"{len(missing)} of {len(files)} clips are not in {root}, the first is {missing[0]}; give --video-root"
        )
    return files


def _in_table(file: Path, name: str) -> list[str]:
    schema = pq.read_schema(file)
    problems = [
        f"{name}, column {field.name!r}: holds bytes ({field.type}); a published set holds ids and relative paths only"
        for field in schema
        if _holds_bytes(field.type)
    ]
    if problems:
        return problems
    checked = [f.name for f in schema if f.name not in _AS_WRITTEN and not pa.types.is_primitive(f.type)]
    table = pq.read_table(file, columns=checked)
    for column in checked:
        for number, value in enumerate(table[column].to_pylist()):
            problem = _problem(column, value)
            if problem:
                # One example a column is enough; a whole column of paths would fill the screen.
                problems.append(f"{name}, row {number}, column {column!r}: {problem}")
                break
    return problems


def _problem(column: str, value: Json) -> str:
    if column == "video_path" and value is not None and not is_safe_relative(value):
        return f"{value!r} is not relative to the video root"
    if column == "meta" and str(value).startswith("{"):
        try:
            value = json.loads(value)
        except ValueError:
            return "is not JSON"
    absolute = next((text for _, text in _strings(value) if _ABSOLUTE.fullmatch(text)), None)
    return f"holds the absolute path {absolute!r}" if absolute else ""


def _holds_bytes(kind: pa.DataType) -> bool:
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind):
        return True
    if pa.types.is_struct(kind):
        return any(_holds_bytes(kind.field(n).type) for n in range(kind.num_fields))
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return _holds_bytes(kind.value_type)
    return False


def _strings(value: Json, where: str = "") -> Iterator[tuple[str, str]]:
    """(where, text) for every text inside of nested values."""
    if isinstance(value, str):
        yield where, value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _strings(inner, f"{where}.{key}" if where else str(key))
    elif isinstance(value, list | tuple):
        for number, inner in enumerate(value):
            yield from _strings(inner, f"{where}[{number}]")
