"""Checks a set on disk: its tables, its card, and the videos that it names."""

from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated, ClassVar, TypedDict

from video_contrast.console import bar
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import is_safe_relative, read_json, resolve_under, sha256
from video_contrast.options import Flag, Range, VideoRoot, with_options
from video_contrast.rows import OPTIONAL, Row, layout_of, table_columns, validate_rows
from video_contrast.storage import SetFolder
from video_contrast.storage.set_folder import FileSet
from video_contrast.storage.table_columns import TableColumns
from video_contrast.video import DamagedVideo, index_of, segments_of, verify
from video_contrast.video.container import reason
from video_contrast.video.segments import segments_problem

MANIFEST = "manifest.json"
_Span = tuple[float | None, float | None]  # start and end in seconds


class VideoFacts(TypedDict, total=False):
    """The facts of a video file; of one that is no video only its size and sha256."""

    bytes: int
    sha256: str
    frames: int
    seconds: float
    remarks: list[str]  # facts that a user should know of it, where there are any


@dataclass
class Checked:
    """The result of a check; what is said of videos stands in the order of their paths."""

    rows: dict[str, dict[str, int]] = field(default_factory=dict)  # config -> split -> number of rows
    problems: list[str] = field(default_factory=list)  # of tables and card, a sentence each
    videos: dict[str, VideoFacts] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    unreadable: dict[str, str] = field(default_factory=dict)  # path -> why, of files that are no video
    damaged: dict[str, str] = field(default_factory=dict)  # path -> why, of videos with frames that cannot be decoded
    changed: list[str] = field(default_factory=list)  # videos whose sha256 is not the expected one
    short: list[str] = field(default_factory=list)  # "path: what" of clips that begin after their video ends
    remarks: dict[str, list[str]] = field(default_factory=dict)  # fact to know, though no fault -> paths
    looked: bool = True  # whether videos were looked for at all

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not any((self.problems, self.missing, self.unreadable, self.damaged, self.changed, self.short))

    @property
    def readable(self) -> int:
        """The number of videos that are whole, as far as their files tell."""
        return len(self.videos) - len(self.unreadable) - len(self.damaged)

    def manifest(self) -> dict[str, object]:
        """Returns every video with its sha256, and those that are missing or cannot be read."""
        return {name: value for name, value in vars(self).items() if name not in ("problems", "looked")}


@dataclass(frozen=True, kw_only=True)
class CheckOptions(TableColumns):
    """The parts of a set that are checked, and how."""

    PANEL: ClassVar[str] = ""
    video_root: VideoRoot = None
    decode: Annotated[bool, "decode every frame; --no-decode reads only the index"] = True
    expected: Annotated[
        Path | None, "videos.json of a run, or a former manifest: name the videos that changed", Flag("--sha256")
    ] = None
    num_proc: Annotated[int, "files that are read at the same time", Range(1)] = 1


@with_options
def check(folder: str | Path, *, progress: bool = False, options: CheckOptions) -> Checked:
    """Checks every table of a set, and every video that they name.

    Videos are damaged where the decoder reports an error or a corrupt frame; by the index alone files are found that
    stop in the middle. By `expected` they are `changed`: this finds damage that no decoder notices. Where the set's own
    folder, the default root, holds none of the videos, they are not looked for (`looked` is False). Raises UsageError:
    no such folder, no table in it, `num_proc` below 1, or `expected` holds no sha256.

    Args:
        folder: of the set: `<config>/<split>-*.parquet`, as a build writes it and the Hub gives it back; or a table.
        progress: show a bar.
    """
    root = Path(folder)
    hashes = _hashes(options.expected) if options.expected is not None else {}
    set_folder = FileSet.of(root, options) if root.is_file() else SetFolder.open(root, options)
    video_root = options.video_root
    if video_root is not None and not video_root.is_dir():
        raise UsageError(f"--video-root {video_root}: no such folder")
    result = Checked()
    clips = _check_tables(set_folder, result)
    if not isinstance(set_folder, FileSet):
        _check_record(set_folder, result)
    videos = video_root if video_root is not None else set_folder.video_root
    is_given = video_root is not None or videos != set_folder.path
    result.looked = bool(clips) and (is_given or any(_is_there(videos / path) for path in clips))
    if result.looked:
        with ThreadPoolExecutor(max_workers=options.num_proc) as pool:
            results = pool.map(partial(_examine, videos, decode=options.decode), sorted(clips))
            with_bar = bar(results, total=len(clips), desc="videos", unit="file", disable=not progress)
            for path, findings in zip(sorted(clips), with_bar, strict=True):
                _add_video(result, path, findings, [start for start, _ in clips[path] if start is not None])
        result.short.sort()
    present = {path: facts["sha256"] for path, facts in result.videos.items() if "sha256" in facts}
    result.changed = [path for path in present if present[path] != hashes.get(path, present[path])]
    return result


