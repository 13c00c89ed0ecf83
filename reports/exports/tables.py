"""The multiple-choice tables of a set, with clips that a tool can show which reads whole files."""

import json
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import cast

from video_contrast.errors import UsageError
from video_contrast.files import copy_file, resolve_under
from video_contrast.question_text import LETTERS
from video_contrast.rows import Layout, MultipleChoiceRow, Row
from video_contrast.seeds import digest
from video_contrast.storage import SetFolder
from video_contrast.video import Clip, footage_of, write_video

Tables = dict[tuple[str, str], list[MultipleChoiceRow]]  # (config, split) -> rows
AnyTables = dict[tuple[str, str], list[Row]]


def tables_of(folder: str | Path, layouts: Sequence[Layout], *, write_videos: bool) -> tuple[str, AnyTables]:
    """The name of a built set and its tables of some layouts.

    `write_videos`: accept rows whose clip is a span of a file, which `write_clips` cuts. Raises UsageError: not a built
    set, or a row that would be asked about a clip that is not its own or has more candidates than there are letters.
    """
    built = SetFolder.built(folder)
    tables = {
        (config, split): built.rows(config, split)
        for config in sorted(built.configs)
        if built.layout(config) in layouts
        for split in sorted(built.splits(config))
    }
    for (config, _), rows in tables.items():
        for number, row in enumerate(rows):
            if reason := _rejection_reason(row, write_videos):
                raise UsageError(f"{config}, row {number} (id {row['id']!r}): {reason}")
    return built.builder, tables


def choice_tables(folder: str | Path, *, write_videos: bool) -> tuple[str, Tables]:
    """The name of a built set and its multiple-choice tables, as `tables_of`.

    Raises UsageError: as `tables_of`, or it has no such table.
    """
    name, tables = tables_of(folder, ("multiple_choice",), write_videos=write_videos)
    if not tables:
        raise UsageError(f"{folder} has no multiple-choice config; retrieval sets have no place in this format")
    return name, cast(Tables, tables)


def _rejection_reason(row: Row, write_videos: bool) -> str | None:
    """Why a tool that reads whole files, and answers by letter, cannot be asked a row."""
    if "candidates" in row and len(row["candidates"]) > len(LETTERS):
        return f"has {len(row['candidates'])} candidates, and answers are among {len(LETTERS)} letters"
    if row.get("video_perturbation"):
        return "other tools cannot perturb its clip as its recipe says: build the perturbed set with --files"
    if row.get("segments"):
        return "other tools cannot edit its clip as its recipe says: build the edited clips with --write-videos"
    if not write_videos and (row["start"] is not None or row["end"] is not None):
        return "is a span of its video, and other tools show whole files: give --write-videos, which cuts them"
    return None


def write_clips(tables: Tables | AnyTables, video_root: Path, output: Path) -> dict[Clip, str]:
    """Writes the clips of tables as mp4 files below `output`; returns the relative path of each.

    A whole mp4 file is copied; a span, or a file of another kind, is encoded again. `tables`: of `choice_tables`.
    Raises VideoContrastError: a video is missing or cannot be read.
    """
    written: dict[Clip, str] = {}
    clips = sorted({Clip.of(row) for rows in tables.values() for row in rows}, key=lambda clip: clip.sort_key)
    for clip, footage in [(clip, footage_of(video_root, clip)) for clip in clips]:
        whole = clip.start is None and clip.end is None and clip.video_path.endswith(".mp4")
        written[clip] = clip.video_path if whole else f"clips/{digest('export', str(clip)).hex()[:16]}.mp4"
        target = output / written[clip]
        target.parent.mkdir(parents=True, exist_ok=True)
        if not whole:
            numbers = range(*footage.span)
            times = footage.times[numbers.start : numbers.stop]
            write_video(target, footage.decode(numbers), footage.fps, times=times)
            continue
        source = resolve_under(video_root, clip.video_path)
        if not (target.exists() and target.samefile(source)):
            copy_file(source, target)
    return written


def mp4_tables(
    tables: Tables, folder: str | Path, output: str | Path, *, video_root: str | Path | None, write_videos: bool
) -> tuple[dict[Clip, str], Path]:
    """The mp4 file of each clip, below the folder that is returned with them, for tools that read mp4 files only.

    Raises UsageError: a video is of another kind, and clips are not to be written.

    Args:
        tables: of `choice_tables`.
        video_root: where the clips lie; where the set says by default.
        write_videos: write the clips below `output`, cut to their spans.
    """
    root = Path(video_root or SetFolder(Path(folder)).video_root)
    if write_videos:
        return write_clips(tables, root, Path(output)), Path(output)
    for (config, _), rows in tables.items():
        for number, row in enumerate(rows):
            if not row["video_path"].endswith(".mp4"):
                raise UsageError(
                    f"{config}, row {number} (id {row['id']!r}): this format takes mp4 files only, not "
                    f"{row['video_path']!r}: give --write-videos, which makes them"
                )
    return {Clip.of(row): row["video_path"] for rows in tables.values() for row in rows}, root


def python_file(template: str, video_root: Path) -> str:
    """The Python file that goes with an export."""
    source = (files("video_contrast.reports.exports") / template).read_text(encoding="utf-8")
    carried = (files("video_contrast") / "question_text.py").read_text(encoding="utf-8")  # asks and reads answers
    root = json.dumps(video_root.resolve().as_posix(), ensure_ascii=False)
    return source.replace("@CARRIED@\n", carried).replace('"@VIDEO_ROOT@"', root)