def _check_tables(folder: SetFolder, result: Checked) -> dict[str, set[_Span]]:
    """Checks every table; returns video path -> the spans that rows name of it. Raises UsageError: there is none."""
    tables = folder.tables()
    if not tables:
        raise UsageError(f"{folder.path} holds no set: no <config>/<split>-*.parquet in it")
    clips: dict[str, set[_Span]] = defaultdict(set)
    for config, split in tables:
        try:
            rows = folder.rows(config, split)
        except VideoContrastError as error:
            result.problems.append(str(error))
            continue
        result.rows.setdefault(config, {})[split] = len(rows)
        _check_table(rows, f"{config}, {split}", result)
        for row in rows:
            if isinstance(row.get("video_path"), str) and is_safe_relative(row["video_path"]):
                clips[row["video_path"]].add((row.get("start"), row.get("end")))
            for part in segments_of(row) if segments_problem(row.get("segments")) is None else ():
                if part.video_path:  # a pause has no file
                    clips[part.video_path].add((part.start, part.end))
    return clips


def _hashes(source: str | Path) -> dict[str, str]:
    """Path -> sha256, of a run's `videos.json` or of a manifest."""
    table = read_json(source)
    entries = table.get("videos", table) if isinstance(table, dict) else {}
    hashes = {path: entry["sha256"] for path, entry in entries.items() if isinstance(entry, dict) and "sha256" in entry}
    if not hashes:
        raise UsageError(f"--sha256 {source}: holds no sha256; give a run's videos.json or a check's manifest.json")
    return hashes


def _check_table(rows: Sequence[Row], where: str, result: Checked) -> None:
    if not rows:
        result.problems.append(f"{where}: no rows")
        return
    try:
        validate_rows(rows, where)
    except VideoContrastError as error:
        result.problems.append(str(error))
        return
    extra = sorted(rows[0].keys() - table_columns(layout_of(rows[0]), OPTIONAL))
    if extra:
        result.problems.append(f"{where}: unknown columns {', '.join(extra)}")


def _check_record(folder: SetFolder, result: Checked) -> None:
    """Whether record and card speak of the tables that are there."""
    if not folder.has_card:
        result.problems.append("README.md is missing: `load_dataset` would not know configs and splits")
    if not folder.is_built:
        return  # a set from the Hub may come without
    try:
        record = folder.record
    except VideoContrastError as error:
        result.problems.append(str(error))
        return
    sizes = {
        config: {split: size["num_examples"] for split, size in entry["splits"].items()}
        for config, entry in record.get("configs", {}).items()
    }
    for config in sorted(set(sizes) | set(result.rows)):
        if sizes.get(config) != result.rows.get(config):
            result.problems.append(
                f"{config}: set.json speaks of {sizes.get(config) or 'nothing'}, the tables hold "
                f"{result.rows.get(config) or 'nothing'}; build the config again"
            )


# A video's file as it was found (None: there is none), its fault ("" if it has none), and whether that is damage.
_Findings = tuple[VideoFacts | None, str, bool]


def _add_video(result: Checked, path: str, findings: _Findings, starts: Sequence[float]) -> None:
    """Records what is known of a video, and which of the clips that begin at `starts` it is too short for."""
    facts, problem, is_damage = findings
    if facts is None:
        result.missing.append(path)
        return
    result.videos[path] = facts
    if problem:
        (result.damaged if is_damage else result.unreadable)[path] = problem
        return
    for remark in facts.get("remarks", ()):
        result.remarks.setdefault(remark, []).append(path)
    end = facts["seconds"]
    late = [start for start in starts if start >= end]
    result.short += [f"{path}: a clip begins at {start:g} s, the video ends at {end:g} s" for start in late]


def _is_there(file: Path) -> bool:
    """Whether there is such a file; none has a name that is too long, or lies in a folder that is closed."""
    with suppress(OSError):
        return file.exists()
    return False


def _examine(root: Path, path: str, *, decode: bool) -> _Findings:
    file = resolve_under(root, path)
    if not _is_there(file):
        return None, "", False
    facts: VideoFacts = {}
    problem, is_damage = "", False
    try:
        index = verify(file) if decode else index_of(file)
        if index.damage:
            raise DamagedVideo(f"{file}: damaged: {index.damage}")
        facts = {"frames": index.n_frames, "seconds": round(index.end, 3)}
        if index.remarks:
            facts["remarks"] = list(index.remarks)
    except VideoContrastError as error:
        problem = str(error).removeprefix(f"{file}: ").removeprefix("damaged: ")
        is_damage = isinstance(error, DamagedVideo)
    if file.is_file():
        try:
            facts |= {"bytes": file.stat().st_size, "sha256": sha256(file)}
        except OSError as error:  # the user may not read it
            problem = problem or reason(error)
    return facts, problem, is_damage
